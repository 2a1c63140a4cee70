"""Weighted cliques: no set of jobs with room has more, and what a mean of such sets satisfies is not cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

import carbonopt as co
from carbonopt.algorithms.knapsack_loops import cover, cover_prices, knapsack
from carbonopt.algorithms.whole_weights import whole_weights
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.methods.price import knapsack_cuts
from carbonopt.problems.mosp.methods.price.knapsack_cuts import Knapsacks

OPTIONS = Options(time_limit=None)


def in_one_slot(demand, capacity):
    """Return the arguments of the loops for jobs in one slot, which counts as the second of two."""
    demand = np.asarray(demand, dtype=np.int64)
    kinds = len(demand)
    return np.arange(kinds), np.column_stack([0 * demand, demand]), np.ones(kinds, np.int64), np.array([0, capacity])


def knapsacks_of(instance, width=1):
    """Return the knapsacks of an instance in which each job is alone of its kind."""
    return Knapsacks(instance, np.ones(len(instance.jobs), dtype=np.int64), width)


def instance_of(demand, capacity):
    """Return jobs of one slot and one cluster of two slots, with demands (N, R) and capacities (R,)."""
    jobs = len(demand)
    names = [f"r{r}" for r in range(len(capacity))]
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "slot",
            "time": {"slots": 2, "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0, 2.0]]},
            "clusters": {
                "name": ["c"],
                "zone": ["Z"],
                "capacity": {name: [float(most)] for name, most in zip(names, capacity, strict=True)},
                "watts_per_unit": {name: [1.0] for name in names},
            },
            "jobs": {
                "name": [f"j{i}" for i in range(jobs)],
                "arrival": [0] * jobs,
                "duration": [1] * jobs,
                "deadline": [2] * jobs,
                "demand": {name: column.tolist() for name, column in zip(names, np.transpose(demand), strict=True)},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": None,
            },
        }
    )


def sets_with_room(demand, capacity):
    """Return all sets of jobs that have room beside each other, as rows of a matrix."""
    rows = []
    for size in range(len(demand) + 1):
        for chosen in combinations(range(len(demand)), size):
            if (demand[list(chosen)].sum(axis=0) <= capacity).all():
                rows.append(np.isin(np.arange(len(demand)), chosen))
    return np.array(rows)


def starts_of(share):
    """Return starts of which the first slot has these shares, and the second the rest."""
    return np.stack([share, 1 - share], axis=1)[:, None]


def random_case(seed, whole):
    rng = np.random.default_rng(seed)
    resources = int(rng.integers(1, 3))
    demand = rng.integers(1, 8, (7, resources)).astype(float)
    if not whole:
        demand *= rng.uniform(0.3, 3.0)
    else:
        demand *= 1 + seed % 7
    capacity = demand.max(axis=0) * rng.uniform(1.0, 2.5)
    return rng, demand, np.floor(capacity) if whole else capacity


def most_paid(share, sets):
    """Return the most that shares pay at prices at which no set has more than 1."""
    return -linprog(-share, A_ub=sets.astype(float), b_ub=np.ones(len(sets)), bounds=(0, None)).fun


@pytest.mark.parametrize("whole", [True, False])
def test_no_set_with_room_has_more_than_the_most_and_what_is_violated_is_found(whole):
    found = 0
    for seed in range(60):
        rng, demand, capacity = random_case(seed, whole)
        instance = instance_of(demand, capacity)
        sets = sets_with_room(demand, capacity)
        share = np.round(rng.uniform(0.0, 1.0, len(demand)) ** 0.7, 2)
        cuts = list(knapsacks_of(instance).violated(starts_of(share), 0.001, OPTIONS))
        of_first_slot = [cut for cut in cuts if (cut.first == 0).all() and (cut.last == 0).all()]
        for cut in cuts:
            assert (sets[:, cut.jobs] @ cut.weight).max() <= cut.most
            assert len(cut.jobs) == len(cut.first) == len(cut.last)
        for cut in of_first_slot:
            assert cut.weight @ share[cut.jobs] > cut.most * 1.001
        if demand.shape[1] == 1:
            possible = most_paid(share, sets) - 1
            assert bool(of_first_slot) == (possible > 0.0015) or 0.0005 < possible < 0.0025
            if of_first_slot:
                found += 1
                reached = of_first_slot[0].weight @ share[of_first_slot[0].jobs] / of_first_slot[0].most - 1
                assert reached >= 0.75 * possible
    assert found >= 20


def test_a_mean_of_sets_with_room_violates_nothing():
    for seed in range(40):
        rng, demand, capacity = random_case(seed, whole=True)
        sets = sets_with_room(demand, capacity)
        share = rng.dirichlet(np.ones(4)) @ sets[rng.integers(len(sets), size=4)]
        cuts = knapsacks_of(instance_of(demand, capacity)).violated(starts_of(share), 0.001, OPTIONS)
        assert not [cut for cut in cuts if (cut.last == 0).all()]


def test_the_knapsack_finds_the_best_set():
    for seed in range(30):
        rng, demand, capacity = random_case(seed, whole=True)
        demand, capacity = demand[:, :1], capacity[:1]
        value = rng.uniform(-0.5, 1.0, len(demand))
        largest, chosen = knapsack(value, *in_one_slot(demand[:, 0], int(capacity[0])))
        sets = sets_with_room(demand, capacity)
        assert largest == pytest.approx((sets @ value).max())
        assert largest == pytest.approx(value @ chosen)
        assert chosen @ demand[:, 0] <= capacity[0]


def test_a_cover_has_sets_with_room_that_cover_the_shares():
    rng = np.random.default_rng(0)
    for _ in range(30):
        demand = rng.integers(1, 9, 12)
        share = rng.uniform(0, 1, 12)
        total, sets = cover(share, *in_one_slot(demand, 12))
        assert (sets @ demand <= 12).all()
        assert total >= max(share.max(), share @ demand / 12) - 1e-5
        assert (sets.any(axis=0) | (share <= 1e-6)).all()


def test_prices_by_hand():
    """Five jobs of 4 in 10, half of each: two have room, so 5/2 jobs need 5/4 sets, and each job pays a half."""
    none = np.zeros((0, 5), dtype=np.int64)
    prices, violation, sets, _, _ = cover_prices(np.full(5, 0.5), *in_one_slot([4] * 5, 10), none, 0.01)
    assert violation == pytest.approx(0.25)
    assert prices == pytest.approx([0.5] * 5)
    assert (sets.sum(axis=1) <= 2).all()


def test_prices_are_nearly_those_of_a_linear_program_over_all_sets():
    found = 0
    for seed in range(200):
        rng, demand, capacity = random_case(seed, whole=True)
        demand, capacity = demand[:, :1], capacity[:1]
        sets = sets_with_room(demand, capacity)
        share = np.round(rng.uniform(0.01, 1.0, len(demand)), 2)
        units = in_one_slot(demand[:, 0], int(capacity[0]))
        known = cover(share, *units)[1] if seed % 2 else np.zeros((0, len(demand)), dtype=np.int64)
        prices, violation, used, _, _ = cover_prices(share, *units, known, 0.01)
        possible = most_paid(share, sets) - 1
        assert (sets @ prices).max() <= 1 + 1e-9
        assert violation == pytest.approx(prices @ share - 1) or violation <= 0.01
        assert violation <= possible + 1e-9
        assert violation >= 0.9 * possible - 1e-9 or possible <= 0.01 + 1e-9
        assert (used @ demand <= capacity).all()
        found += violation > 0.01
    assert found >= 60


def test_weights_by_hand():
    """Five jobs of 4 in 10: halves of 1 each, of which two have room."""
    half = np.full(5, 0.5)
    weights, most = whole_weights(half, half, *in_one_slot([4] * 5, 10))
    assert (weights.tolist(), most) == ([1] * 5, 2)


def test_the_search_for_cuts_ends_with_the_work():
    instance = co.generate("mosp", preset="supercomputer", seed=3, jobs=40, clusters=2, slots=24, max_demand=64)
    starts = np.full((40, 2, 24), 0.1)
    assert list(knapsacks_of(instance).violated(starts, 0.001, Options(work_limit=0))) == []
    whole = Options(work_limit=1e6)
    every = list(knapsacks_of(instance).violated(starts, 0.001, whole))
    some = Options(work_limit=whole.elapsed / 2)
    assert 0 < len(list(knapsacks_of(instance).violated(starts, 0.001, some))) < len(every)
    assert some.remaining == 0


def test_a_resource_that_is_nowhere_makes_no_cuts():
    demand = np.column_stack([[4.0] * 5, [3e7 / 7, 0.0, 0.0, 0.0, 0.0]])
    knapsacks = knapsacks_of(instance_of(demand, np.array([10.0, 0.0])))
    cuts = list(knapsacks.violated(starts_of(np.full(5, 0.5)), 0.001, OPTIONS))
    assert {(tuple(cut.jobs), cut.most) for cut in cuts} == {((0, 1, 2, 3, 4), 2)}


def test_whole_demands_on_a_large_capacity_are_not_rounded():
    """Of four jobs of 500 units three have room on 1,999: in 1,024 parts of that, rounded down, all four would have.

    The job of 250 units has room beside three of them, so it gets no weight.
    """
    instance = instance_of(np.array([[500], [500], [500], [500], [250]]), np.array([1999]))
    (cut,) = knapsacks_of(instance).violated(starts_of(np.array([0.8, 0.8, 0.8, 0.8, 0.0])), 0.001, OPTIONS)
    assert (cut.jobs.tolist(), cut.weight.tolist(), cut.most) == ([0, 1, 2, 3], [1, 1, 1, 1], 3)


# Two slots


def options_of(instance, slot):
    """Return the ways in which each job may use a slot and the next one, with the starts that do so."""
    found = []
    for job, (arrival, duration) in enumerate(zip(instance.jobs.arrival, instance.jobs.duration, strict=True)):
        ways = {}
        for start in range(int(arrival), instance.time.slots - int(duration) + 1):
            way = tuple(start <= t < start + duration for t in (slot, slot + 1))
            ways.setdefault(way, []).append(start)
        found.append((job, ways))
    return found


def pair_instance(seed, whole=True):
    """Return six jobs of one to three slots on a cluster of four slots, and shares of their starts."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 7, (6, 1)).astype(float) * (1.0 if whole else rng.uniform(0.3, 3.0, (6, 1)))
    capacity = demand.max(axis=0) * rng.uniform(1.0, 2.0)
    raw = instance_of(demand, np.floor(capacity) if whole else capacity).to_dict()
    raw["time"]["slots"] = 4
    raw["carbon"]["g_per_kwh"] = [[1.0, 2.0, 3.0, 4.0]]
    raw["jobs"]["duration"] = rng.integers(1, 4, 6).tolist()
    raw["jobs"]["deadline"] = [4] * 6
    instance = from_dict(raw)
    starts = np.zeros((6, 1, 4))
    for job, duration in enumerate(instance.jobs.duration.tolist()):
        starts[job, 0, : 5 - duration] = rng.dirichlet(np.full(5 - duration, 0.7))
    return instance, np.round(starts, 2)


def all_schedules(instance):
    """Yield the starts of all sets of runs with room: for each job one, or -1."""
    choices = [[-1, *range(instance.time.slots - int(duration) + 1)] for duration in instance.jobs.duration]
    limit = instance.clusters.limit[0, 0]
    for starts in product(*choices):
        load = np.zeros(instance.time.slots)
        for job, start in enumerate(starts):
            if start >= 0:
                load[start : start + instance.jobs.duration[job]] += instance.jobs.demand[job, 0]
        if (load <= limit).all():
            yield starts


def weight_of(cut, starts):
    """Return the weights of some starts in a clique."""
    total = 0
    for job, first, last, weight in zip(cut.jobs, cut.first, cut.last, cut.weight, strict=True):
        total += int(weight) if first <= starts[job] <= last else 0
    return total


@pytest.mark.parametrize(("whole", "most_items"), [(True, 60), (False, 60), (True, 5)])
def test_over_two_slots_no_schedule_has_more_than_the_most(monkeypatch, whole, most_items):
    monkeypatch.setattr(knapsack_cuts, "MOST_ITEMS", most_items)
    found = 0
    for seed in range(25):
        instance, starts = pair_instance(seed, whole)
        cuts = list(knapsacks_of(instance, width=2).violated(starts, 0.001, OPTIONS))
        schedules = list(all_schedules(instance)) if cuts else []
        for cut in cuts:
            assert max(weight_of(cut, schedule) for schedule in schedules) <= cut.most
            inside = zip(cut.jobs, cut.first, cut.last, cut.weight, strict=True)
            shares = sum(weight * starts[job, 0, first : last + 1].sum() for job, first, last, weight in inside)
            assert shares > cut.most * 1.001
        found += len(cuts)
    assert found >= 20


def test_what_is_violated_over_two_slots_is_found():
    """Against the linear program over all sets with room in both: prices of ways, and none costs more than 1."""
    found = 0
    for seed in range(25):
        instance, starts = pair_instance(seed)
        cuts = list(knapsacks_of(instance, width=2).violated(starts, 0.001, OPTIONS))
        for slot in range(3):
            ways = [(job, way, own) for job, by_way in options_of(instance, slot) for way, own in by_way.items()]
            ways = [(job, way, own) for job, way, own in ways if any(way)]
            share = np.array([starts[job, 0, own].sum() for job, _, own in ways])
            sets = []
            for schedule in all_schedules(instance):
                sets.append([schedule[job] in own for job, _, own in ways])
            possible = most_paid(share, np.unique(np.array(sets), axis=0)) - 1
            here = [cut for cut in cuts if cut.units.slot == slot]
            assert len(here) <= 1
            if possible <= 0.0005:
                assert not here
            elif possible > 0.0025:
                (cut,) = here
                inside = zip(cut.jobs, cut.first, cut.last, cut.weight, strict=True)
                reached = sum(w * starts[job, 0, first : last + 1].sum() for job, first, last, w in inside)
                assert reached / cut.most - 1 >= 0.75 * possible
                found += 1
    assert found >= 15


@pytest.mark.parametrize("width", [1, 2])
def test_the_knapsacks_that_split_a_job_and_have_too_little_room_are_found(width):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        resources = 1 + seed % 2
        given = {"jobs": 12, "clusters": 2, "slots": 12, "max_demand": 8, "memory": resources == 2, "day_capacity": 0.5}
        knapsacks = knapsacks_of(co.generate("mosp", preset="supercomputer", seed=seed, **given), width)
        count = knapsacks.capacity.shape[2]
        shares = rng.choice([0.0, 0.4, 1.0], size=(12, count, len(knapsacks.ways)), p=[0.7, 0.1, 0.2])
        for j in range(2):
            tight = []
            for t in range(count):
                for r in range(resources):
                    jobs, ways = np.nonzero(shares[:, t])
                    need = sum(
                        knapsacks.demand[job, r] * knapsacks.ways[way] for job, way in zip(jobs, ways, strict=True)
                    )
                    if (shares[:, t] == 0.4).any() and (need > knapsacks.capacity[j, r, t]).any():
                        tight.append([t, r])
            assert knapsacks.tight(j, shares).tolist() == tight


def test_there_is_one_pair_of_slots_less_than_there_are_slots():
    instance = instance_of(np.array([[4], [4], [4]]), np.array([10]))
    assert knapsacks_of(instance, width=2).capacity.shape[2] == instance.time.slots - 1


def test_an_inequality_of_a_few_items_holds_for_all_jobs(monkeypatch):
    """The items are the largest jobs; the others get their weights by lifting."""
    monkeypatch.setattr(knapsack_cuts, "MOST_ITEMS", 4)
    found = 0
    for seed in range(40):
        rng, demand, capacity = random_case(seed, whole=True)
        share = rng.uniform(0.5, 1.0, len(demand))
        for cut in knapsacks_of(instance_of(demand, capacity)).violated(starts_of(share), 0.001, OPTIONS):
            assert (sets_with_room(demand, capacity)[:, cut.jobs] @ cut.weight).max() <= cut.most
            found += 1
    assert found >= 40


@pytest.mark.parametrize(("capacity", "counts"), [((8.0, 13.0), True), ((13.0, 8.0), False)])
def test_sets_of_the_slot_before_count_where_they_have_room(monkeypatch, capacity, counts):
    """Of four jobs of 4 units three have room on 13 units, and two on 8."""
    raw = instance_of(np.array([[4], [4], [4], [4]]), np.array([13])).to_dict()
    raw["jobs"]["duration"] = [2, 2, 2, 2]
    instance = from_dict(raw)
    clusters = replace(instance.clusters, capacity=np.array([[capacity]]))
    given = []

    def prices(share, kind, need, together, room, sets, least):
        given.append((sets, cover(share, kind, need, together, room)[1]))
        assert (sets @ need <= room).all()
        return cover_prices(share, kind, need, together, room, sets, least)

    monkeypatch.setattr(knapsack_cuts, "cover_prices", prices)
    starts = np.zeros((4, 1, 2))
    starts[:, 0, 0] = 0.8
    assert len(list(knapsacks_of(replace(instance, clusters=clusters)).violated(starts, 0.001, OPTIONS))) == 2
    (first, by_greed), (second, by_greed_again) = given
    assert len(first) == len(by_greed)
    assert (len(second) > len(by_greed_again)) == counts
