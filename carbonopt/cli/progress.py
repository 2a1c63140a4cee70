"""Progress of long work: the state of a search, the steps of an experiment, the count of a campaign."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from carbonopt.cli.console import say
from carbonopt.core.display import number, percent
from carbonopt.core.errors import one_line
from carbonopt.core.options import Progress
from carbonopt.core.solution import relative_gap

QUIET_SECONDS = 2.0
"""Work shorter than this shows no progress."""


def saying() -> Callable[[str], None]:
    """Return what tells the steps of long work, once it takes a while."""
    start = time.perf_counter()

    def step(text: str) -> None:
        seconds = time.perf_counter() - start
        if seconds > QUIET_SECONDS:
            say(f"{seconds:.0f} s: {text}")

    return step


def fitted(label: str, state: str, columns: int) -> str:
    """Return a label and what follows it in less than a terminal's columns: a line that wraps is not cleared.

    The end of the label is kept, where methods and seeds stand. A terminal of 0 columns does not know its width.
    """
    room = columns - 1 - len(state)
    if columns == 0 or len(label) <= room:
        return label + state
    return ("…" + label[len(label) - room + 1 :] + state if room > 1 else state[2:])[: columns - 1]


class Meter:
    """Shows the progress of one method: one live line on a terminal, else a line every 5 seconds."""

    def __init__(self, label: str, time_limit: float | None, work_limit: float | None = None) -> None:
        self.label = one_line(label)
        self.time_limit = time_limit
        self.work_limit = work_limit
        self.incumbent: float | None = None
        self.bound: float | None = None
        self.live = sys.stderr.isatty()
        self.next_line = QUIET_SECONDS
        self.shown = False

    def __call__(self, progress: Progress) -> None:
        """Take a report, and show it if it is time to."""
        self.incumbent = self.incumbent if progress.incumbent is None else progress.incumbent
        self.bound = self.bound if progress.bound is None else progress.bound
        if progress.seconds < self.next_line:
            return
        self.next_line = progress.seconds + (0.5 if self.live else 5.0)
        gap = relative_gap(self.incumbent, self.bound)
        left = ""
        if self.time_limit is not None:
            left = f", at most {max(0.0, self.time_limit - progress.seconds):.0f} s left"
        if self.work_limit is not None:
            left += f", work {progress.work:.1f} of {self.work_limit:g}"
        state = (
            f": {progress.seconds:.0f} s, incumbent {number(self.incumbent)},"
            f" bound {number(self.bound)}, gap {percent(gap)}{left}"
        )
        if self.live:
            line = fitted(self.label, state, os.get_terminal_size(sys.stderr.fileno()).columns)
            print(f"\r\033[2K{line}", end="", file=sys.stderr, flush=True)
        else:
            print(self.label + state, file=sys.stderr, flush=True)
        self.shown = True

    def close(self) -> None:
        """Clear the live line."""
        if self.live and self.shown:
            print("\r\033[2K", end="", file=sys.stderr, flush=True)


@contextmanager
def counted(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how many of `total` steps are done, with rate and remaining time, once it takes a while."""
    start = time.perf_counter()
    done = 0
    last = time.perf_counter()

    def step() -> None:
        nonlocal done, last
        done += 1
        now = time.perf_counter()
        if now - start > QUIET_SECONDS and (now - last > QUIET_SECONDS or done == total):
            last = now
            rate = done / (now - start)
            say(f"{label}: {done} of {total}, {rate:.3g} a second, about {(total - done) / rate:.0f} s left")

    yield step
