"""Certificates by blocks of slots: within a block some jobs are whole, and all other slots have prices.

They speak of schedules that are better than a given objective. Prices of capacity and of cliques prove a bound on all
schedules. A start is in no better schedule if it costs its job more than the least by what the bound is short of the
given objective. The other starts are open.

Then the capacity of all blocks has no price, and neither have the cliques inside. Each block has members, and no job is
one of two blocks. Where members run in their block, they use its capacity. What they cost in all is at least the bound
of a tree of windows, with prices in its leaves; see `windows`. To start elsewhere is one more way for a member, at the
least cost of its open starts there. All other jobs cost their least. The sum of all this, less what the remaining
prices are paid for, is a bound by weak duality, whatever the blocks, members and cliques inside are. So it holds for
each better schedule, and what is proven is no better than the given objective.

Bounds are strong where members are all jobs that may run in their block, and where blocks have no slot in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.verify.cliques import Clique, cliques_of, paid_for, prices_of
from carbonopt.problems.mosp.verify.halves import Half
from carbonopt.problems.mosp.verify.windows import Costs, least_of_windows

PricedRuns = Callable[[FloatArray, list[Clique | Half], FloatArray], Callable[[int], FloatArray]]
"""Of prices of capacity, shape (M, R, T), and of cliques and their prices, shape (Q,): what each run of a job (its row)
costs at least with these, by cluster and start, infinite where it may not run, shape (M, T)."""


@dataclass(frozen=True, eq=False)
class Block:
    """A block as a certificate states it.

    Parameters
    ----------
    begin, end
        First slot, and the one after the last.
    members
        Rows of its jobs.
    inside
        Numbers of the cliques inside.
    tree
        What else is stated: a certificate of kind ``windows`` that counts members alone.
    field
        Its name in messages.
    """

    begin: int
    end: int
    members: list[int]
    inside: list[int]
    tree: dict[str, Any]
    field: str


def least_of_blocks(
    instance: MospInstance,
    certificate: dict[str, Any],
    prices: FloatArray,
    rejected: FloatArray,
    priced: PricedRuns,
) -> float | None:
    """Return the bound that a certificate by blocks proves, in the sense of a minimisation.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "blocks", "prices": [cluster][resource][slot], "cliques": [...], "better_than": objective, "blocks":
        [block, ...]}`` with a ``"price"`` for each clique. A block is ``{"slots": [first, end], "members": [row, ...],
        "inside": [number of a clique, ...], "jobs": [...], "nodes": [...], "cliques": [...]}``. The last three are
        those of `least_of_windows`. They count members alone, in their order, and leaves have prices in the slots of
        the block alone. A block without members has none of them.
    prices
        Those of the certificate, shape (M, R, T).
    rejected
        What a job costs that does not run, shape (N,); infinite where it must.
    priced
        What runs cost.

    Returns
    -------
    float or None
        The bound, at most what is given as ``better_than``; None if it says nothing, as where a job that must run has
        no place.

    Raises
    ------
    InputError
        If it is no such certificate, or a job is a member of two blocks.
    """
    cliques = cliques_of(instance, certificate)
    clique_prices = np.array(prices_of(certificate), dtype=np.float64)
    blocks = _blocks(instance, certificate, len(cliques))
    goal = _goal(instance, certificate)
    full = priced(prices, cliques, clique_prices)
    rest, clique_rest = prices.copy(), clique_prices.copy()
    for block in blocks:
        rest[:, :, block.begin : block.end] = 0.0
        clique_rest[block.inside] = 0.0
    outside = priced(rest, cliques, clique_rest)
    count = len(instance.jobs)
    limit = instance.clusters.limit
    with np.errstate(over="ignore", invalid="ignore"):
        least = np.array([min(rejected[i], full(i).min(initial=np.inf)) for i in range(count)])
        base = _less(least, up(prices * limit).ravel(), paid_for(cliques, clique_prices))
        if not np.isfinite(base):
            return None
        block_of = {i: block for block in blocks for i in block.members}
        start = np.arange(instance.time.slots)
        costs: list[float] = []
        members: dict[int, tuple[FloatArray, float]] = {}
        for i in range(count):
            cost = full(i)
            is_open = np.isfinite(cost) & ~(down(down(base - least[i]) + cost) >= goal)
            cost = np.where(is_open, outside(i), np.inf)
            own = block_of.get(i)
            if own is None:
                costs.append(min(float(rejected[i]), float(cost.min(initial=np.inf))))
                continue
            runs = (start < own.end) & (start + instance.jobs.duration[i] > own.begin)
            elsewhere = float(cost[:, ~runs].min(initial=np.inf))
            members[i] = np.where(runs, cost, np.inf), min(float(rejected[i]), elsewhere)
        for block in blocks:
            value = _least_of_members(instance, block, [members[i] for i in block.members])
            if value is None:
                return None
            costs.append(value)
        bound = _less(costs, up(rest * limit).ravel(), paid_for(cliques, clique_rest))
    return min(bound, goal) if bound > -np.inf else None


def _less(costs: Iterable[float], *paid: FloatArray) -> float:
    """Return a lower bound on the sum of costs less what is paid; nan where a sum is too large."""
    try:
        return float(down(down(math.fsum(costs)) - up(math.fsum(np.concatenate(paid)))))
    except (OverflowError, ValueError):  # the latter of infinities of both signs
        return math.nan


def _least_of_members(instance: MospInstance, block: Block, members: list[tuple[FloatArray, float]]) -> float | None:
    """Return what the members of a block cost at least, of each of which costs in the block and elsewhere are given."""
    if not members:
        return 0.0
    places, elsewhere = zip(*members, strict=True)
    rows = np.array(block.members, dtype=np.int64)
    zeros = np.zeros(instance.time.slots)
    costs = Costs(lambda i: places[i], lambda _: zeros, np.array(elsewhere), alone=True)
    part = replace(instance, jobs=instance.jobs.part(rows))
    return least_of_windows(part, block.tree, costs, slots=(block.begin, block.end), within=block.field)


def _blocks(instance: MospInstance, certificate: dict[str, Any], cliques: int) -> list[Block]:
    """Return the blocks of a certificate, once they are seen to have no job in common."""
    given = certificate.get("blocks")
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        raise InputError(Fault("certificate.blocks", "must be a list of objects", shown(given)))
    blocks = []
    used: set[int] = set()
    for k, entry in enumerate(given):
        field = f"certificate.blocks[{k}]"
        slots = entry.get("slots")
        good = isinstance(slots, list) and len(slots) == 2 and all(type(slot) is int for slot in slots)
        if not isinstance(slots, list) or not good or not 0 <= slots[0] < slots[1] <= instance.time.slots:
            words = f"must be the first slot and the one after the last, of {instance.time.slots}"
            raise InputError(Fault(f"{field}.slots", words, shown(slots)))
        members = _rows(entry, "members", len(instance.jobs), field)
        inside = _rows(entry, "inside", cliques, field)
        if not used.isdisjoint(members):
            raise InputError(Fault(f"{field}.members", "must have no row in common with another block"))
        used.update(members)
        blocks.append(Block(slots[0], slots[1], members, inside, entry, field))
    return blocks


def _rows(entry: dict[str, Any], name: str, below: int, field: str) -> list[int]:
    """Return different whole numbers."""
    given = entry.get(name)
    good = isinstance(given, list) and all(type(number) is int and 0 <= number < below for number in given)
    if not isinstance(given, list) or not good or len(set(given)) < len(given):
        words = f"must be different whole numbers below {below}" if below else "must be empty: there is none"
        raise InputError(Fault(f"{field}.{name}", words, shown(given)))
    return given


def _goal(instance: MospInstance, certificate: dict[str, Any]) -> float:
    """Return what is given as ``better_than``, in the sense of a minimisation."""
    given: Any = certificate.get("better_than")
    if type(given) not in (int, float) or not abs(given) <= LARGEST_PRICE:
        words = f"must be an objective, from {-LARGEST_PRICE:g} to {LARGEST_PRICE:g}"
        raise InputError(Fault("certificate.better_than", words, shown(given)))
    return float(given) if instance.sense == "min" else -float(given)
