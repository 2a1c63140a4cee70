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
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters
from carbonopt.problems.mlcluster.methods.price.path import Stretches, path_space, path_steps
from carbonopt.problems.mlcluster.methods.price.walks import JobColumns, Kinds, least_costs, price_walks

TURNS = 6.0
"""Break prices that are tried for a job, about: by it the work of passing over cells is counted."""
FLOAT_ERROR = 1e-11
"""By how much the sums of a bound may be wrong, relative: subtracted from it."""
CLOSE = 1e-7
"""Relative rise of a job's value below which a break price is the right one: any price is a bound."""
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
    part = options.part(params.restart_time_share)
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
        Loop steps of the last evaluation, about.
    """

    def __init__(self, proof: Proof) -> None:
        c = proof.coefficients
        self.coefficients = c
        self.mu = np.array(proof.work_prices)
        self._highest = HIGHEST * max(float(self.mu.max(initial=0.0)), 1e-12)
        restart = c.instance.scales.restart_minutes[c.instance.profile_of_job]
        self._jobs = JobColumns(c.first_cell, c.instance.jobs.arrival_minutes, c.kind, c.required, restart)
        kinds, most = c.speed.shape
        self._kinds = Kinds(c.speed, c.watts)
        self._least = np.zeros((kinds, c.count))
        self._free = np.full(c.count, most)
        self._space = path_space(c.count, most)
        self.size = float((c.count - c.first_cell).sum()) * most
        self.steps = 0.0

    def hard(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound at `prices` and a supergradient."""
        c: CellCoefficients = self.coefficients
        self.mu = np.maximum(self.mu, 1e-9 * self._highest / HIGHEST)
        load = np.zeros(c.count)
        total, sizes, looked_at = self._walk(self._jobs, prices, load)
        self.steps = path_steps(float(looked_at), c.speed.shape[1]) + TURNS * float((c.count - c.first_cell).sum())
        paid = c.capacity * float(prices.sum())
        return float(total - paid - FLOAT_ERROR * (sizes + paid)), load - c.capacity

    def prepare(self) -> None:
        """Compile the loops, without jobs."""
        nobody = JobColumns._make(column[:0] for column in self._jobs)
        self._walk(nobody, np.zeros(self.coefficients.count), np.zeros(0))

    def _walk(self, jobs: JobColumns, prices: FloatArray, load: FloatArray) -> tuple[float, float, int]:
        c = self.coefficients
        least_costs(c.carbon, prices, self._kinds, self._least)
        late = least = np.zeros(c.count)
        cells = Stretches(c.carbon, prices, np.full(c.count, c.minutes), self._free, late, least)
        return price_walks(jobs, cells, self._least, self._kinds, self._highest, CLOSE, self.mu, load, self._space)
