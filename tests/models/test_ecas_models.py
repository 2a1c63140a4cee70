"""models/ecas_pyomo.py, the package's program and brute force: one optimum."""

from __future__ import annotations

import pytest
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict

pytest.importorskip("pyomo")

algebra = load_module(ROOT / "models" / "ecas_pyomo.py")
reference = load_module(ROOT / "tests/reference/brute_force_ecas.py")
TINY = {
    raw["name"].split("-")[1].removeprefix("tiny_"): raw
    for raw in load_module(ROOT / "instances/tiny_ecas.py").tiny_instances()
}
BY_HAND = {"stayson": 6.5, "switchesoff": 7, "negativeprice": 2.5, "onemachine": 4.5, "fullslot": None}


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    solution = algebra.solve(TINY[name])
    assert solution["objective"] == (None if BY_HAND[name] is None else pytest.approx(BY_HAND[name]))
    assert solution["status"] == ("infeasible" if BY_HAND[name] is None else "optimal")


@pytest.mark.slow
@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(50))
def test_three_statements_agree(kind: str, seed: int) -> None:
    raw = reference.random_instance(seed, kind)
    optimum = reference.brute_force(raw)[0]
    solution = co.solve(from_dict(raw), "milp", mip_rel_gap=0)
    values = [algebra.solve(raw)["objective"], solution.objective]
    assert values == [None if optimum is None else pytest.approx(optimum, abs=1e-6)] * 2
