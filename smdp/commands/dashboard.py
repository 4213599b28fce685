"""`smdp dashboard`: open the workbench in the browser."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from pathlib import Path

from smdp.commands.entrance import PROXY_SECRET, Entrance
from smdp.commands.terminal import say
from smdp.errors import SmdpError
from smdp.parallel import DASHBOARD_WORKERS
from smdp.settings import require
from smdp.system import WINDOWS, become

ADDRESS, EVERYWHERE = "127.0.0.1", "0.0.0.0"
FIRST_PORT = 8501
#: As options of Streamlit's command, because these beat its files of settings as well.
PINNED = {
    "browser.gatherUsageStats": "false",
    "client.disableDataExport": "true",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": "false",
    "client.toolbarMode": "viewer",
    "global.developmentMode": "false",
    "server.allowRunOnSave": "false",
    "server.enableAgentApi": "false",
    "server.enableCORS": "true",
    "server.enableXsrfProtection": "true",
    "server.fileWatcherType": "none",
    "server.headless": "true",  # the browser is opened by our own server
    "server.maxUploadSize": "1000",
    "server.scriptHealthCheckEnabled": "false",
    "server.xsrfCookieSameSite": "strict",
}


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "dashboard",
        help="open the point-and-click workbench in the browser",
        description="Open the workbench in the browser. It can be started from any folder, is "
        "reachable from this machine only, lets in who has the address that it prints, and runs "
        "until Ctrl+C.",
        epilog="Example: smdp dashboard --port 8600 --no-browser",
    )
    parser.add_argument(
        "--port",
        type=int,
        metavar="N",
        help=f"port to listen on (default: the first free one from {FIRST_PORT} on)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="only print the address; open no browser"
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="calculations that run at once, for all open pages together; others wait (default: "
        f"as many as there are cores; also the environment variable {DASHBOARD_WORKERS})",
    )
    parser.add_argument(
        "--behind-proxy",
        metavar="ADDRESS",
        help="the address that people type, such as https://smdp.clinic.example/anna, where a "
        f"proxy signs them in and sends the secret in {PROXY_SECRET} along (docs/server.md)",
    )
    parser.add_argument(
        "--for-user",
        metavar="NAME",
        default="",
        help="behind a proxy: answer only what it sends with this name in X-Forwarded-User",
    )
    parser.add_argument(
        "--in-container",
        action="store_true",
        help="listen on every address of the container that this runs in; publish its port to "
        "this machine alone",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.workers is not None:
        require(options.workers >= 1, "--workers", "a whole number of at least 1", options.workers)
        os.environ[DASHBOARD_WORKERS] = str(options.workers)
    if options.behind_proxy is not None:
        secret = os.environ.get(PROXY_SECRET, "")
        entrance = Entrance.behind_proxy(options.behind_proxy, secret, options.for_user)
    else:
        require(not options.for_user, "--for-user", "given with --behind-proxy", options.for_user)
        entrance = Entrance.for_this_computer(
            opens_browser=not options.no_browser and not options.in_container
        )
    return run_dashboard(entrance, options.port, EVERYWHERE if options.in_container else ADDRESS)


def run_dashboard(entrance: Entrance, port: int | None = None, listens_on: str = ADDRESS) -> int:
    """Serve the dashboard to whom the entrance lets in until it is stopped; its exit code."""
    app, folder = dashboard_files()
    chosen = choose_port(port)
    say(f"The dashboard is at {entrance.address(chosen)}  (stop it with Ctrl+C)")
    if not entrance.public:
        say("Only that address lets anybody in, and only until the dashboard is stopped.")
    command = [sys.executable, "-m", "dashboard", "run", str(app)]
    command += [f"--server.address={listens_on}", f"--server.port={chosen}"]
    command += [f"--server.allowedHosts={host}" for host in entrance.hosts]
    command += [f"--{name}={value}" for name, value in PINNED.items()]
    entrance.hand_over(os.environ)
    return become(command, folder)


def dashboard_files() -> tuple[Path, Path]:
    """The dashboard's script, and the folder that holds its `.streamlit/config.toml`.

    The dashboard lies beside this package, in a checkout as in an installation; its configuration
    is beside it in the first and inside it in the second.
    """
    dashboard = Path(__file__).resolve().parents[2] / "dashboard"
    app = dashboard / "server.py"
    if app.is_file():
        for folder in (dashboard, dashboard.parent):
            if (folder / ".streamlit" / "config.toml").is_file():
                return app, folder
    raise SmdpError(f"The dashboard's files are missing from {dashboard}.", "Install smdp again.")


def choose_port(wanted: int | None) -> int:
    """The wanted port, or without a wish the first free one from 8501 on."""
    if wanted is not None:
        require(1 <= wanted <= 65535, "--port", "from 1 to 65535", wanted)
        problem = _port_problem(wanted)
        if problem:
            remedy = f"Choose another, such as --port {_free_port()}, or leave --port out."
            raise SmdpError(f"Port {wanted} {problem}.", remedy)
        return wanted
    port = _free_port()
    if port != FIRST_PORT:
        say(f"Port {FIRST_PORT} is already in use, so this dashboard takes {port}.")
    return port


def _free_port() -> int:
    for port in range(FIRST_PORT, FIRST_PORT + 100):
        if not _port_problem(port):
            return port
    raise SmdpError(
        f"No port from {FIRST_PORT} to {FIRST_PORT + 99} is free.",
        "Stop a program that uses one, or name another with --port.",
    )


def _port_problem(port: int) -> str:
    """Why the dashboard cannot listen on the port; empty when it can."""
    with socket.socket() as listener:
        if not WINDOWS:  # where this option lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, port))
        except PermissionError:
            return "is reserved for the system"
        except OSError:
            return "is already in use"
    return ""
