"""What a purchasing schedule emits, costs and lets wait: the checker's own evaluation.

Everything is exact: carbon by prefix sums of a signal that is constant in each slot, the use of shared CPUs by a sweep
over the moments at which their load changes, spot CPUs by their expected value in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, RESERVED, SHARED, SPOT

ROUNDING_OF_SUMS = 4 * np.finfo(np.float64).eps
"""What adding and taking away moments may leave of nothing, relative to the last of them."""


@dataclass(frozen=True, eq=False)
class CheckTerms:
    """What a schedule is held to.

    Parameters
    ----------
    arrival, length, max_wait
        Of the jobs [h], shape (N,): those of the instance, or whole ticks of the authors' simulator.
    model
        Under which the schedule was made.
    reserved
        R, given or decided.
    realised
        Whether evictions have happened or not; otherwise spot CPUs are valued by expectation.
    artifact
        Whether the accounting is that of the authors' simulator.
    startup_hours
        What a run on on-demand or spot CPUs takes before the job begins [h].
    """

    arrival: FloatArray
    length: FloatArray
    max_wait: FloatArray
    model: str
    reserved: int
    realised: bool = False
    artifact: bool = False
    startup_hours: float = 0.0


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a schedule whose names and numbers are sound, sorted by job and start; times in hours."""

    job: IntArray
    start: FloatArray
    end: FloatArray
    option: IntArray

    def sorted(self) -> Rows:
        """Return the rows by job and start."""
        order = np.lexsort((self.start, self.job))
        return Rows(self.job[order], self.start[order], self.end[order], self.option[order])

    @property
    def first(self) -> BoolArray:
        """Whether each row is the first of its job."""
        return np.asarray(np.diff(self.job, prepend=-1) != 0)

    @property
    def last(self) -> BoolArray:
        """Whether each row is the last of its job."""
        return np.asarray(np.diff(self.job, append=np.iinfo(np.int64).max) != 0)

    @property
    def goes_on(self) -> BoolArray:
        """Whether each row goes on where the one before ends: the same job, on CPUs of the same option."""
        same = ~self.first & (self.option == np.roll(self.option, 1))
        return np.asarray(same & (self.start - np.roll(self.end, 1) <= ROUNDING_HOURS))


@dataclass(frozen=True, eq=False)
class _Expected:
    """Expected values of spot rows, a CPU; zero for rows that are none, and where no one is evicted."""

    chance: FloatArray
    run_hours: FloatArray
    lost_hours: FloatArray
    restart_kg: FloatArray


def work_hours(terms: CheckTerms, rows: Rows) -> FloatArray:
    """Return the hours of each row in which its job makes progress, shape (S,)."""
    hours = rows.end - rows.start
    if not terms.startup_hours:
        return hours
    starts = np.isin(rows.option, (ON_DEMAND, SPOT)) & ~rows.goes_on
    return np.maximum(hours - np.where(starts, terms.startup_hours, 0.0), 0.0)


def snapped(terms: CheckTerms, rows: Rows) -> Rows:
    """Return the rows with what counts as rounding taken out.

    Runs begin in their window, do exactly their length, and pieces do not overlap: otherwise a schedule of very
    short jobs could cheat its bound by the allowance.
    """
    start = rows.start.copy()
    end = rows.end.copy()
    first = rows.first
    last = rows.last
    arrival = terms.arrival[rows.job]
    if terms.model != "suspend-resume":
        inside = np.clip(start, arrival, arrival + terms.max_wait[rows.job])
    else:
        inside = start
    inside = np.maximum(inside, arrival)
    start = np.where(first & (np.abs(inside - start) <= ROUNDING_HOURS), inside, start)
    before = np.where(first, -np.inf, np.roll(rows.end, 1))
    start = np.where((start < before) & (before - start <= ROUNDING_HOURS), before, start)
    done = work_hours(terms, Rows(rows.job, start, end, rows.option))
    missing = terms.length - np.bincount(rows.job, done, len(terms.length))
    few = (np.abs(missing) <= (2 + np.bincount(rows.job, minlength=len(missing))) * ROUNDING_HOURS)[rows.job]
    end = np.where(last & few, np.maximum(end + missing[rows.job], start), end)
    return Rows(rows.job, start, end, rows.option)


def load_of(start: FloatArray, end: FloatArray, cpus: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the moments at which the load changes [h], and the load from each of them on [CPUs]."""
    moment = np.concatenate([start, end])
    order = np.argsort(moment, kind="stable")
    return moment[order], np.cumsum(np.concatenate([cpus, -cpus])[order])


def carbon_until(instance: PurchasingInstance, moment: FloatArray) -> FloatArray:
    """Return what a CPU that runs from the beginning emits until `moment` [kg]; elementwise."""
    hours = instance.time.slot_hours
    edges = np.arange(instance.time.slots + 1) * hours
    return np.asarray(np.interp(moment, edges, prefix_sums(instance.kg_per_cpu_hour) * hours))


def evaluate(instance: PurchasingInstance, terms: CheckTerms, rows: Rows) -> dict[str, Any]:
    """Return the metrics of a schedule.

    Parameters
    ----------
    instance, terms
        What it is for, and what it is held to.
    rows
        Its rows, snapped.
    """
    cpus = instance.jobs.cpus[rows.job]
    hours = rows.end - rows.start
    expected = _expected(instance, terms, rows)
    kg = cpus * (carbon_until(instance, rows.end) - carbon_until(instance, rows.start) + expected.restart_kg)
    pool = rows.option <= SHARED
    reserved_hours, above = _pool_use(rows.start[pool], rows.end[pool], cpus[pool], terms.reserved)
    spot_hours = float(cpus @ expected.run_hours)
    on_demand = rows.option == ON_DEMAND
    restarted = float((cpus * expected.chance) @ hours)
    on_demand_hours = above + float(cpus[on_demand] @ hours[on_demand]) + restarted
    prices = instance.prices
    usage = prices.on_demand_usd_per_cpu_hour * on_demand_hours + prices.spot_usd_per_cpu_hour * spot_hours
    paid_until = float(rows.start.max(initial=0.0)) if terms.artifact else instance.time.hours
    prepaid = terms.reserved * prices.reserved_usd_per_cpu_hour * paid_until
    provided = terms.reserved * instance.time.hours
    return {
        "carbon_kg": float(kg.sum()),
        "energy_kwh": (reserved_hours + on_demand_hours + spot_hours) * instance.watts_per_cpu / 1000,
        "cost_usd": usage + prepaid,
        "usage_usd": usage,
        "prepaid_usd": prepaid,
        **_waits(terms, rows, expected),
        "reserved_cpus": terms.reserved,
        "reserved_cpu_hours": reserved_hours,
        "on_demand_cpu_hours": on_demand_hours,
        "spot_cpu_hours": spot_hours,
        "startup_cpu_hours": float(cpus @ (hours - work_hours(terms, rows))),
        "reserved_utilisation": reserved_hours / provided if provided else 0.0,
        **_counts(terms, rows, expected),
    }


def _expected(instance: PurchasingInstance, terms: CheckTerms, rows: Rows) -> _Expected:
    """Return the expected values of the spot rows.

    With hazard h a run of L hours is evicted with chance 1 - e^-hL, after (1 - e^-hL)/h - L e^-hL hours in the mean
    (counted as 0 where it is not evicted), and then runs on demand from its beginning.
    """
    spot = rows.option == SPOT
    hours = rows.end - rows.start
    zero = np.zeros(len(hours))
    if instance.spot is None or terms.realised or terms.artifact:
        hazard = 0.0
    else:
        hazard = instance.spot.evictions_per_hour
    if hazard == 0 or not spot.any():
        return _Expected(zero, np.where(spot, hours, 0.0), zero, zero)
    chance = np.where(spot, -np.expm1(-hazard * hours), 0.0)
    run = chance / hazard
    lost = np.where(spot, run - hours * np.exp(-hazard * hours), 0.0)
    restart = zero.copy()
    restart[spot] = _restart_kg(instance, rows.end[spot], hours[spot], hazard)
    return _Expected(chance, run, lost, restart)


def _restart_kg(instance: PurchasingInstance, end: FloatArray, length: FloatArray, hazard: float) -> FloatArray:
    """Return int_0^L (e^-hu - e^-hL) c(end + u) du [kg a CPU]: what a run emits after the end it would have had.

    From the last slot on carbon stays as it is, so that this is one piece however long the run.
    """
    slot_hours = instance.time.slot_hours
    kg = instance.kg_per_cpu_hour
    final = len(kg) - 1
    first = np.minimum(np.floor(end / slot_hours), final).astype(np.int64)
    last = np.minimum(np.ceil((end + length) / slot_hours), final + 1).astype(np.int64)
    pieces = np.maximum(last - first, 1)
    row = np.repeat(np.arange(len(end)), pieces)  # one entry for each slot of each run
    slot = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    since = np.clip(slot * slot_hours - end[row], 0.0, length[row])
    until = np.where(slot < final, np.clip((slot + 1) * slot_hours - end[row], 0.0, length[row]), length[row])
    survives = np.exp(-hazard * since) * -np.expm1(-hazard * (until - since)) / hazard
    weight = survives - np.exp(-hazard * length[row]) * (until - since)
    return np.asarray(np.bincount(row, weight * kg[slot], len(end)))


def _pool_use(start: FloatArray, end: FloatArray, cpus: FloatArray, reserved: float) -> tuple[float, float]:
    """Return the CPU-hours of reserved and shared rows on reserved CPUs, and above them.

    Reserved rows take the reserved CPUs first, but who takes them does not change the sums.
    """
    moment, load = load_of(start, end, cpus)
    length = np.diff(moment)
    load = load[:-1]
    return float(np.minimum(load, reserved) @ length), float(np.maximum(load - reserved, 0.0) @ length)


def _waits(terms: CheckTerms, rows: Rows, expected: _Expected) -> dict[str, float]:
    """Return waiting times: completion less arrival and length, expected where evictions are."""
    last = rows.last
    job = rows.job[last]
    completion = (rows.end + expected.lost_hours)[last]
    wait = completion - terms.arrival[job] - terms.length[job]
    wait = np.where(wait <= ROUNDING_OF_SUMS * completion, 0.0, wait)
    mean = float(wait.mean()) if wait.size else 0.0
    found = {
        "wait_hours": float(wait.sum()),
        "mean_wait_hours": mean,
        "max_wait_hours": float(wait.max(initial=0.0)),
        "mean_completion_hours": float((completion - terms.arrival[job]).mean()) if wait.size else 0.0,
        "makespan_hours": float(completion.max(initial=0.0)),
    }
    if terms.artifact:  # the authors take the mean over segments
        of_rows = rows.start - terms.arrival[rows.job]
        found |= {"mean_wait_hours": float(of_rows.mean()) if of_rows.size else 0.0, "mean_wait_hours_per_job": mean}
    return found


def _counts(terms: CheckTerms, rows: Rows, expected: _Expected) -> dict[str, float]:
    """Return evictions, suspensions and completed jobs; churn are the suspensions alone: nobody decides evictions."""
    count = len(terms.length)
    happened = evicted(terms, rows)
    suspensions = int((~rows.first & ~rows.goes_on).sum()) - int(happened.sum())
    done = np.bincount(rows.job, work_hours(terms, rows), count) >= terms.length - ROUNDING_HOURS
    completed = int((done & (np.bincount(rows.job, minlength=count) > 0)).sum())
    return {
        "evictions": int(happened.sum()) if terms.realised else float(expected.chance.sum()),
        "suspensions": suspensions,
        "churn": suspensions,
        "jobs_completed": completed,
        "jobs_completed_share": completed / count if count else 1.0,
    }


def evicted(terms: CheckTerms, rows: Rows) -> BoolArray:
    """Return which jobs were evicted: a spot row that ends early, then at once the whole length off spot CPUs."""
    found = np.zeros(len(terms.length), dtype=np.bool_)
    if not terms.realised:
        return found
    pair = np.flatnonzero((np.bincount(rows.job, minlength=len(found)) == 2)[rows.job] & rows.first)
    job = rows.job[pair]
    one = pair
    two = pair + 1
    length = terms.length[job]
    good = (rows.option[one] == SPOT) & np.isin(rows.option[two], (ON_DEMAND, RESERVED))
    work = work_hours(terms, rows)
    good &= work[one] <= length + ROUNDING_HOURS
    good &= np.abs(rows.start[two] - rows.end[one]) <= ROUNDING_HOURS
    good &= np.abs(work[two] - length) <= ROUNDING_HOURS
    found[job[good]] = True
    return found
