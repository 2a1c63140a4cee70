"""Slot prices by subgradient ascent: good enough to say which levels can matter."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid.pricing import Pricer
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters


def ascend(pricer: Pricer, options: Options) -> FloatArray:
    """Return slot prices with a good bound.

    Parameters
    ----------
    pricer
        Of the program.
    options
        Hold the parameters; the ascent ends when the time is out.

    Returns
    -------
    ndarray
        The best prices found, shape (T,), at least 0.
    """
    params = options.parameters(PriceParameters).ascent
    prices = pricer.closed_slot_prices()
    best = -np.inf
    best_prices = prices
    stalled = 0
    gap = params.first_gap
    direction = np.zeros_like(prices)
    for _ in range(params.iterations):
        bound, excess = pricer(prices)
        stalled = 0 if bound > best * (1 + 1e-9) else stalled + 1
        if bound > best:
            best, best_prices = bound, prices
        if stalled >= params.patience:
            gap /= 2
            stalled = 0
            prices = best_prices
            bound, excess = pricer(prices)
            direction[:] = 0
        active = np.where((prices <= 0) & (excess < 0), 0.0, excess)
        direction = params.momentum * direction + active
        length = float((direction * direction).sum())
        if gap < params.last_gap or length <= 0 or options.remaining <= 0:
            break
        step = (best + gap * max(abs(best), 1e-9) - bound) / length
        prices = np.maximum(0.0, prices + step * direction)
    return best_prices
