"""Recheck a Lagrangian bound from the instance and the prices alone, in safe arithmetic.

For any prices mu >= 0 on the capacity rows, weak duality bounds every schedule (here minimising):

    sum_i min( cost of not running, min_jt cost_ijt(mu) ) - sum mu C

This shares no code with the methods that find prices. Every operation is rounded towards the safe
side (`numpy.nextafter` after each), so the result is a bound in real arithmetic, not only in doubles.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError
from carbonopt.problems.mosp.instance import CarbonObjective, CaspianObjective, MospInstance

JOBS_AT_ONCE = 1_000
"""Jobs whose costs by start are held in memory together."""
_INF = np.inf


def proven_bound(
    instance: MospInstance, certificate: dict[str, Any], info: dict[str, Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "lagrangian", "prices": [cluster][resource][slot], ...}`` in units of the objective
        per unit and slot.
    info
        ``normalizers`` of the caspian objective where the instance does not fix them.

    Returns
    -------
    bound : float or None
        A valid lower (for a maximisation: upper) bound on the objective of every schedule; None if
        some job that must run can run nowhere.
    assumes : tuple of str
        ``normalizers`` where they are those that the solution file claims.

    Raises
    ------
    InputError
        If it is no such certificate.
    """
    prices = _prices(instance, certificate)
    unit_cost = down(prices + _unit_cost(instance, info))
    least = _least_costs(instance, unit_cost, info)
    if not np.isfinite(least).all():
        return None, ()
    paid = up(math.fsum(up(prices * instance.clusters.limit).ravel()))
    lower = float(down(down(math.fsum(least)) - paid))
    objective = instance.objective
    claimed = isinstance(objective, CaspianObjective) and objective.normalizers is None
    return lower if instance.sense == "min" else -lower, ("normalizers",) if claimed else ()


def _prices(instance: MospInstance, certificate: dict[str, Any]) -> FloatArray:
    if certificate.get("kind") != "lagrangian":
        raise InputError(Fault("certificate.kind", "must be 'lagrangian'", repr(certificate.get("kind"))))
    shape = instance.clusters.capacity.shape
    try:
        given = np.array(certificate.get("prices"))
    except ValueError:  # ragged
        given = np.zeros(0)
    prices = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if prices.shape != shape or not ((prices >= 0) & (prices <= LARGEST_PRICE)).all():
        size = f"{shape[0]} clusters x {shape[1]} resources x {shape[2]} slots"
        words = f"must be numbers from 0 to {LARGEST_PRICE:g} for {size}"
        raise InputError(Fault("certificate.prices", words))
    return prices


def _unit_cost(instance: MospInstance, info: dict[str, Any]) -> FloatArray:
    """Return a lower bound on what a used unit costs in each slot, shape (M, R, T)."""
    intensity = np.array([instance.carbon.g_per_kwh[instance.carbon.index(z)] for z in instance.clusters.zone])
    watts, objective = instance.clusters.watts_per_unit[:, :, None], instance.objective
    if isinstance(objective, CarbonObjective):
        kwh = down(down(watts / 1000) * instance.time.slot_hours)
        return down(down(down(kwh * intensity[:, None, :]) / 1000) * objective.carbon_kg)
    product = down(down(instance.clusters.capacity * intensity[:, None, :]) * watts)
    weight = _scaled(objective, info)[0]
    gain = np.divide(weight, product, out=np.zeros_like(product), where=product > 0)
    return -up(gain)


def _least_costs(instance: MospInstance, unit_cost: FloatArray, info: dict[str, Any]) -> FloatArray:
    """Return a lower bound on what each job costs wherever it runs, or does not run, shape (N,).

    What depends on the place alone is computed once for all jobs of equal duration, demand and eligibility.
    """
    jobs, objective = instance.jobs, instance.objective
    price = objective.rejection_price if isinstance(objective, CarbonObjective) else 0.0
    best = np.full(len(jobs), _INF if price is None else price)
    kind = np.column_stack([jobs.duration, jobs.demand] + ([] if jobs.eligible is None else [jobs.eligible]))
    _, first, kind_of = np.unique(kind, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(kind_of.ravel(), minlength=len(first)))
    for i, begin, end in zip(first, np.concatenate([[0], ends]), ends, strict=False):
        cost = _by_start(instance, unit_cost, int(i))
        for part in range(begin, end, JOBS_AT_ONCE):
            alike = order[part : min(part + JOBS_AT_ONCE, end)]
            total = down(cost + _time_costs(instance, alike, info))
            early = np.arange(len(cost)) < jobs.arrival[alike][:, None]
            best[alike] = np.minimum(best[alike], np.where(early, _INF, total).min(axis=1, initial=_INF))
    return best


def _by_start(instance: MospInstance, unit_cost: FloatArray, i: int) -> FloatArray:
    """Return a lower bound on what a run of job i costs by start on the best cluster that may take it."""
    jobs, limit = instance.jobs, instance.clusters.limit
    length, demand = int(jobs.duration[i]), jobs.demand[i]
    starts = np.arange(max(0, instance.time.slots - length + 1))
    run, room = np.zeros((*unit_cost.shape[:2], len(starts))), np.full((*unit_cost.shape[:2], len(starts)), _INF)
    for offset in range(length if len(starts) else 0):
        run = down(run + unit_cost[:, :, starts + offset])
        room = np.minimum(room, limit[:, :, starts + offset])
    cost = np.zeros((len(limit), len(starts)))
    for r in range(len(demand)):
        cost = down(cost + down(demand[r] * run[:, r]))
    allowed = (room >= demand[:, None]).all(axis=1)
    if jobs.eligible is not None:
        allowed &= jobs.eligible[i][:, None]
    return np.asarray(np.where(allowed, cost, _INF).min(axis=0, initial=_INF))


def _time_costs(instance: MospInstance, alike: npt.NDArray[np.int64], info: dict[str, Any]) -> FloatArray:
    """Return a lower bound on what completion costs jobs of equal duration, a row a job, by start."""
    jobs, objective = instance.jobs, instance.objective
    length = int(jobs.duration[alike[0]])
    completion = np.arange(length, instance.time.slots + 1)
    late = np.maximum(0.0, down(completion - jobs.deadline[alike][:, None]))
    if isinstance(objective, CarbonObjective):
        return down(down(objective.tardiness_slots * late) + down(objective.completion_slots * completion))
    _, w2, w3 = _scaled(objective, info)
    return -up(up(w2 / down(1 + late)) + up(w3 / (1.0 + completion)))


def _scaled(objective: CaspianObjective, info: dict[str, Any]) -> tuple[float, float, float]:
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
