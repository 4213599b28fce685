"""Autosaves are private, found again, and can be forgotten."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from smdp.analysis.autosave import KEEP_FILES, Autosaves, autosave_folder
from smdp.errors import ReadError, SettingError


@pytest.fixture
def saves(tmp_path) -> Autosaves:
    return Autosaves(tmp_path / "deep" / "autosave")


def test_the_last_one_is_found_again(saves, partial):
    assert saves.load("session01") is None
    assert saves.names() == []
    path = saves.save("session01", partial)
    saves.save("session01", partial)
    assert list(saves.load("session01").results) == ["data", "missing"]
    assert saves.names() == ["session01"]
    assert saves.saved_at("session01") == path.stat().st_mtime
    assert saves.saved_at("session99") is None


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_nobody_else_can_read_it(saves, partial):
    path = saves.save("session01", partial)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_everything_is_forgotten(saves, partial):
    for name in ("session01", "session02"):
        saves.save(name, partial)
    (saves.folder / ".session02.smdp.abc.part").write_bytes(b"x")
    (saves.folder / "notes.txt").write_text("mine")
    saves.forget("session01")
    assert saves.names() == ["session02"]
    saves.forget_everything()
    saves.forget("session01")
    assert [p.name for p in saves.folder.iterdir()] == ["notes.txt"]


def test_the_newest_come_first_and_old_ones_go(saves, partial):
    for age, name in enumerate(("newest00", "middle00", "oldest00")):
        path = saves.save(name, partial)
        os.utime(path, (path.stat().st_mtime - age * 86400,) * 2)
    assert saves.names() == ["newest00", "middle00", "oldest00"]
    saves.tidy(days=1.5)
    assert saves.names() == ["newest00", "middle00"]
    saves.tidy(files=1)
    assert saves.names() == ["newest00"]


@pytest.mark.parametrize("name", ["../../x", "", "UPPER000", "a/b00000", "short", "x" * 99])
def test_a_name_cannot_lead_elsewhere(saves, partial, name):
    with pytest.raises(SettingError, match="cannot be the name of an autosave"):
        saves.save(name, partial)


def test_a_damaged_one_says_so(saves, partial):
    path = saves.save("session01", partial)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ReadError, match=r"session01.smdp"):
        saves.load("session01")


def test_the_folder_can_be_chosen_and_switched_off(monkeypatch):
    monkeypatch.setenv("SMDP_AUTOSAVE", "/somewhere")
    assert autosave_folder() == Path("/somewhere")
    monkeypatch.setenv("SMDP_AUTOSAVE", "off")
    assert autosave_folder() is None
    monkeypatch.delenv("SMDP_AUTOSAVE")
    if sys.platform.startswith("linux"):
        monkeypatch.setenv("XDG_STATE_HOME", "/state")
        assert autosave_folder() == Path("/state/smdp/autosave")


def test_what_was_running_is_kept_beside_it_and_goes_with_it(saves, partial):
    assert saves.was_running("session01") == ()
    saves.mark_running("session01", ["screening", "study plan"])
    assert saves.was_running("session01") == ("screening", "study plan")
    saves.mark_running("session01", [])
    assert saves.was_running("session01") == ()
    saves.save("session01", partial)
    saves.mark_running("session01", ["screening"])
    assert saves.names() == ["session01"]
    saves.forget("session01")
    assert list(saves.folder.iterdir()) == []


def test_it_is_known_in_which_browser_it_was_last_worked_on(saves, partial):
    for name, browser in (("session01", "one"), ("session02", "two"), ("session03", "one")):
        saves.save(name, partial)
        saves.mark_browser(name, browser)
    saves.save("session04", partial)
    assert set(saves.of_browser("one")) == {"session01", "session03"}
    assert saves.of_browser("two") == ["session02"]
    assert saves.of_browser("three") == saves.of_browser("") == []
    saves.mark_browser("session01", "two")
    assert saves.of_browser("one") == ["session03"]
    for name in saves.names():
        saves.forget(name)
    assert list(saves.folder.iterdir()) == []


def test_what_lies_beside_work_that_was_never_written_goes_when_it_is_old(saves, partial):
    saves.save("session01", partial)
    saves.mark_browser("session01", "one")
    for name in ("session02", "session03"):
        saves.mark_browser(name, "one")
        saves.mark_running(name, ["screening"])
    for path in saves.folder.glob("session02.*"):
        os.utime(path, (path.stat().st_mtime - 7200,) * 2)
    saves.tidy()
    assert {path.stem for path in saves.folder.iterdir()} == {"session01", "session03"}
    assert saves.of_browser("one") == ["session01"]


def test_the_name_of_its_table_is_read_without_the_rest(saves, partial):
    path = saves.save("session01", partial)
    assert saves.table_name("session01") == partial.plan.data_name
    assert saves.table_name("session99") == ""
    path.write_bytes(path.read_bytes()[:500])
    assert saves.table_name("session01") == ""


HOLDER = """
import sys, time
from pathlib import Path
from smdp.analysis.autosave import Autosaves
mark = Autosaves(Path(sys.argv[1])).hold(sys.argv[2])
print("held", flush=True)
time.sleep(600)
"""


def old(saves, partial, name, days=400):
    path = saves.save(name, partial)
    os.utime(path, (path.stat().st_mtime - days * 86400,) * 2)


def test_open_work_stays_however_much_there_is(saves, partial):
    names = [f"session{number:03d}" for number in range(KEEP_FILES + 10)]
    marks = [saves.hold(name) for name in names]
    for name in names:
        old(saves, partial, name)
    closed = [f"closed{number:03d}" for number in range(3)]
    for days, name in enumerate(closed):
        old(saves, partial, name, days)
    saves.tidy(files=2)
    assert set(saves.names()) == {*names, *closed[:2]}
    marks[0].release()
    marks[0].release()  # does no harm
    del marks[1]
    saves.tidy(files=2)
    assert set(saves.names()) == {*names[2:], *closed[:2]}


def test_work_that_another_process_has_open_stays_until_that_is_killed(saves, partial):
    for name in ("theirs00", "nobodys0"):
        old(saves, partial, name)
    command = [sys.executable, "-c", HOLDER, str(saves.folder), "theirs00"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "held\n"
            saves.tidy()
            assert saves.names() == ["theirs00"]
            mine = saves.hold("theirs00")  # two may have it open
            saves.tidy()
            mine.release()
            saves.tidy()
            assert saves.names() == ["theirs00"]
        finally:
            other.kill()
    assert (saves.folder / "theirs00.open").exists()  # what a crash leaves holds nothing
    saves.tidy()
    assert list(saves.folder.iterdir()) == []


def test_marks_that_a_crash_left_are_removed(saves, partial):
    saves.save("session01", partial)
    for name in ("session01", "unsaved00"):
        (saves.folder / f"{name}.open").touch()
    mark = saves.hold("unsaved01")
    saves.tidy()
    assert {p.name for p in saves.folder.iterdir()} == {"session01.smdp", "unsaved01.open"}
    mark.release()
    saves.forget_everything()
    assert list(saves.folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_holds_nothing(saves):
    saves.folder.parent.mkdir(parents=True)
    saves.folder.write_text("a file of that name")
    assert saves.hold("session01") is None
