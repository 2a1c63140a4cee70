"""Slot prices and a schedule for long horizons: Newton's method on a smoothed dual.

The Lagrangian bound has kinks where the break price of a job meets the cost per work of a step: there
the step is taken wholly, not at all, or in part. If it is taken in part over a *spread* of costs
instead, the bound becomes

    sum_j max_mu ( mu l_j - sum_i g_i phi(mu - r_i(lambda)) ) - sum_t lambda_t M_t

with phi(x) = 0 below -spread/2, x above spread/2, and a parabola between: concave, with a continuous
gradient and a piecewise constant Hessian. The gradient is load less capacity, so at the maximum what
the jobs take is a schedule. It costs at most sum_i g_i spread / 8 more than the bound, and jobs that are
indifferent between slots, as most are where capacity is short, spread over them evenly.

The spread shrinks step by step (Nesterov, Smooth minimization of non-smooth functions, Mathematical
Programming 103, 2005). Prices couple only slots of one window, so the Hessian is a band, and a Newton
step costs little more than to price all jobs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from carbonopt.algorithms.banded import factorised, solved
from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.data.instance import ROUNDING
from carbonopt.problems.elastic.methods.bounds import lagrangian
from carbonopt.problems.elastic.methods.price.fluid import smooth_kernels
from carbonopt.problems.elastic.methods.price.fluid.band import LEAST_SHARE, Allocation, FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder
from carbonopt.problems.elastic.methods.price.fluid.pricing import UNIT_STEPS, Pricer
from carbonopt.problems.elastic.methods.price.fluid.repair import repaired
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters, SmoothingParameters

LEAST_DAMPING, LARGEST_DAMPING = 1e-9, 1e3
"""Of a slot, over the median curvature."""
DAMPING_ROUNDS = 8
"""Times that the damping of slots with too large a step is raised."""
SUFFICIENT, LEAST_STEP = 1e-4, 1e-3
"""Rise over what the gradient promises, and share of a step, that a line search accepts at least."""
FLOAT_ERROR = 1e-13
"""Of the smoothed bound, relative."""


@dataclass
class Smoothed:
    """What Newton's method found.

    Parameters
    ----------
    prices
        Of the best bound [g per server and slot], shape (T,).
    spread
        The last one [g per slot of work]: how exact the prices are.
    steps
        Newton steps taken.
    carbon
        Of `allocation` [g]; infinite without one.
    allocation
        A schedule of all the work within capacity; None if there is none yet.
    """

    prices: FloatArray
    spread: float
    steps: int = 0
    carbon: float = np.inf
    allocation: Allocation | None = None


def smooth(program: FluidProgram, pricer: Pricer, target: float, options: Options) -> Smoothed:
    """Return prices and schedule within `target` of each other, relative, if all goes well.

    Parameters
    ----------
    program
        N jobs, T slots.
    pricer
        Of the program.
    target
        Relative gap at which to stop.
    options
        Hold the parameters; it ends when the time is out.
    """
    params = options.parameters(PriceParameters).smoothing
    prices = pricer.closed_slot_prices()
    best, _ = pricer(prices)
    mu = pricer.mu.copy()
    found = Smoothed(prices, params.first_spread * max(float(np.median(pricer.mu)), 1e-9))
    start = (prices, pricer.mu.copy())
    dual = SmoothedDual(program, pricer.shortage_price, found.spread, start, params, params.headroom * target)
    for _ in range(params.levels):
        if not dual.maximise(params.rough_excess, options):
            break
        gap = dual.gap(pricer)
        if gap <= target:
            if dual.maximise(params.headroom * target + ROUNDING / 2, options):  # all of the headroom may be needed
                whole = repaired(program, dual.allocation())  # None if work is left undone
                found.allocation = whole or found.allocation
            gap = dual.gap(pricer)
        if dual.bound > best:
            best = dual.bound
            mu = pricer.mu.copy()
            found.prices = dual.prices
            found.spread = dual.spread
        if gap <= target:
            break
        options.report(bound=best, certificate=partial(lagrangian, found.prices, mu, best))
        dual.spread *= max(params.shrink, min(1.0, params.aim * target / gap))
    found.steps = dual.steps
    if found.allocation is not None:
        found.carbon = program.carbon_of(found.allocation)
    return found


class SmoothedDual:
    """The smoothed bound as a function of slot prices, and where its maximisation stands.

    Parameters
    ----------
    program
        N jobs, T slots.
    shortage_price
        Cost of a slot of work that is not done [g].
    spread
        The first one [g per slot of work].
    start
        Prices of the slots and break prices of the jobs to start from, shapes (T,) and (N,).
    params
        Of Newton's method.
    headroom
        Of capacity, relative.
    weight
        How many such jobs there are, shape (N,); None: one of each.
    """

    def __init__(
        self,
        program: FluidProgram,
        shortage_price: float,
        spread: float,
        start: tuple[FloatArray, FloatArray],
        params: SmoothingParameters,
        headroom: float = 0.0,
        weight: FloatArray | None = None,
    ) -> None:
        units = program.units
        slots = len(program.capacity)
        width = int(program.width.max(initial=1))
        self.params = params
        self.program = program
        self.spread = spread
        self.largest = shortage_price
        self.weight = np.ones(len(program.arrival)) if weight is None else weight
        self.capacity = program.capacity * (1 - headroom)
        self.prices, self.mu = start
        self.load = np.zeros(slots)
        self.steps = 0
        self.carbon = np.inf
        self.bound = -np.inf
        self._closed = program.capacity <= 0
        self.negligible = 1e-9 * spread
        self._damping = np.full(slots, LEAST_DAMPING)
        self.ladder = Ladder.of_shape(*program.carbon.shape)
        self._hessian = np.zeros((slots, width))
        self._near, self._gain = np.zeros((2, width * units.gain.shape[1]))
        self._slots, self._drawn = np.zeros(width, dtype=np.int64), np.zeros(width)

    def __call__(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the smoothed bound [g] at `prices`, shape (T,), and its gradient, load less capacity [servers]."""
        program = self.program
        self.ladder.set(program.carbon, prices, program.units)
        value, cost = smooth_kernels.cover(
            program.arrival, program.end, program.profile, program.length, self.weight, self.largest, self.spread,
            self.ladder, self.mu, self.load, self._near, self._gain,
        )  # fmt: skip
        self.carbon = cost - float(prices @ self.load)
        return value - float(prices @ self.capacity), self.load - self.capacity

    def gap(self, pricer: Pricer) -> float:
        """Set the bound at the present prices [g]; return by how much what the jobs take costs more, relative."""
        self.bound, _ = pricer(self.prices)
        return (self.carbon - self.bound) / max(abs(self.bound), 1e-9)

    def maximise(self, tolerance: float, options: Options) -> bool:
        """Move the prices to where no load exceeds capacity by more than `tolerance`, relative, nor is it free.

        False if that did not work out, or the time is out.
        """
        value, excess = self(self.prices)
        for _ in range(self.params.newton_steps):
            fixed = self._closed | ((self.prices <= self.negligible) & (excess < 0))
            violated = np.where(fixed, 0.0, excess) / np.where(self._closed, 1.0, self.program.capacity)
            if np.abs(violated).max(initial=0.0) <= tolerance:
                return True
            if options.remaining <= 0:
                return False
            self.steps += 1
            options.spend(UNIT_STEPS * self.program.size + self._hessian.size * self._hessian.shape[1])
            step = self._direction(np.where(fixed, 0.0, excess), fixed)
            share = 1.0
            while True:
                prices = np.maximum(0.0, self.prices + share * step)
                after, excess_after = self(prices)
                rise = after - value + FLOAT_ERROR * abs(value)
                if rise >= SUFFICIENT * float(excess @ (prices - self.prices)):
                    break
                share /= 2
                if share < LEAST_STEP:
                    return False
            self.prices = prices
            value = after
            excess = excess_after
        return False

    def _direction(self, excess: FloatArray, fixed: BoolArray) -> FloatArray:
        """Return Newton's step, damped slot by slot until no price moves by more than the trust allows."""
        program = self.program
        smooth_kernels.curvature(
            program.arrival, program.end, program.profile, self.weight, self.largest, self.spread, self.ladder,
            self.mu, self._hessian, self._slots, self._drawn,
        )  # fmt: skip
        diagonal = self._hessian[:, 0]
        scale = float(np.median(diagonal[diagonal > 0])) if (diagonal > 0).any() else 1.0
        trust = self.params.trust * self.spread
        self._damping = np.maximum(0.1 * self._damping, LEAST_DAMPING)
        for _ in range(DAMPING_ROUNDS):
            system = self._hessian.copy()
            smooth_kernels.damp(system, fixed, scale * self._damping)
            factor = factorised(system)
            if factor is None:
                self._damping = np.minimum(100 * self._damping, LARGEST_DAMPING)
                continue
            step = solved(factor, excess)
            far = np.abs(step) / trust
            if (far <= 1).all():
                return step
            self._damping = np.where(far > 1, np.minimum(10 * far * self._damping, LARGEST_DAMPING), self._damping)
        return np.clip(step, -trust, trust)

    def allocation(self) -> Allocation:
        """Return what the jobs take at the present prices."""
        program = self.program
        at = (program.arrival, program.end, program.profile, self.spread, LEAST_SHARE, self.ladder, self.mu)
        rows = smooth_kernels.list_shares(*at, *_rows(0))
        found = _rows(rows)
        smooth_kernels.list_shares(*at, *found)
        return found


def _rows(count: int) -> Allocation:
    job, slot, level = np.zeros((3, count), dtype=np.int64)
    return Allocation(job, slot, level, np.zeros(count))
