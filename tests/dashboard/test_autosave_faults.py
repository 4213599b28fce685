"""Work that cannot be kept goes on, and the sidebar says why it is not kept."""

from __future__ import annotations

from waiting import wait_until

from dashboard.session import Key
from tests.dashboard.conftest import Driver


def not_kept(app: Driver) -> str:
    """What the sidebar says once the autosave has been tried."""
    held = app.at.session_state[Key.AUTOSAVE]
    wait_until(lambda: held._waiting is None and not held._writing.locked())
    app.run()
    said = [caption.value for caption in app.at.sidebar.caption]
    return "".join(text for text in said if text.startswith("Not kept"))


def test_a_folder_that_cannot_be_made(autosaves):
    autosaves.parent.mkdir(parents=True, exist_ok=True)
    autosaves.write_text("a file where the folder should be")
    app = Driver()
    app.upload("study.csv", b"id,day,a,x,y\n1,1,0,2,3\n1,2,1,3,4\n2,1,0,4,5\n2,2,1,5,6\n")
    assert "cannot be made" in not_kept(app)
    assert not app.at.exception
    assert autosaves.read_text() == "a file where the folder should be"


def test_once_there_is_room_again_the_work_is_kept(autosaves):
    autosaves.parent.mkdir(parents=True, exist_ok=True)
    autosaves.write_text("a file where the folder should be")
    app = Driver()
    app.upload("study.csv", b"id,day,a,x,y\n1,1,0,2,3\n1,2,1,3,4\n2,1,0,4,5\n2,2,1,5,6\n")
    assert not_kept(app)
    autosaves.unlink()
    app.run()
    assert not_kept(app) == ""
    assert len(list(autosaves.glob("*.smdp"))) == 1
