"""What pages upload is bounded, for each and for all."""

from __future__ import annotations

import asyncio

from dashboard.guard import Guard
from dashboard.upload_room import UploadRoom, session_of_upload
from smdp.commands.entrance import Entrance

ENTRANCE = Entrance("k" * 43, "room")


def test_a_page_and_the_server_have_so_much_room():
    stored = {"one": 60}
    room = UploadRoom(lambda: stored, page_bytes=100, server_bytes=150)
    assert not room.take("one", 41)
    assert room.take("one", 40)
    assert not room.take("one", 1)
    assert room.take("two", 50)
    assert not room.take("three", 1)
    room.leave("two", 50)
    assert room.take("three", 50)
    room.leave("one", 40)
    room.leave("three", 50)
    stored.clear()
    assert room.take("one", 100)


def test_only_uploads_are_counted():
    assert session_of_upload("/room/_stcore/upload_file/s-1/f-1") == "s-1"
    assert session_of_upload("/_stcore/upload_file/s-1/f-1") == "s-1"
    assert session_of_upload("/room/data") is None


def upload(guard: Guard, size: int | None, session: str = "s-1") -> int:
    """The status of the answer to an upload of somebody who was let in."""
    answers = []

    async def send(message):
        answers.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"host", b"127.0.0.1:8501"), (b"cookie", guard._door.pass_cookie().encode())]
    if size is not None:
        headers.append((b"content-length", str(size).encode()))
    path = f"/room/_stcore/upload_file/{session}/f"
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers}
    asyncio.run(guard(scope, receive, send))
    return int(answers[0]["status"])


def test_the_guard_refuses_what_there_is_no_room_for():
    within = []

    async def app(scope, receive, send):
        within.append(not guard._uploads.take("s-1", 1))
        await send({"type": "http.response.start", "status": 204, "headers": []})

    guard = Guard(app, ENTRANCE, UploadRoom(dict, page_bytes=10, server_bytes=10))
    assert upload(guard, 11) == 413
    assert upload(guard, None) == 411
    assert within == []
    for _ in range(3):  # what has come is counted where it lies, not here
        assert upload(guard, 10) == 204
    assert within == [True] * 3
