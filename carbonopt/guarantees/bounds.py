"""What is checked of bounds, switching costs and thresholds before a rule runs or a ratio is claimed."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError

ROUNDING = 1e-9
"""Part of itself by which a threshold may be out of order, or of a bound out of bounds: thresholds are computed."""


def check_bounds(low: float, high: float, slots: int, switch: float = 0.0) -> None:
    """Refuse bounds that no rule can use.

    Raises
    ------
    InputError
        Where not 0 < low <= high or their ratio is beyond numbers, the work is below 1 slot, or `switch` is negative or
        not finite.
    """
    if not 0 < low <= high < np.inf:
        raise InputError(Fault("low, high", "bounds on the intensity must be 0 < low <= high", f"{low:g}, {high:g}"))
    if not high / low < np.inf:
        raise InputError(Fault("low, high", "bounds are too far apart for a ratio", f"{low:g}, {high:g}"))
    if slots < 1:
        raise InputError(Fault("k", "must be at least 1 slot of work", str(slots)))
    if not 0 <= switch < np.inf:
        raise InputError(Fault("switch", "must be a finite number, at least 0", f"{switch:g}"))


def check_balance(low: float, high: float, slots: int, switch: float) -> None:
    """Refuse what the published balances have no solution for: an on and off switch that costs all of high - low."""
    check_bounds(low, high, slots, switch)
    if switch > 0 and 2 * switch >= high - low:
        raise InputError(Fault("switch", f"must be below (high - low) / 2 = {(high - low) / 2:g}", f"{switch:g}"))


def check_thresholds(thresholds: FloatArray, low: float, high: float, rising: bool = False) -> None:
    """Refuse thresholds that are outside the bounds, or in the wrong order: the proofs need both.

    Raises
    ------
    InputError
        It names the first threshold that is wrong.
    """
    steps = np.diff(thresholds, prepend=thresholds[:1])
    if rising:
        steps = -steps
    # written so that NaN is wrong too
    inside = (thresholds >= low * (1 - ROUNDING)) & (thresholds <= high * (1 + ROUNDING))
    right = inside & (steps <= ROUNDING * thresholds)
    if not right.all():
        row = int(np.argmin(right))
        order = "rise" if rising else "fall"
        problem = f"thresholds must {order}, from {low:g} to {high:g} g/kWh"
        raise InputError(Fault("thresholds", problem, f"{thresholds[row]:g}", row))


def check_signal(intensity: FloatArray, slots: int, low: float, high: float) -> None:
    """Refuse a signal that is too short for the work, or leaves the bounds."""
    if slots > len(intensity):
        raise InputError(Fault("k", f"{slots} slots of work do not fit into {len(intensity)} slots"))
    inside = (intensity >= low) & (intensity <= high)
    if not inside.all():
        slot = int(np.argmin(inside))
        problem = f"must be from {low:g} to {high:g} g/kWh"
        raise InputError(Fault("intensity", problem, f"{intensity[slot]:g}", slot))
