"""What every answer of the server carries, and which requests it answers at all."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

from dashboard.browser_memory import SCRIPT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Names of this machine. A page of another site whose name leads here has that name as Host.
HOSTS = ("127.0.0.1", "localhost")
PORT = re.compile(r":[0-9]{1,5}$")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def content_policy() -> str:
    """Nothing may be fetched from, sent to, or framed by any other place than this server."""
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    scripts = [*INLINE_SCRIPT.findall(page.read_text(encoding="utf-8")), SCRIPT]
    own = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    sockets = " ".join(f"ws://{host}:*" for host in HOSTS)
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


def headers() -> dict[str, str]:
    return {
        "Content-Security-Policy": content_policy(),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "Referrer-Policy": "no-referrer",  # the address names the work that is kept
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


class Guard:
    """Refuses what comes under another host's name or from another site's page.

    Streamlit would do so for web sockets alone, after asking a service outside for this machine's
    address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {name.lower().encode(): v.encode() for name, v in headers().items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                dropped = {*self._headers, b"access-control-allow-origin"}
                kept = [pair for pair in message["headers"] if pair[0].lower() not in dropped]
                message["headers"] = [*kept, *self._headers.items()]
            await send(message)

        if scope["type"] in ("http", "websocket") and not _is_ours(scope):
            await _refuse(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)


def _is_ours(scope: Scope) -> bool:
    """Whether the request names this machine, and comes from a page of this server or from none."""
    hosts, origins = (
        [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]
        for wanted in (b"host", b"origin")
    )
    if len(hosts) != 1 or PORT.sub("", hosts[0]) not in HOSTS:
        return False
    return origins in ([], [f"http://{hosts[0]}"])


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})  # which becomes a 403
        return
    kind = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 403, "headers": kind})
    await send({"type": "http.response.body", "body": b"Not a request of this server's own pages."})
