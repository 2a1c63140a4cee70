"""The `carbonopt` command and its exit codes.

0 done; 1 no solution, or `check` found a violation; 2 usage or unreadable input; 130 interrupted,
with the incumbent written.
"""

from __future__ import annotations

import signal
from types import FrameType

import typer

from carbonopt.cli import bench, check, compare, data, diagnose, export, plot, solve

app = typer.Typer(
    name="carbonopt",
    help="Mathematical optimization of carbon-aware computing, with proven gaps.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (solve, check, compare, data, diagnose, export, bench, plot):
    module.register(app)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line and exit with its code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs start with it ignored
    signal.signal(signal.SIGTERM, _terminate)
    app()


if __name__ == "__main__":
    main()
