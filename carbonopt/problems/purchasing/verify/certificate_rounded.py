"""Prices of rounded sizes: what jobs that may not split take up of reserved CPUs beside their number.

Of whole jobs j that run on R reserved CPUs at a time, sum_j n_j <= R. For any divisor s > 0, with f the part of R / s
beyond the whole number below it,

    sum_j F(n_j / s) <= floor(R / s),    F(q) = floor(q) + max(0, q - floor(q) - f) / (1 - f)

(mixed-integer rounding; Nemhauser, Wolsey 1990, "A recursive procedure to generate all cuts for 0-1 mixed integer
programs", Mathematical Programming 46, 379-390). So prices mu(t) >= 0 of these units bound schedules as those of CPUs
do: a run pays F(n / s) int mu on top, and floor(R / s) int mu is taken off.

F grows with q, so a quotient rounded down is too small by rounding alone, and a run pays too little. R / s is rounded
up: what holds for more CPUs holds for R.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE, prices_of
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.verify.certificate_runs import Priced, least_of_runs, long_sum

MOST_UNITS = 1e9
"""R over a divisor, at most."""
MOST_ROUNDED = 1000
"""Divisors of a certificate, at most."""
MOST_PRICES = 100_000_000
"""Sizes of jobs times cells of prices, at most: each size has its own prices, which take a minute for so many."""
UNCOUNTED_HOURS = 3 * ROUNDING_HOURS
"""Of a run, what the checker may not count against R: an allowance at each end, and one by which rows may be short.

It pays for its whole length all the same.
"""


@dataclass(frozen=True, eq=False)
class Rounded:
    """Prices of the units of one divisor.

    Parameters
    ----------
    divisor
        s [CPUs].
    reserved
        R with the allowance of the checker, rounded up.
    prices
        mu of each slot [objective per unit and hour], shape (T,).
    """

    divisor: float
    reserved: float
    prices: FloatArray

    @property
    def units(self) -> float:
        """At most so many units are in use at a time."""
        return math.floor(self._quotient)

    @property
    def _quotient(self) -> float:
        return float(up(self.reserved / self.divisor))

    def of_cpus(self, cpus: float) -> float:
        """Return how many units a run takes up, or a little less."""
        beyond = self._quotient - self.units  # exact, as is what is beyond the whole part of the other one
        quotient = max(0.0, float(down(cpus / self.divisor)))
        whole = math.floor(quotient)
        part = float(down(quotient - whole - beyond))
        return float(down(whole + max(0.0, float(down(part / up(1 - beyond))))))

    def worth(self, slot_hours: float) -> float:
        """Return what all units cost over the horizon, or a little more."""
        return float(up(self.units * up(long_sum(self.prices, slot_hours)[-1])))


def rounded_of(instance: PurchasingInstance, certificate: dict[str, Any], reserved: float) -> list[Rounded]:
    """Return the rounded sizes of a certificate, of R with an allowance.

    Raises
    ------
    InputError
        Where they are no list of divisors with prices, or jobs may split, or R is to be decided, or the jobs have too
        many sizes for so many cells.
    """
    entries = certificate.get("rounded")
    if entries is None:
        return []
    if not isinstance(entries, list) or len(entries) > MOST_ROUNDED:
        words = f"must be null or a list of at most {MOST_ROUNDED} divisors with prices"
        raise InputError(Fault("certificate.rounded", words, shown(entries)))
    if entries and (instance.model != "no-split" or instance.reserved_cpus is None):
        words = "must be empty: only where jobs may not split and R is given do rounded sizes bound schedules"
        raise InputError(Fault("certificate.rounded", words))
    cells = np.size(certificate["prices"])
    if entries and len(np.unique(instance.jobs.cpus)) * cells > MOST_PRICES:
        words = f"must be empty: sizes of jobs, times cells of prices, are more than {MOST_PRICES:g}"
        raise InputError(Fault("certificate.rounded", words))
    found = []
    for k, entry in enumerate(entries):
        if not isinstance(entry, dict):
            words = "must be an object with a divisor and prices"
            raise InputError(Fault(f"certificate.rounded[{k}]", words, shown(entry)))
        divisor = entry.get("divisor")
        if isinstance(divisor, bool) or not isinstance(divisor, (int, float)) or not _may_divide(divisor, reserved):
            words = (
                f"must be a number of CPUs above 0, at most {LARGEST_PRICE:g}, and R / divisor at most {MOST_UNITS:g}"
            )
            raise InputError(Fault(f"certificate.rounded[{k}].divisor", words, shown(divisor)))
        prices = prices_of(entry, "prices", instance.time.slots, LARGEST_PRICE, within=f"rounded[{k}].")
        found.append(Rounded(float(divisor), reserved, prices))
    return found


def _may_divide(divisor: float, reserved: float) -> bool:
    return 0 < divisor < LARGEST_PRICE and reserved / divisor <= MOST_UNITS


def least_on_reserved(
    instance: PurchasingInstance, priced: Priced, cap: float, rounded: Sequence[Rounded]
) -> FloatArray:
    """Return a lower bound on what each job costs wholly on reserved CPUs, at all prices, shape (N,).

    In `UNCOUNTED_HOURS` of each run the load may be above R. CPUs above R cost `cap` even then, the weighted price on
    demand [objective per CPU-hour]; what prices are beyond it, no run pays in these moments.
    """
    cpus = instance.jobs.cpus
    above = np.maximum(priced.prices - cap, 0.0)
    if not rounded:
        return least_of_runs(instance, priced, cpus) - up(UNCOUNTED_HOURS * up(cpus * up(above.max(initial=0.0))))
    per_slot = len(priced.prices) // instance.time.slots
    spread = [np.repeat(each.prices, per_slot) for each in rounded]
    sums = [long_sum(prices, priced.cell_hours) for prices in spread]
    least = np.full(len(cpus), np.inf)
    for size in np.unique(cpus).tolist():
        units = [each.of_cpus(size) for each in rounded]
        beside = sum(unit * part for unit, part in zip(units, spread, strict=True))
        until = size * priced.price_until + sum(unit * part for unit, part in zip(units, sums, strict=True))
        of_size = replace(
            priced,
            prices=size * priced.prices + beside,
            kg_sums=priced.kg_until,
            price_sums=until,
            terms=1 + len(rounded),
        )
        among = np.flatnonzero(cpus == size)
        runs = least_of_runs(instance, of_size, np.ones(len(cpus)), among)[among]
        least[among] = runs - up(UNCOUNTED_HOURS * up((size * above + beside).max(initial=0.0) * (1 + 1e-12)))
    return least
