"""Jobs that are alike as one: the same bound with fewer columns, cliques of all, and dives that tell them apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from mosp_cliques_support import by_hand, heavy
from mosp_dives_support import dives_of, nowhere, objective_of
from scipy.optimize import linprog

import carbonopt as co
from carbonopt.algorithms.lifting import lift
from carbonopt.core.arrays import prefix_sums
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value, prefix_rounding
from carbonopt.problems.mosp.methods.price import choices as choices_room
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters, WindowParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_cuts import violated
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dive_loops import Jobs, rank_columns
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.kinds import Kinds, kinds_of
from carbonopt.problems.mosp.methods.price.knapsack_cuts import Knapsacks
from carbonopt.problems.mosp.methods.price.large_jobs import has_use_for_programs
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.place_program import Columns
from carbonopt.problems.mosp.methods.price.stages import dive_in_stages
from carbonopt.problems.mosp.methods.price.window_tree import WindowTree
from carbonopt.problems.mosp.verify.certificate import proven_bound
from carbonopt.problems.mosp.verify.cliques import cliques_of

OPTIONS = Options(time_limit=None)


def repeated(instance, count):
    """Return an instance that has each job so many times, one after the other in turns."""
    raw = instance.to_dict()
    rows = [i for turn in range(max(count)) for i in range(len(count)) if count[i] > turn]
    jobs = raw["jobs"]
    for name in ("arrival", "duration", "deadline", "eligible"):
        jobs[name] = None if jobs[name] is None else [jobs[name][i] for i in rows]
    jobs["demand"] = {name: [column[i] for i in rows] for name, column in jobs["demand"].items()}
    jobs["name"] = [f"j{k}" for k in range(len(rows))]
    return from_dict(raw)


def arrays(seed, jobs=12, **more):
    """Return an instance whose jobs come in arrays of one to four, on little room."""
    count = np.random.default_rng(seed).integers(1, 5, jobs)
    return repeated(heavy(seed, **({"jobs": jobs, "slots": 36, "load": 0.18} | more)), count.tolist())


def raised(instance, rounds=8, value=None):
    """Return the program of an instance after some rounds of cliques, from prices 0."""
    params = CliqueParameters(rounds=rounds, places_per_job=1000)
    value = placement_value(instance) if value is None else value
    cliques = CliqueBound(choices_of(instance, value), np.zeros(instance.clusters.limit.shape), params)
    program = GrowingProgram(cliques, np.inf, OPTIONS)
    for _ in raise_by_cliques(program, np.inf, params, OPTIONS):
        pass
    return program


def each_alone(jobs, large):
    """Return kinds of one job each."""
    every = np.arange(len(jobs))
    return Kinds(every, every, np.ones(len(jobs), dtype=np.int64))


def test_jobs_are_alike_in_all_that_the_problem_knows():
    jobs = repeated(heavy(1, jobs=3, restricted_share=0.5), [2, 1, 3]).jobs
    kinds = kinds_of(jobs)
    assert kinds.of.tolist() == [0, 1, 2, 0, 2, 2]
    assert (kinds.first.tolist(), kinds.count.tolist()) == ([0, 1, 2], [2, 1, 3])
    assert kinds.jobs(np.array([2, 0])).tolist() == [2, 4, 5, 0, 3]
    first = {"arrival": jobs.arrival, "duration": jobs.duration, "deadline": jobs.deadline}
    for name, column in first.items():
        other = replace(jobs, **{name: column + (np.arange(6) == 3)})
        assert kinds_of(other).of.tolist() == [0, 1, 2, 3, 2, 2]
    other = replace(jobs, demand=jobs.demand + (np.arange(6) == 3)[:, None])
    assert kinds_of(other).of.tolist() == [0, 1, 2, 3, 2, 2]
    everywhere = jobs.eligible.copy()
    everywhere[3, 0] = not everywhere[3, 0]
    everywhere[3, 1] = True
    assert kinds_of(replace(jobs, eligible=everywhere)).of.tolist() == [0, 1, 2, 3, 2, 2]


def test_five_jobs_that_are_alike_are_one_column_a_slot():
    """Of 4 units each on 10, two have room in the clean slot: 2 x 4 x 1 + 3 x 4 x 10 = 128. Capacity alone says 110."""
    assert raised(by_hand(), rounds=1).cliques.proof.bound == pytest.approx(110.0)
    program = raised(by_hand())
    assert program.columns.row.tolist() == [0, 1, 2, -1]
    assert program.cliques.proof.bound == pytest.approx(128.0)
    (clique,) = program.cliques.proof.certificate()["cliques"]
    assert (clique["jobs"], clique["first"], clique["last"]) == ([0, 1, 2, 3, 4], [0] * 5, [0] * 5)
    assert (clique["weights"], clique["most"]) == ([1] * 5, 2)


@pytest.mark.parametrize("seed", [2, 3, 4, 6, 7, 8, 9, 10])
def test_a_program_of_kinds_proves_as_much_as_one_of_jobs_and_it_can_be_rechecked(seed, monkeypatch):
    instance = arrays(seed, memory=seed % 2 == 1, restricted_share=0.3 * (seed % 3 == 2))
    kinds = raised(instance, rounds=25)
    assert len(kinds.columns.row) < 0.6 * sum(kinds.cliques.kinds.count[kinds.columns.job])
    proven, _ = proven_bound(instance, kinds.cliques.proof.certificate(), {})
    assert proven >= kinds.cliques.proof.bound
    of_capacity = raised(instance, rounds=1).cliques.proof.bound
    monkeypatch.setattr(choices_room, "kinds_of", each_alone)
    assert raised(instance, rounds=1).cliques.proof.bound == pytest.approx(of_capacity, rel=1e-6)
    alone = raised(instance, rounds=25).cliques.proof.bound
    assert kinds.cliques.proof.bound >= of_capacity + 0.8 * (alone - of_capacity)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 6, 7])
def test_what_kinds_prove_is_at_most_the_optimum(seed):
    instance = arrays(seed, jobs=4, slots=12, clusters=1)
    best = co.solve(instance, "milp", time_limit=None, mip_rel_gap=0.0)
    assert best.status == "optimal"
    program = raised(instance, rounds=25)
    assert program.cliques.proof.bound <= best.objective * (1 + 1e-6)
    tree = WindowTree(program, best.objective, WindowParameters(), OPTIONS)
    for _ in tree.grow(OPTIONS):
        pass
    assert tree.bound <= best.objective * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_branches_on_large_jobs_that_are_alone_and_can_be_rechecked(seed):
    instance = arrays(seed)
    program = raised(instance)
    tree = WindowTree(program, np.inf, WindowParameters(most_branches=20), OPTIONS)
    begun = tree.bound
    for _ in tree.grow(OPTIONS):
        pass
    kinds = program.cliques.kinds
    assert (kinds.count[tree.field.job] == 1).all()
    assert tree.bound >= begun
    proven, _ = proven_bound(instance, tree.certificate(), {})
    assert proven >= tree.bound * (1 - 1e-9)
    if len(tree.branches) > 1:
        named = {node["job"] for node in tree.certificate()["nodes"] if "job" in node}
        assert named <= set(kinds.first[kinds.count == 1].tolist())


def test_a_tree_without_a_job_that_is_alone_has_its_root_only():
    instance = repeated(heavy(2, jobs=8, load=0.2), [2] * 8)
    tree = WindowTree(raised(instance), np.inf, WindowParameters(), OPTIONS)
    for _ in tree.grow(OPTIONS):
        pass
    assert len(tree.branches) == 1
    proven, _ = proven_bound(instance, tree.certificate(), {})
    assert proven >= tree.bound * (1 - 1e-9)


# Cliques


def slot_instance(demand, capacity):
    """Return jobs of one slot on a cluster of two slots."""
    raw = by_hand().to_dict()
    raw["time"]["slots"] = 2
    raw["carbon"]["g_per_kwh"] = [[1.0, 2.0]]
    raw["clusters"]["capacity"] = {"unit": [float(capacity)]}
    jobs = len(demand)
    raw["jobs"] |= {"name": [f"j{i}" for i in range(jobs)], "arrival": [0] * jobs, "duration": [1] * jobs}
    raw["jobs"] |= {"deadline": [2] * jobs, "demand": {"unit": [float(own) for own in demand]}}
    return from_dict(raw)


def sets_of(demand, count, capacity):
    """Return how many jobs of each kind may run beside each other, as rows of a matrix."""
    every = np.array(list(product(*(range(most + 1) for most in count))))
    return every[every @ demand <= capacity]


def test_a_large_job_excludes_all_jobs_of_a_small_kind():
    """Of 10 units one job takes 8, and three others of 3 have room: half of the first leaves half of these."""
    instance = slot_instance([8, 3], 10)
    starts = np.zeros((2, 1, 2))
    starts[:, 0, 0] = 0.5, 2.0
    (clique,) = violated(instance, np.array([1, 4]), starts, 0.001)
    assert (clique.jobs.tolist(), clique.weight.tolist(), clique.most) == ([0, 1], [3, 1], 3)
    kinds = Kinds(np.array([1, 0, 1, 1, 1]), np.array([1, 0]), np.array([1, 4]))
    each = clique.of_jobs(kinds)
    assert (each.jobs.tolist(), each.weight.tolist(), each.most) == ([1, 0, 2, 3, 4], [3, 1, 1, 1, 1], 3)
    starts[:, 0, 0] = 0.3, 2.0
    assert violated(instance, np.array([1, 4]), starts, 0.001) == []


def test_no_set_of_kinds_has_more_than_the_most_and_what_is_violated_is_found():
    found = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        count = rng.integers(1, 5, 5)
        demand = rng.integers(1, 9, 5)
        capacity = int(demand.max() * rng.uniform(1.0, 3.0))
        together = np.minimum(count, capacity // demand)
        share = np.round(rng.uniform(0.0, 1.0, 5) * together, 2)
        starts = np.stack([share, count - share], axis=1)[:, None]
        cuts = list(Knapsacks(slot_instance(demand, capacity), count).violated(starts, 0.001, OPTIONS))
        sets = sets_of(demand, count, capacity)
        for cut in cuts:
            assert (sets[:, cut.jobs] @ cut.weight).max() <= cut.most
        possible = -linprog(-share, A_ub=sets, b_ub=np.ones(len(sets)), bounds=(0, None)).fun - 1
        of_first_slot = [cut for cut in cuts if (cut.last == 0).all()]
        assert bool(of_first_slot) == (possible > 0.0015) or 0.0005 < possible < 0.0025
        if of_first_slot:
            (cut,) = of_first_slot
            assert cut.weight @ share[cut.jobs] / cut.most - 1 >= 0.75 * possible
            found += 1
    assert found >= 30


def test_so_many_jobs_have_no_demand_in_units_that_all_count():
    """Demands of less than a unit are rounded down to none: any number of such jobs has room, and weighs nothing."""
    instance = slot_instance([6.5, 6.25, 0.001], 10.5)
    count = np.array([1, 1, 3000])
    starts = np.zeros((3, 1, 2))
    starts[:, 0, 0] = 0.9, 0.9, 2999.5
    (cut,) = Knapsacks(instance, count).violated(starts, 0.001, OPTIONS)
    assert (cut.jobs.tolist(), cut.most) == ([0, 1], 1)


def test_lifted_weights_hold_for_several_jobs_of_a_kind():
    """On 10 units a job of 6 weighs 2 of at most 2. One of 5 may weigh as much, but two of these have room together."""
    for count, weight in ((1, 2), (2, 1), (3, 1)):
        weights = np.array([[2], [0]])
        best = np.zeros((1, 11), dtype=np.int64)
        may, uses = np.ones((2, 1), dtype=np.bool_), np.array([[0, 1]])
        lift(weights, np.array([6, 5]), np.array([2, count]), may, uses, np.array([0]), np.array([1]), 2, best)
        assert weights[:, 0].tolist() == [2, weight]
        assert best[0, 10] == 2


def test_kinds_of_more_jobs_than_knapsacks_look_at_have_cliques_that_hold():
    """Of a kind of 200 jobs 65 and more have room together: it is lifted or left out, and every clique is rechecked."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        count = np.array([1, 2, 3, 200, 150])
        demand = np.array([rng.integers(257, 261), rng.integers(90, 140), rng.integers(30, 60), 4, rng.integers(2, 6)])
        share = np.minimum(count, 260 // demand) * rng.uniform(0.2, 1.0, 5)
        starts = np.stack([share, count - share], axis=1)[:, None]
        kinds = Kinds(np.repeat(np.arange(5), count), np.cumsum(count) - count, count)
        every = slot_instance(np.repeat(demand, count), 260)
        samples = slot_instance(demand, 260)
        cuts = list(Knapsacks(samples, count).violated(starts, 0.001, OPTIONS))
        cuts += violated(samples, count, starts, 0.001)
        named = [cut.members(kinds, kinds.first[:0]) for cut in cuts]
        assert len(cliques_of(every, {"cliques": named})) == len(cuts)
        found += sum(bool((count[cut.jobs] > 100).any()) for cut in cuts)
    assert found >= 10


def test_cliques_over_two_slots_have_jobs_that_are_alone_of_their_kinds():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        raw = slot_instance(rng.integers(1, 7, 6), 8).to_dict()
        raw["time"]["slots"] = 4
        raw["carbon"]["g_per_kwh"] = [[1.0, 2.0, 3.0, 4.0]]
        raw["jobs"] |= {"duration": rng.integers(1, 4, 6).tolist(), "deadline": [4] * 6}
        instance = from_dict(raw)
        starts = np.zeros((6, 1, 4))
        for job, duration in enumerate(instance.jobs.duration.tolist()):
            starts[job, 0, : 5 - duration] = rng.dirichlet(np.full(5 - duration, 0.7))
        count = rng.choice([1, 1, 1, 2], 6)
        for cut in Knapsacks(instance, count, width=2).violated(starts * count[:, None, None], 0.001, OPTIONS):
            assert (count[cut.jobs] == 1).all()
            found += 1
    assert found >= 10


def test_allowances_for_rounding_are_those_of_all_jobs(monkeypatch):
    """At prices of 1e12 in the last slot, rounding may falsify the cost of each job by about 0.01: by 1 in all."""
    instance = arrays(3)
    prices = np.zeros(instance.clusters.limit.shape)
    prices[0, 0, -1] = 1e12
    params = CliqueParameters()

    def bound_and_tree():
        cliques = CliqueBound(choices_of(instance, placement_value(instance)), prices, params)
        bound = cliques._proof(prices, np.zeros(0))[0].bound
        tree = WindowTree(GrowingProgram(cliques, np.inf, OPTIONS), np.inf, WindowParameters(), OPTIONS)
        return bound, tree

    of_kinds, tree = bound_and_tree()
    monkeypatch.setattr(choices_room, "kinds_of", each_alone)
    alone, tree_alone = bound_and_tree()
    paid = float((prices * instance.clusters.limit).sum())
    rounding = float((instance.jobs.demand @ prefix_rounding(prefix_sums(prices))).sum())
    assert rounding > 50 * paid * 2**-52
    assert of_kinds == pytest.approx(alone, abs=10 * paid * 2**-52)
    assert tree.demand == pytest.approx(tree_alone.demand)
    assert tree.size == pytest.approx(tree_alone.size)
    assert tree.steps_of_bound >= 0.4 * len(tree_alone.cliques.cost)


# Dives


@pytest.mark.parametrize(
    ("heavy_tail", "kinds", "places", "has_use"),
    [(True, 100, 1000, True), (False, 100, 1000, False), (False, 60, 1000, True), (False, 60, 10**7, False)],
)
def test_programs_lead_where_few_jobs_count_or_many_are_alike(heavy_tail, kinds, places, has_use):
    solver = SimpleNamespace(heavy=heavy_tail, kinds=kinds, place_count=places, params=PriceParameters())
    solver.instance = SimpleNamespace(jobs=range(100))
    assert has_use_for_programs(solver) == has_use


def test_whole_jobs_go_to_jobs_of_the_kind_and_the_rest_to_the_next_ones():
    """Of four jobs 1.995 are in the first place, .9 in the second, .8 in the third: two are whole, two are not."""
    columns = Columns(*(np.array(part) for part in ([0, 1, 2, -1], [0] * 4, [0, 0, 0, -1], [0, 1, 2, -1])))
    every = np.arange(4)
    jobs = Jobs(
        every[::-1].copy(), np.ones(4, np.int64), np.ones((4, 1)), np.full((1, 1, 3), 4.0), 0 * every, every[:1]
    )
    leading, share = np.full((4, 3), -1), np.zeros((4, 3))
    amount = np.array([1.995, 0.9, 0.8, 0.305])
    rank_columns(amount, np.full(4, -1), leading, share, columns, jobs)
    assert leading[:, 0].tolist() == [2, 1, 0, 0]
    assert share[:, 0] == pytest.approx([0.8, 0.9, 0.9975, 0.9975])
    assert leading[0].tolist() == [2, 1, -1]
    assert share[1] == pytest.approx([0.9, 0.8, 0.0])
    leading, share = np.full((4, 3), -1), np.zeros((4, 3))
    rank_columns(np.array([0.0, 0.7, 0.0, 1.3]), np.array([-1, 0, 0, -1]), leading, share, columns, jobs)
    assert leading[:, 0].tolist() == [-1, -1, -1, 1]  # of two jobs one does not run


@pytest.mark.parametrize("seed", [2, 3, 4, 6, 7, 8])
def test_a_dive_places_all_jobs_of_all_kinds_beside_each_other(seed):
    instance = arrays(seed)
    dives = dives_of(instance)
    place = dives.dive(nowhere(instance), np.inf, OPTIONS)
    assert (place >= 0).all()
    bound = dives.cliques.proof.bound
    assert bound <= objective_of(instance, place) <= 1.2 * bound  # the checker finds no overload
    staged = dives_of(instance, stages=(4, 12))
    place = dive_in_stages(staged, np.inf, OPTIONS)
    assert (place >= 0).all()
    assert bound <= objective_of(instance, place) <= 1.2 * bound


def test_a_dive_keeps_what_is_placed_already_and_has_room_for_no_more_than_fit():
    instance = by_hand()
    dives = dives_of(instance)
    known = np.array([0, -1, -1, -1, -1])
    assert dives._room(known, dives.program.columns).tolist() == [1.0, 2.0, 2.0, 4.0]
    assert dives._placed(known).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert dives._first(known, np.inf, None, OPTIONS).point.values[0] >= 1 - 1e-7
    crowded = np.array([-1, -1, -1, -1, 2])  # where it is expensive
    assert dives._first(crowded, np.inf, None, OPTIONS).point.values[2] >= 1 - 1e-7
    place = dives.dive(known, np.inf, OPTIONS)
    assert place[0] == 0
    assert sorted(place.tolist()) == [0, 0, 1, 1, 2] or sorted(place.tolist()) == [0, 0, 1, 2, 2]
    assert objective_of(instance, place) == pytest.approx(128.0)


def test_jobs_that_are_alike_may_be_rejected_in_part():
    raw = by_hand().to_dict()
    raw["objective"]["rejection_price"] = 9.0  # a run in the clean slot costs 4, in another one 40
    instance = from_dict(raw)
    dives = dives_of(instance)
    assert dives.cliques.proof.bound == pytest.approx(2 * 4.0 + 3 * 9.0)
    place = dives.dive(nowhere(instance), np.inf, OPTIONS)
    assert sorted(place.tolist()) == [-1, -1, -1, 0, 0]


def test_arrays_are_solved_with_a_certificate():
    instance = arrays(3, jobs=25)
    found = co.solve(instance, "price", time_limit=None, work_limit=1.5, seed=1)
    assert found.gap < 0.05
    assert co.check(instance, found).feasible
    proven, _ = proven_bound(instance, found.certificate, found.info)
    assert proven >= found.certificate["bound"] * (1 - 1e-9)
