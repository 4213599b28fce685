"""The command line: `smdp dashboard`, `smdp run` and the other commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from smdp import __version__
from smdp.commands.terminal import complain
from smdp.errors import SmdpError
from smdp.plugins import load_plugins

#: In the order of the help text. Each has `add_parser`; the parsed options have `run`.
COMMANDS = (
    "smdp.commands.dashboard",
    "smdp.commands.run",
    "smdp.commands.report",
    "smdp.commands.lock",
    "smdp.commands.validate",
    "smdp.simulation.command",
    "smdp.commands.bench",
)
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error meant for people is one line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        load_plugins()
        code: int = options.run(options)
        return code
    except SmdpError as error:
        complain(f"smdp: {error}")
        return 2
    except KeyboardInterrupt:
        complain("smdp: Interrupted.")
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="smdp",
        description="From a mobile-health trial to a treatment policy that can be read. "
        "Everything runs on this machine; nothing leaves it.",
        epilog="Start with: smdp dashboard. What a command does: smdp run --help",
    )
    parser.add_argument("--version", action="version", version=f"smdp {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    for module in COMMANDS:
        if _exists(module):
            import_module(module).add_parser(commands)
    return parser


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


if __name__ == "__main__":
    raise SystemExit(main())
