"""Branches on the windows of large jobs: what they rule out, what they prove, and the schedules that dives make."""

from __future__ import annotations

import json

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import possible_placements
from carbonopt.problems.mosp.methods.price.bound_parameters import (
    CliqueParameters,
    DiveParameters,
    WindowParameters,
)
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dives import Dives
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.state import schedule_of
from carbonopt.problems.mosp.methods.price.window_splits import Split, halves
from carbonopt.problems.mosp.methods.price.window_tree import WindowTree, rounded
from carbonopt.problems.mosp.methods.price.windows import allowed_of, restrict
from carbonopt.problems.mosp.verify.certificate import proven_bound

OPTIONS = Options(time_limit=None)


def program_of(instance, value=None, prices=None, rounds=0):
    """Return the program over places, with prices of capacity, after some rounds of cliques."""
    value = placement_value(instance) if value is None else value
    prices = np.zeros(instance.clusters.limit.shape) if prices is None else prices
    params = CliqueParameters(rounds=rounds)
    program = GrowingProgram(CliqueBound(choices_of(instance, value, 60), prices, params), np.inf, OPTIONS)
    for _ in raise_by_cliques(program, np.inf, params, OPTIONS):
        pass
    return program


def tree_of(program, goal=np.inf, grow=True, **params):
    """Return the tree of an instance, grown."""
    tree = WindowTree(program, goal, WindowParameters(**params), OPTIONS)
    if grow:
        for _ in tree.grow(OPTIONS):
            pass
    return tree


def heavy(seed, **more):
    """Return an instance in which few jobs nearly fill a cluster."""
    given = {"jobs": 40, "clusters": 2, "slots": 24, "max_demand": 64, "load": 0.5} | more
    return co.generate("mosp", preset="supercomputer", seed=seed, **given)


def by_hand(demands, capacity=10.0, intensity=(1.0, 10.0, 10.0), clusters=1):
    """Return jobs of one slot, all of which would run in the first one, on clusters of one zone."""
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by-hand",
            "time": {"slots": len(intensity), "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [list(intensity)]},
            "clusters": {
                "name": [f"c{j}" for j in range(clusters)],
                "zone": ["Z"] * clusters,
                "capacity": {"unit": [capacity] * clusters},
                "watts_per_unit": {"unit": [1000.0] * clusters},
            },
            "jobs": {
                "name": [f"j{i}" for i in range(len(demands))],
                "arrival": [0] * len(demands),
                "duration": [1] * len(demands),
                "deadline": [3] * len(demands),
                "demand": {"unit": list(demands)},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1000.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": None,
            },
        }
    )


def test_two_jobs_of_six_tenths_of_a_cluster_by_hand():
    """The clean slot has room for one: 6 x 1 + 6 x 10 = 66. Capacity alone lets 10 of 12 units run there: 30."""
    instance = by_hand([6.0, 6.0])
    assert co.solve(instance, "lp").bound == pytest.approx(30.0)
    tree = tree_of(program_of(instance))
    assert tree.bound == pytest.approx(66.0, rel=1e-6)
    proven, _ = proven_bound(instance, tree.certificate(), {})
    assert tree.bound <= proven <= 66.0 * (1 + 1e-9)


def test_three_jobs_that_fill_two_slots_have_no_third_one():
    """No two fit in one slot, and there are two slots: in every branch a job is left without a place."""
    instance = by_hand([6.0, 6.0, 6.0], intensity=(1.0, 2.0))
    tree = tree_of(program_of(instance))
    assert tree.bound == np.inf
    assert tree.open == []
    assert proven_bound(instance, tree.certificate(), {}) == (np.inf, ())


def test_tiny_trees_with_cliques_never_prove_more_than_the_optimum(random_instance, brute_force):
    better = 0
    for seed in range(60):
        instance = random_instance(seed, "carbon")
        program = program_of(instance, rounds=2)
        optimum, _ = brute_force(instance.to_dict(), None)
        tree = tree_of(program, most_jobs=2, rounds=1)
        proven, _ = proven_bound(instance, tree.certificate(), {})
        if optimum is None:
            continue
        assert tree.bound <= proven <= optimum + 1e-9 * abs(optimum) + 1e-12
        better += bool(program.cliques.proof.cliques) and proven > program.cliques.proof.bound + 1e-6
    assert better >= 1


@pytest.mark.parametrize("kind", ["carbon", "caspian"])
def test_bounds_of_tiny_instances_are_proven_and_never_above_the_optimum(random_instance, brute_force, kind):
    better = 0
    for seed in range(60):
        instance = random_instance(seed, kind)
        bars = None
        if kind == "caspian":
            info = co.solve(instance, "lp").info
            bars = info["normalizers"]
        value = placement_value(instance, None if bars is None else (bars["z1"], bars["z2"], bars["z3"]))
        program = program_of(instance, value, rounds=1)
        relaxed = program.cliques.proof.bound
        tree = tree_of(program)
        optimum, _ = brute_force(instance.to_dict(), None if bars is None else tuple(bars.values()))
        proven, _ = proven_bound(instance, tree.certificate(), {} if bars is None else {"normalizers": bars})
        if optimum is None:
            assert tree.bound == np.inf or proven is not None
            continue
        sign = 1 if instance.sense == "min" else -1
        assert sign * proven >= tree.bound
        assert sign * proven == pytest.approx(tree.bound, rel=1e-8, abs=1e-8)
        assert sign * proven <= sign * optimum + 1e-9 * abs(optimum) + 1e-12
        better += tree.bound > relaxed + 1e-6
    assert better >= 10


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("more", [{}, {"memory": True, "day_capacity": 0.7, "restricted_share": 0.2}])
def test_a_tree_raises_the_bound_and_check_proves_as_much(seed, more):
    instance = heavy(seed, **more)
    prices = np.array(co.solve(instance, "lp").certificate["prices"])
    tree = tree_of(program_of(instance, prices=prices), most_branches=40)
    proven, _ = proven_bound(instance, json.loads(json.dumps(tree.certificate())), {})
    assert tree.branches[0].parts is not None
    assert proven >= tree.bound
    assert proven == pytest.approx(tree.bound, rel=1e-8)
    assert proven > co.solve(instance, "lp").bound


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize("price", [None, 60.0])
def test_a_tree_with_cliques_begins_at_their_bound_and_check_proves_as_much(seed, price):
    raw = heavy(seed).to_dict()
    raw["objective"]["rejection_price"] = price
    instance = from_dict(raw)
    program = program_of(instance, rounds=60)
    cliques = program.cliques
    assert cliques.proof.cliques
    tree = tree_of(program, grow=False, most_branches=30)
    assert tree.bound >= cliques.proof.bound * (1 - 1.1e-6)
    for _ in tree.grow(OPTIONS):
        pass
    certificate = json.loads(json.dumps(tree.certificate()))
    leaves = [node["clique_prices"] for node in certificate["nodes"] if "prices" in node]
    assert len(set(map(tuple, leaves))) > 1
    proven, _ = proven_bound(instance, certificate, {})
    assert proven >= tree.bound
    assert proven == pytest.approx(tree.bound, rel=1e-8)
    assert proven > cliques.proof.bound
    best = co.solve(instance, "milp", time_limit=None, solver_options={"mip_max_nodes": 200})
    assert proven <= best.objective * (1 + 1e-9)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_schedule_within_windows_uses_a_place_that_they_rule_out(seed):
    """Windows about a schedule, some narrow: each of its places is still allowed."""
    instance = heavy(seed, memory=seed == 2)
    found = co.solve(instance, "greedy-clean").columns
    jobs = instance.jobs
    row = {name: j for j, name in enumerate(instance.clusters.name)}
    cluster = np.array([row[name] for name in found["cluster"]])
    start = np.array(found["start"])
    assert list(found["job"]) == list(jobs.name)
    tree = tree_of(program_of(instance), most_branches=1)
    rng = np.random.default_rng(seed)
    ruled_out = 0
    for _ in range(50):
        windows = tree._all_windows()
        for k, i in enumerate(tree.field.job.tolist()):
            if rng.random() < 0.7:
                windows[k] = (1, 0)
                windows[k, cluster[i]] = (
                    max(jobs.arrival[i], start[i] - rng.integers(3)),
                    min(instance.time.slots - jobs.duration[i], start[i] + rng.integers(3)),
                )
        allowed = allowed_of(tree.field)
        assert restrict(windows, tree.field, allowed)
        every = np.arange(len(jobs))
        assert (allowed.first[every, cluster] <= start).all()
        assert (start <= allowed.last[every, cluster]).all()
        assert np.isfinite(allowed.cost[every, cluster, start]).all()
        places = possible_placements(instance)
        within = allowed.first[places.job, places.cluster] <= places.start
        within &= places.start <= allowed.last[places.job, places.cluster]
        ruled_out += int((~within).sum())
    assert ruled_out > 0


@pytest.mark.parametrize("seed", [9, 14, 21, 23, 26, 32, 63])
@pytest.mark.parametrize("most_jobs", [5, 20])
def test_jobs_that_may_be_left_out_have_trees_that_go_on_and_prove_all_they_claim(seed, most_jobs):
    raw = heavy(seed, jobs=60, slots=20, load=0.7, memory=True, day_capacity=0.7).to_dict()
    raw["objective"]["rejection_price"] = 3.0
    instance = from_dict(raw)
    tree = tree_of(program_of(instance, rounds=3), most_branches=41, most_jobs=most_jobs, rounds=1 + seed % 3)
    proven, _ = proven_bound(instance, tree.certificate(), {})
    assert proven >= tree.bound
    windows = tree.branches[tree.open[0][1]].windows
    starts = np.maximum(0, windows[:, :, 1] - windows[:, :, 0] + 1).sum(axis=1)
    assert len(tree.branches) == 41 or (starts == 1).all()  # there is nothing left to split


def test_a_certificate_holds_no_more_prices_than_asked():
    instance = heavy(1)
    tree = tree_of(program_of(instance), most_prices=10_000)
    leaves = [node for node in tree.certificate()["nodes"] if "prices" in node]
    prices = sum(np.size(leaf["prices"]) + len(leaf["clique_prices"]) for leaf in leaves)
    assert len(leaves) > 1
    assert prices <= 10_000


def test_the_parts_of_a_branch_leave_no_start_out_and_share_none():
    rng = np.random.default_rng(0)
    windows = np.array([[[2, 9], [4, 12], [1, 0], [0, 0]]])
    for split in [Split(0, 0, -1), Split(0, 3, -1), Split(0, -1, 5), Split(0, -1, int(rng.integers(2, 12)))]:
        one, other = halves(windows, split)
        for j in range(4):
            starts = set(range(windows[0, j, 0], windows[0, j, 1] + 1))
            parts = [set(range(part[0, j, 0], part[0, j, 1] + 1)) for part in (one, other)]
            assert parts[0] | parts[1] == starts
            assert not parts[0] & parts[1]


def test_rounded_prices_are_near_and_tiny_ones_stay():
    prices = np.array([1.23456789e-5, 3.0, 0.0, 123.456789])
    assert rounded(prices).tolist() == [0.0, 3.0, 0.0, 123.457]
    assert rounded(np.array([1e-250])).tolist() == [1e-250]
    assert rounded(np.zeros(3)).tolist() == [0.0] * 3


def test_price_says_that_there_is_no_schedule_and_check_proves_it(tmp_path):
    """Three jobs of which no two fit together have two slots; sixty small ones would fit beside them."""
    instance = by_hand([6.0] * 3 + [0.01] * 60, intensity=(1.0, 2.0))
    solution = co.solve(instance, "price", time_limit=None, params={"search": {"moves_per_job": 50}})
    assert solution.status == "infeasible"
    assert solution.certificate["kind"] == "windows"
    assert "infeasible_by" not in solution.info
    assert co.check(instance, solution).proven_infeasible
    solution.write(tmp_path / "none.json")  # a bound beyond all numbers is none that a file could hold
    assert co.check(instance, co.read_solution(tmp_path / "none.json")).proven_infeasible


def test_price_says_that_there_is_no_schedule_beside_a_fixed_run_and_check_proves_it(tmp_path):
    """The fixed run takes one of three slots; two are left for three jobs of which no two fit together."""
    raw = by_hand([6.0] * 4 + [0.01] * 60, intensity=(1.0, 2.0, 3.0)).to_dict()
    instance = from_dict(raw | {"fixed": {"job": ["j3"], "cluster": ["c0"], "start": [0]}})
    solution = co.solve(instance, "price", time_limit=None, params={"search": {"moves_per_job": 50}})
    assert (solution.status, solution.certificate["kind"]) == ("infeasible", "windows")
    solution.write(tmp_path / "none.json")
    assert co.check(instance, co.read_solution(tmp_path / "none.json")).proven_infeasible


def test_price_stopped_when_it_knows_that_there_is_no_schedule_keeps_the_proof(tmp_path):
    instance = by_hand([6.0] * 3 + [0.01] * 60, intensity=(1.0, 2.0))

    def stop(progress):
        return progress.bound == np.inf

    solution = co.solve(instance, "price", time_limit=None, callback=stop, params={"search": {"moves_per_job": 50}})
    assert (solution.status, solution.bound, solution.certificate["kind"]) == ("interrupted", None, "windows")
    solution.write(tmp_path / "none.json")
    assert not co.check(instance, co.read_solution(tmp_path / "none.json")).violations


def test_price_of_few_large_jobs_has_a_certificate_by_windows_that_check_confirms():
    instance = heavy(5, jobs=80, slots=36, load=0.7)
    params = {"windows": {"most_branches": 30}, "neighbourhoods": {"most_in_vain": 2}}
    params |= {"search": {"moves_per_job": 200}, "beam": {"parts_per_job": 0}}
    solution = co.solve(instance, "price", time_limit=None, params=params)
    report = co.check(instance, solution)
    assert report.feasible
    assert solution.certificate["kind"] == "windows"
    assert solution.bound <= report.proven_bound * (1 + 1e-9)
    assert solution.bound > solution.info["lagrangian_bound"]


def test_an_interrupt_between_two_reports_keeps_the_bound_of_the_tree(monkeypatch):
    instance = heavy(5, jobs=80, slots=36, load=0.7)
    grow = WindowTree.grow
    bounds = []

    def interrupted(tree, options):
        for splits, done in enumerate(grow(tree, options)):
            bounds.append(tree.bound)
            if splits == 2:
                raise KeyboardInterrupt
            yield done

    monkeypatch.setattr(WindowTree, "grow", interrupted)
    params = {"search": {"moves_per_job": 200}}
    solution = co.solve(instance, "price", time_limit=None, params=params, callback=lambda progress: None)
    assert solution.status == "interrupted"
    assert "tree_bound" not in solution.info
    assert solution.bound == solution.certificate["bound"] == pytest.approx(bounds[-1], rel=1e-12)
    assert co.check(instance, solution).proven_bound >= solution.bound


@pytest.mark.parametrize("price", [None, 3.0])
def test_units_of_another_size_prove_the_same(price):
    """Memory in units 64 times as small: the certificate is in the units of the file."""
    instance = heavy(2, jobs=70, memory=True)
    raw = instance.to_dict()
    raw["objective"]["rejection_price"] = price
    clusters = raw["clusters"]
    for part in (raw["jobs"]["demand"], clusters["capacity"]):
        part["memory_gb"] = (64 * np.array(part["memory_gb"])).tolist()
    clusters["watts_per_unit"]["memory_gb"] = [watts / 64 for watts in clusters["watts_per_unit"]["memory_gb"]]
    changed = from_dict(raw)
    params = {"neighbourhoods": {"most_in_vain": 1}, "search": {"moves_per_job": 50}, "beam": {"parts_per_job": 0}}
    for rounds, windows, kind in ((2, {"most_branches": 60}, "windows"), (60, {"most_places": 0}, "lagrangian")):
        given = params | {"cliques": {"rounds": rounds}, "windows": windows}
        solution = co.solve(changed, "price", time_limit=None, params=given)
        assert solution.certificate["kind"] == kind
        report = co.check(changed, solution)
        assert report.feasible
        assert report.proven_bound >= solution.bound


def test_dives_begin_in_the_open_branches_the_least_bound_first():
    instance = heavy(3)
    program = program_of(instance, rounds=5)
    tree = tree_of(program, most_branches=21)
    bounds = sorted(branch.bound for branch in tree.branches if branch.parts is None)
    assert [bound for bound, _ in sorted(tree.open)] == bounds
    dives = Dives(program, DiveParameters(), OPTIONS)
    nowhere = np.full(len(instance.jobs), -1)
    costs = set()
    for bound, start in zip(bounds, tree.starts(lambda: np.inf), strict=True):
        place = dives.dive(nowhere, np.inf, OPTIONS, start)
        placed = np.flatnonzero(place >= 0)
        rows = program.cliques.row[placed, place[placed] // instance.time.slots, place[placed] % instance.time.slots]
        assert start.is_open[rows].all()
        assert not start.is_open.all()
        cost = co.evaluate(instance, schedule_of(instance, place)).objective
        assert cost >= bound
        costs.add(round(cost, 9))
    assert len(costs) > 1
    assert min(costs) <= 1.02 * bounds[0]
    assert len(list(tree.starts(lambda: bounds[3]))) == bounds.index(bounds[3])


def test_a_tree_splits_the_job_that_the_program_leaves_out_and_proves_that_there_is_no_schedule():
    instance = heavy(3, jobs=70)
    assert co.solve(instance, "milp", time_limit=None, work_limit=5).status == "infeasible"
    tree = tree_of(program_of(instance, rounds=5), most_branches=101)
    assert tree.bound == np.inf
    assert not tree.open
