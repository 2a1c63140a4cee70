"""What runs cost at least, rounded towards the safe side: the terms of every bound that is rechecked.

This shares no code with the formulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective
from carbonopt.problems.mosp.verify.cliques import Clique, added_costs
from carbonopt.problems.mosp.verify.halves import Half
from carbonopt.problems.mosp.verify.windows import Costs

JOBS_AT_ONCE = 1_000
"""Jobs whose costs by start are held in memory together."""
_INF = np.inf


def cost_of_units(instance: MospInstance, info: dict[str, Any]) -> FloatArray:
    """Return a lower bound on what a used unit costs in each slot, shape (M, R, T)."""
    intensity = np.array([instance.carbon.g_per_kwh[instance.carbon.index(z)] for z in instance.clusters.zone])
    watts = instance.clusters.watts_per_unit[:, :, None]
    objective = instance.objective
    if isinstance(objective, CarbonObjective):
        kwh = down(down(watts / 1000) * instance.time.slot_hours)
        carbon = down(down(down(kwh * intensity[:, None, :]) / 1000) * objective.carbon_kg)
        if not objective.energy_cost:
            return carbon
        assert instance.energy_price is not None
        price = instance.energy_price.of(instance.clusters.zone)[:, None, :]
        most_kwh = up(up(watts / 1000) * instance.time.slot_hours)
        cost = down(np.where(price < 0, most_kwh, kwh) * price)  # a negative price counts more for more energy
        return down(carbon + down(cost * objective.energy_cost))
    product = down(down(instance.clusters.capacity * intensity[:, None, :]) * watts)
    weight = scaled(objective, info)[0]
    gain = np.divide(weight, product, out=np.zeros_like(product), where=product > 0)
    return -up(gain)


def by_place(instance: MospInstance, unit_cost: FloatArray, start_prices: FloatArray, i: int) -> FloatArray:
    """Return a lower bound on what a run of job i costs by cluster and start, infinite where it may not run."""
    jobs = instance.jobs
    limit = instance.clusters.limit
    length = int(jobs.duration[i])
    demand = jobs.demand[i]
    starts = np.arange(max(0, instance.time.slots - length + 1))
    run = np.zeros((*unit_cost.shape[:2], len(starts)))
    room = np.full((*unit_cost.shape[:2], len(starts)), _INF)
    for offset in range(length if len(starts) else 0):
        run = down(run + unit_cost[:, :, starts + offset])
        room = np.minimum(room, limit[:, :, starts + offset])
    cost = start_prices[:, : len(starts)]
    for r in range(len(demand)):
        cost = down(cost + down(demand[r] * run[:, r]))
    allowed = (room >= demand[:, None]).all(axis=1)
    if jobs.eligible is not None:
        allowed &= jobs.eligible[i][:, None]
    return np.asarray(np.where(allowed, cost, _INF))


def time_costs(instance: MospInstance, alike: npt.NDArray[np.int64], info: dict[str, Any]) -> FloatArray:
    """Return a lower bound on what completion costs jobs of equal duration, a row a job, by start."""
    jobs = instance.jobs
    objective = instance.objective
    length = int(jobs.duration[alike[0]])
    completion = np.arange(length, instance.time.slots + 1)
    late = np.maximum(0.0, down(completion - jobs.deadline[alike][:, None]))
    if isinstance(objective, CarbonObjective):
        return down(down(objective.tardiness_slots * late) + down(objective.completion_slots * completion))
    _, w2, w3 = scaled(objective, info)
    return -up(up(w2 / down(1 + late)) + up(w3 / (1.0 + completion)))


def scaled(objective: CaspianObjective, info: dict[str, Any]) -> tuple[float, float, float]:
    """Return upper bounds on omega_k / Zbar_k; 0 where Zbar_k is 0."""
    bars = objective.normalizers
    if bars is None:
        given = info.get("normalizers")
        if not isinstance(given, dict) or not all(
            type(given.get(name)) in (int, float) and 0 <= given[name] <= LARGEST_PRICE for name in ("z1", "z2", "z3")
        ):
            raise InputError(Fault("info.normalizers", "must hold z1, z2 and z3, at least 0"))
        bars = (given["z1"], given["z2"], given["z3"])
    weights = (objective.z1, objective.z2, objective.z3)
    w1, w2, w3 = (float(up(w / bar)) if bar > 0 else 0.0 for w, bar in zip(weights, bars, strict=True))
    return w1, w2, w3


def priced_runs(
    instance: MospInstance,
    info: dict[str, Any],
    prices: FloatArray,
    cliques: Sequence[Clique | Half],
    clique_prices: FloatArray,
) -> Callable[[int], FloatArray]:
    """Return lower bounds on what runs of a job cost with prices, by cluster and start, shape (M, T)."""
    clusters, _, slots = prices.shape
    unit_cost = down(prices + cost_of_units(instance, info))
    added = added_costs(instance, cliques, clique_prices.tolist())
    free = np.zeros((clusters, slots))

    def cost_of(i: int) -> FloatArray:
        cost = np.full((clusters, slots), _INF)
        place = by_place(instance, unit_cost, free, i)
        starts = place.shape[1]
        if i in added:
            place = finite_down(place + added[i][:, :starts])
        cost[:, :starts] = finite_down(place + time_costs(instance, np.array([i]), info)[0])
        cost[:, : instance.jobs.arrival[i]] = _INF
        return cost

    return cost_of


def free_costs(instance: MospInstance, rejection_cost: FloatArray, info: dict[str, Any]) -> Costs:
    """Return lower bounds on what runs cost without prices."""
    clusters, _, slots = instance.clusters.capacity.shape
    unit_cost = cost_of_units(instance, info)
    free = np.zeros((clusters, slots))

    def place(i: int) -> FloatArray:
        cost = np.full((clusters, slots), _INF)
        found = by_place(instance, unit_cost, free, i)
        cost[:, : found.shape[1]] = found
        return cost

    def time(i: int) -> FloatArray:
        cost = np.full(slots, _INF)
        found = time_costs(instance, np.array([i]), info)[0]
        cost[: len(found)] = found
        cost[: instance.jobs.arrival[i]] = _INF
        return cost

    return Costs(place, time, rejection_cost)


def least_costs(
    instance: MospInstance,
    unit_cost: FloatArray,
    start_prices: FloatArray,
    rejection_cost: FloatArray,
    info: dict[str, Any],
    added: dict[int, FloatArray],
) -> FloatArray:
    """Return a lower bound on what each job costs wherever it runs, or does not run, shape (N,).

    What depends on the place alone is computed once for all jobs of equal duration, demand and eligibility. `added`
    is what cliques add to the costs of some jobs, by cluster and start.
    """
    jobs = instance.jobs
    best = rejection_cost.copy()
    kind = np.column_stack([jobs.duration, jobs.demand] + ([] if jobs.eligible is None else [jobs.eligible]))
    _, first, kind_of = np.unique(kind, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(kind_of.ravel(), minlength=len(first)))
    for i, begin, end in zip(first, np.concatenate([[0], ends]), ends, strict=False):
        place_cost = by_place(instance, unit_cost, start_prices, int(i))
        cost = place_cost.min(axis=0, initial=_INF)
        for part in range(begin, end, JOBS_AT_ONCE):
            alike = order[part : min(part + JOBS_AT_ONCE, end)]
            by_start = np.repeat(cost[None], len(alike), axis=0)
            for row, job in enumerate(alike.tolist()):
                if job in added:
                    by_start[row] = finite_down(place_cost + added[job][:, : len(cost)]).min(axis=0, initial=_INF)
            total = finite_down(by_start + time_costs(instance, alike, info))
            early = np.arange(len(cost)) < jobs.arrival[alike][:, None]
            best[alike] = np.minimum(best[alike], np.where(early, _INF, total).min(axis=1, initial=_INF))
    return best


def finite_down(values: FloatArray) -> FloatArray:
    """Round down what is finite: infinite costs rule something out, and stay."""
    return np.where(np.isposinf(values), values, down(values))
