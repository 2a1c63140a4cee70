"""What the generators and converters of several problems share: random streams, the horizon and its carbon signal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.memory import require_bytes
from carbonopt.core.time import TimeGrid, parse_utc
from carbonopt.io.synthetic import synthetic_carbon

BYTES_PER_SLOT = 200
"""Of an instance in memory and on its way to a file, rounded up."""
ZONE = "AU-SA"
"""Of the synthetic signal, unless another is asked for."""

Signal = CarbonSignal | Callable[[int], CarbonSignal]
"""A signal, or a function of the number of slots that returns one."""


def stream(seed: int, part: int) -> np.random.Generator:
    """Return the generator of one of the parts of a workload."""
    return np.random.default_rng([seed, part])


def lognormal_hours(
    count: int, rng: np.random.Generator, least: float, log_mean: float, log_sigma: float, most: float
) -> FloatArray:
    """Draw lengths [h], shape (count,): `least` plus a log-normal time, cut at `most`.

    Rounded to 0.01 h, so that the last bits of a platform's exp() change nothing.
    """
    last = ndtr((np.log(most - least) - log_mean) / log_sigma)
    return np.asarray(np.round(least + np.exp(log_mean + log_sigma * ndtri(rng.random(count) * last)), 2))


def require_seed(seed: int) -> None:
    """Refuse a seed below 0."""
    if seed < 0:
        raise UnsupportedError(f"seed = {shown(seed)}: must be at least 0")


def require_above_zero(**numbers: float | None) -> None:
    """Refuse numbers that are not above 0; None is no number."""
    for option, value in numbers.items():
        if value is not None and not 0 < value < np.inf:
            raise UnsupportedError(f"{option} = {shown(value)}: must be above 0")


def require_horizon(slots: float, slot_hours: float) -> int:
    """Return the number of slots, refused if they would not fit into memory."""
    require_bytes(f"{slots:.10g} slots of {slot_hours:g} h", BYTES_PER_SLOT * float(slots))
    return int(slots)


def job_names(count: int) -> tuple[str, ...]:
    """Return names of so many jobs.

    Examples
    --------
    >>> job_names(12)[:2]
    ('job00', 'job01')
    """
    return tuple(f"job{i:0{len(str(count))}d}" for i in range(count))


def only_zone(signal: CarbonSignal, zone: str | None) -> CarbonSignal:
    """Return `signal` of `zone` alone, or of its only zone."""
    if zone is None and len(signal.zones) != 1:
        words = f"is missing: the cluster is in one zone, the carbon signal has {one_of(signal.zones)}"
        raise InputError(Fault("zone", words))
    row = 0 if zone is None else signal.index(zone)
    return CarbonSignal((signal.zones[row],), signal.g_per_kwh[row : row + 1], signal.time, signal.labels)


def slot_hours_of(carbon: Signal | None, slot_hours: float | None) -> float:
    """Return the length of a slot: that of the signal, or as asked, or 1 h."""
    if not isinstance(carbon, CarbonSignal):
        return 1.0 if slot_hours is None else slot_hours
    if slot_hours not in (None, carbon.time.slot_hours):
        raise UnsupportedError(
            f"slot_hours = {shown(slot_hours)}: the carbon signal has slots of {carbon.time.slot_hours:g} h"
        )
    return carbon.time.slot_hours


def signal_over(
    carbon: Signal | None, zone: str | None, slots: int, slot_hours: float, start: str, seed: int
) -> CarbonSignal:
    """Return the signal of one zone over `slots` slots.

    Parameters
    ----------
    carbon
        A signal at least as long, or a function that returns one; None for a synthetic one.
    zone
        None for the only one of `carbon`, or `ZONE` of the synthetic signal.
    slots, slot_hours
        Horizon.
    start, seed
        Of a synthetic signal.

    Raises
    ------
    InputError
        For a signal that is too short, or has several zones or no such zone.
    """
    if carbon is None:
        return synthetic_carbon((zone or ZONE,), TimeGrid(slots, slot_hours, parse_utc(start)), seed)
    found = only_zone(carbon if isinstance(carbon, CarbonSignal) else carbon(slots), zone)
    if found.time.slots < slots:
        words = f"must cover the {slots} slots until the last window ends"
        raise InputError(Fault("carbon", words, f"{found.time.slots} slots"))
    time = TimeGrid(slots, found.time.slot_hours, found.time.start)
    return CarbonSignal(found.zones, found.g_per_kwh[:, :slots], time, found.labels)
