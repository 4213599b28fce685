"""Who may come into a dashboard: handed by the command that starts it to the server.

On a computer that several people use, every account can reach every port. So each start makes a key
that only the printed address has. Behind a proxy that signs people in, the proxy is asked instead.

All of it travels in the environment, which other accounts cannot read; a command's words they can.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import MutableMapping
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from smdp.errors import SettingError, SmdpError

VARIABLE = "SMDP_ENTRANCE"
PROXY_SECRET = "SMDP_PROXY_SECRET"
LEAST_SECRET = 32
HERE = ("127.0.0.1", "localhost")
PUBLIC = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+)(:\d{1,5})?(?P<path>(/[\w.~-]+)*)/?"
)


@dataclass(frozen=True)
class Entrance:
    """`room`: the folder of the address under which everything lies.

    A browser shows a cookie to every port of a computer, but only in the folder that it is for, and
    nobody else knows this one. `public`: the address that people type where a proxy stands in
    front; `key` is then the secret by which the proxy is known, and `user` whom it has to name.
    """

    key: str
    room: str
    public: str = ""
    user: str = ""
    opens_browser: bool = False

    @classmethod
    def for_this_computer(cls, *, opens_browser: bool) -> Entrance:
        return cls(secrets.token_urlsafe(32), secrets.token_hex(12), opens_browser=opens_browser)

    @classmethod
    def behind_proxy(cls, public: str, secret: str, user: str = "") -> Entrance:
        found = PUBLIC.fullmatch(public)
        if found is None:
            raise SettingError(
                f"'{public}' is not the address of a page.",
                "After --behind-proxy, give the address that people type, such as "
                "https://smdp.clinic.example/anna",
            )
        if found["scheme"] == "http" and found["host"] not in HERE:
            raise SettingError(
                f"'{public}' would send people's data over the network as plain text.",
                "Let the proxy speak https, and give that address.",
            )
        if len(secret) < LEAST_SECRET or not secret.isascii() or not secret.isprintable():
            raise SettingError(
                f"The environment variable {PROXY_SECRET} must hold a secret of at least "
                f"{LEAST_SECRET} plain characters, which the proxy sends along.",
                'Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
        return cls(secret, found["path"].strip("/"), public.rstrip("/"), user)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which browsers know the server, without a port."""
        return (str(urlsplit(self.public).hostname),) if self.public else HERE

    @property
    def scheme(self) -> str:
        return urlsplit(self.public).scheme if self.public else "http"

    @property
    def folder(self) -> str:
        """Of every address: "/room", or nothing."""
        return f"/{self.room}" if self.room else ""

    def address(self, port: int) -> str:
        """What opens the first page."""
        return f"{self.public}/" if self.public else f"http://{HERE[0]}:{port}/?key={self.key}"

    def hand_over(self, environment: MutableMapping[str, str]) -> None:
        """To the server that is started next, with no setting of Streamlit's from outside."""
        for name in [name for name in environment if name.upper().startswith("STREAMLIT_")]:
            del environment[name]
        environment.pop(PROXY_SECRET, None)
        environment[VARIABLE] = json.dumps(asdict(self))
        environment["STREAMLIT_SERVER_BASE_URL_PATH"] = self.room


def handed_over(environment: MutableMapping[str, str] = os.environ) -> Entrance:
    """What the command left for the server, and for nobody that the server starts."""
    try:
        return Entrance(**json.loads(environment.pop(VARIABLE)))
    except (KeyError, TypeError, ValueError):
        raise SmdpError(
            "The dashboard has to be started by its own command.", "Type: smdp dashboard"
        ) from None
