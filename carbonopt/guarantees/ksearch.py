"""k-min search: run k slots of work, one a slot, while the coming intensities are unknown.

The intensities lie in [L, U] and the number of slots is known. The rule has k falling thresholds: it runs its i-th
slot of work once the intensity is at most the i-th threshold. When only as many slots are left as work, it runs in
all of them.

References
----------
Lorenz, Panagiotou, Steger (2009), "Optimal algorithms for k-search with application in option pricing",
Algorithmica 55, 311-328. The balance equation of `balanced_ratio` is the one known for their problem; it, the bound
of `proven_ratio` and the thresholds of `guarded_thresholds` are derived on the page *Online rules with a guarantee*.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import Fault, InputError

HALVINGS = 100
"""Of the interval that holds a ratio: more than a float can tell apart."""


def balanced_ratio(low: float, high: float, k: int) -> float:
    """Return alpha: (1 - low/high) / (1 - 1/alpha) = (1 + 1/(alpha k))^k.

    Parameters
    ----------
    low, high
        Bounds on the carbon intensity, in g/kWh.
    k
        Slots of work.

    Raises
    ------
    InputError
        Where not 0 < low <= high, or k is below 1.
    """
    _check_bounds(low, high, k)
    below, above = 1.0, high / low
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        if high - (high - high / middle) * (1 + 1 / (middle * k)) ** k > low:
            below = middle
        else:
            above = middle
    return above


def balanced_thresholds(low: float, high: float, k: int) -> FloatArray:
    """Return the thresholds that make all ends equally bad if each slot was run at its threshold, shape (k,), g/kWh."""
    ratio = balanced_ratio(low, high, k)
    growth = (1 + 1 / (ratio * k)) ** np.arange(k, dtype=np.float64)
    thresholds: FloatArray = high - (high - high / ratio) * growth
    return thresholds


def proven_ratio(thresholds: FloatArray, low: float, high: float) -> float:
    """Return a ratio that no signal in [low, high] exceeds.

    Let i slots have been run below their thresholds, and the others at `high` at the end. Then each intensity that
    was passed over is above threshold i + 1. The ratio is largest where each of the i slots was run at its own
    threshold or at `low`, so the largest over i and the number of slots at `low` is proven.

    Parameters
    ----------
    thresholds
        Falling, between low and high, shape (k,), in g/kWh.
    low, high
        Bounds on the intensity, in g/kWh.
    """
    k = len(thresholds)
    worst = float(thresholds.sum()) / (k * low)
    for done in range(k):
        for cheap in range(done + 1):
            paid = _paid(thresholds, done, cheap, low, high)
            worst = max(worst, paid / (cheap * low + (k - cheap) * float(thresholds[done])))
    return worst


def guarded_thresholds(low: float, high: float, k: int) -> FloatArray:
    """Return the thresholds whose `proven_ratio` is least, shape (k,), in g/kWh."""
    _check_bounds(low, high, k)
    below, above = 1.0, high / low
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        if float(_least_thresholds(middle, low, high, k).sum()) <= middle * k * low:
            above = middle
        else:
            below = middle
    return _least_thresholds(above, low, high, k)


def run(intensity: FloatArray, thresholds: FloatArray, low: float, high: float) -> BoolArray:
    """Return the slots in which the rule runs; it reads each intensity in its own slot only.

    Parameters
    ----------
    intensity
        Shape (T,), in g/kWh.
    thresholds
        Falling, shape (k,), in g/kWh.
    low, high
        Bounds on the intensity, in g/kWh.

    Returns
    -------
    ndarray
        Shape (T,): k of them are true.

    Raises
    ------
    InputError
        Where k is more than T, or an intensity is outside the bounds.
    """
    k = len(thresholds)
    _check_bounds(low, high, k)
    if k > len(intensity):
        raise InputError(Fault("k", f"{k} slots of work do not fit into {len(intensity)} slots"))
    runs = np.zeros(len(intensity), dtype=bool)
    done = 0
    for slot, value in enumerate(intensity.tolist()):
        if not low <= value <= high:
            raise InputError(Fault("intensity", f"must be from {low:g} to {high:g} g/kWh", f"{value:g}", slot))
        forced = len(intensity) - slot <= k - done
        if done < k and (forced or value <= thresholds[done]):
            runs[slot] = True
            done += 1
    return runs


def _paid(thresholds: FloatArray, done: int, cheap: int, low: float, high: float) -> float:
    """Return what is paid at most where `cheap` of the `done` slots were run at `low` and the rest at the end."""
    return cheap * low + float(thresholds[: done - cheap].sum()) + (len(thresholds) - done) * high


def _least_thresholds(ratio: float, low: float, high: float, k: int) -> FloatArray:
    """Return the lowest thresholds with which no signal that ends before the work is done exceeds a ratio."""
    thresholds = np.full(k, float(low))
    for done in range(k):
        for cheap in range(done + 1):
            needed = (_paid(thresholds, done, cheap, low, high) / ratio - cheap * low) / (k - cheap)
            thresholds[done] = max(thresholds[done], needed)
    return thresholds


def _check_bounds(low: float, high: float, k: int) -> None:
    if not 0 < low <= high < np.inf:
        raise InputError(Fault("low, high", "bounds on the intensity must be 0 < low <= high", f"{low:g}, {high:g}"))
    if k < 1:
        raise InputError(Fault("k", "must be at least 1 slot of work", str(k)))
