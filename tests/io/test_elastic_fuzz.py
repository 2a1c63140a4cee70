"""Elastic files with anything in any place: an instance, or an InputError that names the place."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from elastic_support import RAW, change
from instance_support import Place, Raw

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.elastic.file import from_dict

JUNK = [None, True, -1, 0, 0.5, 1e31, 10**400, float("nan"), float("-inf"), "", "x", "é\u2028", [], {}, [[]], [None],
        {"a": 1}, [1, 2, 3, 4, 5], -0.0, 2**53, "1"]  # fmt: skip


def paths(value: Any, place: Place = ()) -> list[Place]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(path for key, item in items for path in paths(item, (*place, key)))]


def survives(raw: Raw) -> None:
    """Read what may be no instance; what reads must also check, bound and solve."""
    try:
        instance = from_dict(raw)
    except InputError as error:
        assert all(error.lines())  # noqa: PT017
        return
    report = co.check(instance, co.solve(instance, "carbonflex-greedy"))
    assert report.violations == ()


@pytest.mark.parametrize("value", JUNK, ids=range(len(JUNK)))
def test_any_value_anywhere_is_an_instance_or_an_input_error(value: Any) -> None:
    for place in paths(RAW)[1:]:
        survives(change({place: value}))


@pytest.mark.parametrize("seed", range(200))
def test_several_values_at_once(seed: int) -> None:
    rng = random.Random(seed)
    raw = change({})
    for _ in range(rng.randint(2, 5)):
        place: Any = raw
        *outer, last = rng.choice(paths(raw)[1:])
        for key in outer:
            place = place[key]
        if rng.random() < 0.2:
            del place[last]
        else:
            place[last] = rng.choice(JUNK)
    survives(raw)


@pytest.mark.parametrize("seed", range(200))
def test_damaged_bytes_are_an_instance_or_an_input_error(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    content = bytearray(json.dumps(RAW).encode())
    packed = seed % 4 == 0
    if packed:
        content = bytearray(gzip.compress(bytes(content), mtime=0))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content))
        content[at : at + rng.choice([0, 1, 1, 5])] = rng.choice([b"", b"\x00", b"9", b"}", b'"', b"\xff", b"-", b"e9"])
    path = tmp_path / ("x.json.gz" if packed else "x.json")
    path.write_bytes(content)
    try:
        co.read(path)
    except InputError as error:
        assert all(line.startswith(f"{path}") for line in error.lines())  # noqa: PT017
