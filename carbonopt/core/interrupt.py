"""Whether the user has asked the command to stop.

A Ctrl-C raises KeyboardInterrupt wherever Python happens to be, and code of others may swallow it: a callback from C, a
finaliser, a solver that ends in the same moment. The command line notes it here as well, so that it is never lost.
The first signal lets the command keep what it has; a second one ends the process at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""Exit code of a command that was asked to stop."""

COMMANDS = ("carbonopt", "carbonopt.exe")
"""What the file of the running program is called where it is the command."""
MODULES = ("carbonopt", "carbonopt.__main__", "carbonopt.cli.main")
"""What ``python -m`` runs where that is the command."""

ONE_REQUEST_SECONDS = 0.2
"""Signals that come closer together are one request: `timeout` and terminals send theirs to a process and its group."""

_asked: list[float] = []
"""When each signal came [s]."""


def ask(number: int, frame: FrameType | None) -> None:
    """Note a signal, and raise KeyboardInterrupt, or end the process if it is the second: a handler of signals."""
    now = time.monotonic()
    is_second = bool(_asked) and now - _asked[0] >= ONE_REQUEST_SECONDS
    _asked.append(now)
    if is_second:
        end_at_once(number, frame)
    if len(_asked) == 1:
        raise KeyboardInterrupt


def end_at_once(_number: int, _frame: FrameType | None) -> NoReturn:
    """Say so and end the process: a handler of signals for when nothing is begun yet, all is done, or one came before.

    An exception could be lost there: in modules that turn any failure of an import into one of their own.
    """
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def begin_or_end_command() -> None:
    """Let signals end this process at once if it is one of the command: its modules take a second to import.

    Programs of others that import the package keep their own handlers of signals.
    """
    if is_command(sys.argv, sys.orig_argv):
        handle_with(end_at_once)


def is_command(arguments: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether a process is one of the command.

    Parameters
    ----------
    arguments
        The program and its arguments: ``sys.argv``.
    whole
        The same with the interpreter and its options: ``sys.orig_argv``.

    Examples
    --------
    >>> is_command(["/usr/bin/carbonopt", "solve"], ["python", "/usr/bin/carbonopt", "solve"])
    True
    >>> is_command(["-m"], ["python", "-m", "carbonopt", "solve"])
    True
    >>> is_command(["/home/me/app/__main__.py"], ["python", "-m", "app"])
    False
    """
    if arguments and os.path.basename(arguments[0]) in COMMANDS:
        return True
    module = whole[whole.index("-m") + 1 :][:1] if "-m" in whole else []
    return bool(module) and module[0] in MODULES


def handle_with(handler: Callable[[int, FrameType | None], None]) -> None:
    """Let Ctrl-C and a request to terminate call `handler`; background jobs start with Ctrl-C ignored."""
    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)


def is_asked() -> bool:
    """Return whether there was a signal since `forget`."""
    return bool(_asked)


def forget() -> None:
    """Begin anew: for a command that runs in the process of another."""
    _asked.clear()
