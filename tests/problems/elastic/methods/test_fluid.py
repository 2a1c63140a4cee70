"""Method `price` on the fluid model: the optimum of the whole linear program, and what proves it."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from elastic_support import FLUID_KINDS, by_hand, changed, random_instance

import carbonopt as co
from carbonopt.algorithms import kernel
from carbonopt.problems.elastic.data.instance import ElasticInstance

AGREEMENT = 1e-7


WELL_SCALED = [kind for kind in FLUID_KINDS if kind != "scaled"]


@pytest.fixture(autouse=True)
def machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of small cases end sooner so."""
    monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)


def compared(instance: ElasticInstance, agreement: float = AGREEMENT) -> str:
    """Compare `price` with HiGHS on the whole LP and return the status."""
    ours, reference = (co.solve(instance, method) for method in ("price", "lp"))
    assert ours.status == reference.status
    for solution in (ours, reference):
        report = co.check(instance, solution)
        assert report.violations == ()
        assert report.proven_infeasible == (solution.status == "infeasible")
        assert solution.has_solution == (solution.status == "optimal")
        assert solution.bound is None or report.proven_bound == pytest.approx(solution.bound, rel=1e-9, abs=1e-12)
    if ours.has_solution:
        assert ours.objective == pytest.approx(reference.objective, rel=agreement, abs=1e-12)
        assert ours.bound == pytest.approx(reference.objective, rel=agreement, abs=1e-12)
    return str(ours.status)


@pytest.mark.parametrize("kind", WELL_SCALED)
def test_it_is_the_optimum_of_the_linear_program(kind: str) -> None:
    agreement = 1e-6 if kind == "free" else AGREEMENT  # where most work is free, little carbon is left to compare with
    instances = (random_instance(seed, kind, 2 + seed % 11, 1 + seed * 7 % 15) for seed in range(32))
    found = Counter(compared(instance, agreement) for instance in instances)
    assert found["optimal"] >= 15
    assert (found["infeasible"] >= 2) == (kind != "tight")


@pytest.mark.parametrize("kind", WELL_SCALED)
def test_in_plain_python_too(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which warns where numbers overflow."""
    monkeypatch.setattr(kernel, "PLAIN_STEPS", np.inf)
    for seed in range(36, 39):
        compared(random_instance(seed, kind, 2 + seed % 7, 1 + seed * 7 % 9), agreement=1e-6)


@pytest.mark.filterwarnings("ignore:.*six orders of magnitude")
@pytest.mark.parametrize("seed", range(30))
def test_intensities_over_twelve_orders_of_magnitude(seed: int) -> None:
    """HiGHS's tolerances are absolute: its own optimum is only so good there."""
    compared(random_instance(seed, "scaled", 2 + seed % 11, 1 + seed * 7 % 15), agreement=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WELL_SCALED)
def test_it_is_the_optimum_of_the_linear_program_on_larger_instances(kind: str) -> None:
    for seed in range(100, 104):
        compared(random_instance(seed, kind, 40 + seed % 30, 30 + seed % 20), agreement=1e-6)


class TestScale:
    """A change of unit changes nothing but the unit."""

    base = random_instance(8, "decreasing", 6, 9)

    @pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
    def test_of_carbon(self, factor: float) -> None:
        rows = (self.base.carbon.g_per_kwh * factor).tolist()
        scaled = changed(self.base, {("carbon", "g_per_kwh"): rows})
        expected = co.solve(self.base, "price")
        solution = co.solve(scaled, "price")
        assert (solution.status, expected.status) == ("optimal", "optimal")
        assert solution.objective == pytest.approx(expected.objective * factor, rel=1e-7)
        assert co.check(scaled, solution).proven_bound == pytest.approx(solution.bound, rel=1e-9)

    @pytest.mark.parametrize("factor", [1e-3, 10, 1e3])
    def test_of_servers(self, factor: float) -> None:
        """As many jobs as servers, each `factor` times: capacity and k_min grow together."""
        k_min = max(1, round(factor))
        instance = changed(
            by_hand(2, [3, 1, 2], *[(0, 1, 2, [1])] * 4, model="fluid"),
            {("cluster", "capacity"): 2.0 * k_min}
            | {("profiles", name, "k_min"): k_min for name in "abcd"}
            | {("profiles", name, "marginal_watts"): [1000.0 * factor] for name in "abcd"},
        )
        solution = co.solve(instance, "price")
        assert (solution.status, solution.objective) == ("optimal", pytest.approx(6 * factor, rel=1e-7))

    @pytest.mark.parametrize("length", [0.01, 0.1, 1.0, 200.0])
    def test_of_lengths(self, length: float) -> None:
        slots = int(np.ceil(length)) + 3
        carbon = np.random.default_rng(0).uniform(10, 500, slots).round(2)
        for jobs, capacity in ((1, 5.0), (3, 2.5)):
            rows = [(0, length, 3, [1, 0.5])] * jobs
            compared(by_hand(capacity, carbon.tolist(), *rows, model="fluid"))

    def test_lengths_side_by_side(self) -> None:
        rows = [(0, 0.01, 3, [1]), (5, 0.3, 0, [1, 0.9]), (2, 150.0, 10, [1, 0.5]), (0, 200.0, 3, [1, 0.9, 0.1])]
        carbon = np.random.default_rng(1).uniform(0.01, 5, 204).tolist()
        compared(by_hand(1.9, carbon, *rows, model="fluid"))


class TestEdges:
    def test_no_jobs(self) -> None:
        for instance in (by_hand(3, [1, 2], model="fluid"), by_hand(0, [0], model="fluid")):
            solution = co.solve(instance, "price")
            assert (solution.status, solution.objective, solution.bound) == ("optimal", 0, 0)
            assert solution.columns == {"job": [], "slot": [], "servers": [], "share": []}

    @pytest.mark.parametrize(
        ("length", "capacity", "status"),
        [(1, 1, "optimal"), (0.5, 0.5, "optimal"), (1, 0.999999, "infeasible"), (1, 0, "infeasible")],
    )
    def test_one_slot(self, length: float, capacity: float, status: str) -> None:
        instance = by_hand(capacity, [7], (0, length, 0, [1]), model="fluid")
        assert compared(instance) == status

    def test_a_capacity_that_is_short_by_rounding_is_not_short(self) -> None:
        assert compared(by_hand(1 - 0.9, [7], (0, 0.1, 0, [1]), model="fluid")) == "optimal"
        assert compared(by_hand(0.3, [7], *[(0, 0.1, 0, [1])] * 3, model="fluid")) == "optimal"

    def test_free_carbon(self) -> None:
        for carbon in ([0, 0, 0], [0, 5, 0]):
            solution = co.solve(by_hand(1, carbon, (0, 1, 2, [1]), (0, 1, 1, [1]), model="fluid"), "price")
            assert (solution.status, solution.objective) == ("optimal", pytest.approx(0, abs=1e-9))

    def test_slots_without_capacity(self) -> None:
        assert compared(by_hand([0, 2, 0, 0.5], [1, 9, 1, 5], (0, 1.2, 2, [1, 0.5]), model="fluid")) == "optimal"
        assert compared(by_hand([0, 0, 0, 2], [1, 9, 1, 5], (0, 1.2, 1, [1, 0.5]), model="fluid")) == "infeasible"

    def test_a_block_wider_than_the_cluster_is_shared(self) -> None:
        """Four servers for half a slot are two servers on average."""
        wide = changed(by_hand(2, [3, 1], (0, 1, 1, [1]), model="fluid"), {("profiles", "a", "k_min"): 4})
        solution = co.solve(wide, "price")
        assert solution.objective == pytest.approx(0.5 * 1 + 0.5 * 3)
        assert sorted(solution.columns["share"]) == pytest.approx([0.5, 0.5])

    def test_many_jobs_alike(self) -> None:
        """Every optimum is degenerate."""
        assert compared(by_hand(5, [2, 2, 2, 2], *[(0, 1, 3, [1, 1])] * 20, model="fluid")) == "optimal"
        assert compared(by_hand(4, [2, 2, 2, 2], *[(0, 1, 3, [1, 1])] * 20, model="fluid")) == "infeasible"

    def test_the_integer_bound_is_the_fluid_optimum(self) -> None:
        for seed in range(6):
            instance = random_instance(seed, "decreasing", 5, 8, model="integer")
            fluid = co.solve(instance.with_model("fluid"), "price")
            bound = co.solve(instance, "lp-rounding").bound
            assert fluid.status == "infeasible" or bound == pytest.approx(fluid.bound, rel=1e-7)


def test_a_solution_survives_its_file() -> None:
    instance = random_instance(3, "general", 6, 9)
    solution = co.solve(instance, "price")
    assert json.loads(json.dumps(solution.to_dict())) == solution.to_dict()


def test_plain_python_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_instance(5, "decreasing", 8, 12)
    machine = co.solve(instance, "price")
    monkeypatch.setattr(kernel, "PLAIN_STEPS", np.inf)
    plain = co.solve(instance, "price")
    assert machine.status == plain.status == "optimal"
    assert machine.objective == pytest.approx(plain.objective, rel=1e-9)
    assert machine.bound == pytest.approx(plain.bound, rel=1e-9)
