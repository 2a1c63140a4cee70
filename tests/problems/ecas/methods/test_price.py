"""Method `price`: patterns by dynamic program, prices near the LP's, a search that never loses a job."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from loop_support import for_each

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.kernels import best_place, move, overfull, settle
from carbonopt.problems.ecas.methods.price.method import guiding
from carbonopt.problems.ecas.methods.price.patterns import best_part, best_pattern, bridged_part, part_cost
from carbonopt.problems.ecas.methods.price.ruin_kernels import DRAWS, Members, choose_to_close, join, shut
from carbonopt.problems.ecas.methods.price.search import filled
from carbonopt.problems.ecas.methods.price.search_kernels import Moves, offer, search, value_of, work_space
from carbonopt.problems.ecas.methods.price.tables import NOWHERE, by_energy, empty_state, ranked, schedule_of, tables_of
from carbonopt.problems.ecas.verify.certificate import proven_bound
from carbonopt.problems.ecas.verify.check import check


def generated() -> EcasInstance:
    made = co.generate("ecas", jobs=20, machines=3, slots=24, load=0.3, negative_slots=2, seed=5)
    assert isinstance(made, EcasInstance)
    return made


@pytest.fixture(scope="module")
def instance() -> EcasInstance:
    return generated()


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


@for_each(seed=range(60))
def test_gaps_are_bridged_as_by_the_dynamic_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slots = 12
    cost = rng.uniform(0, 1, slots)
    must = (rng.random(slots) < rng.uniform(0.1, 0.6)).astype(np.int64)
    up, down = rng.uniform(0, 1.5, 2)
    first = int(rng.integers(0, 4))
    last = int(rng.integers(8, slots + 1))
    ends = (first, last, bool(first > 0 and rng.random() < 0.7), bool(last < slots and rng.random() < 0.7))
    came = np.zeros((slots, 2), dtype=np.int64)
    wanted = np.zeros(slots, dtype=np.int64)
    on = np.zeros(slots, dtype=np.int64)
    with loops(steps=1):
        value = best_part(cost, must, up, down, *ends, came, wanted)
        assert bridged_part(cost, must, up, down, *ends, on) == pytest.approx(value)
        assert part_cost(cost, on, up, down, *ends) == pytest.approx(value)
    assert (on == wanted).all()


@for_each(seed=range(24))
def test_the_best_place_is_the_best_of_all(seed: int) -> None:
    """Against the score of every place on machines that are partly full and now and then not available.

    Six resources of twelve bits take two words.
    """
    rng = np.random.default_rng(seed)
    resources = 2 if seed < 12 else 6
    instance = co.generate("ecas", jobs=14, machines=3, slots=24, resources=resources, load=0.5, seed=seed)
    assert isinstance(instance, EcasInstance)
    available = rng.random((3, 24)) < 0.9
    instance = replace(instance, machines=replace(instance.machines, available=available))
    tables = tables_of(instance, 3.0)
    assert tables.need.shape[1] == (1 if resources == 2 else 2)
    state = empty_state(instance, tables)
    plain = by_energy(tables)
    idle, change = instance.idle_cost, instance.machines.up_cost + instance.machines.down_cost
    placed = []
    with loops(steps=1):
        for m in range(3):
            settle(tables, state, m)
        for j in range(14):
            least = np.inf
            for m, s in product(range(3), range(tables.arrival[j], tables.last_start[j] + 1)):
                end = s + tables.duration[j]
                run = [(t, i) for i, n, b, e in placed for t in range(max(b, s), min(e, end)) if n == m]
                used = np.zeros((24, resources), dtype=np.int64)
                for t, i in run:
                    used[t] += instance.jobs.use[i]
                if (used[s:end] + instance.jobs.use[j] > instance.machines.capacity[m]).any():
                    continue
                if not available[m, s:end].all():
                    continue
                off = state.on[m, s:end] == 0
                cost = tables.kwh[j] * (tables.value[end] - tables.value[s]) + idle[m, s:end][off].sum()
                if not state.on[m, max(0, s - 1) : end + 1].any():
                    cost += change[m]
                least = min(least, cost)
            m, s = best_place(tables, state, plain, j, np.arange(3), np.ones(3))
            assert (m < 0) == (least == np.inf)
            if m < 0:
                continue
            end = s + tables.duration[j]
            before = state.cost[m]
            off = state.on[m, s:end] == 0
            cost = tables.kwh[j] * (tables.value[end] - tables.value[s]) + idle[m, s:end][off].sum()
            if not state.on[m, max(0, s - 1) : end + 1].any():
                cost += change[m]
            assert cost == pytest.approx(least)
            move(tables, state, j, m, s, 1)
            assert state.cost[m] >= before - 1e-12
            placed.append((j, m, s, end))


def test_prices_guide_by_what_is_scarce() -> None:
    """Of a price, what idle energy costs on average counts half, and what is above it in full."""
    instance = generated()
    idle = instance.idle_cost.mean(axis=0)
    capacity = instance.machines.capacity.mean(axis=0)
    prices = np.zeros((2, 24))
    prices[0, :2] = np.array([1.0, 3.0]) * idle[:2] / capacity[0]  # room pays for the machine once, and three times
    prices[1, 2] = 0.5 * idle[2] / capacity[1]
    found = guiding(instance, prices, 0.5)
    assert found[0, :2] == pytest.approx(np.array([0.5, 2.5]) * idle[:2] / capacity[0])
    assert found[1, 2] == pytest.approx(0.25 * idle[2] / capacity[1])
    assert guiding(instance, prices, 1.0) == pytest.approx(prices)
    assert not found[:, 3:].any()


def test_the_bound_is_near_the_relaxation_and_cuts_raise_it_above(instance: EcasInstance) -> None:
    lp = co.solve(instance, "lp")
    assert lp.info["lp_optimum"] == pytest.approx(lp.bound, rel=1e-6)
    without = co.solve(instance, "price", params={"search": {"moves_per_job": 0}, "bound": {"rounds": 0}})
    assert 0.995 * lp.bound <= without.bound <= lp.bound * (1 + 1e-9)
    assert "cuts" not in without.certificate
    cut = co.solve(instance, "price", params={"search": {"moves_per_job": 0}})
    assert cut.bound >= 1.02 * lp.bound
    assert proven_bound(instance, cut.certificate, {})[0] == cut.bound
    assert not co.check(instance, cut).violations


@for_each(closing=(0.0, 0.5, 1.0))
def test_the_search_improves_and_keeps_its_books(closing: float) -> None:
    """After many moves the value that the search has summed up is the checker's."""
    instance = generated()
    tables = tables_of(instance, 3.0)
    with loops(steps=1):
        ranking = ranked(tables, np.zeros((2, 25)), 0.5)
        state = filled(instance, tables, by_energy(tables), Options())
        first = value = best = value_of(tables, state)
        machine, start = state.machine.copy(), state.start.copy()
        random = np.random.default_rng(1).random(4000)
        value, best, moves = search(
            tables,
            state,
            ranking,
            by_energy(tables),
            Moves(0.02, 2, 0.5, 6, closing, 5, 2),
            0.05 * first / 20,
            random,
            work_space(state, 6, 2),
            value,
            best,
            machine,
            start,
        )
        assert value == pytest.approx(value_of(tables, state), rel=1e-12)
        patterns = state.on.copy()
        for m in range(3):
            settle(tables, state, m)
    assert moves > 20
    assert best <= min(first, value) * (1 + 1e-12)  # a best one is written where it is better by more than this
    assert (patterns == state.on).all()
    assert (state.machine != NOWHERE).all()
    report = check(instance, schedule_of(instance, state))
    assert report.violations == ()
    assert report.objective == pytest.approx(value, rel=1e-12)


@for_each(among=(0.0, 0.5, 1.0))
def test_jobs_are_offered_machines_of_those_taken_out_with_them(among: float) -> None:
    """Its own comes first; of the others, about the share `among` are machines of the jobs taken out."""
    instance = co.generate("ecas", jobs=30, machines=20, slots=24, load=0.2, seed=1)
    assert isinstance(instance, EcasInstance)
    work = work_space(empty_state(instance, tables_of(instance, 3.0)), 3, 400)
    work.machine[:] = 7, NOWHERE, 4
    moves = Moves(0.02, 400, among, 6, 0.0, 5, 2)
    with loops(steps=1):
        offer(moves, 20, 3, 2, np.random.default_rng(1).random(802), work)
    assert work.offered[0] == 4
    of_others = np.isin(work.offered[1:], [7, NOWHERE, 4]).mean()
    assert of_others == pytest.approx(among + (1 - among) * 2 / 20, abs=0.05)
    assert set(work.offered.tolist()) <= {NOWHERE, *range(20)}
    assert len(set(work.offered.tolist())) == (3 if among == 1 else 21 if among else 20)
    assert ((work.factor >= 1) & (work.factor <= 1.02)).all()


@for_each(seed=range(8))
def test_a_machine_is_closed_with_all_its_jobs(seed: int) -> None:
    """All that run in the window are taken out, and others beside them; until it opens again no job has room there."""
    rng = np.random.default_rng(seed)
    instance = co.generate("ecas", jobs=30, machines=3, slots=24, load=0.4, seed=seed)
    assert isinstance(instance, EcasInstance)
    available = np.ones((3, 24), dtype=bool)
    available[0, :3] = False
    instance = replace(instance, machines=replace(instance.machines, available=available))
    tables = tables_of(instance, 3.0)
    around = np.zeros(30, dtype=np.int64)
    taken = np.zeros(20, dtype=np.int64)
    none = np.full(30, -1, dtype=np.int64)
    members = Members(np.full(4, -1, dtype=np.int64), none, none.copy())
    with loops(steps=1):
        state = filled(instance, tables, by_energy(tables), Options())
        free = state.free.copy()
        for j, m in enumerate(state.machine):
            join(members, j, m)
        random = rng.random(40)
        random[2 * DRAWS + 1] = 0.99  # as many jobs of the machine as there may be
        count, machine, first, end = choose_to_close(tables, state, members, random, 4, 20, 2, around, taken)
        too_many, *_ = choose_to_close(tables, state, members, random, 4, 1, 2, around.copy(), taken.copy())
        shut(tables, state, machine, first, end, 1)
        closed = [overfull(tables, state, machine, t, t + 1) == t for t in range(24)]
        shut(tables, state, machine, first, end, -1)
    stop = state.start + tables.duration
    inside = (state.start < end) & (stop > first)
    chosen = taken[:count]
    on_it = np.flatnonzero(inside & (state.machine == machine))
    assert on_it.size
    assert (too_many == 0) == (on_it.size > 1)
    assert len(set(chosen.tolist())) == count
    assert set(on_it.tolist()) == set(chosen[state.machine[chosen] == machine].tolist())
    assert not inside[chosen[state.machine[chosen] != machine]].any()
    assert all(is_closed == (first <= t < end or not available[machine, t]) for t, is_closed in enumerate(closed))
    assert (state.free == free).all()


def test_arrays_of_a_file_have_the_layout_of_generated_ones(instance: EcasInstance) -> None:
    """Loops that `carbonopt compile` made for generated instances would otherwise be compiled again for files."""
    generated, read = (tables_of(one, 3.0) for one in (instance, from_dict(instance.to_dict())))
    arrays = zip((*generated, *generated.fields), (*read, *read.fields), strict=True)
    for one, other in arrays:
        if isinstance(one, tuple):
            continue
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
    assert co.diagnose(from_dict(raw | {"machines": nothing})).feasible is False


def test_moves_that_need_more_random_numbers_than_usual(instance: EcasInstance) -> None:
    """A thousand machines offered to each job: the numbers of one move are more than those drawn for many."""
    found = co.solve(instance, "price", time_limit=None, params={"search": {"moves_per_job": 1, "offered": 1000}})
    assert found.info["moves"] >= len(instance.jobs)


def test_a_reach_beyond_the_horizon_is_the_horizon(instance: EcasInstance) -> None:
    params = {"search": {"moves_per_job": 1, "reach_hours": 1e30}}
    assert co.solve(instance, "price", time_limit=None, params=params).has_solution
