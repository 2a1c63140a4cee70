"""Seeded workloads: batch jobs of a cloud, with synthetic or resampled lengths and CPUs."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.memory import require_bytes
from carbonopt.core.time import parse_utc
from carbonopt.io.jobs import JobTrace
from carbonopt.io.supercomputer import SUPERCOMPUTER, label_of, require_workload, supercomputer_jobs
from carbonopt.io.workload import (
    Signal,
    job_names,
    lognormal_hours,
    require_above_zero,
    require_horizon,
    require_seed,
    signal_over,
    slot_hours_of,
    stream,
)
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs
from carbonopt.problems.purchasing.data.terms import Terms

RESERVED_SHARE = 0.5
"""Reserved CPUs over the mean demand, where nothing is said of them."""
LENGTHS, ARRIVALS, CPUS = range(3)
"""Random streams of a seed: another arrival pattern leaves lengths and CPUs as they are."""
LEAST_HOURS = 1 / 12
"""Shortest synthetic job [h]."""
LOG_MEAN = -0.33
"""Mean of the logarithm of a synthetic job's hours."""
LOG_SIGMA = 1.72
"""Standard deviation of the logarithm of a synthetic job's hours."""
MOST_HOURS = 72.0
"""Longest synthetic job [h]."""
CPU_RATIO = 3.0
"""Synthetic jobs of so many CPUs, over those of twice as many."""
BYTES_PER_JOB = 600
"""Memory that a job takes in an instance and on its way to a file, rounded up [B]."""


def generate(
    jobs: int = 1000,
    arrival_hours: float = 168.0,
    daily_swing: float = 0.0,
    daily_peak_hour: float = 14.0,
    max_cpus: int = 4,
    workload: str = "paper",
    seed: int = 1,
    trace: JobTrace | None = None,
    source: str | None = None,
    carbon: Signal | None = None,
    zone: str | None = None,
    start: str = "2022-06-01T00:00:00Z",
    slot_hours: float | None = None,
    name: str | None = None,
    **terms: Any,
) -> PurchasingInstance:
    """Generate an instance; the same arguments always give the same one.

    Jobs arrive over the first `arrival_hours`, independently of each other (a Poisson process, given its
    number of jobs); the horizon is as long as their windows and what policies look ahead.

    Parameters
    ----------
    jobs, arrival_hours
        Number of jobs, and hours in which they arrive.
    daily_swing, daily_peak_hour
        The rate of arrivals is in proportion to 1 + daily_swing cos(2 pi (h - daily_peak_hour) / 24) at
        hour h of the day in UTC; from 0 (uniform) to 1.
    max_cpus
        Jobs take 1, 2, 4, .. CPUs up to this, each a third as often as the one before. Not used with `trace`.
    workload
        ``paper`` or ``supercomputer``: heavy-tailed CPUs up to `max_cpus`, heavy-tailed lengths, and arrivals in
        bursts and by the hour (see `carbonopt.io.supercomputer`). Not used with `trace`.
    seed
        Of every draw, the synthetic carbon signal included.
    trace, source
        Draw length and CPUs of each job, together, from this trace, with replacement, and what to call it
        in the name; None: synthetic ones (see `synthetic_lengths`).
    carbon, zone
        A signal at least as long as the horizon, or a function of the number of slots that returns one,
        and the zone in it (None for its only one). None: the bundled synthetic signal (see
        `carbonopt.io.synthetic`), of AU-SA by default.
    start
        Beginning of slot 0 where `carbon` is no signal.
    slot_hours
        Length of a slot; None for that of `carbon`, or 1 h.
    name
        Of the instance; None to make one of the parameters.
    **terms
        Prices, purchase options, queues, model and weights: see `carbonopt.problems.purchasing.data.terms.Terms`.

    Raises
    ------
    InputError
        For a signal that is too short or has no such zone, and for every price or weight out of range.
    UnsupportedError
        For other parameters out of range.
    TooLargeError
        If the jobs or slots would not fit into memory.
    """
    told = Terms(**terms)
    told = told if told.says_reserved else replace(told, reserved_share=RESERVED_SHARE)
    slot = slot_hours_of(carbon, slot_hours)
    require_workload(workload, trace)
    _require(jobs, seed, daily_swing, max_cpus, arrival_hours=arrival_hours, slot_hours=slot)
    require_horizon(arrival_hours / slot, slot)
    begin = carbon.time.start if isinstance(carbon, CarbonSignal) else parse_utc(start)
    first_hour = begin.hour + begin.minute / 60
    if workload == "supercomputer":
        drawn = supercomputer_jobs(jobs, arrival_hours, max_cpus, seed, first_hour)
        arrival, length, cpus = drawn.arrival_hours, drawn.length_hours, drawn.cpus
    else:
        length, cpus = _sizes(jobs, trace, max_cpus, seed)
        arrival = _arrivals(jobs, arrival_hours, daily_swing, daily_peak_hour, seed, first_hour)
    slots = require_horizon(told.horizon_slots(arrival, length, slot), slot)
    signal = signal_over(carbon, zone, slots, slot, start, seed)
    label = label_of(workload, trace, source)
    return told.instance(
        name or f"purchasing-{label}-j{jobs:04d}-t{slots:03d}-{signal.zones[0]}-s{seed:02d}",
        {
            "generator": "carbonopt generate purchasing",
            "workload": SUPERCOMPUTER if workload == "supercomputer" else _in_words(trace, label),
            "seed": seed,
            "arrival_hours": arrival_hours,
            "daily_swing": daily_swing,
            "carbon_signal": "synthetic, calibrated to published statistics" if carbon is None else "read from files",
        },
        signal,
        PurchasingJobs(job_names(jobs), arrival, length, cpus),
        mean_cpus=fsum(length * cpus) / arrival_hours,
    )


def synthetic_lengths(count: int, rng: np.random.Generator) -> FloatArray:
    """Draw lengths [h], shape (count,): 5 min plus a log-normal time, cut at 72 h.

    Calibrated to summary statistics (mean and quantiles) of the sample of Alibaba's PAI trace that GAIA's
    authors published: mean, median and 90 % quantile are about 2.7, 0.8 and 6.4 h, there 2.5, 0.8 and
    6.6 h; 72 % last at most 2 h, as there.
    """
    return lognormal_hours(count, rng, LEAST_HOURS, LOG_MEAN, LOG_SIGMA, MOST_HOURS)


def _require(jobs: int, seed: int, daily_swing: float, max_cpus: int, **positive: float) -> None:
    require_seed(seed)
    for option, value in (("jobs", jobs), ("max_cpus", max_cpus)):
        if value < 1:
            raise UnsupportedError(f"{option} = {shown(value)}: must be at least 1")
    if not 0 <= daily_swing <= 1:
        raise UnsupportedError(f"daily_swing = {shown(daily_swing)}: must be from 0 to 1")
    require_above_zero(**positive)
    require_bytes(f"a workload of {jobs} jobs", BYTES_PER_JOB * float(jobs))


def _sizes(count: int, trace: JobTrace | None, max_cpus: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return lengths [h] and CPUs, each of shape (count,)."""
    if trace is not None:
        rows = stream(seed, LENGTHS).integers(0, len(trace), count)
        return trace.length_hours[rows], trace.cpus[rows]
    sizes = 2.0 ** np.arange(max_cpus.bit_length())
    shares = CPU_RATIO ** -np.arange(len(sizes), dtype=float)
    cpus: FloatArray = stream(seed, CPUS).choice(sizes, count, p=shares / shares.sum())
    return synthetic_lengths(count, stream(seed, LENGTHS)), cpus


def _arrivals(count: int, hours: float, swing: float, peak: float, seed: int, first_hour: float) -> FloatArray:
    """Return sorted arrivals [h], shape (count,); `first_hour` of the day is that of slot 0.

    Rounded to 0.0001 h, so that the last bits of a platform's sin() change nothing.
    """
    share = np.sort(stream(seed, ARRIVALS).random(count))
    if not swing:
        return np.asarray(np.round(share * hours, 4))
    edges = np.linspace(0.0, hours, max(2, round(hours * 60) + 1))
    turn = 2 * np.pi / 24
    sums = edges + swing / turn * (np.sin(turn * (edges + first_hour - peak)) - np.sin(turn * (first_hour - peak)))
    return np.asarray(np.round(np.interp(share * sums[-1], sums, edges), 4))


def _in_words(trace: JobTrace | None, label: str) -> str:
    if trace is None:
        return "synthetic lengths, calibrated to summary statistics of a sample of Alibaba's PAI trace"
    return f"lengths and CPUs drawn from {label} with replacement"
