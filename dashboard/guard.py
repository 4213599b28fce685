"""What every answer of the server carries, and which requests it answers at all."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

from dashboard.entering import (
    BROWSER,
    Doorkeeper,
    closed_page,
    cookies,
    headers_of,
    welcome_page,
)
from dashboard.upload_room import UploadRoom, session_of_upload, stored_in_streamlit
from smdp.commands.entrance import Entrance

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Streamlit answers there even where its interface for programs is off.
NOT_SERVED = "/_stcore/agent"
PORT = re.compile(r":[0-9]{1,5}$")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def content_policy(entrance: Entrance) -> str:
    """Nothing may be fetched from, sent to, or framed by any other place than this server."""
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    scripts = INLINE_SCRIPT.findall(page.read_text(encoding="utf-8"))
    own = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    scheme = "wss" if entrance.scheme == "https" else "ws"
    sockets = " ".join(f"{scheme}://{host}:*" for host in entrance.hosts)
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'wasm-unsafe-eval' {own}".strip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            f"connect-src 'self' {sockets} data: blob:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def headers(entrance: Entrance) -> dict[str, str]:
    return {
        "Content-Security-Policy": content_policy(entrance),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "Referrer-Policy": "no-referrer",  # the address names the work that is kept
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


class Guard:
    """Refuses what comes under another host's name, from another site's page, or from somebody who
    was not let in; and files beyond the room that there is.

    Streamlit would look at web sockets alone, after asking a service outside for this machine's
    address.
    """

    def __init__(self, app: ASGIApp, entrance: Entrance, uploads: UploadRoom | None = None) -> None:
        self._app = app
        self._door = Doorkeeper(entrance)
        self._uploads = uploads or UploadRoom(stored_in_streamlit)
        self._headers = {n.lower().encode(): v.encode() for n, v in headers(entrance).items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                dropped = {*self._headers, b"access-control-allow-origin"}
                kept = [pair for pair in message["headers"] if pair[0].lower() not in dropped]
                message["headers"] = [*kept, *self._headers.items()]
                if message["status"] == 200 and _is_page(kept) and not cookies(scope, BROWSER):
                    known = self._door.browser_cookie().encode()
                    message["headers"].append((b"set-cookie", known))
            await send(message)

        if not self._is_ours(scope):
            await _refuse(scope, receive, guarded, b"Not a request of this server's own pages.")
        elif self._door.brings_key(scope):
            await self._let_in(guarded)
        elif not self._door.admits(scope):
            closed = closed_page(self._door.entrance)
            await _refuse(scope, receive, guarded, closed, kind=b"text/html; charset=utf-8")
        elif NOT_SERVED in scope["path"]:
            await _refuse(scope, receive, guarded, b"Not served.", status=404)
        elif scope["type"] == "http" and scope["method"] == "PUT":
            await self._upload(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)

    def _is_ours(self, scope: Scope) -> bool:
        """Whether the request names this server, and comes from a page of it or from none.

        A page of another site whose name leads here has that name as its host.
        """
        entrance = self._door.entrance
        hosts, origins = headers_of(scope, "host"), headers_of(scope, "origin")
        if len(hosts) != 1 or PORT.sub("", hosts[0]).lower() not in entrance.hosts:
            return False
        return origins in ([], [f"{entrance.scheme}://{hosts[0]}"])

    async def _let_in(self, send: Send) -> None:
        given = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"set-cookie", self._door.pass_cookie().encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": given})
        await send({"type": "http.response.body", "body": welcome_page(self._door.entrance)})

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = session_of_upload(scope["path"])
        length = headers_of(scope, "content-length")
        if session is None:
            await self._app(scope, receive, send)
        elif len(length) != 1 or not length[0].isdecimal():
            await _refuse(scope, receive, send, b"The length of the file is missing.", status=411)
        elif not self._uploads.take(session, int(length[0])):
            full = b"There is no room for this file: other files lie in the server's memory."
            await _refuse(scope, receive, send, full, status=413)
        else:
            try:
                await self._app(scope, receive, send)
            finally:
                self._uploads.leave(session, int(length[0]))


def _is_page(given: list[tuple[bytes, bytes]]) -> bool:
    return any(n.lower() == b"content-type" and v.startswith(b"text/html") for n, v in given)


async def _refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    content: bytes,
    *,
    kind: bytes = b"text/plain",
    status: int = 403,
) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})  # which becomes a 403
        return
    given = [(b"content-type", kind), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": given})
    await send({"type": "http.response.body", "body": content})
