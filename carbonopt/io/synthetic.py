"""A seeded synthetic carbon signal, for instances and examples that need no data file.

The signal is made up. It is calibrated by the table `STATISTICS`: summary statistics of hourly 2022
life-cycle intensities published by Electricity Maps (electricitymaps.com/data-portal), rounded to two or
three figures. It contains no published value, and no conclusion about a real grid follows from it.

What it keeps of each zone: the yearly mean, the lowest and the highest hour, the mean shape of a day (two
harmonics) and of a week (weekends), the yearly spread and the mean spread within a day.

What it is not: neither a forecast nor a reconstruction of 2022. It has no seasons, no holidays and no
daylight saving; the noise of different zones is independent, though real neighbours move together; and
the noise forgets within days, while real weather systems last longer.

Model of hour h of a year, in UTC::

    level(h) = mean * day(h) * week(h) * exp(sigma * z(h))
    day(h)   = 1 + a1 cos(2 pi (h - peak1) / 24) + a2 cos(4 pi (h - peak2) / 24)
    z(h)     = correlation * z(h-1) + sqrt(1 - correlation^2) * e(h),   e(h) standard normal

then scaled to the mean and cut to the lowest and highest hour, until both hold, and rounded to
0.01 g/kWh, so that the last bits of a platform's exp() change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from zlib import crc32

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.time import TimeGrid
from carbonopt.io.series import SignalSeries, slot_means


@dataclass(frozen=True)
class ZoneStatistics:
    """Summary statistics of one zone's hourly intensity over a year.

    Parameters
    ----------
    mean, lowest, highest
        Of the hours of the year [gCO2eq/kWh].
    daily, daily_peak_hour
        Amplitude of the first harmonic of the mean day, as a share of the mean, and its peak [h UTC].
    half_daily, half_daily_peak_hour
        The same of the second harmonic; it peaks again 12 h later.
    weekend
        Mean of Saturday and Sunday (UTC) over the mean of the other days.
    sigma
        Standard deviation of the log noise, such that the yearly standard deviation is met.
    correlation
        Of the log noise from hour to hour, such that the mean daily coefficient of variation is met.
    """

    mean: float
    lowest: float
    highest: float
    daily: float
    daily_peak_hour: float
    half_daily: float
    half_daily_peak_hour: float
    weekend: float
    sigma: float
    correlation: float


STATISTICS = {
    "AU-SA": ZoneStatistics(180, 12.1, 507, 0.23, 12.5, 0.2, 8.85, 0.93, 0.65, 0.937),
    "CA-ON": ZoneStatistics(59.1, 13, 179, 0.31, 20.5, 0.14, 1.21, 0.78, 0.51, 0.963),
    "DE": ZoneStatistics(481, 170, 765, 0.13, 22.7, 0.061, 5.03, 0.91, 0.27, 0.971),
    "GB": ZoneStatistics(235, 55.7, 392, 0.05, 17.7, 0.077, 6.44, 0.85, 0.35, 0.965),
    "JP-KN": ZoneStatistics(458, 364, 483, 0.067, 14.4, 0.022, 8.39, 0.99, 0.025, 0.87),
    "PL": ZoneStatistics(819, 441, 1030, 0.06, 22.2, 0.041, 4.7, 0.96, 0.12, 0.962),
    "SE-SE3": ZoneStatistics(23.4, 12.3, 59, 0.066, 10.7, 0.02, 10.5, 1.0, 0.28, 0.984),
    "US-CAL-CISO": ZoneStatistics(264, 87.2, 451, 0.27, 7.22, 0.08, 1.42, 0.95, 0.22, 0.948),
    "US-MIDA-PJM": ZoneStatistics(425, 315, 538, 0.021, 21.5, 0.018, 1.25, 0.97, 0.094, 0.989),
    "US-MIDW-LGEE": ZoneStatistics(861, 703, 1020, 0.0049, 6.83, 0.0024, 2.72, 1.0, 0.055, 0.974),
}
"""Summary statistics of hourly 2022 life-cycle intensities published by Electricity Maps
(electricitymaps.com/data-portal), by zone."""


def published_zones() -> tuple[str, ...]:
    """Return the zones that `synthetic_carbon` knows.

    Examples
    --------
    >>> published_zones()[:3]
    ('AU-SA', 'CA-ON', 'DE')
    """
    return tuple(STATISTICS)


def synthetic_carbon(zones: Sequence[str], time: TimeGrid, seed: int) -> CarbonSignal:
    """Return a made-up carbon signal with the statistics of real zones.

    An hour's value depends on seed, zone and UTC hour alone: signals of one seed agree wherever their
    windows overlap, whatever other zones they hold.

    Parameters
    ----------
    zones
        Names out of `published_zones`.
    time
        The T slots, of any length; a slot's intensity is the time-weighted mean of its hours.
    seed
        At least 0; another seed is another sample of every zone.

    Returns
    -------
    CarbonSignal
        [gCO2eq/kWh], shape (Z, T), above 0.

    Raises
    ------
    InputError
        For every unknown zone, a negative seed, or a window outside the years 1700-2199.

    Examples
    --------
    >>> signal = synthetic_carbon(["SE-SE3", "PL"], TimeGrid(slots=48), seed=1)
    >>> signal.g_per_kwh.shape
    (2, 48)
    >>> bool(signal.g_per_kwh[0].mean() < signal.g_per_kwh[1].mean())
    True
    """
    faults = [
        Fault("zones", f"is unknown: must be {one_of(published_zones(), limit=len(STATISTICS))}", shown(zone), row)
        for row, zone in enumerate(zones)
        if zone not in STATISTICS
    ]
    if not zones:
        faults.append(Fault("zones", "must name at least one zone", shown(zones)))
    if seed < 0:
        faults.append(Fault("seed", "must be at least 0", shown(seed)))
    if time.start.year < 1700 or time.start.year + time.hours / 8766 >= 2199:
        faults.append(Fault("time", "must lie in the years 1700-2199", f"{time.hours:g} h from {time.start}"))
    if faults:
        raise InputError(faults)
    last = time.start + timedelta(hours=time.hours)
    years = range(time.start.year, last.year + 1)
    begin = np.datetime64(f"{years[0]:04d}-01-01T00", "h")
    rows = []
    for zone in zones:
        values = np.concatenate([_year(zone, year, seed) for year in years])
        rows.append(slot_means(SignalSeries(zone, begin + np.arange(len(values)), values), time))
    return CarbonSignal(tuple(zones), np.array(rows), time)


def _year(zone: str, year: int, seed: int) -> FloatArray:
    """Return the hourly intensity of one UTC year [g/kWh], shape (8760,) or (8784,)."""
    statistics = STATISTICS[zone]
    hours = np.arange((date(year + 1, 1, 1) - date(year, 1, 1)).days * 24, dtype=np.int64)
    noise = _noise(np.random.default_rng([seed, crc32(zone.encode()), year]), len(hours), statistics)
    level = _shape(statistics, hours, date(year, 1, 1).weekday()) * noise
    for _ in range(8):  # 5 passes leave at most 1e-5 of the mean in every zone, 10 at most 1e-8
        level = np.clip(level * (statistics.mean / level.mean()), statistics.lowest, statistics.highest)
    return np.round(level, 2)


def _shape(statistics: ZoneStatistics, hours: IntArray, first_weekday: int) -> FloatArray:
    """Return the mean day and week, shape of `hours`, with mean 1 over a whole week."""
    turn = 2 * math.pi / 24
    day = (
        1
        + statistics.daily * np.cos(turn * (hours - statistics.daily_peak_hour))
        + statistics.half_daily * np.cos(2 * turn * (hours - statistics.half_daily_peak_hour))
    )
    on_weekend = (hours // 24 + first_weekday) % 7 >= 5
    week = np.where(on_weekend, statistics.weekend, 1.0) * (7 / (5 + 2 * statistics.weekend))
    return np.asarray(day * week)


def _noise(rng: np.random.Generator, count: int, statistics: ZoneStatistics) -> FloatArray:
    """Return mean-corrected log-normal noise, a first-order autoregression in the log, shape (count,)."""
    rho = statistics.correlation
    shocks = rng.standard_normal(count)
    shocks[1:] *= math.sqrt(1 - rho * rho)
    log_noise = np.array(list(accumulate(shocks, lambda state, shock: rho * state + shock)))
    return np.asarray(np.exp(statistics.sigma * log_noise - statistics.sigma**2 / 2))
