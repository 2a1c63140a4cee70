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

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance

FIELDS = ("cluster", "jobs", "first", "last", "price")


class Clique(NamedTuple):
    """Starts of jobs (rows) on a cluster (its row), each from `first` to `last`, and the price of one of them."""

    cluster: int
    jobs: list[int]
    first: list[int]
    last: list[int]
    price: float


def cliques_of(instance: MospInstance, certificate: dict[str, Any]) -> list[Clique]:
    """Return the cliques of a certificate, none if it names none.

    Raises
    ------
    InputError
        If one is no clique, with its row.
    """
    given = certificate.get("cliques", [])
    if not isinstance(given, list):
        raise InputError(Fault("certificate.cliques", "must be a list of cliques", shown(given)))
    return [_clique(instance, entry, f"certificate.cliques[{row}]") for row, entry in enumerate(given)]


def paid_for(cliques: Sequence[Clique], paid: FloatArray) -> FloatArray:
    """Return `paid` and the prices of all cliques, rounded up."""
    for clique in cliques:
        paid = up(paid + clique.price)
    return paid


def added_costs(instance: MospInstance, cliques: Sequence[Clique]) -> dict[int, FloatArray]:
    """Return what the cliques at least add to the cost of each job that is in one, by cluster and start, (M, T)."""
    clusters, _, slots = instance.clusters.capacity.shape
    added: dict[int, FloatArray] = {}
    for clique in cliques:
        for job, first, last in zip(clique.jobs, clique.first, clique.last, strict=True):
            part = added.setdefault(job, np.zeros((clusters, slots)))[clique.cluster, first : last + 1]
            part[:] = np.maximum(0.0, down(part + clique.price))
    return added


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
    if type(clique.price) not in (int, float) or not 0 <= clique.price <= LARGEST_PRICE:
        words = f"must be a number from 0 to {LARGEST_PRICE:g}"
        raise InputError(Fault(f"{field}.price", words, shown(clique.price)))
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
