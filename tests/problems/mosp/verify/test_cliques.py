"""A certificate with cliques is rechecked from the instance alone, and what is no clique is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from mosp_cliques_support import WEIGHTED, by_hand, heavy, raised, weighted

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_cuts import violated
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.verify.certificate import proven_bound


@pytest.fixture(scope="module")
def proven():
    """Return an instance and a certificate with cliques of both kinds."""
    instance = heavy(3)
    return instance, raised(instance).proof.certificate()


def test_cliques_of_tiny_instances_prove_bounds_below_the_optimum(random_instance, brute_force):
    better = 0
    for seed in range(40):
        instance = random_instance(seed, "carbon")
        optimum, _ = brute_force(instance.to_dict(), None)
        if optimum is None:
            continue
        found = raised(instance)
        proof = found.proof
        proven, assumes = proven_bound(instance, proof.certificate(), {})
        assert assumes == ()
        assert proven >= proof.bound
        assert proven == pytest.approx(proof.bound, rel=1e-9, abs=1e-9)
        assert proven <= optimum + 1e-9
        better += proven > co.solve(instance, "lp").bound + 1e-6
    assert better >= 3


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("more", [{}, {"memory": True, "day_capacity": 0.7, "restricted_share": 0.2}])
def test_of_the_starts_of_a_clique_no_two_fit_together(seed, more):
    instance = heavy(seed, **more)
    duration, demand = instance.jobs.duration, instance.jobs.demand
    cliques = [clique for clique in raised(instance, halves=False).cliques if clique.weights is None]
    assert cliques
    for clique in cliques:
        runs = [
            (i, s)
            for i, first, last in zip(clique.jobs, clique.first, clique.last, strict=True)
            for s in range(first, last + 1)
        ]
        for i, s in runs:
            for k, t in runs:
                shared = range(max(s, t), min(s + duration[i], t + duration[k]))
                load = demand[i] + demand[k]
                limit = instance.clusters.limit[clique.cluster]
                assert i == k or any((load > limit[:, slot]).any() for slot in shared)


def test_five_jobs_of_which_two_have_room_by_hand():
    """Two in the clean slot and three elsewhere: 2 x 4 + 3 x 40 = 128. Capacity has room for 2.5 of them: 110."""
    instance = by_hand()
    assert co.solve(instance, "lp").bound == pytest.approx(110.0)
    found = raised(instance)
    assert found.proof.bound == pytest.approx(128.0, rel=1e-6)
    (clique,) = found.proof.certificate()["cliques"]
    assert clique.pop("price") == pytest.approx(36.0)
    assert clique == WEIGHTED
    assert proven_bound(instance, weighted(), {})[0] == pytest.approx(128.0)


@pytest.mark.parametrize(
    ("more", "field", "words"),
    [
        ({"most": 1}, "[0]", "do not fit together where their weights exceed 1"),
        ({"weights": [2, 1, 1, 1, 1]}, "[0]", "where their weights exceed 2"),
        ({"last": [1, 0, 0, 0, 0]}, "[0]", "do not fit together"),
        ({"most": 0}, "[0].most", "whole number from 1 to 1000"),
        ({"most": 2.0}, "[0].most", "whole number from 1 to 1000"),
        ({"most": True}, "[0].most", "whole number from 1 to 1000"),
        ({"most": None}, "[0].most", "whole number from 1 to 1000"),
        ({"most": 1_001}, "[0].most", "whole number from 1 to 1000"),
        ({"weights": None}, "[0].weights", "whole numbers from 1 to 1000"),
        ({"weights": [1, 1, 1, 1, 0]}, "[0].weights", "whole numbers from 1 to 1000"),
        ({"weights": [1, 1, 1, 1, 1.0]}, "[0].weights", "whole numbers from 1 to 1000"),
        ({"weights": [1, 1, 1, 1]}, "[0]", "one weight"),
    ],
)
def test_wrong_weights_are_refused_with_their_field(more, field, words):
    with pytest.raises(InputError) as error:
        proven_bound(by_hand(), weighted(**more), {})
    assert f"certificate.cliques{field}" in str(error.value)
    assert words in str(error.value)


def test_a_sum_that_another_order_rounds_down_is_room():
    """From small to large these demands exceed the capacity by a last digit; from large to small they do not."""
    demand = [25.98, 0.83, 0.83, 0.7, 0.65, 0.27, 0.22, 0.15]
    raw = by_hand().to_dict()
    count = len(demand)
    raw["clusters"]["capacity"] = {"unit": [29.62999997036999]}
    raw["jobs"] |= {"name": [f"j{i}" for i in range(count)], "demand": {"unit": demand}}
    raw["jobs"] |= {"arrival": [0] * count, "duration": [1] * count, "deadline": [3] * count}
    instance = from_dict(raw)
    schedule = {"job": list(instance.jobs.name), "cluster": ["c"] * count, "start": [0] * count}
    assert co.check(instance, schedule).feasible
    rows = {"jobs": list(range(count))[::-1], "first": [0] * count, "last": [0] * count, "weights": [1] * count}
    with pytest.raises(InputError, match="some of these do"):
        proven_bound(instance, weighted(**rows, most=count - 1), {})


def test_weights_that_add_up_to_no_more_than_the_most_say_nothing():
    certificate = weighted(weights=[1, 1, 1, 1, 1], most=5, last=[2, 0, 0, 0, 0])
    assert proven_bound(by_hand(), certificate, {})[0] <= 128.0


def test_a_weight_without_a_most_or_a_most_without_weights_is_refused():
    for name in ("weights", "most"):
        certificate = weighted()
        del certificate["cliques"][0][name]
        with pytest.raises(InputError, match=name):
            proven_bound(by_hand(), certificate, {})


def test_weights_of_three_different_demands_by_hand():
    """Of 6, 5, 4, 3 and 2 units in 10, with weights 2, 1, 1, 1, 1: at most 3.

    6 and 4 have room and weight 3, and so have 5, 3 and 2. One more has none: 6 + 3 + 2 = 11, 5 + 4 + 3 + 2 = 14.
    """
    instance = by_hand().to_dict()
    instance["jobs"]["demand"]["unit"] = [6.0, 5.0, 4.0, 3.0, 2.0]
    fits = from_dict(instance)
    good = {"weights": [2, 1, 1, 1, 1], "most": 3}
    assert proven_bound(fits, weighted(**good), {})[0] is not None
    with pytest.raises(InputError, match="exceed 2"):
        proven_bound(fits, weighted(**good | {"most": 2}), {})
    with pytest.raises(InputError, match="exceed 3"):
        proven_bound(fits, weighted(weights=[3, 1, 1, 1, 1], most=3), {})


def test_a_program_that_begins_with_few_places_ends_at_the_same_bound():
    """Without those of two slots and by halves: of these not all are found, and bounds differ by 1e-4."""
    instance = heavy(3)
    few, many = (raised(instance, places_per_job=count, few_of_slots=0, halves=False) for count in (5, 1000))
    assert few.proof.bound == pytest.approx(many.proof.bound, rel=1e-6)


def test_rounds_end_where_they_close_too_little_of_the_gap():
    instance = heavy(3)
    prices = np.zeros(instance.clusters.capacity.shape)

    def rounds(goal, least_rise):
        params = CliqueParameters(least_rise=least_rise, halves=False)
        cliques = CliqueBound(choices_of(instance, placement_value(instance)), prices, params)
        options = Options(work_limit=1e6)
        return len(list(raise_by_cliques(GrowingProgram(cliques, goal, options), goal, params, options)))

    assert rounds(1e9, 1.0) == 6  # no round closes all of such a gap
    assert rounds(1e9, 0.0) == rounds(np.inf, 1.0) > 6


def test_starts_of_a_whole_schedule_violate_nothing():
    instance = heavy(2)
    starts = np.zeros((len(instance.jobs), len(instance.clusters), instance.time.slots))
    schedule = co.solve(instance, "greedy-clean").schedule
    jobs = {name: i for i, name in enumerate(instance.jobs.name)}
    clusters = {name: j for j, name in enumerate(instance.clusters.name)}
    for job, cluster, start in zip(schedule["job"], schedule["cluster"], schedule["start"], strict=True):
        starts[jobs[job], clusters[cluster], start] = 1
    assert violated(instance, np.ones(len(instance.jobs)), starts, 0.001) == []


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        (lambda c: c.update(cliques=3), "certificate.cliques", "must be a list"),
        (lambda c: c["cliques"].append("x"), "certificate.cliques[{last}]", "must be an object with"),
        (lambda c: c["cliques"][0].pop("last"), "certificate.cliques[0]", "must be an object with"),
        (lambda c: c["cliques"][0].pop("price"), "certificate.cliques[0].price", "must be a number from 0"),
        (lambda c: c["cliques"][0].update(price=-1.0), "certificate.cliques[0].price", "must be a number from 0"),
        (lambda c: c["cliques"][0].update(price=True), "certificate.cliques[0].price", "must be a number from 0"),
        (lambda c: c["cliques"][0].update(cluster=2), "certificate.cliques[0].cluster", "whole number below 2"),
        (lambda c: c["cliques"][0]["jobs"].__setitem__(0, 40), "certificate.cliques[0].jobs", "below 40"),
        (lambda c: c["cliques"][0]["first"].__setitem__(0, -1), "certificate.cliques[0].first", "below 24"),
        (lambda c: c["cliques"][0]["last"].__setitem__(0, 1.5), "certificate.cliques[0].last", "below 24"),
        (lambda c: c["cliques"][0]["last"].pop(), "certificate.cliques[0]", "each job once"),
        (lambda c: c["cliques"][0].update(jobs=[1, 1], first=[0, 0], last=[0, 0]), "[0]", "each job once"),
        (lambda c: c["cliques"][0].update(first=[0] * 9, last=[23] * 9, jobs=list(range(9))), "[0]", "fit together"),
        (lambda c: c["cliques"][0].update(first=[0, 0], last=[23, 23], jobs=[0, 1]), "[0]", "fit together"),
    ],
)
def test_what_is_no_clique_is_refused_with_its_row(proven, change, field, words):
    instance, certificate = proven
    broken = copy.deepcopy(certificate)
    change(broken)
    with pytest.raises(InputError) as error:
        proven_bound(instance, broken, {})
    assert field.format(last=len(certificate["cliques"])) in str(error.value)
    assert words in str(error.value)


def test_a_wider_window_is_refused_or_proves_less(proven):
    instance, certificate = proven
    slots = instance.time.slots
    bound, _ = proven_bound(instance, certificate, {})
    refused = 0
    for row, clique in enumerate(certificate["cliques"]):
        wider = copy.deepcopy(certificate)
        wider["cliques"][row] |= {"first": [0] * len(clique["jobs"]), "last": [slots - 1] * len(clique["jobs"])}
        try:
            assert proven_bound(instance, wider, {})[0] >= bound  # more starts pay: only if they exclude each other
        except InputError:
            refused += 1
    assert refused > 0


def test_price_reports_the_bound_by_cliques_with_a_certificate():
    instance = heavy(3)
    params = {"search": {"heavy": {"share": 1.0}}, "cuts": {"most_jobs_of_tree": 0}, "windows": {"most_branches": 1}}
    solution = co.solve(instance, "price", work_limit=1, params=params)
    assert solution.certificate["cliques"]
    assert solution.certificate["bound"] > solution.info["lagrangian_bound"]
    report = co.check(instance, solution)
    assert report.feasible
    assert report.proven_bound == pytest.approx(solution.certificate["bound"], rel=1e-9)


def test_branches_close_nearly_all_that_is_left():
    instance = heavy(3)
    search = {"moves_per_job": 20, "heavy": {"share": 1.0}}
    params = {"search": search, "cuts": {"most_jobs_of_tree": 0}, "beam": {"most_jobs": 0}}
    params |= {"windows": {"most_branches": 4_000}}
    solution = co.solve(instance, "price", time_limit=None, params=params)
    assert solution.gap < 5e-3
    assert solution.bound <= co.solve(instance, "milp", time_limit=None).objective <= solution.objective * (1 + 1e-9)
