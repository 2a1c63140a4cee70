"""Online pause and resume where more is better: run in slots of a high signal, such as the share of clean power.

The values lie in [L, U]. Each time the job starts or stops costs beta, `switch`. A job at rest runs its i-th slot of
work once the value is at least u_i, a job that runs goes on while it is at least l_i = u_i - 2 beta. Once its waiting
time is used up, it runs to its end.

References
----------
Lechowicz, Christianson, Zuo, Bashir, Hajiesmaili, Wierman, Shenoy (2023), "The Online Pause and Resume Problem",
arXiv:2303.17551: definition 2 and theorem 5 are `balanced_thresholds` and `balanced_ratio`. The page *Online rules
with a guarantee* proves the ratio of any rising thresholds.
"""

from __future__ import annotations

import numpy as np
from scipy.special import lambertw

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import Fault, InputError
from carbonopt.guarantees.bisection import least_enough
from carbonopt.guarantees.bounds import check_balance, check_signal, check_thresholds
from carbonopt.guarantees.pausing import pause_and_resume


def balanced_ratio(low: float, high: float, k: int, switch: float = 0.0) -> float:
    """Return the published omega: the root of equation (10) of Lechowicz et al.

    Parameters
    ----------
    low, high
        Bounds on the value.
    k
        Slots of work.
    switch
        Cost beta of one start or one stop, in the unit of the value; k low must exceed 2 switch.

    Raises
    ------
    InputError
        Where the bounds or k are wrong, or the switches cost all of the gain.
    """
    _check_gain(low, high, k, switch)
    above = (high - 2 * switch / k) / (low - 2 * switch / k)
    return least_enough(lambda ratio: bool(_balanced(ratio, low, k, switch)[k] >= high), 1.0, above)


def balanced_thresholds(low: float, high: float, k: int, switch: float = 0.0) -> FloatArray:
    """Return the published thresholds u_i of equation (6) of Lechowicz et al., shape (k,)."""
    return _balanced(balanced_ratio(low, high, k, switch), low, k, switch)[:k]


def limit_ratio(low: float, high: float, switch: float = 0.0) -> float:
    """Return the limit of `balanced_ratio` for long jobs, by the Lambert W function."""
    check_balance(low, high, 1, switch)
    rest = 1 + 2 * switch / low
    return rest + float(lambertw((high / low - rest) * np.exp(-rest)).real)


def proven_ratio(thresholds: FloatArray, low: float, high: float, switch: float = 0.0) -> float:
    """Return a ratio of the optimum to the rule that no signal in [low, high] exceeds.

    Parameters
    ----------
    thresholds
        u_i, rising, between low and high, shape (k,).
    low, high, switch
        As in `balanced_ratio`.

    Raises
    ------
    InputError
        Where the thresholds fall or leave the bounds, or the rule may end without a gain.
    """
    k = len(thresholds)
    _check_gain(low, high, k, switch)
    check_thresholds(thresholds, low, high, rising=True)
    early = np.concatenate(([0.0], np.cumsum(thresholds - 2 * switch)))
    gain = early + (k - np.arange(k + 1)) * low
    gain[:k] -= 2 * switch
    if gain.min() <= 0:
        raise InputError(Fault("switch", "leaves the rule no gain on its worst signal", f"{switch:g}"))
    optimum = k * np.append(thresholds, high) - 2 * switch
    return max(1.0, float((optimum / gain).max()))


def run(values: FloatArray, thresholds: FloatArray, low: float, high: float, switch: float = 0.0) -> BoolArray:
    """Return the slots in which the rule runs, shape (T,); it reads each value in its own slot only.

    Raises
    ------
    InputError
        Where k is more than T, thresholds fall, or they or a value are outside the bounds.
    """
    _check_gain(low, high, len(thresholds), switch)
    check_thresholds(thresholds, low, high, rising=True)
    check_signal(values, len(thresholds), low, high)
    return pause_and_resume(-values, -thresholds, 2 * switch, len(thresholds))


def _balanced(ratio: float, low: float, k: int, switch: float) -> FloatArray:
    """Return u_1 .. u_{k+1} of a ratio: the last is `high` where the ratio is the right one."""
    first = ratio * low + 2 * switch / k * (1 - ratio)
    near = low + 2 * switch
    growth = (1 + ratio / k) ** np.arange(k + 1, dtype=np.float64)
    thresholds: FloatArray = near + (first - near) * growth
    return thresholds


def _check_gain(low: float, high: float, k: int, switch: float) -> None:
    check_balance(low, high, k, switch)
    if 2 * switch >= k * low:
        raise InputError(Fault("switch", f"must be below k low / 2 = {k * low / 2:g}", f"{switch:g}"))
