"""models/purchasing_pyomo.py against brute force, against the package, and by hand."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from loop_support import for_each
from purchasing_random import continuous

import carbonopt as co
from carbonopt.problems.purchasing.data.file import from_dict
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights

PYOMO = ROOT / "models" / "purchasing_pyomo.py"
MODELS = ("splitting", "no-split", "suspend-resume")

pytest.importorskip("pyomo")
pytestmark = pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")  # of random moments

model = load_module(PYOMO)
reference = load_module(ROOT / "tests" / "reference" / "brute_force_purchasing.py")
tiny_purchasing = load_module(ROOT / "instances" / "tiny_purchasing.py")


def exactly(value: float | None) -> Any:
    """Equal to 1e-6, relative or absolute; None is only equal to None."""
    return None if value is None else pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("raw", tiny_purchasing.tiny_instances(), ids=lambda raw: raw["name"].split("-")[1])
def test_hand_written_instances(raw: dict[str, Any]) -> None:
    optimum, _, reserved = reference.brute_force(raw)
    found = model.solve(raw)
    assert found["objective"] == exactly(optimum)
    assert found["status"] == ("infeasible" if optimum is None else "optimal")
    assert optimum is None or raw["reserved_cpus"] is not None or found["reserved_cpus"] == reserved


@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(4))
def test_equals_brute_force(seed: int, kind: str) -> None:
    raw = reference.random_instance(seed, kind)
    assert model.solve(raw)["objective"] == exactly(reference.brute_force(raw)[0])


def program_optimum(instance: PurchasingInstance) -> float | None:
    """The optimum of the package's program over slots, whatever a schedule costs."""
    from carbonopt.core.options import Options
    from carbonopt.milp import highs

    result = highs.solve(co.formulate(instance), Options(time_limit=None, mip_rel_gap=0.0))
    return result.objective


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@for_each(seed=range(4))
def test_equals_the_package_in_continuous_time(seed: int, name: str) -> None:
    instance = continuous(seed, name, [None, 0.0, 0.3][seed % 3], decided=seed % 4 == 0)
    assert model.solve(instance.to_dict())["objective"] == exactly(program_optimum(instance))


@pytest.mark.parametrize("name", MODELS)
@for_each(seed=range(3))
def test_equals_the_package_within_limits(seed: int, name: str) -> None:
    instance = continuous(seed, name, [None, 0.0][seed % 2], decided=seed % 4 == 0)
    free = co.solve(instance, "no-wait").metrics
    limits = Limits(free["carbon_kg"] * 0.9, free["cost_usd"] * 1.05, [None, 2.0][seed % 2])
    instance = instance.with_objective(Weights(0, 1, 0.01), limits)
    assert model.solve(instance.to_dict())["objective"] == exactly(program_optimum(instance))


@pytest.mark.slow
@for_each(seed=range(4, 16))
@pytest.mark.parametrize("kind", reference.KINDS)
def test_package_equals_model_and_brute_force(seed: int, kind: str) -> None:
    raw = reference.random_instance(seed, kind)
    optimum, _, _ = reference.brute_force(raw)
    assert model.solve(raw)["objective"] == exactly(optimum)
    solution = co.solve(from_dict(raw), "milp", mip_rel_gap=0, time_limit=None)
    assert solution.objective == exactly(optimum)
    if optimum is None:
        assert solution.status == "infeasible"
    else:  # the tolerances of the solver are absolute: small objectives close to 1.4e-7, and not to 1e-7
        assert solution.status == "optimal" or (solution.gap or 1.0) <= 1e-6


def test_random_instances_are_of_their_kind() -> None:
    for kind in reference.KINDS:
        drawn = [reference.random_instance(seed, kind) for seed in range(40)]
        assert len({raw["name"] for raw in drawn}) == 40
        assert (kind.startswith("decided")) == all(raw["reserved_cpus"] is None for raw in drawn)
        for raw in drawn:
            step = raw["time"]["slot_hours"]
            times = np.array([*raw["jobs"]["arrival_hours"], *raw["jobs"]["length_hours"]]) / step
            assert (times == np.rint(times)).all()
    none = [reference.brute_force(reference.random_instance(seed, "limits"))[0] is None for seed in range(40)]
    assert 2 <= sum(none) <= 20


def test_what_the_model_does_not_state_is_refused() -> None:
    raw = copy.deepcopy(tiny_purchasing.tiny_instances()[0])
    raw["spot"] = {"max_length_hours": 1, "evictions_per_hour": 1}
    raw["objective"]["limits"]["carbon_kg"] = 5
    with pytest.raises(ValueError, match="limits with evictions are stated only where no job waits"):
        model.solve(raw)


def test_no_jobs() -> None:
    raw = copy.deepcopy(tiny_purchasing.tiny_instances()[0])
    raw["jobs"] = {column: [] for column in raw["jobs"]}
    assert model.solve(raw)["objective"] == 0


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_command_line_prints_the_runs_as_json(suffix: str, tmp_path: Path) -> None:
    raw, path = tiny_purchasing.tiny_instances()[0], tmp_path / f"hand{suffix}"
    with (gzip.open if suffix.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
        json.dump(raw, file)
    command = [sys.executable, str(PYOMO), str(path), "--time-limit", "60"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=path.parent).stdout
    assert json.loads(printed) == {
        "instance": raw["name"],
        "objective": exactly(2),
        "sense": "min",
        "status": "optimal",
        "reserved_cpus": 0,
        "runs": {"job": ["A"], "start_hours": [2], "end_hours": [3], "option": ["shared"]},
    }
