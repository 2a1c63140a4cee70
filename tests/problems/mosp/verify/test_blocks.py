"""Certificates by blocks of slots are rechecked from the instance alone, and what is no such certificate is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from mosp_blocks_support import by_hand, three_of_two_units

from carbonopt.core.errors import InputError
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.verify.certificate import proven_bound


def stated(slots, prices, blocks, better_than=6.0, cliques=()):
    """Return a certificate with prices of a single resource of a single cluster in some slots."""
    row = [0.0] * slots
    for slot, price in prices.items():
        row[slot] = price
    proof = {"kind": "blocks", "prices": [[row]], "better_than": better_than, "blocks": blocks}
    return proof | ({"cliques": list(cliques)} if cliques else {})


def block(begin, end, members, nodes, **more):
    """Return a block; its tree branches on any of its members."""
    made = {"slots": [begin, end], "members": members, "inside": [], "jobs": list(range(len(members))), "nodes": nodes}
    return made | more


def leaf(*prices, **more):
    return {"prices": [[list(prices)]]} | more


def first_slot():
    """Return a tree of three jobs, of which at most one starts in slot 0: the first, the second, or else the third."""
    return [
        {"job": 0, "last": 0, "parts": [1, 2]},
        leaf(0.0),
        {"job": 1, "last": 0, "parts": [3, 4]},
        leaf(0.0),
        leaf(0.0),
    ]


def test_three_jobs_by_hand():
    """Prices prove 4.5. In the block of slot 0 one job starts for 1, and two wait for slot 1, which is free: 5."""
    instance = three_of_two_units()
    flat = stated(3, {0: 0.5}, []) | {"kind": "lagrangian"}
    assert proven_bound(instance, flat, {})[0] == pytest.approx(4.5)
    proof = stated(3, {0: 0.5}, [block(0, 1, [0, 1, 2], first_slot())])
    assert proven_bound(instance, proof, {})[0] == pytest.approx(5.0)
    whole = block(0, 3, [0, 1, 2], [leaf(0.5, 0.0, 0.0)])  # the prices of the whole are prices of a leaf, too
    assert proven_bound(instance, stated(3, {0: 0.5}, [whole]), {})[0] == pytest.approx(4.5)


def test_no_more_is_proven_than_what_schedules_are_better_than():
    instance = three_of_two_units()
    for better_than, proves in ((5.2, 5.0), (4.9, 4.9), (4.0, 4.0)):
        proof = stated(3, {0: 0.5}, [block(0, 1, [0, 1, 2], first_slot())], better_than)
        assert proven_bound(instance, proof, {})[0] == pytest.approx(proves)


def test_a_block_leaves_out_starts_that_no_better_schedule_has():
    """Slot 1 costs 3, since it has a price of 0.5 and holds no other job: 1 more than the least.

    For what is better than 1 more than the bound, only slot 0 is open, so that the three jobs do not fit.
    """
    instance = three_of_two_units()
    prices = {0: 0.5, 1: 0.5}
    assert proven_bound(instance, stated(3, prices, []) | {"kind": "lagrangian"}, {})[0] == pytest.approx(3.0)
    proof = stated(3, prices, [block(0, 1, [0, 1, 2], first_slot())], better_than=3.9)
    assert proven_bound(instance, proof, {})[0] == pytest.approx(3.9)
    proof["better_than"] = 6.0  # one starts in slot 0; the others in slot 1, at 3 each, which is paid for
    assert proven_bound(instance, proof, {})[0] == pytest.approx(1 + 3 + 3 - 3 * 0.5)


def test_two_blocks_add_up_where_they_are_apart():
    """Two pairs of jobs of one slot: each pair shares a slot of one unit, far from the other one."""
    jobs = [(0, 1, [1], 2), (4, 1, [1], 2)]
    instance = by_hand(8, [1], jobs)
    two = [{"job": 0, "last": 0, "parts": [1, 2]}, leaf(0.0), leaf(0.0)]
    late = [{"job": 0, "last": 4, "parts": [1, 2]}, leaf(0.0), leaf(0.0)]
    both = [block(0, 1, [0, 1], two), block(4, 5, [2, 3], late)]
    flat = stated(8, {}, []) | {"kind": "lagrangian"}
    assert proven_bound(instance, flat, {})[0] == pytest.approx(12.0)
    for blocks, proves in ((both[:1], 13.0), (both[1:], 13.0), (both, 14.0), (both[::-1], 14.0), ([], 12.0)):
        assert proven_bound(instance, stated(8, {}, blocks, 14.5), {})[0] == pytest.approx(proves)


def test_a_job_that_waits_in_two_blocks_counts_once():
    """Two jobs of two slots, one after the other: 6. Blocks that are not apart prove no more than that."""
    instance = by_hand(6, [1], [(0, 2, [1], 2)])
    tree = [{"job": 0, "last": 0, "parts": [1, 2]}, leaf(0.0, 0.0), leaf(1.0, 0.0)]
    one, other = block(0, 2, [0, 1], tree), block(2, 4, [], [])
    alone = proven_bound(instance, stated(6, {}, [one], 7.0), {})[0]
    assert 4.0 < alone <= 6.0
    assert proven_bound(instance, stated(6, {}, [one, other], 7.0), {})[0] == pytest.approx(alone)
    apart = [block(0, 2, [0], [leaf(0.0, 0.0)]), block(1, 3, [1], [leaf(0.0, 0.0)])]  # of members, not of slots
    assert proven_bound(instance, stated(6, {}, apart, 7.0), {})[0] == pytest.approx(4.0)
    with pytest.raises(InputError, match=r"certificate.blocks\[1\].members: must have no row in common"):
        proven_bound(instance, stated(6, {}, [one, block(2, 4, [0], tree)], 7.0), {})


def pair(price, first=(0, 0), last=(0, 0)):
    """Return a clique of the first two jobs, which do not fit together in slot 0."""
    return {"cluster": 0, "jobs": [0, 1], "first": list(first), "last": list(last), "price": price}


def test_a_clique_inside_a_block_has_no_price_there():
    """Three jobs of two units: a clique of two of them in slot 0 at 1 is worth no more than the price of that slot."""
    instance = three_of_two_units()
    flat = stated(3, {}, [], cliques=[pair(1.0)]) | {"kind": "lagrangian"}
    assert proven_bound(instance, flat, {})[0] == pytest.approx(2 + 2 + 1 - 1)
    inside = block(0, 1, [0, 1, 2], first_slot(), inside=[0])
    proof = stated(3, {}, [inside], cliques=[pair(1.0)])
    assert proven_bound(instance, proof, {})[0] == pytest.approx(5.0)
    proof["blocks"][0]["inside"] = []  # the clique stays as it is: its price is charged outside of the block
    assert proven_bound(instance, proof, {})[0] == pytest.approx(2 + 2 + 1 - 1)


def test_a_tree_has_cliques_of_its_own():
    """At most one of the three jobs starts in slot 0: at a price of 1, each costs 2, and 1 is taken off."""
    instance = three_of_two_units()
    own = {"cluster": 0, "jobs": [0, 1, 2], "first": [0] * 3, "last": [0] * 3}
    proof = stated(3, {}, [block(0, 1, [0, 1, 2], [leaf(0.0, clique_prices=[1.0])], cliques=[own])])
    assert proven_bound(instance, proof, {})[0] == pytest.approx(5.0)


def test_a_clique_with_starts_elsewhere_has_no_price_either():
    """It may be said to be inside all the same: to leave out a price lowers what others cost, and is safe."""
    instance = three_of_two_units()
    inside = block(0, 1, [0, 1, 2], first_slot(), inside=[0])
    over_two = {"cluster": 0, "jobs": [0], "first": [0], "last": [1], "price": 0.3}
    for better_than, proves in ((6.0, 5.0), (3.9, 3.9)):
        proof = stated(3, {}, [inside], better_than, cliques=[over_two])
        assert proven_bound(instance, proof, {})[0] == pytest.approx(proves)


def test_a_price_of_a_clique_outside_is_paid_for():
    """Two jobs in slot 0 at 1 each, beside a clique of both at a price of 2: the bound is 2 + 2 - 2 = 2, and not 4.

    With 4, slot 1 would be closed for what is better than 5, at 1 more than the least for either job.
    """
    instance = three_of_two_units()
    clique = pair(2.0, last=(0, 0))
    flat = stated(3, {}, [], cliques=[clique]) | {"kind": "lagrangian"}
    assert proven_bound(instance, flat, {})[0] == pytest.approx(2 + 2 + 1 - 2)
    slot = block(0, 1, [0, 1, 2], first_slot(), inside=[0])
    assert proven_bound(instance, stated(3, {}, [slot], 5.5, cliques=[clique]), {})[0] == pytest.approx(5.0)


def test_jobs_may_be_rejected():
    """At 1.5 a job: one starts in slot 0 for 1, and two are rejected."""
    raw = three_of_two_units().to_dict()
    raw["objective"]["rejection_price"] = 1.5
    instance = from_dict(raw)
    flat = stated(3, {0: 0.25}, [], 4.5) | {"kind": "lagrangian"}
    assert proven_bound(instance, flat, {})[0] == pytest.approx(3 * 1.5 - 0.75)
    proof = stated(3, {0: 0.25}, [block(0, 1, [0, 1, 2], first_slot())], 4.5)
    assert proven_bound(instance, proof, {})[0] == pytest.approx(1 + 1.5 + 1.5)
    far = {0: 5.0, 1: 5.0, 2: 5.0}  # so expensive that all are rejected, but who uses the capacity that is paid for?
    assert proven_bound(instance, stated(3, far, [], 4.5), {})[0] == pytest.approx(3 * 1.5 - 45)


def test_members_come_in_any_order():
    """A job of three units from slot 0, and one of one unit from slot 1, on three, at a price of 0.75 in slot 1.

    The first starts in slot 0 for 1. The second one costs 2 + 0.75 there, or 3 later; 3 * 0.75 is taken off.
    """
    instance = by_hand(4, [3], [(0, 1, [3], 1), (1, 1, [1], 1)])
    for members in ([1, 0], [0, 1]):
        proof = stated(4, {}, [block(0, 2, members, [leaf(0.0, 0.75)])], 9.0)
        assert proven_bound(instance, proof, {})[0] == pytest.approx(1 + 2.75 - 2.25)


def test_rejection_counts_where_starts_are_left_out():
    """At 1.5 a job: one starts in slot 0 for 1, and one could start in slot 2 for 3, and is rejected.

    If it were taken to cost 3, nothing would be open for what is better than 3.9.
    """
    raw = by_hand(4, [1], [(0, 1, [1], 1), (2, 1, [1], 1)]).to_dict()
    raw["objective"]["rejection_price"] = 1.5
    assert proven_bound(from_dict(raw), stated(4, {}, [], 3.9), {})[0] == pytest.approx(2.5)


def test_what_cliques_are_paid_counts_where_starts_are_left_out():
    """The clique of two jobs in slot 0 adds 2 to that start and takes off 2: 2 + 2 + 1 - 2, and 5 without that."""
    proof = stated(3, {}, [], 4.5, cliques=[pair(2.0)])
    assert proven_bound(three_of_two_units(), proof, {})[0] == pytest.approx(3.0)


def test_members_may_be_more_than_run_in_the_block():
    """They are at their least cost elsewhere. Their order is that of the rows in the tree."""
    jobs = [(0, 1, [1], 2), (4, 1, [1], 2)]
    instance = by_hand(8, [1], jobs)
    tree = [{"job": 3, "last": 0, "parts": [1, 2]}, leaf(0.0), leaf(0.0)]
    proof = stated(8, {}, [block(0, 1, [3, 2, 1, 0], tree)], 14.5)
    assert proven_bound(instance, proof, {})[0] == pytest.approx(13.0)


def test_a_block_without_members_has_no_price():
    instance = by_hand(5, [1], [(0, 1, [1], 1)])
    flat = stated(5, {4: 2.0}, []) | {"kind": "lagrangian"}
    assert proven_bound(instance, flat, {})[0] == pytest.approx(-1.0)
    idle = {"slots": [4, 5], "members": [], "inside": []}
    assert proven_bound(instance, stated(5, {4: 2.0}, [idle], 1.5), {})[0] == pytest.approx(1.0)


def test_alike_jobs_with_other_costs_are_told_apart():
    """Jobs of equal size, of which one arrives later: each has its own starts in the block."""
    instance = by_hand(4, [1], [(0, 1, [1], 1), (1, 1, [1], 1)])
    proof = stated(4, {}, [block(0, 2, [0, 1], [leaf(0.0, 0.0)], jobs=[])], 4.0)
    assert proven_bound(instance, proof, {})[0] == pytest.approx(1 + 2)
    late = stated(4, {}, [block(0, 2, [1, 0], [leaf(0.0, 0.0)], jobs=[])], 4.0)
    assert proven_bound(instance, late, {})[0] == pytest.approx(1 + 2)


BAD = [
    (("blocks",), {"0": 1}, "certificate.blocks[^:]*.*: must be a list of objects"),
    (("blocks", 0, "slots"), [0], r"blocks\[0\].slots[^:]*: must be the first slot"),
    (("blocks", 0, "slots"), [0, 4], r"blocks\[0\].slots[^:]*: must be the first slot"),
    (("blocks", 0, "slots"), [1, 1], r"blocks\[0\].slots[^:]*: must be the first slot"),
    (("blocks", 0, "slots"), [0, True], r"blocks\[0\].slots[^:]*: must be the first slot"),
    (("blocks", 0, "members"), [0, 1, 3], r"blocks\[0\].members[^:]*: must be different whole numbers below 3"),
    (("blocks", 0, "members"), [0, 1, 1], r"blocks\[0\].members[^:]*: must be different"),
    (("blocks", 0, "members"), None, r"blocks\[0\].members[^:]*: must be different"),
    (("blocks", 0, "inside"), [0], r"blocks\[0\].inside[^:]*: must be empty"),
    (("blocks", 0, "jobs"), [3], r"blocks\[0\].jobs[^:]*: must be different whole numbers below 3"),
    (("blocks", 0, "nodes"), [], r"blocks\[0\].nodes[^:]*: must be a list"),
    (("blocks", 0, "nodes", 1), leaf(0.0, 0.0), r"blocks\[0\].nodes\[1\].prices[^:]*: must be numbers"),
    (("blocks", 0, "nodes", 1), leaf(-1.0), r"blocks\[0\].nodes\[1\].prices[^:]*: must be numbers"),
    (("blocks", 0, "nodes", 0, "job"), 3, r"blocks\[0\].nodes\[0\].job"),
    (("blocks", 0, "nodes", 0, "parts"), [1, 1], r"blocks\[0\].nodes\[0\].parts"),
    (("blocks", 0, "cliques"), [{}], r"blocks\[0\].cliques\[0\]"),
    (("better_than",), None, "better_than[^:]*: must be an objective"),
    (("better_than",), True, "better_than[^:]*: must be an objective"),
    (("better_than",), float("nan"), "better_than[^:]*: must be an objective"),
    (("prices",), [[[0.5, -1.0, 0.0]]], "certificate.prices"),
]


@pytest.mark.parametrize(("where", "given", "words"), BAD)
def test_what_is_no_such_certificate_is_refused(where, given, words):
    instance = three_of_two_units()
    proof = copy.deepcopy(stated(3, {0: 0.5}, [block(0, 1, [0, 1, 2], first_slot())]))
    at = proof
    for key in where[:-1]:
        at = at[key]
    at[where[-1]] = given
    with pytest.raises(InputError, match=words):
        proven_bound(instance, proof, {})


def test_a_job_that_is_no_member_runs_free_of_charge():
    """Jobs 0 and 1 cost 3 in all, since one of them waits. Job 2 starts in slot 0, which has no price any more."""
    instance = three_of_two_units()
    proof = stated(3, {0: 0.5}, [block(0, 1, [0, 1], [*first_slot()[:2], leaf(0.0)])])
    assert proven_bound(instance, proof, {})[0] == pytest.approx(3.0 + 1.0)


@pytest.mark.parametrize("size", [1e300, np.finfo(float).max])
def test_costs_without_end_prove_nothing(size):
    instance = three_of_two_units()
    proof = stated(3, {}, [block(0, 1, [0, 1, 2], [leaf(1e30)])])
    assert proven_bound(instance, proof, {})[0] <= 6.0
    proof["better_than"] = size
    with pytest.raises(InputError, match="better_than"):
        proven_bound(instance, proof, {})
