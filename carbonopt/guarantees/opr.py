"""Online pause and resume: run slots of work at low intensities that are unknown until they come.

The intensities lie in [L, U]. Each time the job starts or stops costs beta, `switch`. The rule has k falling
thresholds l_i: a job at rest runs its i-th slot of work once the intensity is at most l_i, a job that runs goes on
while it is at most u_i = l_i + 2 beta. Once its waiting time is used up, it runs to its end.

With beta = 0 this is k-min search. The rule knows the slots that the job may wait. It need not know the job's
length, but only the longest: the thresholds are then those of the longest.

References
----------
Lechowicz, Christianson, Zuo, Bashir, Hajiesmaili, Wierman, Shenoy (2023), "The Online Pause and Resume Problem",
arXiv:2303.17551: definition 1 and theorem 4 are `balanced_thresholds` and `balanced_ratio`.
Lorenz, Panagiotou, Steger (2009), "Optimal algorithms for k-search with application in option pricing",
Algorithmica 55, 311-328: the same with beta = 0.
`proven_ratio` and `guarded_thresholds` are derived on the page *Online rules with a guarantee*.
"""

from __future__ import annotations

import numpy as np
from scipy.special import lambertw

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import Fault, InputError
from carbonopt.guarantees.bisection import least_enough
from carbonopt.guarantees.bounds import check_balance, check_bounds, check_signal, check_thresholds
from carbonopt.guarantees.pausing import pause_and_resume

RAISES = 50
"""Times that thresholds are raised until they fall; a ratio for which this is not enough counts as too small."""


def balanced_ratio(low: float, high: float, k: int, switch: float = 0.0) -> float:
    """Return the published alpha: the root of equation (9) of Lechowicz et al.

    Parameters
    ----------
    low, high
        Bounds on the carbon intensity, in g/kWh.
    k
        Slots of work.
    switch
        Cost beta of one start or one stop: what a slot at this intensity emits, in g/kWh.

    Raises
    ------
    InputError
        Where not 0 < low <= high, k is below 1, or 2 switch is not below high - low.
    """
    check_balance(low, high, k, switch)
    above = (high + 2 * switch / k) / (low + 2 * switch / k)
    return least_enough(lambda ratio: bool(_balanced(ratio, high, k, switch)[k] <= low), 1.0, above)


def balanced_thresholds(low: float, high: float, k: int, switch: float = 0.0) -> FloatArray:
    """Return the published thresholds l_i of equation (5) of Lechowicz et al., shape (k,), g/kWh."""
    return _balanced(balanced_ratio(low, high, k, switch), high, k, switch)[:k]


def limit_ratio(low: float, high: float, switch: float = 0.0) -> float:
    """Return the limit of `balanced_ratio` for long jobs, by the Lambert W function."""
    check_balance(low, high, 1, switch)
    pair = 2 * switch / high
    root = float(lambertw((pair + low / high - 1) * np.exp(pair - 1)).real)
    return 1 / (root - pair + 1)


def proven_ratio(
    thresholds: FloatArray, low: float, high: float, switch: float = 0.0, shortest: int | None = None
) -> float:
    """Return a ratio that the rule exceeds on no signal in [low, high].

    Parameters
    ----------
    thresholds
        Falling, between low and high, shape (k,), in g/kWh.
    low, high
        Bounds on the intensity, in g/kWh.
    switch
        Cost of one start or one stop, in g/kWh.
    shortest
        The job may have any length from this to k slots; None for a job of k slots.

    Raises
    ------
    InputError
        Where the thresholds rise or leave the bounds, or the bounds or lengths are wrong.
    """
    longest = len(thresholds)
    check_bounds(low, high, longest, switch)
    check_thresholds(thresholds, low, high)
    worst = 1.0
    for length in range(_first_length(shortest, longest), longest + 1):
        floor = length * low + 2 * switch
        worst = max(worst, float((thresholds[:length] + 2 * switch).sum()) / floor)
        cheap = np.arange(length + 1)
        for done in range(length):
            paid = _paid(thresholds, done, length, (low, high, switch))
            optimum = 2 * switch + cheap * low + (length - cheap) * float(thresholds[done])
            worst = max(worst, float((paid / optimum).max()))
    return worst


def guarded_thresholds(low: float, high: float, k: int, switch: float = 0.0, shortest: int | None = None) -> FloatArray:
    """Return thresholds with a small `proven_ratio`, shape (k,), in g/kWh: where `switch` is 0, with the least.

    Parameters
    ----------
    low, high, k, switch
        As in `balanced_ratio`; `switch` may be larger.
    shortest
        As in `proven_ratio`.
    """
    check_bounds(low, high, k, switch)
    first = _first_length(shortest, k)
    terms = (low, high, switch)
    ends = 1.0, (k * (high + 2 * switch) + 2 * switch) / low
    ratio = least_enough(lambda tried: _holds(_least_thresholds(tried, terms, first, k), tried, terms, first), *ends)
    return np.clip(_least_thresholds(ratio, terms, first, k), low, high)


def run(
    intensity: FloatArray,
    thresholds: FloatArray,
    low: float,
    high: float,
    switch: float = 0.0,
    length: int | None = None,
) -> BoolArray:
    """Return the slots in which the rule runs; it reads each intensity in its own slot only.

    Parameters
    ----------
    intensity
        Shape (T,), in g/kWh: the job may wait for T less its length slots.
    thresholds
        Falling, shape (k,), in g/kWh.
    low, high
        Bounds on the intensity, in g/kWh.
    switch
        Cost of one start or one stop, in g/kWh.
    length
        Slots of work, at most k; None for k. The rule learns it when the job ends.

    Returns
    -------
    ndarray
        Shape (T,): as many are true as the job has slots of work.

    Raises
    ------
    InputError
        Where the job does not fit, thresholds rise, or they or an intensity are outside the bounds.
    """
    check_bounds(low, high, len(thresholds), switch)
    work = _first_length(length, len(thresholds), "length")
    check_thresholds(thresholds, low, high)
    check_signal(intensity, work, low, high)
    return pause_and_resume(intensity, thresholds, 2 * switch, work)


def _balanced(ratio: float, high: float, k: int, switch: float) -> FloatArray:
    """Return l_1 .. l_{k+1} of a ratio: the last is `low` where the ratio is the right one."""
    first = high / ratio + 2 * switch / k * (1 / ratio - 1)
    # far - (far - first) (1 + 1/(ratio k))^(i - 1), where far hides no digit of a threshold far below it
    growth = np.expm1(np.arange(k + 1) * np.log1p(1 / (ratio * k)))
    thresholds: FloatArray = first - (high - 2 * switch - first) * growth
    return thresholds


def _paid(thresholds: FloatArray, done: int, length: int, terms: tuple[float, float, float]) -> FloatArray:
    """Return what is paid at most where m slots were run at `low`, for m = 0 .. length.

    `done` slots are run before the job must; `terms` are low, high and switch.
    """
    low, high, switch = terms
    cheap = np.arange(length + 1)
    early = np.minimum(cheap, done)
    dear = np.concatenate(([0.0], np.cumsum(thresholds[:done] + 2 * switch)))[done - early]
    paid: FloatArray = early * (low + 2 * switch) + dear + (cheap - early) * low
    return paid + (length - np.maximum(cheap, done)) * high + 2 * switch


def _least_thresholds(ratio: float, terms: tuple[float, float, float], first: int, k: int) -> FloatArray:
    """Return the lowest falling thresholds with which no signal that ends before the work is done exceeds a ratio.

    Where a later threshold must be higher than an earlier one, the earlier one is raised, and all are computed again.
    """
    floor = np.full(k, float(terms[0]))
    for _ in range(RAISES):
        thresholds = _thresholds_above(floor, ratio, terms, first)
        floor = np.maximum.accumulate(thresholds[::-1])[::-1]
        if thresholds[0] > terms[1] or np.array_equal(floor, thresholds):
            break
    return thresholds


def _thresholds_above(floor: FloatArray, ratio: float, terms: tuple[float, float, float], first: int) -> FloatArray:
    low, _, switch = terms
    k = len(floor)
    thresholds = floor.copy()
    for done in range(k):
        for length in range(max(first, done + 1), k + 1):
            cheap = np.arange(length)
            paid = _paid(thresholds, done, length, terms)[:length]
            needed = (paid / ratio - 2 * switch - cheap * low) / (length - cheap)
            thresholds[done] = max(thresholds[done], float(needed.max()))
    return thresholds


def _holds(thresholds: FloatArray, ratio: float, terms: tuple[float, float, float], first: int) -> bool:
    """Return whether the least thresholds of a ratio fall, stay below `high`, and keep it where all work is early."""
    low, high, switch = terms
    lengths = np.arange(first, len(thresholds) + 1)
    early = np.cumsum(thresholds + 2 * switch)[lengths - 1]
    falls = bool((np.diff(thresholds) <= 0).all()) and thresholds[0] <= high
    return falls and bool((early <= ratio * (lengths * low + 2 * switch)).all())


def _first_length(length: int | None, longest: int, field: str = "shortest") -> int:
    if length is None:
        return longest
    if not 1 <= length <= longest:
        raise InputError(Fault(field, f"must be from 1 to {longest} slots", str(length)))
    return length
