"""Who comes in: the key of the printed address is exchanged for a cookie, which every later request
has to show; behind a proxy, the proxy's secret and the name that it signed in."""

from __future__ import annotations

import hashlib
import html
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from smdp.commands.entrance import Entrance

if TYPE_CHECKING:
    from starlette.types import Scope

#: A new one each time the server starts; and which browser this is, for as long as work is kept.
PASS, BROWSER = "smdp_pass", "smdp_browser"
BROWSER_DAYS = 30
PROXY_HEADER, USER_HEADER = "x-smdp-proxy", "x-forwarded-user"


class Doorkeeper:
    """Knows the entrance, and the value of the cookie that was given for its key."""

    def __init__(self, entrance: Entrance) -> None:
        self.entrance = entrance
        self._pass = secrets.token_urlsafe(32)

    def admits(self, scope: Scope) -> bool:
        """Whether the request comes from somebody who was let in."""
        if not self.entrance.public:
            # Others on this computer can add a cookie of that name, and lock nobody out by it.
            return any(_same(given, self._pass) for given in cookies(scope, PASS))
        user = self.entrance.user
        named = not user or _same(_only(scope, USER_HEADER), user)
        return named and _same(_only(scope, PROXY_HEADER), self.entrance.key)

    def brings_key(self, scope: Scope) -> bool:
        """Whether this is the address that was printed."""
        if self.entrance.public or scope["type"] != "http":
            return False
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("key", [])
        return len(given) == 1 and _same(given[0], self.entrance.key)

    def pass_cookie(self) -> str:
        """For this server's folder, until the browser is closed, and no script can read it."""
        return self._set_cookie(PASS, self._pass, self.entrance.folder)

    def browser_cookie(self) -> str:
        """So that Start can offer again what this browser worked on; lets nobody in."""
        path = self.entrance.folder if self.entrance.public else "/"
        value = secrets.token_urlsafe(24)
        return self._set_cookie(BROWSER, value, path) + f"; Max-Age={BROWSER_DAYS * 86400}"

    def _set_cookie(self, name: str, value: str, path: str) -> str:
        secure = "; Secure" if self.entrance.scheme == "https" else ""
        return f"{name}={value}; Path={path or '/'}; HttpOnly; SameSite=Strict{secure}"


def headers_of(scope: Scope, name: str) -> list[str]:
    return [v.decode("latin-1") for key, v in scope["headers"] if key == name.encode()]


def cookies(scope: Scope, name: str) -> list[str]:
    """The values of that name."""
    pairs = [pair for header in headers_of(scope, "cookie") for pair in header.split(";")]
    named = [pair.strip().partition("=") for pair in pairs]
    return [value for key, _, value in named if key == name]


def browser_mark(value: str) -> str:
    """What is kept on this computer of a browser's cookie, and does not give it away."""
    return hashlib.sha256(value.encode()).hexdigest()[:32] if value else ""


def _only(scope: Scope, name: str) -> str:
    given = headers_of(scope, name)
    return given[0] if len(given) == 1 else ""


def _same(given: str, wanted: str) -> bool:
    return bool(wanted) and secrets.compare_digest(given.encode(), wanted.encode())


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>smdp</title>{head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1b2430; background: #fcfcfd; margin: 0 }}
main {{ max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem }}
h1 {{ font-size: 1.375rem; font-weight: 600 }}
code {{ background: #f4f6f8; padding: .1rem .3rem; border-radius: .25rem }}
a {{ color: #0067a3 }}
@media (prefers-color-scheme: dark) {{
  body {{ color: #e6eaef; background: #14181d }} code {{ background: #1d232a }}
  a {{ color: #6cb8f0 }}
}}
</style></head><body><main>{body}</main></body></html>
"""
CLOSED = """<h1>This dashboard opens for its owner only</h1>
<p>Open the address that was printed in the window in which it was started. It ends with
<code>?key=</code> and many letters, and is good until the dashboard is stopped.</p>
<p>Is that window gone? Stop the dashboard and start it again, with <code>smdp dashboard</code>.
Work that was kept on this computer is offered again.</p>"""
CLOSED_BY_PROXY = """<h1>This dashboard opens through its own address only</h1>
<p>Go to <a href="{public}/">{public}/</a> and sign in there, under the name that this dashboard was
started for.</p>"""


def closed_page(entrance: Entrance) -> bytes:
    """For who was not let in: how to get in."""
    body = (
        CLOSED_BY_PROXY.format(public=html.escape(entrance.public)) if entrance.public else CLOSED
    )
    return PAGE.format(head="", body=body).encode()


def welcome_page(entrance: Entrance) -> bytes:
    """Goes on to the first page by itself.

    Not by a redirect: the browser would take the next request for one of the place from which the
    address was opened, and keep the cookie back.
    """
    target = f"{entrance.folder}/"
    head = f'<meta http-equiv="refresh" content="0; url={target}">'
    return PAGE.format(head=head, body=f'<p><a href="{target}">Open the dashboard</a></p>').encode()
