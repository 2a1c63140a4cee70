"""Slot prices at which jobs want no more servers than there are: a smoothed dual, by Newton's method.

It is the dual that `carbonopt.problems.elastic.methods.price.fluid.smooth` maximises, for a plan that is thrown away
after an hour: half a per cent of accuracy is enough, and the prices of the hour before are a good start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.ladder import merge_units
from carbonopt.problems.elastic.methods.price.fluid.smooth import SmoothedDual
from carbonopt.problems.elastic.methods.price.fluid.smooth_kernels import cover, curvature, damp
from carbonopt.problems.elastic.methods.price.parameters import SmoothingParameters

SMOOTHING, LEAST_SMOOTHING = 0.04, 1e-3
"""Spread over the standard deviation of a base unit's cost from slot to slot, and least over its mean."""
FIRST_SPREAD, SHRINK = 0.5, 0.25
"""First spread over the mean cost of a base unit where no prices are known, and what is left of it at each level."""
TOLERANCE = 0.005
"""Load above capacity, relative, that ends Newton's method."""
TRUST = 10.0
"""Largest change of a price in a step of Newton's method, over the spread."""
SHORTAGE_FACTOR = 4.0
"""Price of undone work over that of a base unit in the dirtiest slot."""
STEPS_PER_UNIT = 100_000
"""Rough number of loop steps that all plans of a simulation take for each unit of one plan's demand."""
COMPILE_SECONDS = 5.0
"""What compiling the loops of a plan takes, with the import of numba."""


@dataclass(frozen=True, eq=False)
class Clearing:
    """Prices, and what jobs want at them.

    Parameters
    ----------
    prices
        lambda_t [g per server and slot], shape (T,).
    mu
        Price of work from which on each job wants a unit for the whole slot [g per slot of work], shape (N,).
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


def clear(
    program: FluidProgram, weight: FloatArray, prices: FloatArray | None = None, mu: FloatArray | None = None
) -> Clearing:
    """Return prices at which the demand fits the capacity, to about half a per cent.

    Parameters
    ----------
    program
        N jobs, or groups of jobs, over the next T slots.
    weight
        How many jobs each stands for, shape (N,).
    prices, mu
        To start from, shapes (T,) and (N,); None: nothing is known.
    """
    units = float(program.width.sum()) * program.carbon.shape[2]
    with loops(STEPS_PER_UNIT * units, (merge_units, cover, curvature, damp), COMPILE_SECONDS):
        return _clear(program, weight, prices, mu)


def _clear(program: FluidProgram, weight: FloatArray, prices: FloatArray | None, mu: FloatArray | None) -> Clearing:
    base = program.carbon[:, :, 0]
    size = max(float(base.mean()), 1e-9)
    least = max(SMOOTHING * float(base.mean(axis=0).std()), LEAST_SMOOTHING * size)
    spread = least
    if prices is None or mu is None:
        prices = np.full(len(program.capacity), size)  # from above: of a slot that jobs just fill, the scarce price
        mu = np.full(len(program.length), size)
        spread = max(least, FIRST_SPREAD * size)
    dearest = base / np.maximum(program.units.gain[:, :1], 1e-9)
    shortage_price = SHORTAGE_FACTOR * float(dearest.max(initial=0.0)) + 10 * least
    start = (prices.copy(), mu.copy())
    dual = SmoothedDual(program, shortage_price, spread, start, SmoothingParameters(trust=TRUST), weight=weight)
    no_limit = Options(time_limit=None)
    dual.maximise(TOLERANCE, no_limit)
    while dual.spread > least:
        dual.spread = max(least, SHRINK * dual.spread)
        dual.maximise(TOLERANCE, no_limit)
    dual(dual.prices)  # what a step that was refused has left is forgotten
    found = np.where(dual.prices > dual.negligible, dual.prices, 0.0)
    return Clearing(found, dual.mu + dual.spread / 2, dual.load, _share_of_first_slot(program, dual), dual.steps)


def _share_of_first_slot(program: FluidProgram, dual: SmoothedDual) -> FloatArray:
    """Return the share of slot 0 in which each job wants each unit, shape (N, U)."""
    profile = program.profile
    ladder = dual.ladder
    unit = np.arange(program.units.gain.shape[1])
    level = ladder.level[profile, 0]
    steps = ladder.steps[profile, 0]
    is_before = (level[:, None, :] < unit[:, None]) & (unit < steps[:, None])[:, None, :]
    step_of_unit = is_before.sum(axis=2)
    ratio = np.take_along_axis(ladder.ratio[profile, 0], np.minimum(step_of_unit, len(unit) - 1), axis=1)
    exists = unit[None, :] < program.units.count[profile][:, None]
    wanted = np.clip((dual.mu[:, None] - ratio) / dual.spread + 0.5, 0.0, 1.0)
    return np.where(exists & (program.arrival == 0)[:, None], wanted, 0.0)
