"""Measures of work that the machine's load does not change: calls of functions, and looks at a clock."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from carbonopt.core import options

LOOK_SECONDS = 1 / 16
"""Time that passes from one look at the clock to the next."""
LOOKS_TO_END = 32
"""Looks that a method may take after its limit: each of its phases looks, and does nothing."""


class LookedAtClock:
    """Replaces the clock of the options: time passes by looking at it, so that who looks often ends soon."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks = 0
        monkeypatch.setattr(options, "time", SimpleNamespace(perf_counter=self.look))
        monkeypatch.setattr(import_module("carbonopt.solve"), "Options", partial(options.Options, started=0.0))

    def require_kept(self, limit: float) -> None:
        """Raise where work went on after the limit: each piece of work looks at the clock before."""
        assert self.now <= limit + LOOKS_TO_END * LOOK_SECONDS

    @property
    def now(self) -> float:
        """Seconds since the first look."""
        return self.looks * LOOK_SECONDS

    def look(self) -> float:
        """Return the time, and let some pass."""
        self.looks += 1
        return self.now


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Yield a list whose one entry counts the calls of functions inside, those of C among them."""
    calls = [0]

    def count(_frame: Any, event: str, _argument: Any) -> None:
        calls[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)
