"""Method `price`: patterns by dynamic program, prices near the LP's, a search that never loses a job."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from loop_support import for_each

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.kernels import best_pattern, settle
from carbonopt.problems.ecas.methods.price.search import filled
from carbonopt.problems.ecas.methods.price.search_kernels import Moves, search, value_of
from carbonopt.problems.ecas.methods.price.tables import NOWHERE, by_energy, ranked, schedule_of, tables_of
from carbonopt.problems.ecas.verify.check import check


@pytest.fixture(scope="module")
def instance() -> EcasInstance:
    made = co.generate("ecas", jobs=20, machines=3, slots=24, load=0.3, negative_slots=2, seed=5)
    assert isinstance(made, EcasInstance)
    return made


@for_each(seed=range(30))
def test_the_best_pattern_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slots = 6
    cost, must = rng.normal(0.3, 1, slots), rng.integers(0, 3, slots) // 2
    up, down = rng.uniform(0, 1.5, 2)
    on = np.zeros(slots, dtype=np.int64)
    with loops(steps=1):
        value = best_pattern(cost, must, up, down, np.zeros((slots, 2), dtype=np.int64), on)

    def priced(pattern: tuple[int, ...]) -> float:
        starts = sum(b > a for a, b in zip((0, *pattern), (*pattern, 0), strict=True))
        return float(cost @ np.array(pattern)) + starts * (up + down)

    allowed = [pattern for pattern in product((0, 1), repeat=slots) if all(np.array(pattern) >= must)]
    assert value == pytest.approx(min(map(priced, allowed)))
    assert priced(tuple(on.tolist())) == pytest.approx(value)
    assert (on >= must).all()


def test_the_bound_is_near_the_relaxation(instance: EcasInstance) -> None:
    lp, price = co.solve(instance, "lp"), co.solve(instance, "price", params={"search": {"moves_per_job": 0}})
    assert lp.info["lp_optimum"] == pytest.approx(lp.bound, rel=1e-6)
    assert price.bound <= lp.bound * (1 + 1e-9)
    assert price.bound >= 0.98 * lp.bound


def test_the_search_improves_and_keeps_its_books(instance: EcasInstance) -> None:
    """After many moves the value that the search has summed up is the checker's."""
    tables = tables_of(instance, 3.0)
    with loops(steps=1):
        ranking = ranked(tables, np.zeros((2, 25)), 0.5)
        state = filled(instance, tables, by_energy(tables), Options())
        first = value = best = value_of(tables, state)
        machine, start = state.machine.copy(), state.start.copy()
        random = np.random.default_rng(1).random(4000)
        taken = np.zeros(6, dtype=np.int64)
        value, best, moves = search(
            tables, state, ranking, Moves(0.02, 2, 6), 0.05 * first / 20, random, taken, value, best, machine, start
        )
        assert value == pytest.approx(value_of(tables, state), rel=1e-12)
        patterns = state.on.copy()
        for m in range(3):
            settle(tables, state, m)
    assert moves > 20
    assert best <= min(first, value)
    assert (patterns == state.on).all()
    assert (state.machine != NOWHERE).all()
    report = check(instance, schedule_of(instance, state))
    assert report.violations == ()
    assert report.objective == pytest.approx(value, rel=1e-12)


def test_arrays_of_a_file_have_the_layout_of_generated_ones(instance: EcasInstance) -> None:
    """Loops that `carbonopt compile` made for generated instances would otherwise be compiled again for files."""
    generated, read = (tables_of(one, 3.0) for one in (instance, from_dict(instance.to_dict())))
    for one, other in zip(generated, read, strict=True):
        assert (one.dtype, one.flags.c_contiguous) == (other.dtype, other.flags.c_contiguous)
        assert (one == other).all()


def test_it_starts_from_the_users_schedule(instance: EcasInstance) -> None:
    best = co.solve(instance, "price", params={"search": {"moves_per_job": 10}})
    again = co.solve(instance, "price", initial_solution=best, params={"search": {"moves_per_job": 0}})
    assert again.objective <= best.objective * (1 + 1e-12)


def test_near_the_optimum_of_a_small_one() -> None:
    small = co.generate("ecas", jobs=8, machines=2, slots=10, load=0.4, seed=2)
    exact = co.solve(small, "milp", mip_rel_gap=0, time_limit=None)
    assert co.solve(small, "price").objective <= 1.01 * exact.objective


def test_without_jobs_or_machines() -> None:
    raw = co.generate("ecas", jobs=1, machines=1, slots=4, seed=1).to_dict()
    empty = {"name": [], "arrival": [], "duration": [], "deadline": [], "power_kw": [], "use": {"r0": [], "r1": []}}
    nothing = {"name": [], "capacity": {"r0": [], "r1": []}, "idle_kw": [], "up_cost": [], "down_cost": []}
    for machines in (raw["machines"], nothing):
        idle = from_dict(raw | {"jobs": empty, "machines": machines})
        for method in ("price", "milp", "greedy"):
            assert co.solve(idle, method).objective == 0
    assert co.solve(from_dict(raw | {"machines": nothing}), "price").status == "infeasible"
