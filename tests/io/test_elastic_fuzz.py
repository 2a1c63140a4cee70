"""Elastic files with anything in any place: an instance, or an InputError that names the place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from elastic_support import RAW, change
from instance_support import JUNK, Raw, damaged, paths, with_junk
from loop_support import for_each

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.elastic.data.file import from_dict


def survives(raw: Raw) -> None:
    """Read what may be no instance; what reads must also check, bound and solve."""
    try:
        instance = from_dict(raw)
    except InputError as error:
        assert all(error.lines())  # noqa: PT017
        return
    report = co.check(instance, co.solve(instance, "carbonflex-greedy"))
    assert report.violations == ()


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
