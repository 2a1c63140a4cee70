"""Certificates by branches on the starts of large jobs: a tree of windows, with prices in its leaves.

A window holds the starts of a large job on a cluster. A node with a cluster has two parts: the job runs there, or it
does not. One with a last slot, too: the job starts by then, or later or not at all. So each schedule is in a leaf.

Where a job can run on one cluster alone, and must run, it uses some slots from every start of its window. What does not
fit beside these certain loads is in no schedule of the leaf. That narrows windows, and makes more loads certain. The
bound of a leaf is the Lagrangian one over the places that are left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance

ERROR = 2.0**-51
"""Relative error of a few operations in double precision, times four."""


@dataclass(frozen=True, eq=False)
class Runs:
    """The jobs of an instance, and what their runs cost at least without prices.

    Parameters
    ----------
    cost
        By job, cluster and start, infinite where it may not run, shape (N, M, T).
    rejected
        What a job costs that does not run, shape (N,).
    demand, duration
        Of the jobs, shapes (N, R) and (N,).
    limit
        Capacity with the allowed rounding, shape (M, R, T).
    """

    cost: FloatArray
    rejected: FloatArray
    demand: FloatArray
    duration: IntArray
    limit: FloatArray

    @cached_property
    def size(self) -> FloatArray:
        """The largest cost of each job's runs, in size, shape (N,)."""
        finite: FloatArray = np.where(np.isfinite(self.cost), np.abs(self.cost), 0.0)
        return np.asarray(finite.max(axis=(1, 2), initial=0.0))

    @cached_property
    def is_run(self) -> BoolArray:
        """Whether a job may run from a start on its own, shape (N, M, T)."""
        return np.isfinite(self.cost)

    def least(self, prices: FloatArray, open_places: BoolArray, rejected: FloatArray) -> FloatArray:
        """Return a lower bound on what each job costs in its open places (N, M, T), or left out, shape (N,).

        In doubles a sum of R products and a cost is wrong by at most (2 R + 1) 2^-53 of the sizes of its terms. These
        are no larger than twice the size of the cost without prices and the sum itself, and prices are positive.
        """
        paid = self._paid(prices)
        total = self.cost.copy()
        for r in range(prices.shape[1]):
            total += self.demand[:, r, None, None] * paid[self.duration, :, r]
        total[~open_places] = np.inf
        best: FloatArray = total.min(axis=(1, 2), initial=np.inf)
        error = ERROR * prices.shape[1] * (np.abs(best) + 2 * self.size)
        with np.errstate(invalid="ignore"):
            best = np.where(np.isfinite(best), down(best - up(error)), np.inf)
        return np.minimum(best, rejected)

    def _paid(self, prices: FloatArray) -> FloatArray:
        """Return what a unit at least pays from each start, by duration: shape (longest + 1, M, R, T)."""
        slots = prices.shape[2]
        longest = int(self.duration.max(initial=0))
        paid = np.zeros((longest + 1, *prices.shape))
        for length in range(1, min(longest, slots) + 1):
            starts = slots - length + 1
            paid[length, :, :, :starts] = np.maximum(
                0.0, down(paid[length - 1, :, :, :starts] + prices[:, :, length - 1 :])
            )
        return paid


@dataclass(frozen=True, eq=False)
class _Windows:
    """Windows of large jobs.

    Parameters
    ----------
    starts
        Whether a large job may start on a cluster in a slot, shape (K, M, T).
    left_out
        Whether it may not run at all, shape (K,).
    """

    starts: BoolArray
    left_out: BoolArray

    def part(self, k: int, starts: BoolArray, left_out: bool) -> _Windows:
        """Return windows with other starts of one job."""
        windows = _Windows(self.starts.copy(), self.left_out.copy())
        windows.starts[k] &= starts
        windows.left_out[k] &= left_out
        return windows


def least_of_windows(
    instance: MospInstance, certificate: dict[str, Any], cost: FloatArray, rejected: FloatArray
) -> float | None:
    """Return the least bound of the leaves of a tree.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "windows", "jobs": [row, ...], "nodes": [node, ...]}``: the large jobs, and the root first. A node is
        ``{"job": row, "cluster": row, "parts": [there, elsewhere]}``, ``{"job": row, "last": slot, "parts": [by then,
        later]}`` with numbers of later nodes, or ``{"prices": [cluster][resource][slot]}``.
    cost, rejected
        What runs cost at least without prices, shape (N, M, T), infinite where a job may not run, and a job that does
        not run, shape (N,).

    Returns
    -------
    float or None
        Infinite if no leaf has a schedule, None if one says nothing.

    Raises
    ------
    InputError
        If it is no such tree.
    """
    jobs = _rows(certificate, len(instance.jobs))
    nodes = certificate.get("nodes")
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise InputError(Fault("certificate.nodes", "must be a list of objects, not empty"))
    runs = Runs(cost, rejected, instance.jobs.demand, instance.jobs.duration, instance.clusters.limit)
    bound = np.inf
    used = {0}
    waiting = [(0, _Windows(np.isfinite(cost[jobs]), np.isfinite(rejected[jobs])))]
    while waiting:
        number, windows = waiting.pop()
        node = nodes[number]
        field = f"certificate.nodes[{number}]"
        if "prices" not in node:
            numbers = _parts(node, number, len(nodes), used, field)
            waiting.extend(zip(numbers, _split(node, jobs, windows, field), strict=True))
            continue
        places = open_places(runs, jobs, windows.starts, windows.left_out)
        if places is None:
            continue
        left_out = rejected.copy()
        left_out[jobs] = np.where(windows.left_out, rejected[jobs], np.inf)
        prices = _prices(node, runs.limit.shape, field)
        least = runs.least(prices, places, left_out)
        if np.isposinf(least).any():
            continue
        with np.errstate(over="ignore"):
            paid = up(math.fsum(up(prices * runs.limit).ravel()))
            value = float(down(down(math.fsum(least)) - paid))
        if not np.isfinite(value):
            return None
        bound = min(bound, value)
    return bound


def open_places(runs: Runs, jobs: npt.NDArray[np.int64], starts: BoolArray, left_out: BoolArray) -> BoolArray | None:
    """Return the places of all jobs that fit beside certain loads, shape (N, M, T); None if a large job has none."""
    while True:
        is_there = np.asarray(starts.any(axis=2))
        if not (is_there.any(axis=1) | left_out).all():
            return None
        own = _certain(runs, jobs, starts, (is_there.sum(axis=1) == 1) & ~left_out)
        load: FloatArray = np.zeros(runs.limit.shape)
        for k, job in enumerate(jobs.tolist()):  # one after the other, each sum rounded down
            load = np.where(own[k][:, None], down(load + runs.demand[job][:, None]), load)
        fits = np.ones((len(runs.demand), *starts.shape[1:]), dtype=np.bool_)
        for r in range(load.shape[1]):
            fits &= down(load[None, :, r] + runs.demand[:, r, None, None]) <= runs.limit[None, :, r]
        within = np.asarray((load <= runs.limit).all(axis=1))
        fits[jobs] = np.where(own, within, fits[jobs])  # the load has this job in it already
        places = runs.is_run & _whole_run(fits, runs.duration)
        narrowed = _trimmed(starts, places[jobs])
        if (narrowed == starts).all():
            places[jobs] &= starts
            return places
        starts = narrowed


def _certain(runs: Runs, jobs: IntArray, starts: BoolArray, is_bound: BoolArray) -> BoolArray:
    """Return the slots that jobs use from every start of their windows, where `is_bound`; shape (K, M, T)."""
    slots = starts.shape[2]
    slot = np.arange(slots)
    first = np.where(starts, slot, slots).min(axis=2)
    last = np.where(starts, slot, -1).max(axis=2)
    end = first + runs.duration[jobs][:, None]
    certain: BoolArray = (slot >= last[..., None]) & (slot < end[..., None]) & starts.any(axis=2, keepdims=True)
    return np.asarray(certain & is_bound[:, None, None])


def _whole_run(fits: BoolArray, duration: IntArray) -> BoolArray:
    """Return whether a run from each slot fits in all its slots, shape (N, M, T)."""
    slots = fits.shape[2]
    bad = np.zeros((*fits.shape[:2], slots + 1), dtype=np.int64)
    np.cumsum(~fits, axis=2, out=bad[:, :, 1:])
    end = np.minimum(np.arange(slots) + duration[:, None], slots)
    inside = np.take_along_axis(bad, np.broadcast_to(end[:, None], fits.shape), axis=2) - bad[:, :, :-1]
    return np.asarray(inside == 0)


def _trimmed(starts: BoolArray, places: BoolArray) -> BoolArray:
    """Return windows without the starts before the first and after the last one that is a place."""
    found = starts & places
    from_first = np.maximum.accumulate(found, axis=2)
    to_last = np.maximum.accumulate(found[:, :, ::-1], axis=2)[:, :, ::-1]
    return np.asarray(starts & from_first & to_last)


def _split(node: dict[str, Any], jobs: IntArray, windows: _Windows, field: str) -> tuple[_Windows, _Windows]:
    """Return the windows of the two parts of a node."""
    clusters, slots = windows.starts.shape[1:]
    job = node.get("job")
    if type(job) is not int or job not in jobs.tolist():
        raise InputError(Fault(f"{field}.job", "must be one of certificate.jobs", shown(job)))
    k = jobs.tolist().index(job)
    is_here = np.zeros((clusters, slots), dtype=np.bool_)
    if "cluster" in node:
        cluster = node["cluster"]
        if type(cluster) is not int or not 0 <= cluster <= clusters:
            words = f"must be a whole number up to {clusters}, which stands for a job that does not run"
            raise InputError(Fault(f"{field}.cluster", words, shown(cluster)))
        is_here[cluster : cluster + 1] = True
        is_left_out = cluster == clusters
    else:
        last = node.get("last")
        if type(last) is not int or not 0 <= last < slots:
            raise InputError(Fault(f"{field}.last", f"must be a whole number below {slots}", shown(last)))
        is_here[:, : last + 1] = True
        is_left_out = False
    return windows.part(k, is_here, is_left_out), windows.part(k, ~is_here, not is_left_out)


def _parts(node: dict[str, Any], number: int, count: int, used: set[int], field: str) -> list[int]:
    """Return the numbers of the two parts of a node, each a later one, and part of no other node."""
    parts = node.get("parts")
    good = isinstance(parts, list) and len(parts) == 2
    good = good and all(type(part) is int and number < part < count for part in parts or [])
    if not isinstance(parts, list) or not good or len({*parts} - used) < 2:
        words = "must be numbers of two later nodes that are parts of no other one"
        raise InputError(Fault(f"{field}.parts", words, shown(parts)))
    used.update(parts)
    return list(parts)


def _rows(certificate: dict[str, Any], count: int) -> npt.NDArray[np.int64]:
    """Return the large jobs of a certificate."""
    jobs = certificate.get("jobs")
    good = isinstance(jobs, list) and all(type(job) is int and 0 <= job < count for job in jobs)
    if not isinstance(jobs, list) or not good or len(set(jobs)) < len(jobs):
        raise InputError(Fault("certificate.jobs", f"must be different whole numbers below {count}", shown(jobs)))
    return np.array(jobs, dtype=np.int64)


def _prices(node: dict[str, Any], shape: tuple[int, ...], field: str) -> FloatArray:
    """Return the prices of a leaf."""
    try:
        given = np.array(node["prices"])
    except ValueError:  # ragged
        given = np.zeros(0)
    prices = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if prices.shape != shape or not ((prices >= 0) & (prices <= LARGEST_PRICE)).all():
        size = "{} clusters x {} resources x {} slots".format(*shape)
        raise InputError(Fault(f"{field}.prices", f"must be numbers from 0 to {LARGEST_PRICE:g} for {size}"))
    return prices
