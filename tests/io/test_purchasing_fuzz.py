"""Purchasing files with anything in any place: an instance, or an InputError that names the place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_support import JUNK, Raw, damaged, paths, with_junk
from loop_support import for_each
from purchasing_support import RAW, change

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data.file import from_dict


def survives(raw: Raw) -> None:
    """Read what may be no instance; what reads must come back, hold no job that may outlast it, and be solved."""
    try:
        instance = from_dict(raw)
    except InputError as error:
        assert all(error.lines())  # noqa: PT017
        return
    again = from_dict(json.loads(json.dumps(instance.to_dict())))
    assert again.sha256 == instance.sha256
    assert np.all(instance.latest_end_hours <= instance.time.hours * (1 + 1e-9))
    assert instance.features()["jobs"] == len(instance.jobs)
    solution = co.solve(instance, "no-wait")
    if solution.has_solution:  # a limit may be too low
        assert co.check(instance, solution).violations == ()


@pytest.mark.slow
@for_each(value=JUNK)
def test_any_value_anywhere_is_an_instance_or_an_input_error(value: Any) -> None:
    for place in paths(RAW)[1:]:
        survives(change({place: value}))


@for_each(seed=range(200))
def test_several_values_at_once(seed: int) -> None:
    survives(with_junk(RAW, seed))


@for_each(seed=range(200))
def test_damaged_bytes_are_an_instance_or_an_input_error(seed: int, tmp_path: Path) -> None:
    content, packed = json.dumps(RAW).encode(), seed % 4 == 0
    path = tmp_path / ("x.json.gz" if packed else "x.json")
    path.write_bytes(damaged(gzip.compress(content, mtime=0) if packed else content, seed))
    try:
        co.read(path)
    except InputError as error:
        assert all(line.startswith(f"{path}") for line in error.lines())  # noqa: PT017
