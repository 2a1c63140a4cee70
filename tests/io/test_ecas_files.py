"""The ecas instance file: round trips, and every fault told at once, by field and row."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, load_module

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict

[RAW, *_] = load_module(ROOT / "instances/tiny_ecas.py").tiny_instances()


def changed(**values: Any) -> dict[str, Any]:
    raw = copy.deepcopy(RAW)
    for path, value in values.items():
        *outer, last = path.split("__")
        part = raw
        for name in outer:
            part = part[name]
        part[last] = value
    return raw


def test_round_trip(tmp_path: Path) -> None:
    instance = from_dict(RAW)
    instance.write(tmp_path / "i.json")
    assert co.read(tmp_path / "i.json").to_dict() == json.loads(json.dumps(RAW))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"price_per_kwh": [1, 2]}, "price_per_kwh = 2 values: must have 3 prices, one a slot (time.slots)"),
        ({"price_per_kwh": [1, 2, 1e31]}, "price_per_kwh[2] = 1e+31: must be at most 1e+30"),
        ({"machines__idle_kw": [-1.0]}, "machines.idle_kw[0] = -1.0: must be at least 0"),
        ({"machines__capacity": {"cpu": [3, 3]}}, "machines.capacity.cpu = 2 entries: must have one entry"),
        ({"jobs__use": {"gpu": [1, 1]}}, "must have the resources of machines.capacity: 'cpu'"),
        ({"jobs__deadline": [1, 9]}, "jobs.deadline[1] = 9: must be at most 3, the number of slots"),
        ({"jobs__deadline": [0, 3]}, "jobs.deadline[0] = 0: must be at least arrival + duration"),
        ({"jobs__duration": [0, 1]}, "jobs.duration[0] = 0: must be at least 1"),
        ({"jobs__name": ["a", "a"]}, "jobs.name[1] = 'a': is a duplicate of row 0"),
        ({"objective": {"weights": {"carbon_kg": 1.0}}}, "objective.weights.carbon_kg = 1.0: needs a zone"),
        ({"carbon": {"zones": ["A", "B"], "g_per_kwh": [[1.0] * 3] * 2}}, "carbon.zones"),
        ({"carbon": {"zones": ["A"], "g_per_kwh": []}}, "carbon.g_per_kwh"),
    ],
)
def test_faults(values: dict[str, Any], words: str) -> None:
    with pytest.raises(co.InputError) as caught:
        from_dict(changed(**values))
    assert any(words in line for line in caught.value.lines()), caught.value.lines()


def test_several_faults_at_once() -> None:
    with pytest.raises(co.InputError) as caught:
        from_dict(changed(machines__up_cost=[], jobs__arrival=[0, -1], price_per_kwh="cheap"))
    assert len(caught.value.lines()) == 3
