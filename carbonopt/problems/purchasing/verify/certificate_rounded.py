"""Prices of rounded sizes: what jobs that may not split take up of reserved CPUs beside their number.

Of whole jobs j that run on R reserved CPUs at a time, sum_j n_j <= R. For any divisor s > 0, with f the part of R / s
beyond the whole number below it,

    sum_j F(n_j / s) <= floor(R / s),    F(q) = floor(q) + max(0, q - floor(q) - f) / (1 - f)

(mixed-integer rounding; Nemhauser, Wolsey 1990, "A recursive procedure to generate all cuts for 0-1 mixed integer
programs", Mathematical Programming 46, 379-390). So prices mu(t) >= 0 of these units bound schedules as those of CPUs
do: a run pays F(n / s) int mu on top, and floor(R / s) int mu is taken off.

F grows with q, so a quotient rounded down is too small by rounding alone, and a run pays too little. R / s is rounded
up: what holds for more CPUs holds for R.

Whole weights of jobs of some sizes may take the place of F. What the weights of jobs with room together add up to at
most then takes the place of floor(R / s). It differs from slot to slot, since only jobs whose window meets a slot may
run there. It is the largest sum of weights whose jobs have no more than R CPUs: the least CPUs of jobs of each sum are
worked out, size after size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.certificate import LARGEST_PRICE, prices_of
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.verify.certificate_runs import Priced, Windows, least_of_runs, long_sum

MOST_UNITS = 1e9
"""R over a divisor, at most."""
MOST_ROUNDED = 1000
"""Divisors and weighings of a certificate, at most."""
LARGEST_WEIGHT = 2000
"""Of a job, and of what weights add up to at most: what is worked out grows with it."""
MOST_PRICES = 100_000_000
"""Sizes of jobs times cells of prices, at most: each size has its own prices, which take a minute for so many."""
MOST_SUMS = 1e8
"""Sums of weights that are worked out for a weighing, at most: slots x sums x jobs. So many take a second."""
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


@dataclass(frozen=True, eq=False)
class Weighed:
    """Prices of weights.

    Parameters
    ----------
    weights
        Of a job of so many CPUs; those of other sizes have none.
    most
        What the weights of jobs with room together add up to at most in each slot, shape (T,).
    prices
        Of each slot [objective per weight of 1 and hour], shape (T,).
    """

    weights: dict[float, int]
    most: IntArray
    prices: FloatArray

    def of_cpus(self, cpus: float) -> float:
        """Return the weight of a job."""
        return float(self.weights.get(cpus, 0))

    def worth(self, slot_hours: float) -> float:
        """Return what the largest sums of weights cost over the horizon, or a little more."""
        return float(up(long_sum(up(self.most * self.prices), slot_hours)[-1]))


Units = Rounded | Weighed


def rounded_of(
    instance: PurchasingInstance, certificate: dict[str, Any], reserved: float, windows: Windows
) -> list[Units]:
    """Return the rounded sizes of a certificate, of R with an allowance, where jobs keep to windows.

    Raises
    ------
    InputError
        Where they are no list of divisors or weights with prices, or jobs may split, or R is to be decided, or the jobs
        have too many sizes for so many cells; where jobs have room together that weigh more than is said.
    """
    entries = certificate.get("rounded")
    if entries is None:
        return []
    if not isinstance(entries, list) or len(entries) > MOST_ROUNDED:
        words = f"must be null or a list of at most {MOST_ROUNDED} divisors or weights with prices"
        raise InputError(Fault("certificate.rounded", words, shown(entries)))
    if entries and (instance.model != "no-split" or instance.reserved_cpus is None):
        words = "must be empty: only where jobs may not split and R is given do rounded sizes bound schedules"
        raise InputError(Fault("certificate.rounded", words))
    cells = np.size(certificate["prices"])
    if entries and len(np.unique(instance.jobs.cpus)) * cells > MOST_PRICES:
        words = f"must be empty: sizes of jobs, times cells of prices, are more than {MOST_PRICES:g}"
        raise InputError(Fault("certificate.rounded", words))
    found: list[Units] = []
    for k, entry in enumerate(entries):
        if not isinstance(entry, dict):
            words = "must be an object with a divisor, or with weights, and prices"
            raise InputError(Fault(f"certificate.rounded[{k}]", words, shown(entry)))
        if "weights" in entry:
            found.append(_weighed(instance, entry, reserved, k, windows))
        else:
            found.append(_divided(instance, entry, reserved, k))
    return found


def _divided(instance: PurchasingInstance, entry: dict[str, Any], reserved: float, row: int) -> Rounded:
    """Return the prices of one divisor."""
    divisor = entry.get("divisor")
    if isinstance(divisor, bool) or not isinstance(divisor, (int, float)) or not _may_divide(divisor, reserved):
        words = f"must be a number of CPUs above 0, at most {LARGEST_PRICE:g}, and R / divisor at most {MOST_UNITS:g}"
        raise InputError(Fault(f"certificate.rounded[{row}].divisor", words, shown(divisor)))
    prices = prices_of(entry, "prices", instance.time.slots, LARGEST_PRICE, within=f"rounded[{row}].")
    return Rounded(float(divisor), reserved, prices)


def _may_divide(divisor: float, reserved: float) -> bool:
    return 0 < divisor < LARGEST_PRICE and reserved / divisor <= MOST_UNITS


def _weighed(
    instance: PurchasingInstance, entry: dict[str, Any], reserved: float, row: int, windows: Windows
) -> Weighed:
    """Return the prices of weights, once it is seen what these add up to at most."""
    field = f"certificate.rounded[{row}]"
    cpus: Any = entry.get("cpus")
    weights: Any = entry.get("weights")
    most: Any = entry.get("most")
    for name, numbers in (("weights", weights), ("most", [most])):
        if not _are_weights(numbers):
            words = f"must be {'whole numbers' if name == 'weights' else 'a whole number'} from 1 to {LARGEST_WEIGHT}"
            raise InputError(Fault(f"{field}.{name}", words, shown(entry.get(name))))
    if not isinstance(cpus, list) or len(cpus) != len(weights) or not _ascend(cpus):
        words = f"must be {len(weights)} different numbers above 0 in ascending order, one for each weight"
        raise InputError(Fault(f"{field}.cpus", words, shown(cpus)))
    weight = dict(zip(map(float, cpus), weights, strict=True))
    there = [size for size in np.unique(instance.jobs.cpus).tolist() if size in weight]
    count, slots = np.unique(_jobs_that_may_run(instance, there, windows), axis=1, return_inverse=True)
    if sums_to_work_out(np.array([weight[size] for size in there]), count, most) > MOST_SUMS:
        words = f"must be so small, and jobs so few, that less than {MOST_SUMS:g} sums have to be worked out"
        raise InputError(Fault(f"{field}.most", words, shown(most)))
    least = _least_cpus(there, [weight[size] for size in there], count, most)[slots.reshape(-1)]
    if (least[:, most + 1] <= reserved).any():
        words = f"must be at least what jobs with room on the reserved CPUs weigh together; some weigh more than {most}"
        raise InputError(Fault(f"{field}.most", words, shown(most)))
    prices = prices_of(entry, "prices", instance.time.slots, LARGEST_PRICE, within=f"rounded[{row}].")
    largest = most - np.argmax(least[:, most::-1] <= reserved, axis=1)
    return Weighed(weight, largest, prices)


def sums_to_work_out(weights: IntArray, count: IntArray, most: int) -> float:
    """Return how many sums of weights are worked out up to the largest one, for so many jobs of each size in each slot.

    Parameters
    ----------
    weights, count
        Of a job of each size, shape (sizes,), and how many there are in each slot that differs, shape (sizes, slots).
    most
        The largest sum.
    """
    added = np.minimum(count.max(axis=1, initial=0), -(-(most + 1) // np.maximum(weights, 1)))
    return float(added.sum() * float(count.shape[1]) * most)


def _are_weights(numbers: Any) -> bool:
    """Return whether there is a list of whole numbers within bounds, not empty."""
    if not isinstance(numbers, list) or not numbers:
        return False
    return all(type(number) is int and 1 <= number <= LARGEST_WEIGHT for number in numbers)


def _ascend(cpus: list[Any]) -> bool:
    """Return whether there are numbers above 0 in ascending order."""
    if not all(type(size) in (int, float) and 0 < size < LARGEST_PRICE for size in cpus):
        return False
    return all(one < next_one for one, next_one in pairwise(cpus))


def _jobs_that_may_run(instance: PurchasingInstance, cpus: Sequence[float], windows: Windows) -> IntArray:
    """Return how many jobs of each size may run on reserved CPUs in each slot, or touch it, shape (sizes, T).

    A run may begin a little before its window, and end a little after it.
    """
    edges = np.arange(instance.time.slots + 1) * instance.time.slot_hours
    begin = windows.first - UNCOUNTED_HOURS
    end = windows.last + instance.jobs.length_hours + UNCOUNTED_HOURS
    count = np.zeros((len(cpus), instance.time.slots), dtype=np.int64)
    for row, size in enumerate(cpus):
        of_size = (instance.jobs.cpus == size) & windows.on_reserved
        before = np.searchsorted(np.sort(end[of_size]), edges[:-1])  # have ended before the slot begins
        begun = np.searchsorted(np.sort(begin[of_size]), edges[1:], side="right")
        count[row] = begun - before
    return count


def _least_cpus(cpus: Sequence[float], weights: Sequence[int], count: IntArray, most: int) -> FloatArray:
    """Return a lower bound on the CPUs of jobs by the sum of their weights, in each slot, shape (T, most + 2).

    Infinite where no jobs have that sum; the last column is of all larger sums. `count` is how many jobs there are of
    each size, shape (sizes, T).
    """
    beyond = most + 1
    least = np.full((count.shape[1], beyond + 1), np.inf)
    least[:, 0] = 0.0
    for size, weight, jobs in zip(cpus, weights, count, strict=True):
        step = min(weight, beyond)
        for k in range(min(int(jobs.max()), -(-beyond // weight))):
            added = np.where(np.isfinite(least), down(least + size), np.inf)
            rest = np.full_like(least, np.inf)
            rest[:, step:] = added[:, : beyond + 1 - step]
            rest[:, -1] = added[:, beyond - step :].min(axis=1)
            least = np.where((jobs > k)[:, None], np.minimum(least, rest), least)
    return least


def least_on_reserved(
    instance: PurchasingInstance, priced: Priced, cap: float, rounded: Sequence[Units], windows: Windows | None = None
) -> FloatArray:
    """Return a lower bound on what each job costs wholly on reserved CPUs, at all prices, shape (N,).

    With `windows`, of a branch: infinite where it has no start there.

    In `UNCOUNTED_HOURS` of each run the load may be above R. CPUs above R cost `cap` even then, the weighted price on
    demand [objective per CPU-hour]; what prices are beyond it, no run pays in these moments.
    """
    cpus = instance.jobs.cpus
    above = np.maximum(priced.prices - cap, 0.0)
    open_jobs = np.ones(len(cpus), dtype=np.bool_) if windows is None else windows.on_reserved
    if not rounded:
        runs = least_of_runs(instance, priced, cpus, np.flatnonzero(open_jobs), windows)
        return runs - up(UNCOUNTED_HOURS * up(cpus * up(above.max(initial=0.0))))
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
        among = np.flatnonzero((cpus == size) & open_jobs)
        runs = least_of_runs(instance, of_size, np.ones(len(cpus)), among, windows)[among]
        least[among] = runs - up(UNCOUNTED_HOURS * up((size * above + beside).max(initial=0.0) * (1 + 1e-12)))
    return least
