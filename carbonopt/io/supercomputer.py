"""Jobs of supercomputers, with heavy tails and bursts: the model of Lublin and Feitelson.

U. Lublin and D. G. Feitelson, The workload on parallel supercomputers: modeling the characteristics of rigid jobs,
Journal of Parallel and Distributed Computing 63, 2003. The numbers below are those of the whole sample of jobs, batch
and interactive, of three machines. Two things differ. The largest job may have any number of processors, not 128 only.
Arrivals are stretched such that a given number of jobs fills a given time.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError, one_of, shown
from carbonopt.io.jobs import JobTrace
from carbonopt.io.workload import stream

WORKLOADS = ("paper", "supercomputer")
"""What generators draw jobs from: what the problem's paper uses, or this model."""
SUPERCOMPUTER = "jobs of a supercomputer: the model of Lublin and Feitelson (2003)"
"""In provenance."""
SERIAL_SHARE = 0.244
"""Jobs of one processor."""
POWER_OF_2_SHARE = 0.576
"""Jobs of 2, 4, 8, .. processors."""
LEAST_LOG_SIZE = 0.8
"""Least binary logarithm of the size of a parallel job."""
MIDDLE_BELOW_LARGEST = 2.5
"""By how much the middle of the log-sizes is below the largest."""
SMALLER_SHARE = 0.86
"""Parallel jobs below the middle; the logarithms of both parts are uniform."""
SHORT = (4.2, 0.94)
"""Shape and scale of the natural logarithm of short lengths [ln s], a gamma distribution."""
LONG = (312.0, 0.03)
"""The same of long lengths."""
SHORT_SHARE = (0.78, -0.0054)
"""Probability of a short length: of no processor, and added for each of 128."""
PROCESSORS_OF_MODEL = 128
MOST_LOG_SECONDS = 12.0
"""Longest job: e^12 s are 45 h. Longer ones are drawn again."""
GAP = (10.2303 * 1.0225, 0.4871)
"""Shape and scale of the natural logarithm of the gaps between arrivals [ln s]: so they come in bursts."""
MOST_LOG_GAP = 13.0
"""Longest gap in the busiest hours: e^13 s are five days. Longer ones are drawn again."""
DAY = (8.1737, 3.9631)
"""Shape and scale of the moments of arrival within a day [half-hours], a gamma distribution from half past five."""
FIRST_HALF_HOUR = 11
SUPERCOMPUTER_MEAN_HOURS = 1.25
"""Mean length [h], by which a number of jobs is guessed."""
ARRIVALS = 10
"""Random stream of a seed that arrivals are drawn from."""
SIZES = 11
"""Random stream of a seed that processors are drawn from."""
LENGTHS = 12
"""Random stream of a seed that lengths are drawn from."""


def supercomputer_jobs(count: int, hours: float, processors: int, seed: int, first_hour: float = 0.0) -> JobTrace:
    """Draw jobs that arrive within `hours`.

    Parameters
    ----------
    count
        Number of jobs.
    hours
        Time from slot 0 to the last arrival, at most [h].
    processors
        Of the largest job, at least 2.
    seed
        Of every draw.
    first_hour
        Hour of the day at which slot 0 begins: most jobs come in the early afternoon.

    Returns
    -------
    JobTrace
        In order of arrival. Arrivals are rounded to 0.0001 h and lengths to 0.01 h (at least 0.01 h), so that the last
        bits of a platform's functions change nothing.

    Raises
    ------
    UnsupportedError
        For a largest job below 2 processors.

    Examples
    --------
    >>> jobs = supercomputer_jobs(1000, 168.0, 128, seed=1)
    >>> float(np.median(jobs.cpus)), float(jobs.cpus.max()), round(float(np.median(jobs.length_hours)), 2)
    (4.0, 128.0, 0.03)
    """
    if processors < 2:
        raise UnsupportedError(f"largest job = {shown(processors)} processors: must be at least 2")
    size = _sizes(count, processors, stream(seed, SIZES))
    length = _lengths(size * (PROCESSORS_OF_MODEL / processors), stream(seed, LENGTHS))
    return JobTrace(supercomputer_arrivals(count, hours, seed, first_hour), length, size, np.arange(1, count + 1))


def supercomputer_lengths(count: int, rng: np.random.Generator) -> FloatArray:
    """Draw lengths [h] of jobs of a machine of 128 processors, shape (count,), rounded to 0.01 h."""
    return _lengths(_sizes(count, PROCESSORS_OF_MODEL, rng), rng)


def require_workload(workload: str, trace: JobTrace | None = None) -> None:
    """Refuse a workload that does not exist, or beside a trace."""
    if workload not in WORKLOADS:
        raise UnsupportedError(f"workload = {shown(workload)}: must be {one_of(WORKLOADS)}")
    if trace is not None and workload != WORKLOADS[0]:
        raise UnsupportedError(f"workload = {shown(workload)}: jobs are drawn from the trace")


def label_of(workload: str, trace: JobTrace | None, source: str | None) -> str:
    """Return what stands in an instance's name for the source of its jobs."""
    if workload == "supercomputer":
        return workload
    return "synthetic" if trace is None else source or "trace"


def _sizes(count: int, processors: int, rng: np.random.Generator) -> FloatArray:
    """Return the processors of each job, shape (count,)."""
    kind, part, place = rng.random((3, count))
    most = np.log2(processors)
    middle = max(LEAST_LOG_SIZE, most - MIDDLE_BELOW_LARGEST)
    smaller = part < SMALLER_SHARE
    low = np.where(smaller, LEAST_LOG_SIZE, middle)
    logarithm = low + place * (np.where(smaller, middle, most) - low)
    power = kind < SERIAL_SHARE + POWER_OF_2_SHARE
    size = np.round(2.0 ** np.where(power, np.round(logarithm), logarithm))
    return np.where(kind < SERIAL_SHARE, 1.0, np.clip(size, 1.0, processors))


def _lengths(size: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the length of each job [h] by its size on a machine of 128 processors, shape (count,)."""
    short = rng.random(len(size)) < SHORT_SHARE[0] + SHORT_SHARE[1] * size
    shape, scale = (np.where(short, first, second) for first, second in zip(SHORT, LONG, strict=True))
    seconds = np.exp(_gamma_up_to(MOST_LOG_SECONDS, shape, scale, rng))
    return np.asarray(np.maximum(0.01, np.round(seconds / 3600, 2)))


def _gamma_up_to(most: float, shape: FloatArray, scale: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw from gamma distributions; what is above `most` is drawn again."""
    drawn = rng.gamma(shape, scale)
    while (above := drawn > most).any():
        drawn[above] = rng.gamma(shape[above], scale[above])
    return np.asarray(drawn)


def supercomputer_arrivals(count: int, hours: float, seed: int, first_hour: float = 0.0) -> FloatArray:
    """Return sorted arrivals [h], shape (count,): gaps in bursts, as dense as the hour of the day asks."""
    rng = stream(seed, ARRIVALS)
    shape, scale = (np.full(count + 1, number) for number in GAP)
    gap = np.exp(_gamma_up_to(MOST_LOG_GAP, shape, scale, rng))
    share = np.cumsum(gap)[:-1] / gap.sum()  # of the arrivals that a time has seen
    weight = _half_hour_weights()
    edges = np.append(np.arange(0.0, hours, 0.5), hours)
    seen = np.cumsum(weight[_half_hour(first_hour + edges[:-1])] * np.diff(edges))
    return np.asarray(np.round(np.interp(share * seen[-1], np.append(0.0, seen), edges), 4))


def _half_hour(hour: FloatArray) -> IntArray:
    return np.asarray(np.floor(2 * hour) % 48, dtype=np.int64)


def _half_hour_weights() -> FloatArray:
    """Return the share of a day's arrivals in each half-hour from midnight, shape (48,)."""
    number = FIRST_HALF_HOUR + np.arange(48)
    shape, scale = DAY
    share = gammainc(shape, (number + 0.5) / scale) - gammainc(shape, (number - 0.5) / scale)
    weight = np.zeros(48)
    weight[(number - 1) % 48] = share / share.sum()
    return weight
