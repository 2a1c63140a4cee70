"""The dual function and the cuts: slopes by differences, cuts that hold in every schedule."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price import bound, cuts
from carbonopt.problems.ecas.methods.price.bound import Dual, best_prices
from carbonopt.problems.ecas.methods.price.cuts import Cuts, no_cuts, violated
from carbonopt.problems.ecas.methods.price.parameters import BoundParameters
from carbonopt.problems.ecas.methods.price.tables import Tables, tables_of
from carbonopt.problems.ecas.verify.certificate import proven_bound

reference = load_module(ROOT / "tests/reference/brute_force_ecas.py")


def given(seed: int) -> tuple[EcasInstance, Tables, FloatArray, Cuts]:
    """Return an instance, prices of capacity and of cuts, and cuts that jobs spread by chance violate."""
    instance = co.generate("ecas", jobs=12, machines=3, slots=12, load=0.6, resources=2, seed=seed)
    assert isinstance(instance, EcasInstance)
    rng = np.random.default_rng(seed)
    tables = tables_of(instance, 3.0)
    cuts = violated(tables, rng.uniform(0.6, 1.0, (12, 12)), np.ones(12), 10)
    idle = float(instance.idle_cost.max())
    flat = rng.uniform(0, 1, 24 + len(cuts.slot)) * idle / float(instance.machines.capacity.mean())
    return instance, tables, flat, cuts


@for_each(seed=range(5))
def test_the_soft_function_has_the_slope_of_its_differences(seed: int) -> None:
    instance, tables, flat, cuts = given(seed)
    assert len(cuts.slot) == 10
    with loops(steps=1):
        dual = Dual(instance, tables, cuts)
        temperature = 0.05 * float(instance.idle_cost.max())
        _, slope = dual.soft(flat, temperature)
        for k in range(0, len(flat), 3):
            step = 1e-5 * max(flat[k], 1e-3)
            ends = [dual.soft(flat + sign * step * (np.arange(len(flat)) == k), temperature)[0] for sign in (1, -1)]
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(slope[k], rel=1e-4, abs=1e-4 * dual.unit)


@for_each(seed=range(5))
def test_the_hard_function_is_what_the_certificate_proves_and_the_soft_one_is_near_it(seed: int) -> None:
    instance, tables, flat, cuts = given(seed)
    with loops(steps=1):
        dual = Dual(instance, tables, cuts)
        value, _ = dual.hard(flat)
        cold = 1e-6 * abs(value)
        soft, _ = dual.soft(flat, cold)
    prices, of_cuts = dual.split(flat)
    proof = {"kind": "lagrangian", "prices": prices.tolist(), "cuts": cuts.as_certificate(of_cuts)}
    assert proven_bound(instance, proof, {})[0] == pytest.approx(value, rel=1e-12)
    assert value - 200 * cold <= soft <= value


@for_each(seed=range(6))
def test_a_subgradient_bounds_the_hard_function_from_above(seed: int) -> None:
    instance, tables, flat, cuts = given(seed)
    rng = np.random.default_rng(seed)
    with loops(steps=1):
        dual = Dual(instance, tables, cuts)
        value, slope = dual.hard(flat)
        for _ in range(10):
            other = flat * rng.uniform(0, 2, len(flat))
            assert dual.hard(other)[0] <= value + slope @ (other - flat) + 1e-9 * abs(value)


@for_each(seed=range(40))
def test_cuts_hold_for_whole_machines_and_whole_jobs(seed: int) -> None:
    """For any jobs that run in a slot, at least as many machines are on as their units need."""
    rng = np.random.default_rng(seed)
    raw = reference.random_instance(seed, "price")
    tables = tables_of(from_dict(raw), 3.0)
    jobs, slots = len(raw["jobs"]["name"]), raw["time"]["slots"]
    largest = tables.capacity.max(axis=0)
    with loops(steps=1):
        cuts = violated(tables, rng.uniform(0.3, 1.0, (jobs, slots)), rng.uniform(0, 0.5, slots), 10)
    assert len(cuts.slot)
    for k in range(len(cuts.slot)):
        entry = cuts.cut == k
        r = cuts.resource[k]
        for runs in product((0, 1), repeat=jobs):
            running = np.array(runs)
            machines = -(-int(tables.use[:, r] @ running) // int(largest[r]))
            assert machines >= cuts.least[k] + cuts.slope[entry] @ running[cuts.job[entry]] - 1e-9


def test_cuts_are_kept_and_joined_with_their_jobs() -> None:
    _, _, _, cuts = given(1)
    keep = np.arange(10) % 3 == 0
    some, rest = cuts.kept(keep), cuts.kept(~keep)
    both = some.joined(rest)
    order = np.concatenate([np.flatnonzero(keep), np.flatnonzero(~keep)])
    whole, parts = cuts.as_certificate(np.arange(10.0)), both.as_certificate(order.astype(float))
    for column in whole:
        assert [whole[column][k] for k in order] == parts[column]
    assert no_cuts().joined(cuts).as_certificate(np.arange(10.0)) == whole
    assert no_cuts().as_certificate(np.zeros(0)) == {"slot": [], "resource": [], "jobs": [], "prices": []}


def test_rounds_never_lower_the_bound() -> None:
    instance, tables, _, _ = given(3)
    values = []
    for rounds in (0, 1, 3):
        with loops(steps=1):
            prices = best_prices(instance, tables, Options(), BoundParameters(rounds=rounds))
        values.append(proven_bound(instance, prices.certificate(), {})[0])
    assert values == sorted(values)
    assert values[1] > values[0]


def test_the_bound_takes_a_share_of_the_time_and_no_more_than_its_seconds() -> None:
    params = BoundParameters()
    assert [params.share(seconds) for seconds in (0.0, 5.0, 60.0, 1000.0)] == [0.15, 0.15, 0.15, 0.01]
    assert params.part(Options(time_limit=None)).time_limit is None
    assert params.part(Options(work_limit=100.0)).work_limit == pytest.approx(15.0)


def test_loops_are_compiled_before_the_time_of_the_bound_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """All have run once when the share of the time is asked for."""
    instance, tables, _, _ = given(3)
    order: list[str] = []

    def noted(name: str, call: Any) -> Any:
        def wrapped(*values: Any) -> Any:
            order.append(name)
            return call(*values)

        return wrapped

    loops_of = [(bound, "priced_starts"), (bound, "soft_patterns"), (bound, "least_patterns"), (cuts, "deepest_cut")]
    for module, name in loops_of:
        monkeypatch.setattr(module, name, noted(name, getattr(module, name)))
    monkeypatch.setattr(BoundParameters, "part", noted("part", BoundParameters.part))
    with loops(steps=1):
        best_prices(instance, tables, Options(), BoundParameters(rounds=0))
    assert set(order[: order.index("part")]) == {name for _, name in loops_of}


def test_prices_of_cuts_stay_within_what_a_certificate_holds() -> None:
    """Five jobs of 42 units for three slots each do not fit on two machines of 82 in five: prices rise without end."""
    made = co.generate("ecas", jobs=5, machines=2, slots=5, load=0.5, resources=1, seed=1)
    assert isinstance(made, EcasInstance)
    ones = np.ones(5, dtype=np.int64)
    jobs = replace(made.jobs, use=42 * ones[:, None], arrival=0 * ones, duration=3 * ones, deadline=5 * ones)
    crowded = replace(made, machines=replace(made.machines, capacity=np.array([[82], [82]])), jobs=jobs)
    solution = co.solve(crowded, "price", params={"search": {"moves_per_job": 1}})
    assert solution.columns is None
    proof = solution.certificate
    assert proven_bound(crowded, proof, {})[0] == solution.bound
