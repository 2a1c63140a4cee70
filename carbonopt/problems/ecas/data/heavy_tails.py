"""Jobs whose sizes and lengths have the spread of the ICON challenge's: many small ones, a few that fill a machine.

In 20 instances of the challenge both are close to exponential. A job uses 10 to 25 % of a machine's resource on
average, the median is .41 to .79 of that, and the largest use 82 to 98 %. Standard deviations of shares are .82 to
1.39 of their mean, those of durations .76 to 1.04, and the longest jobs take 211 to 267 of 288 slots.
"""

from __future__ import annotations

import numpy as np

from carbonopt.problems.ecas.data.instance import EcasJobs, Machines

USE_TO_DURATION = 1 / 300
"""Mean share of a machine that a job uses, over its mean duration in slots of five minutes (measured)."""
SHARES = (0.002, 0.93)
"""Least and largest share of a machine that a job uses (measured)."""
COMMON = 0.35
"""Probability with which a job's use of a resource is that of the others (chosen; the challenge's are correlated)."""
LONGEST = 0.93
"""Longest duration, over the slots of the day (measured)."""
LATITUDE = 0.5
"""Most by which a window goes beyond the job on each side, over the slots of the day (fits the measured windows)."""
ROUNDS = 5
"""How often shares are scaled to the load, since the largest are cut."""


def heavy_jobs(rng: np.random.Generator, count: int, machines: Machines, slots: int, load: float) -> EcasJobs:
    """Return jobs whose work is about `load` of the machines.

    Each window is drawn around a place somewhere in the day, and cut at the day's ends.
    """
    resources = machines.capacity.shape[1]
    drawn = rng.exponential(1, (count, resources))
    is_common = rng.random((count, resources)) < COMMON
    shape = np.where(is_common, rng.exponential(1, count)[:, None], drawn)
    work = load * slots * len(machines) / count
    mean_duration = np.sqrt(work / USE_TO_DURATION * slots / 288)
    longest = max(1, int(LONGEST * slots))
    duration = np.clip(np.round(mean_duration * rng.exponential(1, count)), 1, longest).astype(np.int64)
    share = np.clip(shape * work / mean_duration, *SHARES)
    for _ in range(ROUNDS):
        reached = float((share.mean(axis=1) * duration).sum()) / (slots * len(machines))
        share = np.clip(share * load / reached, *SHARES)
    use = np.maximum(np.round(share * machines.capacity.min(axis=0)), 1).astype(np.int64)
    weight = rng.dirichlet(np.ones(resources))
    power = np.round(1000 * share @ weight * rng.uniform(0.95, 1.05, count), 2)
    start = np.floor(rng.random(count) * (slots - duration + 1)).astype(np.int64)
    before, after = np.floor(rng.random((2, count)) * LATITUDE * slots).astype(np.int64)
    names = tuple(f"j{j}" for j in range(count))
    arrival = np.maximum(start - before, 0)
    return EcasJobs(names, arrival, duration, np.minimum(start + duration + after, slots), power, use)
