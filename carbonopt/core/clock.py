"""The time that a command has taken before its work begins: starting, importing and reading count in its limit."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from carbonopt.core.interrupt import is_command

_imported = time.perf_counter()
_spent: ContextVar[float] = ContextVar("spent", default=0.0)

LARGEST_SHARE = 0.5
"""Of a limit that may be spent before a method begins; what is spent beyond it makes the command late."""


def began() -> float:
    """Return when this command began, as ``time.perf_counter`` tells it; in a program of others now."""
    return _imported if is_command(sys.argv, sys.orig_argv) else time.perf_counter()


@contextmanager
def counting_from(moment: float) -> Iterator[None]:
    """Let what has passed since `moment` count in the time limits of solves that begin inside."""
    token = _spent.set(time.perf_counter() - moment)
    try:
        yield
    finally:
        _spent.reset(token)


def left_of(limit: float | None) -> float | None:
    """Return what is left of a time limit [s] when a solve begins.

    Examples
    --------
    >>> left_of(60.0), left_of(None)
    (60.0, None)
    >>> with counting_from(time.perf_counter() - 100.0):
    ...     left_of(60.0)
    30.0
    """
    if limit is None:
        return None
    return limit - min(_spent.get(), LARGEST_SHARE * limit)
