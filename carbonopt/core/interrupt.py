"""Whether the user has asked the command to stop.

A Ctrl-C raises KeyboardInterrupt wherever Python happens to be, and code of others may swallow it: a callback from C, a
finaliser, a solver that ends in the same moment. The command line notes it here as well, so that it is never lost.
"""

from __future__ import annotations

from types import FrameType

_asked: list[int] = []


def ask(number: int, _frame: FrameType | None) -> None:
    """Note a signal, and raise KeyboardInterrupt: a handler of signals."""
    _asked.append(number)
    raise KeyboardInterrupt


def is_asked() -> bool:
    """Return whether there was a signal since `forget`."""
    return bool(_asked)


def forget() -> None:
    """Begin anew: for a command that runs in the process of another."""
    _asked.clear()
