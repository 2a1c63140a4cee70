"""What is shipped is what is generated, has the optimum written beside it, and fits its schema."""

from __future__ import annotations

import filecmp
import json
from dataclasses import replace
from math import expm1

import jsonschema
import pytest
from conftest import ROOT, TINY, load_module

import carbonopt as co
from carbonopt.bench.bks import FOLDERS
from carbonopt.bench.bks_verify import instance_named, verify
from carbonopt.core.options import Options
from carbonopt.core.registry import problem_of
from carbonopt.problems.mosp.methods.normalizers import normalizers

SHIPPED = sorted(path for kind in ("tiny", "paper", "bench") for path in (ROOT / "instances" / kind).glob("*.json"))
SPOT = 1.2 * -expm1(-1)
"""An hour on spot CPUs at a hazard of 1 and a fifth of the price, and the hour on demand that may follow."""
OPTIMA = {  # mosp in kg, elastic in g, purchasing in units of its weights, mlcluster in kg, ecas in money
    "shift": 0.1, "crowd": 0.7, "tradeoff": 0.45, "reject": 0.8, "resources": 0.3, "caspian": 2.25,
    "rerouting_5_3": 3, "falseinfeasible_none_4": 4, "lastunit_5_4": 4, "lastunit_fluid_3p5_3p5": 3.5,
    "window_5p9_3": 3, "window_fluid_2p975_2p975": 2.975, "gains_10p2_9p24": 9.24, "printed_none_1": 1,
    "closedwindow_late_2": 2, "scaling": 5, "rigid_7_5": 5, "network": 4.5, "switching": 8, "slotcapacity": 9,
    "cleanhour_2": 2, "reservedpulls_3": 3, "nobreak_10": 10, "suspendresume_3": 3, "split_1": 1, "nosplit_2": 2,
    "largejob_4": 4, "largerfirst_1": 1, "reserveone_1p6": 1.6, "reservenone_4": 4, "spotpays_0p7585": SPOT,
    "spotdoesnotpay_1": 1, "spotemits_2": 2, "spotshort_2p2": 2.2, "limitwaits_1": 1, "limitspot_1p7585": 1 + SPOT,
    "gpushift": 0.1,
    "gpuqueue": 0.3,
    "twogpus": 0.2,
    "jctbudget": 0.4,
    "gpurestart": 0.2,
    "idlegpus": 0.06,
    "jctweight": 0.5,
    "stayson": 6.5,
    "switchesoff": 7,
    "negativeprice": 2.5,
    "onemachine": 4.5,
}  # fmt: skip
INFEASIBLE = {"infeasible", "overload", "halves", "limitnone", "fullslot"}
GREEDY = {  # what Algorithm 1 ends with [g]: the variant that the name of the instance is about
    "rerouting_5_3": ("carbonflex-greedy", 5),
    "falseinfeasible_none_4": ("carbonflex-greedy", None),
    "lastunit_5_4": ("carbonflex-greedy", 5),
    "lastunit_fluid_3p5_3p5": ("carbonflex-greedy-fluid", 3.5),
    "window_5p9_3": ("carbonflex-greedy", 5.9),
    "window_fluid_2p975_2p975": ("carbonflex-greedy-fluid", 2.975),
    "gains_10p2_9p24": ("carbonflex-greedy-fluid", 10.2),
    "printed_none_1": ("carbonflex-greedy-printed", None),
    "closedwindow_late_2": ("carbonflex-greedy-printed", None),
    "rigid_7_5": ("carbonflex-greedy", 7),
}


def test_shipped_files_are_generated_from_seeds(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "instances")
    load_module(ROOT / "instances/build.py").build(tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.json"))
    committed = {path.relative_to(ROOT / "instances") for path in (ROOT / "instances").rglob("*.json")}
    assert set(made) == {path for path in committed if path.parts[0] not in ("bks.json", "solutions", "bounds")}
    _, different, missing = filecmp.cmpfiles(tmp_path, ROOT / "instances", map(str, made), shallow=False)
    assert (different, missing) == ([], [])


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_files_fit_their_schema_and_round_trip(path, tmp_path):
    raw = json.loads(path.read_text())
    schema = json.loads((ROOT / f"instances/schema/{raw['problem']}.schema.json").read_text())
    jsonschema.validate(raw, schema)
    instance = co.read(path)
    instance.write(tmp_path / "again.json.gz")
    again = co.read(tmp_path / "again.json.gz")
    assert again.sha256 == instance.sha256
    assert again.to_dict() == raw
    index = json.loads((ROOT / "instances/index.json").read_text())
    assert index[instance.name]["sha256"] == instance.sha256


@pytest.mark.parametrize("name", OPTIMA)
def test_hand_checked_optima(name, tiny):
    methods = problem_of(tiny[name].problem).methods
    exact = "milp" if methods["milp"].exact else "price"
    solution = co.solve(tiny[name], exact, mip_rel_gap=0, time_limit=None)
    assert solution.status == "optimal" or exact == "price"
    assert solution.objective == pytest.approx(OPTIMA[name], abs=1e-9)
    assert solution.bound <= OPTIMA[name] + 1e-6
    assert exact == "price" or solution.bound == pytest.approx(OPTIMA[name], abs=1e-6)


@pytest.mark.parametrize("name", sorted(INFEASIBLE))
def test_the_infeasible_ones(name, tiny):
    solution = co.solve(tiny[name], "milp")
    assert (solution.status, solution.has_solution, solution.bound) == ("infeasible", False, None)


def test_every_tiny_instance_is_covered():
    assert set(TINY) == {*OPTIMA, *INFEASIBLE}
    assert len(TINY) == len(list((ROOT / "instances/tiny").glob("*.json"))), "two problems share a short name"


@pytest.mark.parametrize("name", GREEDY)
def test_counterexamples_to_theorem_4_1(name, tiny):
    """The numbers in the name: what Algorithm 1 ends with, and the optimum."""
    method, value = GREEDY[name]
    solution = co.solve(tiny[name], method)
    assert (solution.objective is None) == (value is None)
    assert solution.objective == (None if value is None else pytest.approx(value, abs=1e-9))
    told = ["none" if value is None else f"{value:g}".replace(".", "p"), f"{OPTIMA[name]:g}".replace(".", "p")]
    assert name.split("_")[-2:] == (["late", told[1]] if name.startswith("closedwindow") else told)


def test_why_algorithm_1_as_printed_has_no_schedule(tiny):
    late = co.solve(tiny["closedwindow_late_2"], "carbonflex-greedy-printed")
    assert (late.status, late.info["late_jobs"], late.info["objective_as_printed"]) == ("unknown", ["A"], 1)
    idle = co.solve(tiny["printed_none_1"], "carbonflex-greedy-printed")
    assert (idle.status, idle.info["unfinished_jobs"]) == ("unknown", ["A"])


def test_halves_fit_in_the_fluid_model_alone(tiny):
    halves = tiny["halves"]
    assert co.solve(halves.with_model("fluid"), "lp").objective == pytest.approx(1)
    found = co.diagnose(halves)
    assert found.feasible is False
    assert "fluid model has a schedule" in found.proof
    assert co.solve(tiny["overload"], "price").certificate["kind"] == "shortage"


def test_solutions_fit_their_schema(tiny, tmp_path):
    schema = json.loads((ROOT / "instances/schema/solution.schema.json").read_text())
    for method in ("milp", "lp", "greedy-random"):
        co.solve(tiny["crowd"], method).write(tmp_path / "s.json")
        jsonschema.validate(json.loads((tmp_path / "s.json").read_text()), schema)


def test_the_hash_is_of_the_data_not_of_the_file(tiny):
    raw = tiny["crowd"].to_dict()
    from carbonopt.problems.mosp.data.file import from_dict

    renamed = from_dict(raw | {"name": "other", "provenance": {}})
    assert renamed.sha256 == tiny["crowd"].sha256
    spelled = json.loads(json.dumps(raw))
    spelled["clusters"]["capacity"]["gpu"] = [[1.0, 1.0], 1]
    assert from_dict(spelled).sha256 == tiny["crowd"].sha256
    spelled["clusters"]["capacity"]["gpu"] = [[1.0, 2.0], 1]
    assert from_dict(spelled).sha256 != tiny["crowd"].sha256


def test_best_known_values_are_those_of_shipped_solutions():
    found = dict(verify(ROOT / "instances/bks.json"))
    assert {name: faults for name, faults in found.items() if faults} == {}
    known = json.loads((ROOT / "instances/bks.json").read_text())
    assert {read["problem"] for read in map(_raw, known)} == {"ecas", "elastic", "mlcluster", "mosp", "purchasing"}
    versions = {entry[field]["version"] for entry in known.values() for field in FOLDERS if entry[field]}
    assert "unknown" not in versions


def _raw(name):
    return instance_named(ROOT / "instances", name).to_dict()


def test_fixed_normalizers_are_the_optima_of_their_lps_rounded_up():
    """Of seed 2, whose LPs take least."""
    name = "mosp-caspianz-j0200-t048-z3-s02"
    instance = co.read(ROOT / f"instances/paper/{name}.json")
    free = replace(instance, objective=replace(instance.objective, normalizers=None))
    optima = normalizers(free, Options(time_limit=None, threads=1)).bars
    for fixed, optimum in zip(instance.objective.normalizers, optima, strict=True):
        assert optimum * (1 - 1e-9) <= fixed <= optimum * (1 + 1e-4)
