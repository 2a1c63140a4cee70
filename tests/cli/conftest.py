"""Commands that run inside a test show no progress: on a slow machine a line more would stand among their errors."""

from __future__ import annotations

from math import inf

import pytest

from carbonopt.cli import progress


@pytest.fixture(autouse=True)
def _without_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", inf)
