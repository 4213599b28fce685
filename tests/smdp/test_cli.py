from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys

import pytest
from dashboard_server import DashboardServer, ask

import smdp
from smdp import cli
from smdp.commands import bench, dashboard
from smdp.commands.entrance import Entrance, handed_over
from smdp.errors import SmdpError


@pytest.fixture
def taken_port():
    with socket.socket() as listener:
        listener.bind((dashboard.ADDRESS, 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def started(monkeypatch):
    """The command and folder that would have been run, instead of running them."""
    calls = []
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(
        dashboard, "become", lambda command, folder: calls.append((command, folder)) or 0
    )
    return calls


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"smdp {smdp.__version__}\n"


def test_without_a_command_it_explains_itself(capsys):
    assert cli.main([]) == 0
    text = capsys.readouterr().out
    assert "smdp dashboard" in text
    for command in ("dashboard", "run", "report", "validate", "simulate", "bench"):
        assert f"    {command}" in text


@pytest.mark.parametrize("command", ["dashboard", "run", "report", "validate", "simulate", "bench"])
def test_every_command_explains_itself_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert f"smdp {command}" in text
    assert "xample" in text


def test_the_help_needs_no_pandas():
    code = "import smdp.cli, sys; smdp.cli.main([]); assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_measuring_needs_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    assert cli.main(["bench"]) == 2
    assert "not part of an installation" in capsys.readouterr().err


def test_measuring_runs_the_measurements(tmp_path, monkeypatch, capfd):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__main__.py").write_text("import sys; print(sys.argv[1:]); sys.exit(3)")
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    assert cli.main(["bench", "--slow"]) == 3
    assert capfd.readouterr().out.strip() == "['--slow']"


def test_interrupted_it_ends_quietly(monkeypatch, capsys):
    def stop(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dashboard, "choose_port", stop)
    assert cli.main(["dashboard"]) == 130
    assert capsys.readouterr().err == "smdp: Interrupted.\n"


def test_the_server_is_told_to_serve_this_machine_only(started, capsys):
    cli.main(["dashboard", "--no-browser"])
    [(command, folder)] = started
    assert command[1:4] == ["-m", "dashboard", "run"]
    assert "--server.address=127.0.0.1" in command
    assert "--server.headless=true" in command
    assert (folder / ".streamlit" / "config.toml").is_file()
    assert "http://127.0.0.1:" in capsys.readouterr().out


@pytest.mark.parametrize("port", ["0", "-1", "65536"])
def test_an_impossible_port_is_one_line(port, started, capsys):
    assert cli.main(["dashboard", "--port", port]) == 2
    error = capsys.readouterr().err
    assert error == (f"smdp: The setting '--port' must be from 1 to 65535. Got {port} instead.\n")
    assert started == []


def test_a_wanted_port_in_use_names_another(taken_port, started, capsys):
    assert cli.main(["dashboard", "--port", str(taken_port)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"smdp: Port {taken_port} is already in use. Choose another, such as")
    assert error.count("\n") == 1
    assert started == []


def test_without_a_wish_the_next_free_port_is_taken(taken_port, monkeypatch, capsys):
    monkeypatch.setattr(dashboard, "FIRST_PORT", taken_port)
    assert dashboard.choose_port(None) > taken_port
    assert f"Port {taken_port} is already in use" in capsys.readouterr().out


@pytest.mark.parametrize("config_in", ["dashboard", "."])
def test_the_configuration_is_found_in_a_checkout_and_in_an_installation(
    config_in, tmp_path, monkeypatch
):
    for file in ("dashboard/server.py", f"{config_in}/.streamlit/config.toml"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.setattr(dashboard, "__file__", str(tmp_path / "smdp" / "commands" / "x.py"))
    assert dashboard.dashboard_files() == (
        tmp_path / "dashboard" / "server.py",
        tmp_path / config_in,
    )


def test_a_broken_installation_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(dashboard, "__file__", str(tmp_path / "smdp" / "commands" / "x.py"))
    with pytest.raises(SmdpError, match=r"files are missing from .* Install smdp again"):
        dashboard.dashboard_files()


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_it_serves_from_any_folder_with_our_configuration_and_stops_when_told(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    hostile = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "STREAMLIT_SERVER_PORT": "1"}
    server = DashboardServer(tmp_path, **hostile)
    try:
        with contextlib.chdir(elsewhere):
            server.start()
        font = "/app/static/inter-latin.woff2"  # served only with our configuration
        assert ask(server, font)[2][:4] == b"wOF2"
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=30) == 0
    finally:
        server.kill()
    assert list(elsewhere.iterdir()) == []


def test_the_server_gets_the_key_and_no_setting_of_streamlit_from_outside(
    started, monkeypatch, capsys
):
    monkeypatch.setenv("STREAMLIT_SERVER_ENABLE_AGENT_API", "true")
    monkeypatch.setenv("streamlit_client_show_error_details", "full")
    cli.main(["dashboard", "--no-browser"])
    [(command, _)] = started
    told = {name for name in os.environ if name.upper().startswith("STREAMLIT_")}
    assert told == {"STREAMLIT_SERVER_BASE_URL_PATH"}
    entrance = handed_over(os.environ)
    assert entrance.address(int(_option(command, "--server.port"))) in capsys.readouterr().out
    assert not any(entrance.key in word or entrance.room in word for word in command)
    with pytest.raises(SmdpError, match="started by its own command"):
        handed_over(os.environ)
    cli.main(["dashboard", "--no-browser"])
    again = handed_over(os.environ)
    assert again.key != entrance.key
    assert again.room != entrance.room


def _option(command: list[str], name: str) -> str:
    return next(word.partition("=")[2] for word in command if word.startswith(f"{name}="))


SECRET = "s" * 32


def test_behind_a_proxy_it_goes_by_the_address_that_people_type(started, monkeypatch, capsys):
    monkeypatch.setenv("SMDP_PROXY_SECRET", SECRET)
    address = "https://smdp.clinic.example/anna"
    assert cli.main(["dashboard", "--behind-proxy", f"{address}/", "--for-user", "anna"]) == 0
    [(command, _)] = started
    assert f"{address}/" in capsys.readouterr().out
    assert "--server.allowedHosts=smdp.clinic.example" in command
    assert "--server.address=127.0.0.1" in command
    assert not any(SECRET in word for word in command)
    entrance = handed_over(os.environ)
    assert entrance == Entrance(SECRET, "anna", address, "anna")
    assert os.environ["STREAMLIT_SERVER_BASE_URL_PATH"] == "anna"
    assert "SMDP_PROXY_SECRET" not in os.environ


@pytest.mark.parametrize(
    ("options", "secret", "problem"),
    [
        (["--behind-proxy", "clinic.example"], SECRET, "is not the address of a page"),
        (["--behind-proxy", "https://a.example/?x=1"], SECRET, "is not the address of a page"),
        (["--behind-proxy", "http://clinic.example"], SECRET, "as plain text"),
        (["--behind-proxy", "https://clinic.example"], "short", "at least 32 plain characters"),
        (["--behind-proxy", "https://clinic.example"], "é" * 40, "at least 32 plain characters"),
        (["--for-user", "anna"], SECRET, "must be given with --behind-proxy"),
    ],
)
def test_a_proxy_that_could_be_got_round_is_refused(options, secret, problem, started, capsys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMDP_PROXY_SECRET", secret)
        assert cli.main(["dashboard", *options]) == 2
    assert problem in capsys.readouterr().err
    assert started == []
