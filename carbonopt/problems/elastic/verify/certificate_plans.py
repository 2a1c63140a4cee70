"""Recheck a bound from whole-job plans: what each job costs at least at slot prices, in whole servers.

For any prices lambda_t >= 0, weak duality bounds every schedule of the integer model from below:

    sum_j min over plans k of job j  sum_t (CI_t E(k_t) + lambda_t W(k_t))  -  sum_t lambda_t M_t

The minimum over a job's plans is found here by dynamic programming with its own arithmetic: nothing is
shared with the methods. A state is (work done, cost); a state that costs more and does no more work than
another is dropped, and so is one that a linear bound shows to be too dear. Costs are rounded down and
work is rounded up, so the result holds in real arithmetic.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.directed import down, up

MARGIN = 1e-9
"""Relative slack of the tests that drop states: rounding never drops a state that matters."""


def least_cost(cost: FloatArray, work: FloatArray, need: float, free_choice: bool) -> float:
    """Return a lower bound on the least cost of a plan that does `need` slots of work; infinite if none does.

    Parameters
    ----------
    cost
        Cost of each unit in each slot of the window, rounded down [g], shape (T, U).
    work
        Work of each unit, rounded up, shape (U,).
    need
        Work to be done [slots].
    free_choice
        Whether units may be chosen one by one: then some best plan takes, of each unit, those of the
        cheapest slots, and only their number matters. Otherwise a slot's units are nested.
    """
    if float(up(work.sum() * len(cost) * (1 + MARGIN))) < need:
        return float("inf")
    adding = 2.3e-16 * (cost.shape[0] + cost.shape[1])  # what a running sum of costs may be wrong by, relative
    if free_choice:
        ordered = np.sort(cost, axis=0)
        zero = np.zeros((1, cost.shape[1]))
        stages_cost = down(np.vstack([zero, np.cumsum(ordered, axis=0)]) * (1 - adding)).T
        stages_work = up(work[:, None] * np.arange(len(cost) + 1)[None, :])
    else:
        stages_cost = down(np.hstack([np.zeros((len(cost), 1)), np.cumsum(cost, axis=1)]) * (1 - adding))
        nested = np.concatenate([[0.0], up(np.cumsum(work) * (1 + adding))])
        stages_work = np.broadcast_to(nested, stages_cost.shape)
    return _cheapest(stages_cost, stages_work, need)


def _cheapest(cost: FloatArray, work: FloatArray, need: float) -> float:
    """Choose one entry of every stage, (S, C) each, at least cost with `need` work in all."""
    mu = _break_price(cost, work, need)
    reduced = (cost - mu * work).min(axis=1)
    later = np.concatenate([np.cumsum(reduced[::-1])[::-1][1:], [0.0]])
    limit = _some_cost(cost, work, need, mu)
    limit += MARGIN * (1 + abs(limit))
    done = np.zeros(1)
    paid = np.zeros(1)
    for stage in range(len(cost)):
        useful = cost[stage] - mu * work[stage] - reduced[stage] <= limit - mu * need - reduced.sum()
        done = up((done[:, None] + work[stage][useful][None, :]).ravel())
        paid = down((paid[:, None] + cost[stage][useful][None, :]).ravel())
        kept = paid + mu * (need - done) + later[stage] <= limit
        done = done[kept]
        paid = paid[kept]
        order = np.lexsort((paid, -np.minimum(done, need)))
        done = done[order]
        paid = paid[order]
        best = np.minimum.accumulate(paid)
        if len(paid):
            front = np.concatenate([[True], paid[1:] < best[:-1]])
        else:
            front = np.zeros(0, dtype=bool)
        done = done[front]
        paid = paid[front]
    finished = paid[done >= need]
    return float(finished.min()) if len(finished) else limit - 2 * MARGIN * (1 + abs(limit))


def _break_price(cost: FloatArray, work: FloatArray, need: float) -> float:
    """Return a price of work at which the stages' best choices do about `need`; any price is valid."""
    low, high = 0.0, 1.0
    scale = float(np.abs(cost).max(initial=1.0)) / max(float(work[work > 0].min(initial=1.0)), 1e-12)
    high = max(scale, 1e-300)
    rows = np.arange(len(cost))
    for _ in range(60):
        middle = (low + high) / 2
        choice = (cost - middle * work).argmin(axis=1)
        low, high = (middle, high) if work[rows, choice].sum() < need else (low, middle)
    return high


def _some_cost(cost: FloatArray, work: FloatArray, need: float, mu: float) -> float:
    """Return the cost of some choice that does `need` work: best at a price of work at which they do enough."""
    rows = np.arange(len(cost))
    while True:
        choice = (cost - mu * work).argmin(axis=1)
        if work[rows, choice].sum() >= need or mu > 1e60:
            break
        mu = 2 * mu + 1e-12
    if work[rows, choice].sum() < need:
        choice = work.argmax(axis=1)
    return float(cost[rows, choice].sum())
