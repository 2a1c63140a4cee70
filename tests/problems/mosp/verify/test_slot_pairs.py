"""Cliques over two slots of a certificate are rechecked from the instance alone, and what is no clique is refused."""

from __future__ import annotations

from dataclasses import replace
from sys import float_info

import numpy as np
import pytest
from mosp_cliques_support import by_hand, heavy, raised, weighted

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.verify.certificate import proven_bound


def by_hand_over_two():
    """Return three jobs of 6 units and two slots each, on a cluster of 10 units over six slots.

    Each pair of jobs has no room beside each other in any slot, so slots 1 and 2 see at most one that uses both, or two
    that use one each.
    """
    raw = by_hand().to_dict()
    raw["time"]["slots"] = 6
    raw["carbon"]["g_per_kwh"] = [[10.0, 1.0, 1.0, 10.0, 10.0, 10.0]]
    raw["jobs"] |= {
        "name": ["a", "b", "c"],
        "arrival": [0] * 3,
        "duration": [2] * 3,
        "deadline": [6] * 3,
        "demand": {"unit": [6.0] * 3},
    }
    return from_dict(raw)


def over_two(**more):
    """Return a clique of `by_hand_over_two` over slots 1 and 2: both count 2, one alone counts 1, and 2 is the most."""
    jobs, starts, weights = zip(
        *[(job, start, weight) for job in range(3) for start, weight in ((0, 1), (1, 2), (2, 1))], strict=True
    )
    clique = {"cluster": 0, "jobs": list(jobs), "first": list(starts), "last": list(starts), "weights": list(weights)}
    clique |= {"most": 2, "slot": 1, "resource": 0, "unit": 1.0, "price": 54.0} | more
    return {"kind": "lagrangian", "prices": [[[0.0] * 6]], "cliques": [clique]}


def test_a_clique_over_two_slots_by_hand():
    """A run in both clean slots costs 12, in one 66, in none 120. At a price of 54 a weight, every start costs 120."""
    assert proven_bound(by_hand_over_two(), over_two(), {})[0] == pytest.approx(3 * 120 - 2 * 54)
    assert proven_bound(by_hand_over_two(), over_two(unit=3.0), {})[0] == pytest.approx(252)
    optimum = co.solve(by_hand_over_two(), "milp").objective
    assert optimum == pytest.approx(2 * 66 + 120)


@pytest.mark.parametrize(
    ("more", "field", "words"),
    [
        ({"most": 1}, "[0]", "do not fit together where their weights exceed 1"),
        ({"weights": [1, 3, 1] * 3}, "[0]", "where their weights exceed 2"),
        ({"slot": 2}, "[0]", "do not fit together"),
        ({"slot": 0}, "[0]", "do not fit together"),
        ({"unit": 4.0}, "[0]", "do not fit together"),  # 6 is one such unit, and 10 are two
        ({"first": [0, 1, 2, 0, 1, 2, 0, 0, 2]}, "[0]", "each start of a job once"),
        ({"last": [0, 1, 3, 0, 1, 2, 0, 1, 2]}, "[0]", "do not fit together"),  # a start in slot 3 uses neither
        ({"slot": 5}, "[0].slot", "whole number below 5"),
        ({"slot": None}, "[0].slot", "whole number below 5"),
        ({"slot": -1}, "[0].slot", "whole number below 5"),
        ({"slot": True}, "[0].slot", "whole number below 5"),
        ({"resource": 1}, "[0].resource", "whole number below 1"),
        ({"unit": 0.0}, "[0].unit", "above 0"),
        ({"unit": float("nan")}, "[0].unit", "above 0"),
        ({"unit": float("inf")}, "[0].unit", "above 0"),
        ({"unit": True}, "[0].unit", "above 0"),
        ({"unit": 1e-6}, "[0].unit", "at most 70000 pairs"),
        ({"unit": 5e-324}, "[0].unit", "at most 70000 pairs"),
        ({"weights": None}, "[0].weights", "whole numbers from 1 to 1000"),
        ({"most": None}, "[0].most", "whole number from 1 to 1000"),
        ({"last": [0]}, "[0]", "one weight"),
    ],
)
def test_a_wrong_clique_over_two_slots_is_refused_with_its_field(more, field, words):
    with pytest.raises(InputError) as error:
        proven_bound(by_hand_over_two(), over_two(**more), {})
    assert f"certificate.cliques{field}" in str(error.value)
    assert words in str(error.value)


def test_a_capacity_beyond_all_numbers_has_no_units():
    instance = by_hand_over_two()
    clusters = replace(instance.clusters, capacity=np.full((1, 1, 6), float_info.max))
    with np.errstate(over="ignore"), pytest.raises(InputError, match="at most 70000 pairs"):
        proven_bound(replace(instance, clusters=clusters), over_two(unit=1e307, most=9), {})


@pytest.mark.parametrize("name", ["slot", "resource", "unit"])
def test_a_clique_over_two_slots_names_all_three(name):
    certificate = over_two()
    del certificate["cliques"][0][name]
    with pytest.raises(InputError, match=rf"certificate.cliques\[0\].{name}"):
        proven_bound(by_hand_over_two(), certificate, {})


def test_a_sum_that_another_order_rounds_down_is_room_over_two_slots_too():
    """As for one slot: the limit counts as a little more."""
    demand = [25.98, 0.83, 0.83, 0.7, 0.65, 0.27, 0.22, 0.15]
    raw = by_hand().to_dict()
    count = len(demand)
    raw["clusters"]["capacity"] = {"unit": [29.62999997036999]}
    raw["jobs"] |= {"name": [f"j{i}" for i in range(count)], "demand": {"unit": demand}}
    raw["jobs"] |= {"arrival": [0] * count, "duration": [2] * count, "deadline": [3] * count}
    rows = {"jobs": list(range(count)), "first": [0] * count, "last": [0] * count, "weights": [1] * count}
    certificate = weighted(**rows, most=count - 1, slot=0, resource=0, unit=0.125)
    with pytest.raises(InputError, match="some of these do"):
        proven_bound(from_dict(raw), certificate, {})


@pytest.mark.parametrize("more", [{}, {"memory": True, "day_capacity": 0.7, "restricted_share": 0.2}])
def test_price_proves_more_over_two_slots(more):
    better = 0
    for seed in (1, 2, 3):
        instance = heavy(seed, **more)
        cliques = raised(instance)
        assert any(clique.units is not None for clique in cliques.cliques)
        bound, _ = proven_bound(instance, cliques.proof.certificate(), {})
        assert bound == pytest.approx(cliques.proof.bound, rel=1e-9)
        better += any(clique.units is not None for clique in cliques.proof.cliques)
    assert better


def test_price_states_units_of_the_instance_itself():
    """Memory is 64 times as much as nodes, and `price` counts it in units of like size."""
    instance = co.generate(
        "mosp", preset="supercomputer", jobs=70, clusters=2, slots=24, max_demand=64, load=0.5, memory=True, seed=2
    )
    params = {"search": {"heavy": {"share": 1.0}}, "windows": {"most_branches": 1}, "dives": {"most": 1}}
    solution = co.solve(instance, "price", work_limit=2, params=params)
    pairs = [clique for clique in solution.certificate["cliques"] if "unit" in clique]
    assert {clique["resource"] for clique in pairs} == {0, 1}
    assert co.check(instance, solution).proven_bound == pytest.approx(solution.certificate["bound"], rel=1e-9)
