"""`clusters.max_starts_per_slot`: an optional constraint through all rooms, and who refuses it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from instance_support import RAW

import carbonopt as co
from carbonopt.core.errors import RefusedError
from carbonopt.core.options import Options
from carbonopt.core.registry import problem_of
from carbonopt.milp import highs
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.verify.certificate import proven_bound

reference = load_module(ROOT / "tests/reference/brute_force.py")
ABLE = [name for name, method in problem_of("mosp").methods.items() if "max_starts_per_slot" in method.respects]


def limited(seed: int, limit: Any, kind: str = "carbon") -> dict[str, Any]:
    raw = reference.random_instance(seed, kind)
    raw["clusters"]["max_starts_per_slot"] = limit
    return raw


def test_a_file_takes_one_number_or_one_a_cluster():
    raw = reference.random_instance(0, "carbon", clusters=2)
    free = from_dict(raw)
    for limit, limits in ((1, [1, 1]), ([0, 3], [0, 3])):
        instance = from_dict({**raw, "clusters": raw["clusters"] | {"max_starts_per_slot": limit}})
        assert instance.clusters.max_starts_per_slot.tolist() == limits
        assert instance.constraints == ("max_starts_per_slot",)
        assert from_dict(instance.to_dict()).sha256 == instance.sha256 != free.sha256


def test_without_it_files_and_hashes_are_as_before():
    raw = reference.random_instance(0, "carbon")
    assert from_dict(raw).constraints == ()
    assert "max_starts_per_slot" not in from_dict(raw).to_dict()["clusters"]
    none = {**raw, "clusters": raw["clusters"] | {"max_starts_per_slot": None}}
    assert from_dict(none).sha256 == from_dict(raw).sha256


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (-1, "clusters.max_starts_per_slot = -1: must be at least 0"),
        (1.5, "clusters.max_starts_per_slot = 1.5: must be a whole number"),
        ([1, 2, 3, 4], "must have one entry for each of the"),
    ],
)
def test_a_wrong_limit_is_told(limit, told):
    with pytest.raises(co.InputError, match=told):
        from_dict(limited(0, limit))


def test_the_checker_counts_starts():
    raw = reference.random_instance(0, "carbon", jobs=3, clusters=2)
    raw["jobs"]["arrival"], raw["jobs"]["eligible"] = [0, 0, 0], None
    raw["clusters"]["max_starts_per_slot"] = [2, 1]
    schedule = {"job": ["job0", "job1", "job2"], "cluster": ["cluster0", "cluster0", "cluster1"], "start": [0, 0, 0]}
    check = problem_of("mosp").role("check")

    def of_starts(schedule: dict[str, Any]) -> list[tuple[str | None, int | None, float]]:
        found = check(from_dict(raw), schedule, None).violations
        return [(v.cluster, v.slot, v.amount) for v in found if v.constraint == "max_starts_per_slot"]

    assert of_starts(schedule) == []
    assert of_starts(schedule | {"cluster": ["cluster0", "cluster1", "cluster1"]}) == [("cluster1", 0, 1.0)]
    assert of_starts(schedule | {"cluster": ["cluster0"] * 3}) == [("cluster0", 0, 1.0)]
    assert of_starts({"job": [], "cluster": [], "start": []}) == []


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limit", [0, 1])
def test_who_respects_it_agrees_with_brute_force(seed, limit):
    raw = limited(seed, limit)
    instance, best = from_dict(raw), reference.brute_force(raw)[0]
    exact = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None)
    assert exact.objective == (None if best is None else pytest.approx(best, rel=1e-7))
    assert (exact.status == "infeasible") == (best is None)
    for name in ABLE:
        solution = co.solve(instance, name)
        report = co.check(instance, solution)
        assert report.feasible
        if solution.has_solution:
            assert solution.objective >= best - 1e-9
        if best is not None and solution.bound is not None:
            assert solution.bound <= best + 1e-9
        if solution.certificate is not None and best is not None:
            assert report.proven_bound <= best + 1e-9


@pytest.mark.parametrize("kind", ["carbon", "caspian"])
def test_the_certificate_of_the_relaxation_proves_its_optimum(kind):
    dearer = 0
    for seed in range(8):
        raw = limited(seed, 1, kind)
        relaxed = co.solve(from_dict(raw), "lp", time_limit=None)
        if relaxed.bound is None:
            continue
        report = co.check(from_dict(raw), relaxed)
        assert report.violations == ()
        assert report.proven_bound == pytest.approx(relaxed.info["lp_objective"], rel=1e-7, abs=1e-9)
        without = relaxed.certificate | {"start_prices": np.zeros_like(relaxed.certificate["start_prices"]).tolist()}
        proven, _ = proven_bound(from_dict(raw), without, relaxed.info)
        sign = 1 if kind == "carbon" else -1
        dearer += np.any(relaxed.certificate["start_prices"])
        assert sign * (report.proven_bound - proven) >= -1e-9
    assert dearer >= 4


def test_start_prices_that_prove_nothing_are_told():
    raw = limited(0, 1)
    relaxed = co.solve(from_dict(raw), "lp")
    for prices, words in ((-1.0, "must be numbers from 0"), ([[1.0]], "must be numbers from 0"), (None, "clusters x")):
        with pytest.raises(co.InputError, match=rf"certificate.start_prices.*{words}"):
            proven_bound(from_dict(raw), relaxed.certificate | {"start_prices": prices}, {})
    raw["clusters"].pop("max_starts_per_slot")
    with pytest.raises(co.InputError, match=r"certificate.start_prices.*the instance limits no starts"):
        proven_bound(from_dict(raw), relaxed.certificate, {})


@pytest.mark.parametrize("kind", ["carbon", "caspian"])
@pytest.mark.parametrize("relax", [False, True])
def test_the_second_statement_agrees(kind, relax):
    raw = limited(5, 1, kind)
    if kind == "caspian":
        raw["objective"]["normalizers"] = {"z1": 0.1, "z2": 2.0, "z3": 1.0}
    found = load_module(ROOT / "models/mosp_pyomo.py").solve(raw, relax=relax)
    options = Options(mip_rel_gap=0)
    mine = highs.solve(co.formulate(from_dict(raw), "lp" if relax else "milp"), options)
    assert found["status"] == "optimal"
    assert mine.objective == pytest.approx(found["objective"], rel=1e-6)


def test_what_does_not_respect_it_refuses():
    instance = co.generate("mosp", preset="bench", jobs=30, clusters=3, slots=24, seed=1)
    instance = replace(instance, clusters=replace(instance.clusters, max_starts_per_slot=np.array([1, 1, 1])))
    with pytest.raises(RefusedError, match=r"method 'price' does not respect max_starts_per_slot.*must be 'milp'"):
        co.solve(instance, "price")
    with pytest.raises(RefusedError, match=r"policy 'caspian' does not respect max_starts_per_slot.*no policy does"):
        co.simulate(instance, "caspian")
    table = co.compare(instance, ["price", "greedy-clean"]).set_index("method")
    assert table.loc["price", "status"] == "error"
    assert table.loc["greedy-clean", "status"] == "feasible"


def test_auto_chooses_what_respects_it():
    mosp = problem_of("mosp")
    instance = co.generate("mosp", preset="bench", jobs=200, clusters=3, slots=48, seed=1)
    assert mosp.choose(instance) == "price"
    limit = np.array([3, 3, 3])
    assert mosp.choose(replace(instance, clusters=replace(instance.clusters, max_starts_per_slot=limit))) == "milp"


def test_a_program_has_named_rows():
    assert "starts" not in co.formulate(from_dict(RAW)).constraints
    assert "starts" in co.formulate(from_dict(limited(0, 1))).constraints


def test_a_diagnosis_tells_too_few_starts():
    raw = reference.random_instance(0, "carbon", jobs=3, clusters=2)
    raw["objective"]["rejection_price"], raw["clusters"]["max_starts_per_slot"] = None, 0
    found = co.diagnose(from_dict(raw))
    assert found.feasible is False
    assert "max_starts_per_slot" in str(found.findings[-1])
