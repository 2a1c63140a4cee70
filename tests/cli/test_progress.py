"""The live line of a long solve in a narrow terminal."""

from __future__ import annotations

import io
import os
import sys

import pytest

from carbonopt.cli import progress
from carbonopt.cli.progress import Meter, fitted
from carbonopt.core.options import Progress

LABEL = "mosp-supercomputer070-j0200-t048-z3-s558 price"
STATE = ": 2 s, incumbent 103.852, bound 101.842, gap 1.94 %, work 1.3 of 4"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (0, LABEL + STATE),
        (len(LABEL + STATE) + 1, LABEL + STATE),
        (len(LABEL + STATE), "…" + LABEL[2:] + STATE),
        (80, "…3-s558 price" + STATE),
        (len(STATE) + 3, "…e" + STATE),
        (len(STATE) + 2, STATE[2:]),
        (20, STATE[2:21]),
    ],
)
def test_a_line_is_shorter_than_the_terminal_is_wide(columns, line):
    """The end of the label stays, then what follows it, and at last the beginning of that."""
    assert fitted(LABEL, STATE, columns) == line
    assert columns == 0 or len(line) < columns


def test_the_live_line_of_a_terminal_is_cleared(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def fileno(self):
            return 2

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(os, "get_terminal_size", lambda number: os.terminal_size((80, 24)))
    monkeypatch.setattr(progress, "QUIET_SECONDS", 2.0)
    meter = Meter(LABEL, None, 4.0)
    meter(Progress(seconds=2.4, work=1.3, incumbent=103.852, bound=101.842))
    meter.close()
    _, line, end = terminal.getvalue().split("\r\033[2K")
    assert line.startswith("…")
    assert line.endswith(" price: 2 s, incumbent 103.852, bound 101.842, gap 1.94 %, work 1.3 of 4")
    assert len(line) == 79
    assert end == ""
