"""Cuts by halves of a certificate are recomputed from the limits that they name."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from mosp_cliques_support import heavy, raised
from scipy import sparse

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.methods.price import half_cuts
from carbonopt.problems.mosp.methods.price.cliques import named_in, with_parts
from carbonopt.problems.mosp.methods.price.half_cuts import HalfCut, Limits
from carbonopt.problems.mosp.verify.certificate import proven_bound
from carbonopt.problems.mosp.verify.cliques import cliques_of

CLIQUES = [
    {"cluster": 0, "jobs": [0, 1], "first": [0, 0], "last": [0, 0], "price": 0.0},
    {"cluster": 1, "jobs": [0, 2], "first": [0, 0], "last": [0, 0], "price": 0.0},
    {"cluster": 1, "jobs": [1, 2], "first": [0, 0], "last": [0, 0], "price": 0.0},
]
HALF = {"jobs": [0, 1], "halves": [0, 1, 2], "price": 8.0}


def three_jobs():
    """Return jobs a and b of 1 unit, of which one has room on cluster s of 1.5, and c of 2, alone on cluster l of 2.5.

    Each costs 1 a unit where it runs, and 10 where it does not.
    """
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by-hand",
            "time": {"slots": 1, "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0]]},
            "clusters": {
                "name": ["s", "l"],
                "zone": ["Z", "Z"],
                "capacity": {"unit": [1.5, 2.5]},
                "watts_per_unit": {"unit": [1000.0, 1000.0]},
            },
            "jobs": {
                "name": ["a", "b", "c"],
                "arrival": [0, 0, 0],
                "duration": [1, 1, 1],
                "deadline": [1, 1, 1],
                "demand": {"unit": [1.0, 1.0, 2.0]},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1000.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": 10.0,
            },
        }
    )


def certificate(cliques):
    """Return a certificate whose prices of capacity are 0."""
    return {"kind": "lagrangian", "prices": [[[0.0]], [[0.0]]], "cliques": cliques}


def test_of_three_jobs_two_run_by_hand():
    """Half of a and b on each cluster leaves half of c: 1 + 1 + (2 + 10) / 2 = 8. Two whole jobs cost 2 + 10 = 12.

    Capacity alone has room for 1.5 of a and b on s, and for c beside the rest of them: 1 + 1 + 2 = 4.

    The five limits a, b, ab on s, ac and bc on l hold each run twice: 2 (a + b + c) <= 5, so a + b + c <= 2. At a
    price of 8 the jobs cost 9, 9 and 10, and 28 - 2 x 8 = 12.
    """
    instance = three_jobs()
    assert co.solve(instance, "lp").bound == pytest.approx(4.0)
    assert co.solve(instance, "milp").objective == pytest.approx(12.0)
    assert raised(instance, halves=False).proof.bound == pytest.approx(8.0, rel=1e-6)
    found = raised(instance).proof
    assert found.bound == pytest.approx(12.0, rel=1e-6)
    (half,) = [clique for clique in found.certificate()["cliques"] if "halves" in clique]
    assert half["jobs"] == [0, 1]
    assert half["price"] == pytest.approx(8.0)
    assert proven_bound(instance, found.certificate(), {})[0] == pytest.approx(12.0, rel=1e-6)
    assert proven_bound(instance, certificate([*CLIQUES, HALF]), {})[0] == pytest.approx(12.0)


def test_factors_are_half_of_their_sum_rounded_down():
    *_, half = cliques_of(three_jobs(), certificate([*CLIQUES, HALF]))
    assert half.most == 2
    assert [tuple(run) for run in half.runs()] == [
        (0, 0, 0, 0, 1),
        (0, 1, 0, 0, 1),
        (1, 0, 0, 0, 1),
        (1, 1, 0, 0, 1),
        (2, 1, 0, 0, 1),
    ]
    without = HALF | {"jobs": [0]}
    *_, half = cliques_of(three_jobs(), certificate([*CLIQUES, without]))
    assert half.most == 2
    assert [tuple(run)[:2] for run in half.runs()] == [(0, 0), (0, 1), (2, 1)]


def test_a_half_may_be_made_of_halves():
    rows = [*CLIQUES, HALF | {"price": 0.0}, {"jobs": [2], "halves": [3, 1], "price": 1.0}]
    *_, half = cliques_of(three_jobs(), certificate(rows))
    assert half.most == 2  # of (2 + 1 + 1) / 2
    assert [tuple(run) for run in half.runs()] == [(0, 1, 0, 0, 1), (2, 1, 0, 0, 1)]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"halves": [0, 3]}, "halves", "below 3"),
        ({"halves": [0, 0]}, "halves", "different"),
        ({"halves": [True]}, "halves", "whole"),
        ({"halves": 1}, "halves", "whole"),
        ({"halves": [-1]}, "halves", "whole"),
        ({"jobs": [3]}, "jobs", "below 3"),
        ({"jobs": [1, 1]}, "jobs", "different"),
        ({"jobs": None}, "jobs", "whole"),
        ({"price": -1.0}, "price", "from 0"),
        ({"price": None}, "price", "from 0"),
        ({"weights": [1]}, "", "alone"),
    ],
)
def test_a_half_names_what_is_there(change, field, words):
    with pytest.raises(InputError, match=words) as caught:
        proven_bound(three_jobs(), certificate([*CLIQUES, HALF | change]), {})
    assert f"certificate.cliques[3].{field}".rstrip(".") in str(caught.value)


def runs_of(instance, rng):
    """Return a random schedule: cluster and start of each job that has room, -1 for others."""
    left = instance.clusters.limit.copy()
    place = np.full((len(instance.jobs), 2), -1)
    for i in rng.permutation(len(instance.jobs)):
        length = instance.jobs.duration[i]
        options = [
            (j, t)
            for j in range(len(left))
            for t in range(instance.jobs.arrival[i], instance.time.slots - length + 1)
            if (left[j, :, t : t + length] >= instance.jobs.demand[i][:, None]).all() and instance.eligible[i, j]
        ]
        if options:
            place[i] = options[rng.integers(len(options))]
            j, t = place[i]
            left[j, :, t : t + length] -= instance.jobs.demand[i][:, None]
    return place


@pytest.mark.parametrize(
    ("seed", "more"),
    [
        (2, {}),
        (3, {}),
        (3, {"array_tail": 0.9, "max_demand": 32, "load": 0.8}),
        (5, {"memory": True, "day_capacity": 0.7, "restricted_share": 0.2}),
        (1, {"jobs": 60, "load": 0.6}),
    ],
)
def test_no_schedule_violates_a_half(seed, more):
    instance = heavy(seed, **more)
    bound = raised(instance)
    halves = [q for q, clique in enumerate(bound.cliques) if hasattr(clique, "kinds")]
    assert halves
    proof = copy.copy(bound.proof)
    object.__setattr__(proof, "numbers", np.array(halves))
    object.__setattr__(proof, "clique_prices", np.ones(len(halves)))
    named = cliques_of(instance, proof.certificate())
    rng = np.random.default_rng(seed)
    tight = 0
    for _ in range(30):
        place = runs_of(instance, rng)
        for clique in named:
            used = sum(
                run.weight
                for run in clique.runs()
                if place[run.job][0] == run.cluster and run.first <= place[run.job][1] <= run.last
            )
            assert used <= clique.most
            tight += used == clique.most
    assert tight


def test_halves_raise_bounds_up_to_the_optimum():
    better = 0
    for seed in range(1, 41):
        instance = heavy(seed, jobs=12, slots=16, load=0.35)
        optimum = co.solve(instance, "milp", mip_rel_gap=0.0).objective
        found = raised(instance).proof
        proven, _ = proven_bound(instance, found.certificate(), {})
        assert proven >= found.bound
        assert proven == pytest.approx(found.bound, rel=1e-9)
        assert optimum is None or proven <= optimum * (1 + 1e-9)
        better += found.bound > raised(instance, halves=False).proof.bound * (1 + 1e-4)
    assert better >= 3


@pytest.mark.parametrize("seed", range(20))
def test_found_cuts_are_violated(seed):
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 4, (40, 30)) * (rng.random((40, 30)) < 0.3)
    amount = rng.random(30) * (rng.random(30) < 0.7)
    most = np.floor(factors @ amount + rng.random(40)).astype(np.int64) + (rng.random(40) < 0.5)
    limits = Limits(sparse.csr_array(factors.astype(np.float64)), most, amount)
    for rows in half_cuts.violated(limits, 0.02, Options(time_limit=None)):
        assert (factors[rows].sum(axis=0) // 2) @ amount - most[rows].sum() // 2 > 0.02


def test_separation_ends_with_the_work():
    instance = heavy(2)
    bound = raised(instance, halves=False)
    amount = np.full(len(bound.cost), 0.5)
    assert bound.add_halves(amount, 0.02, Options(work_limit=0.0)) == 0


def test_halves_of_kinds_limit_all_their_jobs():
    several = 0
    for seed, more in ((3, {}), (4, {}), (1, {"jobs": 60, "load": 0.6})):
        instance = heavy(seed, array_tail=0.9, **{"max_demand": 32, "load": 0.8} | more)
        found = raised(instance)
        halves = np.array([q for q, cut in enumerate(found.cliques) if isinstance(cut, HalfCut)], dtype=np.int64)
        numbers = with_parts(found.cliques, halves)
        named = cliques_of(instance, {"cliques": named_in(found.cliques, numbers, found.kinds)})
        for q in halves.tolist():
            cut = found.cliques[q]
            own = named[int(np.searchsorted(numbers, q))]
            assert own.most == cut.most
            several += bool((found.kinds.count[cut.kinds] > 1).any())
    assert several
