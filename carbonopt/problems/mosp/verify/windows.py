"""Certificates by branches on the starts of large jobs: a tree of windows, with prices in its leaves.

A window holds the starts of a large job on a cluster. A node with a cluster has two parts: the job runs there, or it
does not. One with a last slot, too: the job starts by then, or later or not at all. So each schedule is in a leaf.

Where a job must run and has one cluster left, it uses some slots from every start of its window. What does not
fit beside these certain loads is in no schedule of the leaf. That narrows windows, and makes more loads certain. The
bound of a leaf is the Lagrangian one over the places that are left, with prices of capacity and of cliques.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.certificate import LARGEST_PRICE, parts_of
from carbonopt.core.directed import EPS, down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.verify.cliques import Charges, Clique, cliques_of, paid_for
from carbonopt.problems.mosp.verify.halves import Half


class Costs(NamedTuple):
    """What runs cost at least without prices.

    Attributes
    ----------
    place
        Of a job (its row): a lower bound on what depends on its place, by cluster and start, infinite where it has no
        room on its own or is not eligible, shape (M, T).
    time
        Of a job (its row): a lower bound on what completion costs by start, infinite before its arrival and where it
        would not end in time, shape (T,).
    rejected
        What a job costs that does not run, shape (N,).
    alone
        Whether jobs of equal duration, demand and eligibility may have places of different costs.
    """

    place: Callable[[int], FloatArray]
    time: Callable[[int], FloatArray]
    rejected: FloatArray
    alone: bool = False


class Prices(NamedTuple):
    """Prices of a leaf.

    Attributes
    ----------
    capacity
        Of each unit of a resource on a cluster in a slot, shape (M, R, T).
    cliques
        Of each clique, shape (Q,).
    """

    capacity: FloatArray
    cliques: FloatArray


class Kinds:
    """The jobs in kinds.

    Each job that is large or in a clique is a kind of its own. Others share one with those of equal duration, demand
    and eligibility, unless each has costs of its own.

    Parameters
    ----------
    instance
        The instance.
    jobs
        Its large jobs.
    cliques
        Its cliques.
    costs
        Of its runs.

    Attributes
    ----------
    cliques, charges
        The cliques, and what they add to the costs of kinds.
    place
        Cost of each kind by cluster and start, infinite where there is none, shape (H, M, T); the first K are the
        large jobs.
    demand, duration
        Of each kind, shapes (H, R) and (H,).
    of
        Kind of each job, shape (N,).
    time
        What completion costs each job by start, shape (N, T).
    size
        The largest cost of a place of each job plus the largest of its completion, in size, shape (N,).
    """

    def __init__(self, instance: MospInstance, jobs: IntArray, cliques: Sequence[Clique | Half], costs: Costs) -> None:
        slots = instance.time.slots
        self.limit = instance.clusters.limit
        self.rejected = costs.rejected
        count = len(instance.jobs)
        number = np.full(count, -1, dtype=np.int64)
        number[jobs] = np.arange(len(jobs))
        alike = np.column_stack(
            [number, instance.jobs.duration, instance.jobs.demand, instance.eligible.astype(np.float64)]
        )
        alike[jobs, 1:] = 0.0
        alike[number < 0, 0] = count  # large jobs come first, in their order
        alone = sorted({run.job for clique in cliques for run in clique.runs() if number[run.job] < 0})
        if costs.alone:
            alone = np.flatnonzero(number < 0).tolist()
        alike[alone, 0] = count + 1.0 + np.arange(len(alone))
        _, first, of = np.unique(alike, axis=0, return_index=True, return_inverse=True)
        self.of = of.ravel()
        self.cliques = cliques
        self.charges = Charges(cliques, self.of, (len(self.limit), slots))
        self.demand: FloatArray = instance.jobs.demand[first]
        self.duration: IntArray = np.minimum(instance.jobs.duration[first], slots + 1)  # longer ones run nowhere
        clusters = len(self.limit)
        self.place: FloatArray = np.array([costs.place(i) for i in first.tolist()]).reshape(-1, clusters, slots)
        self.is_there: BoolArray = self.place < np.inf
        self.time: FloatArray = np.array([costs.time(i) for i in range(count)]).reshape(count, slots)
        self.size = _largest(self.place.reshape(len(first), clusters * slots))[self.of] + _largest(self.time)
        self.start = np.arange(slots)
        self.end = np.minimum(self.start + self.duration[:, None], slots)

    def least(self, prices: Prices, places: BoolArray, rejected: FloatArray) -> FloatArray:
        """Return a lower bound on what each job costs in its places (H, M, T), or left out, shape (N,).

        A difference of prefix sums of T prices is wrong by at most T + 1 times 2^-53 of the largest sum. Four times
        this error is taken off. A sum of R products, a charge and two costs is then wrong by at most 2 R + 4 times
        2^-53 of the sizes of its terms. These are at most the sum itself and twice the costs, since prices are not
        negative.
        """
        clusters, resources, slots = prices.capacity.shape
        prefix = np.zeros((clusters, resources, slots + 1))
        np.cumsum(prices.capacity, axis=2, out=prefix[:, :, 1:])
        total = self.place.copy()
        for r in range(resources):
            of = prefix[:, r]
            paid = of[:, self.end].swapaxes(0, 1) - of[:, :-1]
            paid -= 2 * (slots + 2) * EPS * of[:, -1:]
            total += self.demand[:, r, None, None] * np.maximum(paid, 0.0)
        total[self.charges.rows] += self.charges.least(prices.cliques)
        total[~places] = np.inf
        by_start = total.min(axis=1)
        best: FloatArray = (by_start[self.of] + self.time).min(axis=1)
        error = (2 * resources + 5) * EPS * (np.abs(best) + 2 * self.size)
        return np.asarray(np.minimum(np.where(np.isfinite(best), down(best - up(error)), np.inf), rejected))


def _largest(costs: FloatArray) -> FloatArray:
    """Return the largest finite cost of each row, in size."""
    return np.asarray(np.where(np.isfinite(costs), np.abs(costs), 0.0).max(axis=1, initial=0.0))


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows of large jobs.

    Parameters
    ----------
    first, last
        First and last start of each large job on each cluster, 1 and 0 for none, shape (K, M).
    left_out
        Whether it may not run at all, shape (K,).
    """

    first: IntArray
    last: IntArray
    left_out: BoolArray


def least_of_windows(
    instance: MospInstance,
    certificate: dict[str, Any],
    costs: Costs,
    *,
    slots: tuple[int, int] | None = None,
    within: str = "certificate",
) -> float | None:
    """Return the least bound of the leaves of a tree.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "windows", "jobs": [row, ...], "nodes": [node, ...]}``: the large jobs, and the root first. A node is
        ``{"job": row, "cluster": row, "parts": [there, elsewhere]}``, ``{"job": row, "last": slot, "parts": [by then,
        later]}`` with numbers of later nodes, or ``{"prices": [cluster][resource][slot]}``. The number of clusters
        stands for a job that does not run. Limits on starts are left out: they only raise what schedules cost. With
        ``"cliques"``, see `cliques_of`, a leaf has ``"clique_prices"``, one for each.
    costs
        Of its runs.
    slots
        First slot that has a price in leaves, and the one after the last; None for all slots.
    within
        Name of the certificate in messages.

    Returns
    -------
    float or None
        Infinite if no leaf has a schedule, None if one says nothing.

    Raises
    ------
    InputError
        If it is no such tree.
    """
    jobs = _rows(certificate, len(instance.jobs), within)
    nodes = certificate.get("nodes")
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise InputError(Fault(f"{within}.nodes", "must be a list of objects, not empty"))
    cliques = cliques_of(instance, certificate, within)
    begin, end = slots or (0, instance.time.slots)
    kinds = Kinds(instance, jobs, cliques, costs)
    bound = np.inf
    used = {0}
    starts = kinds.is_there[: len(jobs)] & np.isfinite(kinds.time[jobs])[:, None]
    waiting = [(0, Windows(*_ends(starts), np.isfinite(costs.rejected[jobs])))]
    while waiting:
        number, windows = waiting.pop()
        node = nodes[number]
        field = f"{within}.nodes[{number}]"
        if "prices" not in node:
            numbers = parts_of(node, number, len(nodes), used, field)
            waiting.extend(zip(numbers, _split(node, jobs, windows, instance.time.slots, field), strict=True))
            continue
        of_capacity = np.zeros(kinds.limit.shape)
        of_capacity[:, :, begin:end] = _prices(node, "prices", (*kinds.limit.shape[:2], end - begin), field)
        has_cliques = bool(cliques) or "clique_prices" in node
        of_cliques = _prices(node, "clique_prices", (len(cliques),), field) if has_cliques else np.zeros(0)
        prices = Prices(of_capacity, of_cliques)
        value = _bound_of_leaf(kinds, jobs, windows, prices)
        if value is None:
            return None
        bound = min(bound, value)
    return bound


def _bound_of_leaf(kinds: Kinds, jobs: IntArray, windows: Windows, prices: Prices) -> float | None:
    """Return what prices prove of the schedules within windows: infinite where there is none, None for nothing."""
    places = open_places(kinds, windows)
    if places is None:
        return np.inf
    rejected = kinds.rejected.copy()
    rejected[jobs] = np.where(windows.left_out, rejected[jobs], np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        least = kinds.least(prices, places, rejected)
        if not np.isfinite(least).all():
            return np.inf if _is_empty(kinds, places, rejected) else None
        try:
            paid = up(math.fsum([*up(prices.capacity * kinds.limit).ravel(), *paid_for(kinds.cliques, prices.cliques)]))
            value = float(down(down(math.fsum(least)) - paid))
        except (OverflowError, ValueError):
            return None
    return value if np.isfinite(value) else None


def _is_empty(kinds: Kinds, places: BoolArray, rejected: FloatArray) -> bool:
    """Return whether a job that must run has no place: infinite costs alone may be an overflow."""
    by_start = np.asarray(places.any(axis=1))
    return bool((np.isposinf(rejected) & ~(by_start[kinds.of] & (kinds.time < np.inf)).any(axis=1)).any())


def open_places(kinds: Kinds, windows: Windows) -> BoolArray | None:
    """Return the places of all kinds that fit beside certain loads, shape (H, M, T); None if a large job has none."""
    first = windows.first
    last = windows.last
    large = len(first)
    slot = np.arange(kinds.limit.shape[2])
    while True:
        is_there = first <= last
        clusters = is_there.sum(axis=1)
        if ((clusters == 0) & ~windows.left_out).any():
            return None
        certain = _certain(kinds, first, last, np.flatnonzero((clusters == 1) & ~windows.left_out))
        room = _room(kinds, certain)
        places = kinds.is_there & _fits_from(kinds, room)
        k, j = certain.job, certain.cluster
        places[k, j] = kinds.is_there[k, j] & _fits_beside_itself(kinds, certain, room)
        places[:large] &= (slot >= first[..., None]) & (slot <= last[..., None])
        narrowed = _ends(places[:large])
        if (narrowed[0] == first).all() and (narrowed[1] == last).all():
            return places
        first, last = narrowed


def _ends(starts: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the first and the last true entry of each row, 1 and 0 for none."""
    is_there = starts.any(axis=2)
    first = np.where(is_there, starts.argmax(axis=2), 1)
    last = np.where(is_there, starts.shape[2] - 1 - starts[:, :, ::-1].argmax(axis=2), 0)
    return first.astype(np.int64), last.astype(np.int64)


class _Certain(NamedTuple):
    """Loads of large jobs, one each: the job, its cluster, and whether it uses each slot from every start, (C, T)."""

    job: IntArray
    cluster: IntArray
    uses: BoolArray


def _certain(kinds: Kinds, first: IntArray, last: IntArray, jobs: IntArray) -> _Certain:
    """Return what jobs on one cluster use from every start."""
    cluster = (first[jobs] <= last[jobs]).argmax(axis=1)
    begin = last[jobs, cluster]
    end = first[jobs, cluster] + kinds.duration[jobs]
    slot = np.arange(kinds.limit.shape[2])
    uses = (begin[:, None] <= slot) & (slot < end[:, None])
    there = begin < end
    return _Certain(jobs[there], cluster[there], uses[there])


def _room(kinds: Kinds, certain: _Certain) -> FloatArray:
    """Return at least what certain loads leave, shape (M, R, T)."""
    load = np.zeros(kinds.limit.shape)
    np.add.at(load, certain.cluster, kinds.demand[certain.job][:, :, None] * certain.uses[:, None])
    load -= (len(certain.job) + 2) * EPS * load  # at most what is certain
    return up(kinds.limit - load) + (len(kinds.of) + 2) * EPS * kinds.limit  # a checker's sum may be short by so much


def _fits_from(kinds: Kinds, room: FloatArray) -> BoolArray:
    """Return whether a run of each kind has room in all its slots, shape (H, M, T)."""
    least = np.full((int(kinds.duration.max(initial=0)) + 1, *room.shape), np.inf)
    slots = room.shape[2]
    for length in range(1, min(len(least) - 1, slots) + 1):
        starts = slots - length + 1
        np.minimum(least[length - 1, :, :, :starts], room[:, :, length - 1 :], out=least[length, :, :, :starts])
    fits = np.ones((len(kinds.demand), room.shape[0], slots), dtype=np.bool_)
    for r in range(room.shape[1]):
        fits &= kinds.demand[:, r, None, None] <= least[kinds.duration, :, r]
    return fits


def _fits_beside_itself(kinds: Kinds, certain: _Certain, room: FloatArray) -> BoolArray:
    """Return whether jobs of certain loads have room from each slot on their cluster, shape (C, T)."""
    left = room[certain.cluster]
    needed = np.where(certain.uses[:, None], 0.0, kinds.demand[certain.job][:, :, None])
    bad = np.zeros((len(left), left.shape[2] + 1), dtype=np.int64)
    np.cumsum((needed > left).any(axis=1), axis=1, out=bad[:, 1:])
    return np.asarray(np.take_along_axis(bad, kinds.end[certain.job], axis=1) == bad[:, :-1])


def _split(node: dict[str, Any], jobs: IntArray, windows: Windows, slots: int, field: str) -> tuple[Windows, Windows]:
    """Return the windows of the two parts of a node."""
    clusters = windows.first.shape[1]
    job = node.get("job")
    if type(job) is not int or job not in jobs.tolist():
        raise InputError(Fault(f"{field}.job", "must be one of the tree's jobs", shown(job)))
    k = jobs.tolist().index(job)
    parts = tuple(Windows(windows.first.copy(), windows.last.copy(), windows.left_out.copy()) for _ in range(2))
    there, elsewhere = parts
    if "cluster" in node:
        cluster = node["cluster"]
        if type(cluster) is not int or not 0 <= cluster <= clusters:
            words = f"must be a whole number up to {clusters}, which stands for a job that does not run"
            raise InputError(Fault(f"{field}.cluster", words, shown(cluster)))
        other = np.arange(clusters) != cluster
        there.left_out[k] &= cluster == clusters
        elsewhere.left_out[k] &= cluster != clusters
        for part, gone in ((there, other), (elsewhere, ~other)):
            part.first[k, gone] = 1
            part.last[k, gone] = 0
        return there, elsewhere
    last = node.get("last")
    if type(last) is not int or not 0 <= last < slots:
        raise InputError(Fault(f"{field}.last", f"must be a whole number below {slots}", shown(last)))
    there.last[k] = np.minimum(there.last[k], last)
    there.left_out[k] = False
    elsewhere.first[k] = np.maximum(elsewhere.first[k], last + 1)
    for part in parts:
        none = part.first[k] > part.last[k]
        part.first[k, none] = 1
        part.last[k, none] = 0
    return there, elsewhere


def _rows(certificate: dict[str, Any], count: int, within: str) -> npt.NDArray[np.int64]:
    """Return the large jobs of a certificate."""
    jobs = certificate.get("jobs")
    good = isinstance(jobs, list) and all(type(job) is int and 0 <= job < count for job in jobs)
    if not isinstance(jobs, list) or not good or len(set(jobs)) < len(jobs):
        raise InputError(Fault(f"{within}.jobs", f"must be different whole numbers below {count}", shown(jobs)))
    return np.array(jobs, dtype=np.int64)


def _prices(node: dict[str, Any], name: str, shape: tuple[int, ...], field: str) -> FloatArray:
    """Return some prices of a leaf."""
    given = node.get(name)
    try:
        prices = np.array(given, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):  # ragged, no numbers, or too large
        prices = np.zeros(0)
    good = prices.shape == shape and _types(given) <= {int, float}
    if not good or not ((prices >= 0) & (prices <= LARGEST_PRICE)).all():
        size = (
            "{} clusters x {} resources x {} slots".format(*shape)
            if len(shape) == 3
            else f"the {shape[0]} cliques of the tree"
        )
        raise InputError(Fault(f"{field}.{name}", f"must be numbers from 0 to {LARGEST_PRICE:g} for {size}"))
    return prices


def _types(given: Any) -> set[type]:
    """Return the types of what is in a list, or in a list of lists: as numbers, true and "1" would be 1."""
    if not isinstance(given, list):
        return {type(given)}
    if given and isinstance(given[0], list):
        return set().union(*map(_types, given))
    return set(map(type, given))
