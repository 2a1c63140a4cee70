"""A primal-dual interior point method for the fluid program over a band (Mehrotra's predictor-corrector).

Each job has one work row and each pair (job, slot) one convexity row, so these are eliminated one by one;
what is left is a positive definite system over the slots alone, with the width of the longest window.
One iteration takes a pass over the levels and a band Cholesky factorisation: about 10 ms for a week of
1,259 jobs, 0.3 s for a year of 69,000.

    min  sum c z + B sum a                        duals
         sum P z + a - surplus = l   each job     mu
         sum W z + free        = M   each slot    prices (lambda)
         sum z + idle          = 1   each pair    convexity

with an artificial a for work that is not done, at price B. See Wright, Primal-Dual Interior-Point
Methods (SIAM 1997), chapter 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.algorithms.banded import factorised, solved
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid import kernels
from carbonopt.problems.elastic.methods.price.fluid.band import Band, FluidProgram
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters

START = 0.05
"""Least convexity dual and reduced cost at the start, over the size of the duals. The optimum does not depend on it."""
LEAST_SHARE = 0.1
"""Share of its usual size below which an objective counts as 0."""
NEARLY = 1e-6
"""Merit up to which a stalled iterate is good enough not to start again."""
STALLED = 15
"""Iterations without progress after which the method ends: the rest is lost to rounding, whatever the instance."""
CLOSEST = 0.9995
"""Share of the way to the boundary that a step may go, at the most: on it, no further step would be possible."""
COLUMN_STEPS = 100.0
"""Loop steps of an iteration for each column of the band, beside the factorisation."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where the method ended.

    Parameters
    ----------
    share
        z of each column of the band, shape (C,).
    prices, mu
        Duals of slots [g per server and slot], shape (T,), and jobs [g per slot of work], shape (N,).
    shortage
        Work that the band cannot do [slots], shape (N,).
    converged
        Whether primal and dual objective agree to the tolerance.
    merit
        Relative gap plus the largest residual where it ended.
    iterations
        How many it took.
    """

    share: FloatArray
    prices: FloatArray
    mu: FloatArray
    shortage: FloatArray
    converged: bool
    merit: float
    iterations: int


class InteriorPoint:
    """One solve; holds the iterate and the work arrays.

    Parameters
    ----------
    program, band
        The program and the levels it is restricted to.
    prices, mu
        Where to start, shapes (T,) and (N,).
    shortage_price
        B [g per slot of work].
    scale
        Size of the duals [g per slot of work].
    """

    def __init__(
        self,
        program: FluidProgram,
        band: Band,
        prices: FloatArray,
        mu: FloatArray,
        shortage_price: float,
        scale: float,
    ) -> None:
        jobs = len(program.arrival)
        slots = len(program.capacity)
        pairs = len(band.slot)
        columns = len(band.level)
        self.band = band
        self.levels = program.levels
        self.profile = program.profile
        self.length = program.length
        self.capacity = np.where(program.capacity > 0, program.capacity, 1.0)  # no levels in slots without any
        self.price_of_shortage = shortage_price
        width = int(program.width.max(initial=1))
        self.scale = max(float(np.median(mu)), scale, 1e-9)
        self.schur = np.zeros((slots, width))
        self.factor = self.schur
        self.pivot = np.zeros(jobs)
        self.pairs = kernels.PairWork(*np.zeros((8, pairs)))
        self.dual_gap, self.idle_gap = np.zeros(columns), np.zeros(pairs)
        self.work, self.load = np.zeros(jobs), np.zeros(slots)
        self._first = (np.where(program.capacity > 0, prices, 0.0), mu)

    def _start(self, prices: FloatArray, mu: FloatArray, complete: bool = False) -> None:
        """Start where every row but the work rows holds and products of primal and dual are alike.

        With `complete` the work rows hold as well, by artificials: slower, but it never stalls.
        """
        pair = np.repeat(np.arange(len(self.band.slot)), np.diff(self.band.first_column))
        self.mu = np.clip(mu, 1e-2 * self.scale, 0.9 * self.price_of_shortage)
        self.prices = np.maximum(prices, 1e-2 * self.scale)
        self.share, self.reduced = np.zeros(len(pair)), np.zeros(len(pair))
        self.idle, self.convexity = np.zeros(len(self.band.slot)), np.zeros(len(self.band.slot))
        self._residuals()
        lowest = np.zeros(len(self.band.slot))
        np.minimum.at(lowest, pair, self.dual_gap)
        self.convexity = START * self.scale - lowest
        self.reduced = self.dual_gap + self.convexity[pair]
        every = np.bincount(pair, 1 / self.reduced, len(self.band.slot)) + 1 / self.convexity
        self.share = 1 / self.reduced / every[pair]
        self._residuals()
        fits = np.minimum(1.0, 0.9 * self.capacity / np.maximum(self.load, 1e-300))
        self.share *= fits[self.band.slot][pair]
        self.idle = np.asarray(1.0 - np.bincount(pair, self.share, len(self.band.slot)))
        self._residuals()
        self.free = self.capacity - self.load
        self.shortage_dual = self.price_of_shortage - self.mu
        if complete:
            self.shortage = np.maximum(self.length - self.work, 0.0) + 0.1
            self.surplus = self.work + self.shortage - self.length
        else:
            self.shortage = np.full(len(self.length), 0.01)
            self.surplus = np.maximum(self.work - self.length, 0.05)

    def _residuals(self) -> float:
        point = (self.share, self.reduced, self.idle, self.convexity, self.mu, self.prices)
        gaps = (self.dual_gap, self.idle_gap, self.work, self.load)
        return float(kernels.residuals(self.band, self.levels, self.profile, *point, *gaps))

    def solve(self, tolerance: float, options: Options) -> Point:
        """Iterate until primal and dual objective agree to `tolerance` (relative), or the time is out."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # told by the merit
            return self._solve(tolerance, options)

    def _solve(self, tolerance: float, options: Options) -> Point:
        self._start(*self._first)
        point = self._iterate(tolerance, options)
        if point.merit > NEARLY and options.remaining > 0:
            self._start(*self._first, complete=True)
            point = self._iterate(tolerance, options)
        return point

    def _iterate(self, tolerance: float, options: Options) -> Point:
        converged = False
        done = 0
        merit = np.inf
        best = np.inf
        since = 0
        complements = self._complements()
        count = sum(len(values) for values, _ in complements)
        for _ in range(options.parameters(PriceParameters).band.iterations):
            carbon = self._residuals() + self.price_of_shortage * float(self.shortage.sum())
            work_gap = self.length - self.work - self.shortage + self.surplus
            load_gap = self.capacity - self.load - self.free
            short_gap = self.price_of_shortage - self.mu - self.shortage_dual
            bound = float((self.mu * self.length).sum() - self.convexity.sum() - (self.prices * self.capacity).sum())
            infeasible = max(np.abs(work_gap).max(), np.abs(load_gap).max(), np.abs(self.idle_gap).max(initial=0.0))
            unbalanced = np.abs(self.dual_gap).max(initial=0.0) / self.scale
            size = max(abs(carbon), LEAST_SHARE * self.scale * float(self.length.sum()))
            merit = abs(carbon - bound) / size + max(infeasible, unbalanced)
            if abs(carbon - bound) <= tolerance * size and max(infeasible, unbalanced) <= 1e-9:
                converged = True
                break
            best, since = (merit, 0) if merit < 0.9 * best else (best, since + 1)
            if since >= STALLED or options.remaining <= 0 or not self._factorise():
                break
            options.spend(COLUMN_STEPS * len(self.share) + self.schur.size * self.schur.shape[1])
            gaps = (work_gap, load_gap, short_gap)
            mean = sum(self._dot(a, b) for a, b in complements) / count
            step = self._direction([-a * b for a, b in complements], gaps)
            primal, dual = self._lengths(step)
            after = self._dot_after(step, primal, dual) / count
            centre = (after / mean) ** 3 * mean
            corrected = [centre - a * b - da * db for (a, b), (da, db) in zip(complements, step["pairs"], strict=True)]
            step = self._direction(corrected, gaps)
            primal, dual = self._lengths(step)
            share = min(CLOSEST, max(0.9, 1 - mean / self.scale))
            self._move(step, min(1.0, share * primal), min(1.0, share * dual))
            done += 1
        return Point(self.share, self.prices, self.mu, self.shortage, converged, merit, done)

    def _complements(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return the pairs (primal, dual) whose products must vanish; the arrays are the iterate itself."""
        return [
            (self.share, self.reduced),
            (self.idle, self.convexity),
            (self.surplus, self.mu),
            (self.shortage, self.shortage_dual),
            (self.free, self.prices),
        ]

    def _dot(self, values: FloatArray, others: FloatArray) -> float:
        return float(kernels.product(values, others))

    def _factorise(self) -> bool:
        job_weight = self.surplus / self.mu + self.shortage / self.shortage_dual
        slot_weight = self.free / self.prices
        kernels.assemble(
            self.band, self.levels, self.profile, self.share, self.reduced, self.idle, self.convexity,
            job_weight, slot_weight, self.pivot, self.pairs, self.schur,
        )  # fmt: skip
        self.schur[:, 0] *= 1 + 1e-13
        factor = factorised(self.schur)
        if factor is None:
            return False
        self.factor = factor
        return True

    def _direction(self, targets: list[FloatArray], gaps: tuple[FloatArray, ...]) -> dict[str, Any]:
        """Return Newton's step towards complementary products of `targets` more than they are."""
        share_target, idle_target, surplus_target, shortage_target, free_target = targets
        work_gap, load_gap, short_gap = gaps
        job_right = (
            work_gap + surplus_target / self.mu
            - (shortage_target - self.shortage * short_gap) / self.shortage_dual
        )  # fmt: skip
        d_prices = free_target / self.prices - load_gap
        kernels.right_hand_side(
            self.band, self.levels, self.profile, self.share, self.reduced, self.convexity, self.pivot,
            self.pairs, self.dual_gap, self.idle_gap, share_target, idle_target, job_right, d_prices,
        )  # fmt: skip
        d_prices = solved(self.factor, d_prices)
        d_mu = np.zeros_like(self.mu)
        d_share = np.zeros_like(self.share)
        d_reduced = np.zeros_like(self.share)
        d_idle = np.zeros_like(self.idle)
        d_convexity = np.zeros_like(self.idle)
        kernels.back_substitute(
            self.band, self.levels, self.profile, self.share, self.reduced, self.pivot, self.pairs,
            self.dual_gap, self.idle_gap, share_target, job_right, d_prices,
            d_mu, d_share, d_reduced, d_idle, d_convexity,
        )  # fmt: skip
        d_surplus = (surplus_target - self.surplus * d_mu) / self.mu
        d_short = short_gap - d_mu
        d_shortage = (shortage_target - self.shortage * d_short) / self.shortage_dual
        d_free = (free_target - self.free * d_prices) / self.prices
        pairs = [
            (d_share, d_reduced),
            (d_idle, d_convexity),
            (d_surplus, d_mu),
            (d_shortage, d_short),
            (d_free, d_prices),
        ]
        return {"pairs": pairs}

    def _lengths(self, step: dict[str, Any]) -> tuple[float, float]:
        """Return how far primal and dual may go, at most 1."""
        longest = [1.0, 1.0]
        for values, changes in zip(self._complements(), step["pairs"], strict=True):
            for side in range(2):
                longest[side] = min(longest[side], kernels.longest_step(values[side], changes[side]))
        return longest[0], longest[1]

    def _dot_after(self, step: dict[str, Any], primal: float, dual: float) -> float:
        return sum(
            self._dot(values + primal * change, others + dual * shift)
            for (values, others), (change, shift) in zip(self._complements(), step["pairs"], strict=True)
        )

    def _move(self, step: dict[str, Any], primal: float, dual: float) -> None:
        for (values, others), (change, shift) in zip(self._complements(), step["pairs"], strict=True):
            values += primal * change
            others += dual * shift
