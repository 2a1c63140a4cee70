"""Cliques of a certificate: starts of which at most one is in a schedule, and what their prices add to a job's cost.

Two runs exclude each other where their demands together exceed what is there in a slot that both use. A clique holds
starts of jobs on one cluster, for each job those from a first to a last slot. Either all its runs use one slot in
which any two of the jobs exceed what is there, or it holds two jobs and each pair of their starts is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import EPS, down
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance

FIELDS = ("cluster", "jobs", "first", "last")


class Clique(NamedTuple):
    """Starts of jobs (rows) on a cluster (its row), each from `first` to `last`."""

    cluster: int
    jobs: list[int]
    first: list[int]
    last: list[int]


def cliques_of(instance: MospInstance, certificate: dict[str, Any]) -> list[Clique]:
    """Return the cliques of a certificate, none if it names none.

    They are ``"cliques": [{"cluster": row, "jobs": [row, ...], "first": [slot, ...], "last": [slot, ...]}, ...]``.

    Raises
    ------
    InputError
        If one is no clique, with its row.
    """
    given = certificate.get("cliques", [])
    if not isinstance(given, list):
        raise InputError(Fault("certificate.cliques", "must be a list of cliques", shown(given)))
    return [_clique(instance, entry, f"certificate.cliques[{row}]") for row, entry in enumerate(given)]


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


def added_costs(instance: MospInstance, cliques: Sequence[Clique], prices: Sequence[float]) -> dict[int, FloatArray]:
    """Return what cliques at least add to the cost of each job that is in one, by cluster and start, shape (M, T)."""
    clusters, _, slots = instance.clusters.capacity.shape
    added: dict[int, FloatArray] = {}
    for clique, price in zip(cliques, prices, strict=True):
        for job, first, last in zip(clique.jobs, clique.first, clique.last, strict=True):
            part = added.setdefault(job, np.zeros((clusters, slots)))[clique.cluster, first : last + 1]
            part[:] = np.maximum(0.0, down(part + price))
    return added


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

    def __init__(self, cliques: Sequence[Clique], row: IntArray, shape: tuple[int, int]) -> None:
        entries = [
            (number, row[job], clique.cluster, first, last + 1)
            for number, clique in enumerate(cliques)
            for job, first, last in zip(clique.jobs, clique.first, clique.last, strict=True)
            if first <= last
        ]
        self._clique, of, self._cluster, self._first, self._end = np.array(entries, dtype=np.int64).reshape(-1, 5).T
        self.rows, self._of = np.unique(of, return_inverse=True)
        self._shape = (len(self.rows), shape[0], shape[1] + 1)

    def least(self, prices: FloatArray) -> FloatArray:
        """Return a lower bound on what is added in each of `rows`, by cluster and start, shape (J, M, T).

        Prices, shape (Q,), are added where starts begin to be in a clique, taken off behind, and summed from slot to
        slot. A computed sum of n prices is below twice their total in size. So after 2 n + T operations it is wrong by
        at most that often 2^-52 of the total, to first order. Twice as much is taken off, which covers that, too.
        """
        changes = np.zeros(self._shape)
        price = prices[self._clique]
        np.add.at(changes, (self._of, self._cluster, self._first), price)
        np.subtract.at(changes, (self._of, self._cluster, self._end), price)
        place = self._of * self._shape[1] + self._cluster
        places = self._shape[0] * self._shape[1]
        total = np.bincount(place, weights=price, minlength=places)
        count = np.bincount(place, minlength=places)
        error = (2 * EPS * (2 * count + self._shape[2] + 2) * total).reshape(self._shape[:2])
        return np.asarray(np.maximum(0.0, changes.cumsum(axis=2)[:, :, :-1] - error[:, :, None]))


def _clique(instance: MospInstance, entry: Any, field: str) -> Clique:
    """Return one clique, once its runs are seen to exclude each other."""
    if not isinstance(entry, dict) or not set(FIELDS) <= set(entry):
        raise InputError(Fault(field, f"must be an object with {', '.join(FIELDS)}", shown(entry)))
    clique = Clique(*(entry[name] for name in FIELDS))
    clusters, _, slots = instance.clusters.capacity.shape
    if not _is_whole(clique.cluster, clusters):
        raise InputError(Fault(f"{field}.cluster", f"must be a whole number below {clusters}", shown(clique.cluster)))
    for name, least in (("jobs", len(instance.jobs)), ("first", slots), ("last", slots)):
        column = entry[name]
        if not isinstance(column, list) or not column or not all(_is_whole(number, least) for number in column):
            raise InputError(Fault(f"{field}.{name}", f"must be whole numbers below {least}, not empty"))
    if not len(clique.jobs) == len(clique.first) == len(clique.last) == len(set(clique.jobs)):
        raise InputError(Fault(field, "must name each job once, with one first and one last start"))
    if not (_share_a_slot(instance, clique) or _exclude_in_pairs(instance, clique)):
        raise InputError(Fault(field, "must hold runs that exclude each other; some of these fit together"))
    return clique


def _is_whole(number: Any, below: int) -> bool:
    return type(number) is int and 0 <= number < below


def _share_a_slot(instance: MospInstance, clique: Clique) -> bool:
    """Return whether all runs use a slot in which the two least demands of a resource exceed what is there."""
    jobs = np.array(clique.jobs)
    if len(jobs) < 2:
        return True
    end = int((np.array(clique.first) + instance.jobs.duration[jobs]).min())
    slots = range(max(clique.last), min(end, instance.time.slots))
    least = np.sort(instance.jobs.demand[jobs], axis=0)[:2]
    together = down(least[0] + least[1])
    return any((together > instance.clusters.limit[clique.cluster, :, t]).any() for t in slots)


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
