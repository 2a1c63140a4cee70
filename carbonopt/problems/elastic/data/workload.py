"""Jobs of seeded workloads: lengths, slack, arrivals and profiles, each from a random stream of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.memory import require_bytes
from carbonopt.io.convert import ROUNDING_SLOTS
from carbonopt.io.jobs import JobTrace
from carbonopt.io.workload import lognormal_hours, stream
from carbonopt.problems.elastic.data.catalogue import CLASSES
from carbonopt.problems.elastic.data.instance import MODELS, ROUNDING, Profile

LENGTHS = 0
"""Random stream of a seed that lengths are drawn from."""
ARRIVALS = 1
"""Random stream of a seed that arrivals are drawn from."""
PROFILES = 2
"""Random stream of a seed that profiles are drawn from: another mix leaves lengths and arrivals as they are."""
LEAST_HOURS = 1.0
"""Shortest job [h], as in the sample that the lengths are calibrated to."""
LOG_MEAN = 1.24
"""Mean of the logarithm of a length beyond the shortest [ln h]: see `synthetic_lengths`."""
LOG_SIGMA = 1.97
"""Standard deviation of the logarithm of a length beyond the shortest: see `synthetic_lengths`."""
MOST_HOURS = 72.0
"""Longest job [h]: see `synthetic_lengths`."""
MEAN_HOURS = 9.5
"""Mean of the synthetic lengths [h], by which the number of jobs is guessed."""
BYTES_PER_JOB = 600
"""Memory that a job takes in an instance and on its way to a file, rounded up [bytes]."""

Lengths = Callable[[int, np.random.Generator], FloatArray]
"""Draws so many lengths [h]."""


@dataclass(frozen=True)
class Queues:
    """Slack by length: the three queues of CarbonFlex.

    Parameters
    ----------
    short_hours, medium_hours
        Longest job of the short and of the medium queue [h].
    short_slack_hours, medium_slack_hours, long_slack_hours
        Slack of each queue's jobs [h].
    slack_hours
        Slack of all jobs instead [h]; None for the queues'.

    Raises
    ------
    UnsupportedError
        For the first number that is out of range.
    """

    short_hours: float = 2.0
    medium_hours: float = 12.0
    short_slack_hours: float = 6.0
    medium_slack_hours: float = 24.0
    long_slack_hours: float = 48.0
    slack_hours: float | None = None

    def __post_init__(self) -> None:
        for option, value in asdict(self).items():
            if value is not None and not 0 <= value < np.inf:
                raise UnsupportedError(f"{option} = {shown(value)}: must be at least 0")
        if self.medium_hours < self.short_hours:
            raise UnsupportedError(
                f"medium_hours = {shown(self.medium_hours)}: must be at least short_hours = {shown(self.short_hours)}"
            )

    def slack_slots(self, length_hours: FloatArray, slot_hours: float) -> FloatArray:
        """Return the whole slots of slack of jobs of these lengths, rounded down, shape (N,)."""
        hours = np.where(
            length_hours <= self.short_hours,
            self.short_slack_hours,
            np.where(length_hours <= self.medium_hours, self.medium_slack_hours, self.long_slack_hours),
        )
        if self.slack_hours is not None:
            hours = np.full(len(length_hours), self.slack_hours)
        return np.asarray(np.floor(hours / slot_hours + ROUNDING_SLOTS))

    def to_dict(self) -> dict[str, float]:
        """Return what makes a job's slack."""
        return asdict(self) if self.slack_hours is None else {"slack_hours": self.slack_hours}


def synthetic_lengths(count: int, rng: np.random.Generator) -> FloatArray:
    """Draw lengths [h], shape (count,): 1 h plus a log-normal time, cut at 72 h.

    Calibrated to summary statistics (mean and quantiles) of the jobs of at least 1 h in the sample of
    Azure's 2017 trace that GAIA's authors published. Mean, median and 90 % quantile are about 9.5, 4 and
    26 h, there 9.5, 4 and 24 h; 28 % last at most 2 h and 77 % at most 12 h, there 32 % and 75 %.
    """
    return lognormal_hours(count, rng, LEAST_HOURS, LOG_MEAN, LOG_SIGMA, MOST_HOURS)


def resampled_lengths(trace: JobTrace, min_length_hours: float) -> tuple[Lengths, float]:
    """Return a function that draws lengths of `trace` of at least `min_length_hours`, and their mean [h].

    Raises
    ------
    InputError
        If the trace has none.
    """
    long_enough = trace.length_hours[trace.length_hours >= min_length_hours]
    if not len(long_enough):
        longest = shown(float(trace.length_hours.max(initial=0.0)))
        words = f"no job lasts at least {min_length_hours:g} h, the longest {longest} h: is the time unit right?"
        raise InputError(Fault("trace", words))
    return lambda count, rng: np.asarray(rng.choice(long_enough, count)), float(long_enough.mean())


def draw_profiles(count: int, shares: FloatArray, seed: int) -> IntArray:
    """Return the profile of each job, shape (count,), drawn by `shares`, shape (P,)."""
    return np.asarray(stream(seed, PROFILES).choice(len(shares), count, p=shares), dtype=np.int64)


def draw_jobs(
    lengths: Lengths, mean_hours: float, k_min: IntArray, shares: FloatArray, seed: int, jobs: int | None, work: float
) -> tuple[FloatArray, IntArray]:
    """Draw lengths [h] and profiles: of `jobs` jobs, or of as few as do `work` [server hours at k_min].

    Parameters
    ----------
    lengths, mean_hours
        What draws the lengths, and about what mean they have.
    k_min, shares
        Of each profile, shape (P,).
    seed, jobs, work
        `work` counts only if `jobs` is None.

    Raises
    ------
    TooLargeError
        If so many jobs would not fit into memory.
    """
    count = jobs if jobs is not None else 1.5 * work / (mean_hours * float(shares @ k_min)) + 50
    while True:
        require_bytes(f"a workload of {count:.10g} jobs", BYTES_PER_JOB * float(count))
        hours = lengths(int(count), stream(seed, LENGTHS))
        profile = draw_profiles(int(count), shares, seed)
        done = np.cumsum(hours * k_min[profile])
        if jobs is not None:
            return hours, profile
        if done[-1] >= work:
            enough = int(np.searchsorted(done, work)) + 1
            return hours[:enough], profile[:enough]
        count *= 2


def window_ends(arrival: FloatArray, length_slots: FloatArray, slack: FloatArray) -> FloatArray:
    """Return the slot at which each job's window ends, shape (N,), of any size."""
    return np.asarray(arrival + np.ceil(length_slots * (1 - ROUNDING)) + slack)


def mix_provenance(parts: tuple[Profile, ...], shares: list[float]) -> dict[str, Any]:
    """Return the share of each profile, and where modelled ones come from."""
    found: dict[str, Any] = {"profile_shares": {part.name: share for part, share in zip(parts, shares, strict=True)}}
    modelled = [part.name for part in parts if part.name in CLASSES]
    if modelled:
        found["modelled_profiles"] = f"by Amdahl's law, assumed power a server: {', '.join(modelled)}"
    return found


def require_model(model: str) -> None:
    """Refuse a model that does not exist."""
    if model not in MODELS:
        raise UnsupportedError(f"unknown model {model!r}: must be {one_of(MODELS)}")
