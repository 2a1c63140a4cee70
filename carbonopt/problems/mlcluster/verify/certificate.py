"""Recheck a dual bound from the instance and the prices alone, in safe arithmetic.

For any prices lambda_t >= 0 of the cells' GPU time, mu_j >= 0 of the jobs' work and nu >= 0 of the JCT
budget B, weak duality bounds every preemptive malleable schedule that ends by the horizon from below:

    sum_j mu_j W_j + w sum_j (p_j / 2 - r_j) - sum_t lambda_t C delta - nu N B
        - sum_jt a_jt max(0, max_n  mu_j X_j(n) - w_c c_t dP_j(n) - lambda_t n - w X_j(n) b_jt / W_j)

with w = w_J + nu, a_jt and b_jt the length and the beginning of the part of cell t after the arrival r_j, p_j
the shortest run, W_j the work that the checker asks for. A job's completion is never before the mean moment of
its progress plus p_j / 2, since the last half of the work takes at least p_j / 2.

With ``"restarts": true`` the last sum counts restarts, where completion times do not count (w = 0): it becomes

    sum_j max over walks  sum_t a_jt (mu_j X_j(n_t) - w_c c_t dP_j(n_t) - lambda_t n_t) - sum_restarts mu_j X_j(n_t) R_j

with a walk n_t from cell to cell, 0 for none, and a restart where n_t is neither 0 nor n_(t-1), but for the first run.
It bounds schedules that change GPUs within cells, too: as a function of such a moment what a job gains is linear within
a cell, so the moment can move to an edge, or until a run is empty. Runs that are shorter than their restart do no work.

This shares no code with the methods that find prices. Every operation is rounded towards the safe side
(`numpy.nextafter` after each), so the result holds in real arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.certificate import prices_of
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mlcluster.data.instance import GRAMS_PER_WATT_MINUTE, MlClusterInstance

MOST_CELLS = 3600
"""Cells of a slot that a certificate may claim: a file that claims more is refused before arrays are made."""


def proven_bound(
    instance: MlClusterInstance,
    certificate: dict[str, Any],
    info: dict[str, Any],  # noqa: ARG001
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "lagrangian", "cells": k, "prices": [cell], "work_prices": [job], "budget_price": nu, ...}``:
        k cells a slot; prices in the objective's unit per GPU and minute, per minute of work on one GPU, and
        per hour of completion time. ``"restarts": true`` where the prices count restarts.
    info
        Not used.

    Returns
    -------
    bound : float
        A valid lower bound on the objective of every schedule; infinite where it exceeds what any schedule
        within the limits can cost, so that there is none.
    assumes : tuple of str
        Always empty.

    Raises
    ------
    InputError
        If it is no such certificate.
    """
    kind = certificate.get("kind")
    cells = certificate.get("cells")
    if kind != "lagrangian":
        raise InputError(Fault("certificate.kind", "must be 'lagrangian'", shown(kind)))
    if isinstance(cells, bool) or not isinstance(cells, int) or not 1 <= cells <= MOST_CELLS:
        words = f"must be a whole number of cells a slot, from 1 to {MOST_CELLS}"
        raise InputError(Fault("certificate.cells", words, shown(cells)))
    prices = prices_of(certificate, "prices", cells * instance.time.slots)
    work_prices = prices_of(certificate, "work_prices", len(instance.jobs))
    budget_price = float(prices_of({"budget_price": [certificate.get("budget_price")]}, "budget_price", 1)[0])
    if instance.limits.mean_jct_hours is None and budget_price > 0:
        raise InputError(Fault("certificate.budget_price", "must be 0: there is no JCT budget", shown(budget_price)))
    restarts = certificate.get("restarts", False)
    if not isinstance(restarts, bool):
        raise InputError(Fault("certificate.restarts", "must be true or false", shown(restarts)))
    if restarts and (budget_price > 0 or instance.weights.jct_hours > 0):
        raise InputError(Fault("certificate.restarts", "must be false: completion times count", shown(restarts)))
    if restarts:
        value = _value_with_restarts(instance, cells, prices, work_prices)
    else:
        value = _value(instance, cells, prices, work_prices, budget_price)
    return (math.inf if value > _most(instance) else value), ()


@dataclass(frozen=True, eq=False)
class _Kind:
    """Jobs that scale alike: X(n) from above, its largest value, costs from below, and the ratio of the cheapest."""

    gpus: IntArray
    speed: FloatArray
    fastest: float
    cost: FloatArray
    least_ratio: FloatArray


def _value(
    instance: MlClusterInstance, cells: int, prices: FloatArray, work_prices: FloatArray, budget_price: float
) -> float:
    jobs = instance.jobs
    required = instance.jobs.required
    minutes = instance.slot_minutes / cells
    weight = float(down(down(instance.weights.jct_hours + budget_price) / 60))
    edges = minutes * np.arange(len(prices) + 1)
    kinds, kind_of_job = _kinds(instance, cells, prices)
    terms = []
    gains = []
    for j in range(len(jobs)):
        kind = kinds[kind_of_job[j]]
        arrival = jobs.arrival_minutes[j]
        mu = work_prices[j]
        slope = float(down(weight / required[j]))
        first = min(max(0, int(arrival / minutes) - 1), len(prices) - 1)
        begin = np.maximum(edges[first:-1], arrival)
        wanted = np.flatnonzero(kind.least_ratio[first:] + slope * begin < mu * (1 + 1e-12))
        cell = first + wanted
        begin = begin[wanted]
        most = up(up(edges[cell + 1]) - down(begin))
        later = down(slope * down(begin))
        gain = up(up(mu * kind.speed) - down(kind.cost[cell] + down(later[:, None] * kind.speed))).max(
            axis=1, initial=0
        )
        gains.append(up(math.fsum(up(np.maximum(0.0, most) * np.maximum(0.0, gain)))))
        half_run = down(down(required[j] / kind.fastest) / 2)
        terms.append(down(mu * required[j]))
        terms.append(down(weight * half_run))
        terms.append(-up(up(weight) * arrival))
    paid = up(up(math.fsum(prices)) * up(instance.cluster.gpus * up(minutes)))
    late = 0.0
    if instance.limits.mean_jct_hours is not None:
        late = float(up(up(budget_price * len(jobs)) * instance.limits.mean_jct_hours))
    total = down(down(math.fsum(terms)) - up(math.fsum(gains)))
    return float(down(down(total - paid) - late))


def _value_with_restarts(instance: MlClusterInstance, cells: int, prices: FloatArray, work_prices: FloatArray) -> float:
    kinds, kind_of_job = _kinds(instance, cells, prices)
    minutes = instance.slot_minutes / cells
    gains, terms = [], []
    for k, kind in enumerate(kinds):
        jobs = np.flatnonzero(kind_of_job == k)
        mu = work_prices[jobs]
        restart = instance.scales.restart_minutes[instance.profile_of_job[jobs]]
        arrival = instance.jobs.arrival_minutes[jobs]
        gains += _best_walks(kind, mu, restart, arrival, minutes).tolist()
        terms += down(mu * instance.jobs.required[jobs]).tolist()
    paid = up(up(math.fsum(prices)) * up(instance.cluster.gpus * up(minutes)))
    return float(down(down(down(math.fsum(terms)) - up(math.fsum(gains))) - paid))


def _best_walks(
    kind: _Kind, work_prices: FloatArray, restart: FloatArray, arrival: FloatArray, minutes: float
) -> FloatArray:
    """Return what jobs of a kind gain by their best walks at most, shape (N,)."""
    worth = work_prices[:, None] * kind.speed
    lost = np.maximum(0.0, down(down(worth) * restart[:, None]))
    worth = up(worth)
    running = np.full(worth.shape, -np.inf)
    paused = np.full((len(work_prices), 1), -np.inf)
    best = np.zeros(len(work_prices))
    for t, cost in enumerate(kind.cost):
        begin, end = np.maximum(t * minutes, arrival), (t + 1) * minutes
        longest = np.maximum(0.0, up(up(end) - down(begin)))[:, None]
        shortest = np.maximum(0.0, down(down(end) - up(begin)))[:, None]
        rate = up(worth - cost)
        gain = up(np.where(rate > 0, rate * longest, rate * shortest))
        before = np.maximum(paused, running.max(axis=1, keepdims=True))
        there = longest > 0  # nothing runs before the arrival
        reached = np.maximum(np.maximum(running, 0.0), up(before - lost))
        running = np.where(there, up(reached + gain), running)
        paused = before
        best = np.maximum(best, running.max(axis=1))
    return best


def _most(instance: MlClusterInstance) -> float:
    """Return more than any schedule within the limits costs: every GPU at its most, and the latest completions."""
    limit = instance.limits.mean_jct_hours
    hours = instance.time.hours
    per_gpu = max(float((profile.watts / np.arange(1, len(profile) + 1)).max()) for profile in instance.profiles)
    carbon = math.fsum(instance.intensity) * instance.slot_minutes * GRAMS_PER_WATT_MINUTE / 1000
    late = len(instance.jobs) * (hours if limit is None else min(limit, hours))
    weights = instance.weights
    most = weights.carbon_kg * carbon * instance.cluster.gpus * per_gpu + weights.jct_hours * late
    return most * (1 + 1e-6) + 1e-9


def _kinds(instance: MlClusterInstance, cells: int, prices: FloatArray) -> tuple[list[_Kind], IntArray]:
    """Return the distinct (profile, fewest, most GPUs), and each job's."""
    columns = np.stack([instance.profile_of_job, instance.jobs.min_gpus, instance.most_gpus], axis=1)
    keys, kind_of_job = np.unique(columns, axis=0, return_inverse=True)
    carbon = down(down(instance.weights.carbon_kg * instance.intensity) * down(GRAMS_PER_WATT_MINUTE / 1000))
    carbon = np.repeat(carbon, cells)
    kinds = []
    for number, least, most in keys.tolist():
        profile = instance.profiles[number]
        gpus = np.arange(least, most + 1)
        idle = up(gpus * instance.cluster.idle_watts_per_gpu)
        added = np.maximum(0.0, down(profile.watts[gpus - 1] - idle))
        speed = profile.throughput[gpus - 1]
        cost = down(down(carbon[:, None] * added) + down(prices[:, None] * gpus))
        ratio = (cost / speed).min(axis=1) * (1 - 1e-12)
        kinds.append(_Kind(gpus, speed, float(speed.max()), cost, ratio))
    return kinds, np.asarray(kind_of_job.reshape(-1), dtype=np.int64)
