"""The bound once restarts are counted: a job's cheapest way is a walk, and not a choice of cells.

At prices of GPU time and of work, what a job costs at least is the best walk of `path.py` over the cells. Within a cell
nothing changes, so to move the moment at which a job changes its GPUs towards one edge of the cell or the other never
makes the walk worse: to look at the edges alone is enough, and what comes out bounds every schedule. A run that ends
before its restart does so does no work, and leaving it out is never worse either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters
from carbonopt.problems.mlcluster.methods.price.path import Stretches, break_paths, path_steps

TURNS = 6.0
"""Break prices that are tried for a job, about: by it the work is counted."""
FLOAT_ERROR = 1e-11
"""By how much the sums of a bound may be wrong, relative: subtracted from it."""
HIGHEST = 1e9
"""Worth of work up to which a plan is looked for, over the largest price of work."""


def count_restarts(proof: Proof, options: Options) -> Proof:
    """Return better prices, and the bound that they prove once restarts are counted; `proof` where none is better.

    Where completion times count, restarts are left out.
    """
    instance = proof.coefficients.instance
    params = options.parameters(PriceParameters).bound
    restarts = instance.scales.restart_minutes[instance.profile_of_job]
    walk = RestartDual(proof)
    counts = proof.delay_price == 0 and instance.limits.mean_jct_hours is None and bool(restarts.any())
    if not counts or walk.size > params.restart_size or params.restart_steps == 0:
        return proof
    part = options.part(params.time_share)
    if part.remaining <= 0:
        return proof
    ascent = Ascent(
        walk.hard,
        None,
        np.array(proof.prices),
        remaining=lambda: part.remaining,
        spend=lambda: part.spend(walk.steps),
    )
    ascent.step(params.restart_steps, params.restart_gap)
    bound, _ = walk.hard(ascent.prices)
    if bound <= proof.bound:
        return proof
    info = proof.info | {"walks": ascent.evaluations}
    return replace(
        proof, prices=ascent.prices, work_prices=np.maximum(walk.mu, 0.0), bound=bound, info=info, restarts=True
    )


class RestartDual:
    """The dual function with restarts; remembers the jobs' break prices as a start.

    Parameters
    ----------
    proof
        Prices to start from.

    Attributes
    ----------
    mu
        Break prices of the jobs' work at the last prices [objective a 1-GPU min], shape (N,).
    size
        Jobs times cells times numbers of GPUs.
    steps
        Loop steps of an evaluation, about.
    """

    def __init__(self, proof: Proof) -> None:
        c = proof.coefficients
        self.coefficients = c
        self.mu = np.array(proof.work_prices)
        self._highest = HIGHEST * max(float(self.mu.max(initial=0.0)), 1e-12)
        self._restart = c.instance.scales.restart_minutes[c.instance.profile_of_job].tolist()
        self._edges = c.minutes * np.arange(c.count + 1)
        self._free: IntArray = np.full(c.count, c.instance.cluster.gpus)
        self._never_late = np.zeros(c.count)
        cells = float((c.count - c.first_cell).sum())
        self.size = cells * c.speed.shape[1]
        self.steps = TURNS * path_steps(cells, c.speed.shape[1])

    def hard(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound at `prices` and a supergradient."""
        c: CellCoefficients = self.coefficients
        load = np.zeros(c.count)
        total, sizes = 0.0, 0.0
        for j, (first, kind, need) in enumerate(zip(c.first_cell, c.kind, c.required, strict=True)):
            begin = np.maximum(self._edges[first:-1], c.instance.jobs.arrival_minutes[j])
            length = np.maximum(0.0, self._edges[first + 1 :] - begin)
            over = Stretches(c.carbon[first:], prices[first:], length, self._free[first:], self._never_late[first:])
            start = max(float(self.mu[j]), 1e-9 * self._highest / HIGHEST)
            mu, low, high = break_paths(
                need, start, over, c.speed[kind], c.watts[kind], self._restart[j], self._highest
            )
            self.mu[j] = mu
            best = low if high is None else min(low, high, key=lambda path: path.cost - mu * path.work)
            part = 1.0 if high is None else (need - low.work) / (high.work - low.work)
            total += best.cost + mu * (need - best.work)
            sizes += best.cost + mu * (need + best.work)
            load[first:] += length * ((1 - part) * low.gpus + (0.0 if high is None else part * high.gpus))
        paid = c.capacity * float(prices.sum())
        return float(total - paid - FLOAT_ERROR * (sizes + paid)), load - c.capacity
