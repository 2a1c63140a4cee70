"""Bounds at given prices, without a solver: Lagrangian relaxation of the capacity rows.

For prices mu >= 0 per unit and slot (shape (M, R, T)) the capacity rows move into the objective
and the jobs fall apart (here for a minimisation):

    bound(mu) = sum_i min( rejection, min_jt value_ijt + sum_r r_ir sum_run mu_jr ) - sum mu C

Where starts are limited, their rows move there in the same way. Every choice of mu gives a bound; at the optimal LP
duals it is the LP's optimum.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, prefix_rounding
from carbonopt.problems.mosp.formulation.program import possible_placements

FLOAT_ERROR = 1e-12
"""Relative allowance for the rounding of sums in double precision."""


def lagrangian_bound(
    instance: MospInstance, value: PlacementValue, prices: FloatArray, start_prices: FloatArray | None = None
) -> float | None:
    """Return the Lagrangian bound at `prices`.

    Parameters
    ----------
    instance, value
        The problem.
    prices
        Per unit and slot in units of the objective, at least 0, shape (M, R, T).
    start_prices
        Of a start on a cluster in a slot, at least 0, shape (M, T); where the instance limits starts.

    Returns
    -------
    float or None
        Lower bound of a minimisation, upper bound of a maximisation; None if a job that must run
        can run nowhere (then there is no schedule to bound).
    """
    placements = possible_placements(instance)
    job = placements.job
    cluster = placements.cluster
    start = placements.start
    cost = value.sign * value.of(job, cluster, start)
    prefix = prefix_sums(prices)
    end = start + instance.jobs.duration[job]
    for r in range(len(instance.resources)):
        used = prefix[cluster, r, end] - prefix[cluster, r, start]
        cost += instance.jobs.demand[job, r] * used
    most_starts = instance.clusters.max_starts_per_slot
    if start_prices is not None:
        cost += start_prices[cluster, start]
    least = np.full(len(instance.jobs), np.inf)
    np.minimum.at(least, job, cost)
    least -= value.rounding() + instance.jobs.demand @ prefix_rounding(prefix)
    least = np.minimum(least, instance.objective.rejection_cost)
    if not np.isfinite(least).all():
        return None
    paid = float((prices * instance.clusters.limit).sum())
    if start_prices is not None:
        assert most_starts is not None, "the instance limits no starts"
        paid += float((start_prices * most_starts[:, None]).sum())
    allowance = FLOAT_ERROR * (float(np.abs(least).sum()) + paid)
    return value.sign * (float(least.sum()) - paid - allowance)


def free_bound(instance: MospInstance, value: PlacementValue) -> float | None:
    """Return the bound at prices 0: every job where it costs least, capacity ignored."""
    return lagrangian_bound(instance, value, np.zeros_like(instance.clusters.capacity))


def typical_cost(instance: MospInstance, value: PlacementValue) -> float | None:
    """Return what a job costs on average where capacity is ignored, in size; None if there is no such bound."""
    bound = free_bound(instance, value)
    return None if not bound else abs(bound) / len(instance.jobs)


def tighter(sense: str, first: float | None, second: float | None) -> float | None:
    """Return the tighter of two bounds, either of which may be None."""
    if first is None or second is None:
        return second if first is None else first
    return max(first, second) if sense == "min" else min(first, second)
