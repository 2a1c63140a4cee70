"""Cliques of a certificate: starts that exclude each other, and what their prices add to a job's cost.

At most one start of a clique is in a schedule. With weights, those of the starts in a schedule add up to at most
`most`.

Two runs exclude each other where their demands together exceed what is there in a slot that both use. A clique holds
starts of jobs on one cluster, for each job those from a first to a last slot. Either all its runs use one slot in
which any two of the jobs exceed what is there, or it holds two jobs and each pair of their starts is tried.

With weights, all its runs use one slot, and jobs whose weights add up to more than `most` exceed what is there. To see
this, the least demand of each sum of weights is worked out, job after job. Or the clique names two slots; see
`slot_pairs`.

An entry may also be a cut by halves, of cliques before it and of jobs, on all clusters; see `halves`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import EPS, down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.verify.halves import Half, Starts, half_of
from carbonopt.problems.mosp.verify.slot_pairs import Entry, most_weight, slots_of

FIELDS = ("cluster", "jobs", "first", "last")


LARGEST_WEIGHT = 1_000
"""Of a job, and of what weights add up to at most: what is worked out grows with it."""


class Clique(NamedTuple):
    """Starts of jobs (rows) on a cluster (its row), each from `first` to `last`.

    The weights of those in a schedule add up to at most `most`.
    """

    cluster: int
    jobs: list[int]
    first: list[int]
    last: list[int]
    weights: list[int]
    most: int

    def runs(self) -> Iterator[Starts]:
        """Yield its starts, of one weight each time."""
        for job, first, last, weight in zip(self.jobs, self.first, self.last, self.weights, strict=True):
            if first <= last:
                yield Starts(job, self.cluster, first, last, weight)


def cliques_of(instance: MospInstance, certificate: dict[str, Any], within: str = "certificate") -> list[Clique | Half]:
    """Return the cliques of a certificate, none if it names none.

    They are ``"cliques": [{"cluster": row, "jobs": [row, ...], "first": [slot, ...], "last": [slot, ...]}, ...]``, some
    with ``"weights": [whole number, ...]`` and ``"most": whole number``; without these, each job counts 1 of 1. Those
    over two slots have ``"slot"``, the first of them, ``"resource"`` (its row) and ``"unit"``, the size of its units.
    Those by halves are ``{"jobs": [row, ...], "halves": [number of a clique before it, ...]}``. Messages call the
    certificate `within`.

    Raises
    ------
    InputError
        If one is no clique, with its row.
    """
    given = certificate.get("cliques", [])
    if not isinstance(given, list):
        raise InputError(Fault(f"{within}.cliques", "must be a list of cliques", shown(given)))
    cliques: list[Clique | Half] = []
    for row, entry in enumerate(given):
        field = f"{within}.cliques[{row}]"
        if isinstance(entry, dict) and "halves" in entry:
            cliques.append(half_of(instance, entry, cliques, field))
        else:
            cliques.append(_clique(instance, entry, field))
    return cliques


def prices_of(certificate: dict[str, Any]) -> list[float]:
    """Return the ``"price"`` of each clique of a certificate, for one that has no tree.

    Raises
    ------
    InputError
        If one has none, with its row.
    """
    prices = [entry.get("price") for entry in certificate.get("cliques", [])]
    for row, price in enumerate(prices):
        if type(price) not in (int, float) or not 0 <= price <= LARGEST_PRICE:
            words = f"must be a number from 0 to {LARGEST_PRICE:g}"
            raise InputError(Fault(f"certificate.cliques[{row}].price", words, shown(price)))
    return prices


def added_costs(
    instance: MospInstance, cliques: Sequence[Clique | Half], prices: Sequence[float]
) -> dict[int, FloatArray]:
    """Return what cliques at least add to the cost of each job that is in one, by cluster and start, shape (M, T)."""
    clusters, _, slots = instance.clusters.capacity.shape
    added: dict[int, FloatArray] = {}
    for clique, price in zip(cliques, prices, strict=True):
        for run in clique.runs() if price > 0 else ():
            part = added.setdefault(run.job, np.zeros((clusters, slots)))[run.cluster, run.first : run.last + 1]
            part[:] = np.maximum(0.0, down(part + down(price * run.weight)))
    return added


def paid_for(cliques: Sequence[Clique | Half], prices: Sequence[float] | FloatArray) -> FloatArray:
    """Return at least what each clique's price takes off the bound, shape (Q,)."""
    return up(np.asarray(prices, dtype=np.float64) * np.array([clique.most for clique in cliques], dtype=np.float64))


class Charges:
    """What cliques add to the costs of jobs, at prices that change.

    Parameters
    ----------
    cliques
        The cliques.
    row
        Of each job, shape (N,): each job of a clique has one of its own.
    shape
        Number of clusters and of slots.

    Attributes
    ----------
    rows
        Those of jobs in cliques, in order, shape (J,).
    """

    def __init__(self, cliques: Sequence[Clique | Half], row: IntArray, shape: tuple[int, int]) -> None:
        entries = [
            (number, row[run.job], run.cluster, run.first, run.last + 1, run.weight)
            for number, clique in enumerate(cliques)
            for run in clique.runs()
        ]
        columns = np.array(entries, dtype=np.int64).reshape(-1, 6).T
        self._clique, of, self._cluster, self._first, self._end, self._weight = columns
        self.rows, self._of = np.unique(of, return_inverse=True)
        self._shape = (len(self.rows), shape[0], shape[1] + 1)

    def least(self, prices: FloatArray) -> FloatArray:
        """Return a lower bound on what is added in each of `rows`, by cluster and start, shape (J, M, T).

        Prices, shape (Q,), times weights are added where starts begin to be in a clique, taken off behind, and summed
        from slot to slot. A computed sum of n such products is below twice their total in size. So after 2 n + T
        operations it is wrong by at most that often 2^-52 of the total, to first order; rounded products are one more.
        Twice as much is taken off, which covers that, too.
        """
        changes = np.zeros(self._shape)
        price = prices[self._clique] * self._weight
        np.add.at(changes, (self._of, self._cluster, self._first), price)
        np.subtract.at(changes, (self._of, self._cluster, self._end), price)
        place = self._of * self._shape[1] + self._cluster
        places = self._shape[0] * self._shape[1]
        total = np.bincount(place, weights=price, minlength=places)
        count = np.bincount(place, minlength=places)
        error = (2 * EPS * (2 * count + self._shape[2] + 3) * total).reshape(self._shape[:2])
        return np.asarray(np.maximum(0.0, changes.cumsum(axis=2)[:, :, :-1] - error[:, :, None]))


def _clique(instance: MospInstance, entry: Any, field: str) -> Clique:
    """Return one clique, once its runs are seen to exclude each other, or its weights to be limited."""
    if not isinstance(entry, dict) or not set(FIELDS) <= set(entry):
        raise InputError(Fault(field, f"must be an object with {', '.join(FIELDS)}", shown(entry)))
    clusters, _, slots = instance.clusters.capacity.shape
    if not _are_whole([entry["cluster"]], 0, clusters):
        raise InputError(Fault(f"{field}.cluster", f"must be a whole number below {clusters}", shown(entry["cluster"])))
    for name, below in (("jobs", len(instance.jobs)), ("first", slots), ("last", slots)):
        if not _are_whole(entry[name], 0, below):
            raise InputError(Fault(f"{field}.{name}", f"must be whole numbers below {below}, not empty"))
    pair = slots_of(instance, entry, field)
    has_weights = "weights" in entry or "most" in entry or pair is not None
    weights = [1] * len(entry["jobs"])
    most: Any = 1
    if has_weights:
        weights = entry.get("weights", [])
        most = entry.get("most")
        if not _are_whole(weights, 1, LARGEST_WEIGHT + 1):
            words = f"must be whole numbers from 1 to {LARGEST_WEIGHT}, not empty"
            raise InputError(Fault(f"{field}.weights", words))
        if not _are_whole([most], 1, LARGEST_WEIGHT + 1):
            words = f"must be a whole number from 1 to {LARGEST_WEIGHT}"
            raise InputError(Fault(f"{field}.most", words, shown(most)))
    clique = Clique(entry["cluster"], entry["jobs"], entry["first"], entry["last"], weights, most)
    is_once = pair is not None or len(clique.jobs) == len(set(clique.jobs))
    if not (is_once and len(clique.jobs) == len(clique.first) == len(clique.last) == len(weights)):
        once = "name each job once, with" if pair is None else "have for each job"
        raise InputError(Fault(field, f"must {once} one first and one last start, and one weight"))
    if pair is not None:
        entries = [Entry(*row) for row in zip(clique.jobs, clique.first, clique.last, weights, strict=True)]
        limit = _limit(instance, clique)[pair.resource, pair.slot : pair.slot + 2]
        is_limited = most_weight(instance, pair, limit, entries, field) <= most
    else:
        is_limited = not has_weights or _is_limited(instance, clique)
    if not is_limited:
        words = f"must hold runs that do not fit together where their weights exceed {most}; some of these do"
        raise InputError(Fault(field, words))
    if not has_weights and not (_share_a_slot(instance, clique) or _exclude_in_pairs(instance, clique)):
        raise InputError(Fault(field, "must hold runs that exclude each other; some of these fit together"))
    return clique


def _are_whole(numbers: Any, least: int, below: int) -> bool:
    """Return whether there is a list of whole numbers, not empty, from `least` to below `below`."""
    if not isinstance(numbers, list) or not numbers:
        return False
    return all(type(number) is int and least <= number < below for number in numbers)


def _shared_slots(instance: MospInstance, clique: Clique) -> range:
    """Return the slots that all runs use."""
    end = int((np.array(clique.first) + instance.jobs.duration[clique.jobs]).min())
    return range(max(clique.last), min(end, instance.time.slots))


def _share_a_slot(instance: MospInstance, clique: Clique) -> bool:
    """Return whether all runs use a slot in which the two least demands of a resource exceed what is there."""
    if len(clique.jobs) < 2:
        return True
    least = np.sort(instance.jobs.demand[clique.jobs], axis=0)[:2]
    together = down(least[0] + least[1])
    limit = instance.clusters.limit[clique.cluster]
    return any((together > limit[:, t]).any() for t in _shared_slots(instance, clique))


def _limit(instance: MospInstance, clique: Clique) -> FloatArray:
    """Return at least what there is on the cluster, shape (R, T).

    The checker of schedules adds up demands in some order. Its sum of n of them may be less by n roundings.
    """
    limit = instance.clusters.limit[clique.cluster]
    return np.asarray(up(limit + (len(clique.jobs) + 2) * EPS * limit))


def _is_limited(instance: MospInstance, clique: Clique) -> bool:
    """Return whether all runs use a slot in which jobs of more weight than `most` have no room."""
    if sum(clique.weights) <= clique.most:
        return True
    limit = _limit(instance, clique)[:, list(_shared_slots(instance, clique))]
    demand = instance.jobs.demand[clique.jobs]
    return any((_least_demand_beyond(demand[:, r], clique) > limit[r]).any() for r in range(len(limit)))


def _least_demand_beyond(demand: FloatArray, clique: Clique) -> float:
    """Return a lower bound on what jobs use whose weights add up to more than `most`; infinite if there are none."""
    beyond = clique.most + 1
    least = np.full(beyond + 1, np.inf)  # of jobs with such a sum of weights; the last entry is for it or more
    least[0] = 0.0
    for weight, own in zip(clique.weights, demand, strict=True):
        added = np.where(np.isfinite(least), down(least + own), np.inf)
        step = min(weight, beyond)
        rest = np.full(beyond + 1, np.inf)
        rest[step:] = added[: beyond + 1 - step]
        rest[-1] = added[beyond - step :].min()
        least = np.minimum(least, rest)
    return float(least[-1])


def _exclude_in_pairs(instance: MospInstance, clique: Clique) -> bool:
    """Return whether there are two jobs, and each start of one excludes each start of the other."""
    if len(clique.jobs) != 2:
        return False
    one, other = clique.jobs
    together = down(instance.jobs.demand[one] + instance.jobs.demand[other])
    is_over = (together[:, None] > instance.clusters.limit[clique.cluster]).any(axis=0)
    starts = product(*(range(first, last + 1) for first, last in zip(clique.first, clique.last, strict=True)))
    duration = instance.jobs.duration
    return all(is_over[max(s, t) : min(s + duration[one], t + duration[other])].any() for s, t in starts)
