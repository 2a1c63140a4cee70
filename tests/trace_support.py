"""Job logs as files, and the faults that a reader tells of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from carbonopt.core.errors import InputError
from carbonopt.io.jobs import JobTrace


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def swf(**fields: object) -> str:
    """Return a line of a completed job with other values in some fields."""
    values = {"job": 1, "submit": 0, "wait": 0, "run": 60, "allocated": 1, "cpu": -1, "memory": -1, "requested": 1}
    values |= {"time": 60, "mem": -1, "status": 1} | {f"more{i}": -1 for i in range(7)}
    return " ".join(map(str, (values | fields).values())) + "\n"


def faults(read: Callable[[Path], JobTrace], path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(path)
    lines = caught.value.lines()
    assert all(line.startswith(str(path)) for line in lines)
    return [line.removeprefix(str(path)) for line in lines]
