"""The wheel alone, in an environment of its own and away from the checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from dashboard_server import DashboardServer
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).resolve().parents[2]
SLOW = 120_000
PLAN = """
data_name = "basics_mobile_synthetic.csv"
stop_after = "rescaling"

[roles]
subject = "student"
time = "report"
action = "module"
states = ["stress", "urge", "cigs"]
utility = { variable = "cigs", sign = -1 }
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    if importlib.util.find_spec("hatchling") is not None:
        command.append("--no-build-isolation")
    subprocess.run([*command, str(ROOT)], check=True)
    (built,) = folder.glob("smdp-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the wheel; the packages that it needs are those of this environment, to be quick."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = ["install", "--quiet", "--no-deps", "--disable-pip-version-check", str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), *install], check=True, cwd=folder
    )
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([python, "-c", where], capture_output=True, text=True, check=True)
    # A path in such a file is looked into, but not for further such files: no other smdp is there.
    needed = Path(found.stdout.strip()) / "needed.pth"
    needed.write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


@pytest.fixture
def outside(monkeypatch, tmp_path) -> Path:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_is_inside_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "dashboard/.streamlit/config.toml",
        "dashboard/static/inter-latin.woff2",
        "dashboard/server.py",
        "smdp/sample_data/basics_mobile_synthetic.csv",
        "smdp/py.typed",
    ):
        assert needed in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"smdp", "dashboard"}
    assert wheel.stat().st_size < 3_000_000


def test_it_is_the_wheel_that_runs(environment, outside):
    where = "import smdp, dashboard; print(smdp.__file__); print(dashboard.__file__)"
    found = subprocess.run([environment, "-c", where], capture_output=True, text=True, check=True)
    for line in found.stdout.split():
        assert Path(line).is_relative_to(environment.parents[1])


def test_a_plan_gives_the_samples_tables(environment, outside):
    (outside / "plan.toml").write_text(PLAN)
    sample = "from smdp.simulation.samples import sample_file as f; print(f('{}'))"
    name = "basics_mobile_synthetic.csv"
    found = subprocess.run(
        [environment, "-c", sample.format(name)], capture_output=True, text=True, check=True
    )
    command = [environment.parent / "smdp", "run", "plan.toml", "--data", found.stdout.strip()]
    done = subprocess.run([*command, "--out", "results"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((outside / "results").rglob("*.csv"))


def test_the_dashboard_shows_its_first_page(environment, outside, browser: Browser):
    server = DashboardServer(outside)
    server.command = [str(environment.parent / "smdp")]
    context = browser.new_context()
    try:
        server.start()
        page = context.new_page()
        page.goto(server.key_address)
        expect(page.get_by_role("button", name="Guided example")).to_be_visible(timeout=SLOW)
        page.evaluate("document.fonts.ready")
        assert page.evaluate("document.fonts.check('16px Inter')")
        server.stop()
    finally:
        context.close()
        server.kill()
