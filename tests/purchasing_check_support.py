"""Two jobs and a signal by hand, for the tests of purchasing's checker."""

from __future__ import annotations

KG = [1.0, 2.0, 3.0, 4.0] + [1.0] * 16
JOBS = [(0.0, 2.0, 2.0), (0.5, 1.0, 1.0)]
GOOD = [("j0", 1.0, 3.0, "shared"), ("j1", 0.5, 1.5, "on-demand")]
