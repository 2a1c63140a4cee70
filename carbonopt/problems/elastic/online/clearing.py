"""Slot prices at which jobs want no more servers than there are: a smoothed dual, by Newton's method.

The same dual as `carbonopt.problems.elastic.methods.price.fluid` ascends, for a plan that is thrown away after an
hour: a per cent of accuracy is enough, and the prices of the hour before are a good start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder, merge_units
from carbonopt.problems.elastic.online.response import respond

SMOOTHING, LEAST_SMOOTHING = 0.04, 1e-3
"""delta over the standard deviation of a base unit's cost from slot to slot, and least over its mean."""
ITERATIONS = 60
"""Newton steps of one plan at most; from the prices of the hour before, a few are enough."""
TOLERANCE = 0.005
"""Excess load, over the largest capacity, that ends the iterations."""
LONGEST_STEP = 2.0
"""Change of a price in one step, over the mean cost of a base unit, at most."""
SHORTEST_STEP = 1e-4
"""The same at least: shorter ones no longer change the plan."""
LEAST_GAIN = 1e-4
"""Share of the gain that the gradient promises which a step must bring."""
SHORTAGE_FACTOR = 4.0
"""Price of undone work over that of a base unit in the dirtiest slot."""
STEPS_PER_UNIT = 100_000
"""Rough number of loop steps that all plans of a simulation take for each unit of one plan's demand."""
COMPILE_SECONDS = 3.0
"""What compiling the loops of a plan takes, with the import of numba (2.2 s of CPU time measured)."""


@dataclass(frozen=True, eq=False)
class Demand:
    """What is to be planned: N jobs, or groups of jobs, over the next T slots.

    Parameters
    ----------
    start, end
        Windows, shape (N,).
    need
        Work of each [slots at k_min], above 0, shape (N,).
    profile
        Row in the tables of units, shape (N,).
    weight
        How many such jobs there are, shape (N,).
    count
        Units of each profile, shape (P,).
    gain, servers
        Of each unit, shape (P, U).
    cost
        Carbon of each unit in each slot [g], shape (P, T, U).
    capacity
        Servers, shape (T,).
    """

    start: IntArray
    end: IntArray
    need: FloatArray
    profile: IntArray
    weight: FloatArray
    count: IntArray
    gain: FloatArray
    servers: FloatArray
    cost: FloatArray
    capacity: FloatArray


@dataclass(frozen=True, eq=False)
class Clearing:
    """Prices, and what jobs want at them.

    Parameters
    ----------
    prices
        lambda_t [g per server and slot], shape (T,).
    mu
        Price of work of each job [g per slot of work], shape (N,).
    load
        Servers that are wanted, shape (T,).
    share
        Of slot 0 in which each job wants each unit, shape (N, U).
    iterations
        Of Newton's method.
    """

    prices: FloatArray
    mu: FloatArray
    load: FloatArray
    share: FloatArray
    iterations: int


class _Dual:
    """The smoothed dual of a demand."""

    def __init__(self, demand: Demand, delta: float, mu: FloatArray) -> None:
        self.demand = demand
        self.delta = delta
        self.mu = mu
        dearest = demand.cost[:, :, 0] / np.maximum(demand.gain[:, :1], 1e-9)
        self.ceiling = SHORTAGE_FACTOR * float(dearest.max(initial=0.0)) + 10 * delta
        self.ladder = Ladder.of_shape(*demand.cost.shape)

    def __call__(self, prices: FloatArray, curvature: FloatArray) -> tuple[float, FloatArray]:
        """Return the dual's value, and load less capacity, its gradient."""
        demand = self.demand
        cost = demand.cost + prices[None, :, None] * demand.servers[:, None, :]
        merge_units(cost, demand.gain, demand.servers, demand.count, self.ladder)
        load = np.zeros(len(prices))
        value = respond(
            demand.start, demand.end, demand.need, demand.profile, demand.weight,
            self.ladder, self.delta, self.ceiling, self.mu, load, curvature,
        )  # fmt: skip
        return value - float(prices @ demand.capacity), load - demand.capacity

    def share(self) -> FloatArray:
        """Return the share of slot 0 in which each job wants each unit, at the last prices, shape (N, U)."""
        demand = self.demand
        profile = self.demand.profile
        unit = np.arange(demand.gain.shape[1])
        level = self.ladder.level[profile, 0]
        steps = self.ladder.steps[profile, 0]
        is_before = (level[:, None, :] < unit[:, None]) & (unit < steps[:, None])[:, None, :]
        step_of_unit = is_before.sum(axis=2)
        ratio = np.take_along_axis(self.ladder.ratio[profile, 0], np.minimum(step_of_unit, len(unit) - 1), axis=1)
        exists = unit[None, :] < demand.count[profile][:, None]
        wanted = np.clip((self.mu[:, None] - ratio) / self.delta, 0.0, 1.0)
        return np.where(exists & (demand.start == 0)[:, None], wanted, 0.0)


def clear(demand: Demand, prices: FloatArray | None = None, mu: FloatArray | None = None) -> Clearing:
    """Return prices at which the demand fits the capacity, to about half a per cent.

    Parameters
    ----------
    demand
        N jobs, T slots.
    prices, mu
        To start from, shapes (T,) and (N,).
    """
    units = float((demand.end - demand.start).sum()) * demand.cost.shape[2]
    with loops(STEPS_PER_UNIT * units, (merge_units, respond), COMPILE_SECONDS):
        return _clear(demand, prices, mu)


def _clear(demand: Demand, prices: FloatArray | None, mu: FloatArray | None) -> Clearing:
    slots = len(demand.capacity)
    size = max(float(demand.cost[:, :, 0].mean()), 1e-9)
    spread = float(demand.cost[:, :, 0].mean(axis=0).std())
    dual = _Dual(
        demand,
        max(SMOOTHING * spread, LEAST_SMOOTHING * size),
        np.full(len(demand.need), size) if mu is None else mu.copy(),
    )
    at = np.zeros(slots) if prices is None else prices.copy()
    none = np.zeros((0, 0))
    curvature = np.zeros((slots, slots))
    value, excess = dual(at, curvature)
    tolerance = TOLERANCE * max(1.0, float(demand.capacity.max()))
    done = 0
    reach = LONGEST_STEP * size
    while done < ITERATIONS and reach > SHORTEST_STEP * size:
        free = (at > 0) | (excess > 0)
        if float(np.abs(excess[free]).max(initial=0.0)) <= tolerance:
            break
        step = _direction(curvature, excess, free, reach)
        there = np.maximum(0.0, at + step)
        better, _ = dual(there, none)
        done += 1
        if better >= value + LEAST_GAIN * float(excess @ (there - at)):
            at = there
            reach = min(2 * reach, LONGEST_STEP * size)
            curvature = np.zeros((slots, slots))
            value, excess = dual(at, curvature)
        else:
            reach = min(reach, float(np.abs(step).max())) / 4
    _, excess = dual(at, none)
    return Clearing(at, dual.mu, excess + demand.capacity, dual.share(), done)


def _direction(curvature: FloatArray, excess: FloatArray, free: np.ndarray, longest: float) -> FloatArray:
    """Return Newton's step on the free prices, damped where the load does not answer, cut to `longest`."""
    rows = np.flatnonzero(free)
    matrix = curvature[np.ix_(rows, rows)]
    diagonal = np.diag(matrix)
    damping = 1e-3 * float(diagonal.mean()) + 0.05 * float(np.abs(excess[rows]).max()) / longest
    step = np.zeros(len(excess))
    step[rows] = np.linalg.solve(matrix + damping * np.eye(len(rows)), excess[rows])
    return np.clip(step, -longest, longest)
