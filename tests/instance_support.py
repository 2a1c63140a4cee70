"""A small instance as its file holds it, and what reading it says once something in it is changed."""

from __future__ import annotations

import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.mosp.data.file import from_dict

Place = tuple[str | int, ...]
Raw = dict[str, Any]

RAW: Raw = {
    "schema_version": 1,
    "problem": "mosp",
    "name": "two",
    "provenance": {},
    "time": {"slots": 4, "slot_hours": 1.0, "start": "2023-11-14T00:00:00Z"},
    "carbon": {"zones": ["A", "B"], "g_per_kwh": [[1, 2, 3, 4], [5, 6, 7, 8]]},
    "clusters": {
        "name": ["a", "b"],
        "zone": ["A", "B"],
        "capacity": {"gpu": [4, [4, 4, 4, 4]]},
        "watts_per_unit": {"gpu": [100, 200]},
    },
    "jobs": {
        "name": ["x", "y"],
        "arrival": [0, 1],
        "duration": [1, 2],
        "deadline": [3, 4],
        "demand": {"gpu": [1, 2]},
        "eligible": [["a"], ["a", "b"]],
    },
    "objective": {
        "kind": "carbon",
        "weights": {"carbon_kg": 1, "tardiness_slots": 0.1, "completion_slots": 0},
        "rejection_price": None,
    },
}
REMOVED = object()
JUNK = [None, True, -1, 0, 0.5, 1e31, 10**400, float("nan"), float("-inf"), "", "x", "é\u2028", [], {}, [[]], [None],
        {"a": 1}, [1, 2, 3, 4, 5], -0.0, 2**53, "1"]  # fmt: skip


def tamper(raw: Raw, changes: dict[Place, Any]) -> Raw:
    """Return a copy of `raw` with other values at some paths."""
    raw = deepcopy(raw)
    for path, value in changes.items():
        place = raw
        for key in path[:-1]:
            place = place[key]
        if value is REMOVED:
            del place[path[-1]]
        else:
            place[path[-1]] = value
    return raw


def change(changes: dict[Place, Any]) -> Raw:
    """Return the instance with other values at some paths."""
    return tamper(RAW, changes)


def lines(raw: Raw) -> list[str]:
    """Return the faults of a content, one line each."""
    with pytest.raises(InputError) as caught:
        from_dict(raw)
    return [str(fault) for fault in caught.value.faults]


def told(path: Path, content: bytes) -> list[str]:
    """Return the lines that reading a file of this content raises, without the file's name."""
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        co.read(path)
    found = caught.value.lines()
    assert all(line.startswith(f"{path}: ") for line in found)
    return [line.removeprefix(f"{path}: ") for line in found]


def paths(value: Any, place: Place = ()) -> list[Place]:
    """Return every place in a content, the whole first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(path for key, item in items for path in paths(item, (*place, key)))]


def with_junk(raw: Raw, seed: int) -> Raw:
    """Return a copy of `raw` with anything, or nothing, in two to five places."""
    rng = random.Random(seed)
    raw = deepcopy(raw)
    for _ in range(rng.randint(2, 5)):
        place: Any = raw
        *outer, last = rng.choice(paths(raw)[1:])
        for key in outer:
            place = place[key]
        if rng.random() < 0.2:
            del place[last]
        else:
            place[last] = deepcopy(rng.choice(JUNK))
    return raw


def damaged(content: bytes, seed: int) -> bytes:
    """Return bytes with one to four changes."""
    rng = random.Random(seed)
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed))
        changed[at : at + rng.choice([0, 1, 1, 5])] = rng.choice([b"", b"\x00", b"9", b"}", b'"', b"\xff", b"-", b"e9"])
    return bytes(changed)
