"""CarbonFlex's Algorithm 1 as one writes it down: a sorted list of all units and a loop over it, in plain Python.

Every (job, slot, scale) is one entry of the list, sorted by throughput per carbon, then by deadline. The loop gives a
job the next scale in a slot while the job has work left and the slot has servers left. How much of either is left is
computed in one of two ways:

    recompute   each time from the schedule: the work of the job over its slots, the servers of all jobs in the slot
    otherwise   kept as running sums

What the paper leaves open is settled as in `carbonopt.problems.elastic.methods.greedy`, so that both give the same
schedule: entries of equal ratio and deadline go by job, slot and unit; a unit never comes before the one below it, also
where its own ratio is better. `printed` tests the capacity by `sum + k >= M` and lets jobs run one slot longer;
otherwise the load may reach M, and servers that a job's last slot does not need are given up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from carbonopt.problems.elastic.data.instance import ElasticInstance

Entry = tuple[float, float, int, int, int]
"""Less the ratio, deadline, job, slot, unit."""
LOOK_AT_CLOCK = 1000
"""Entries between two looks at the clock."""


@dataclass(frozen=True)
class Walk:
    """A schedule as columns, and the share of the list that was walked through before the time was out."""

    schedule: dict[str, list[Any]]
    share: float


class Algorithm1:
    """The data as Python lists, the schedule, and what is left of work and servers."""

    def __init__(self, instance: ElasticInstance, printed: bool) -> None:
        jobs, units = instance.jobs, instance.units
        slots = instance.time.slots
        self.names, self.slots, self.printed = jobs.name, slots, printed
        self.intensity: list[float] = instance.intensity.tolist()
        self.profile: list[int] = instance.profile_of_job.tolist()
        self.arrival: list[int] = jobs.arrival.tolist()
        self.deadline: list[float] = (jobs.arrival + jobs.length + jobs.slack).tolist()
        self.end: list[int] = [min(end + printed, slots) for end in jobs.window_end.tolist()]
        self.required: list[float] = jobs.required.tolist()
        self.gain: list[list[float]] = [p.marginal_throughput.tolist() for p in instance.profiles]
        self.kwh = [row[: len(p)] for row, p in zip(units.kwh.tolist(), instance.profiles, strict=True)]
        self.k_min = [p.k_min for p in instance.profiles]
        cluster = instance.cluster
        self.capacity: list[float] = (cluster.capacity if printed else cluster.limit).tolist()
        self.throughput = [self._throughput(p) for p in range(len(self.gain))]
        self.scale = [[0] * slots for _ in self.names]
        """s_j[t]."""
        self.work = [0.0] * len(self.names)
        self.load = [0.0] * slots

    def _throughput(self, p: int) -> list[float]:
        """Work in a slot at 0, 1, .. servers."""
        found = [0.0] * self.k_min[p]
        for gain in self.gain[p]:
            found.append(found[-1] + gain)
        return found

    def entries(self) -> list[Entry]:
        """Return the sorted list."""
        found: list[Entry] = []
        for j, p in enumerate(self.profile):
            for t in range(self.arrival[j], self.end[j]):
                ratio = float("inf")
                for u, (gain, kwh) in enumerate(zip(self.gain[p], self.kwh[p], strict=True)):
                    carbon = self.intensity[t] * kwh
                    ratio = min(ratio, gain / carbon if carbon > 0 else float("inf"))
                    found.append((-ratio, self.deadline[j], j, t, u))
        found.sort()
        return found

    def run(self, recompute: bool, seconds: float | None = None) -> Walk:
        """Run it, for at most so many CPU seconds."""
        began, walked = time.process_time(), 0
        entries = self.entries()
        for walked, (_, _, j, t, u) in enumerate(entries):
            if seconds is not None and walked % LOOK_AT_CLOCK == 0 and time.process_time() - began > seconds:
                break
            p = self.profile[j]
            k = self.k_min[p] + u
            done = sum(self.throughput[p][s] for s in self.scale[j]) if recompute else self.work[j]
            if done >= self.required[j] or self.scale[j][t] != (k - 1 if u else 0):
                continue
            load = sum(row[t] for row in self.scale) if recompute else self.load[t]
            servers = k - self.scale[j][t]
            others = load - self.scale[j][t]
            full = others + k >= self.capacity[t] if self.printed else others + k > self.capacity[t]
            if full:
                continue
            self.work[j] += self.gain[p][u]
            self.load[t] += servers
            self.scale[j][t] = k
        else:
            walked = len(entries)
        if not self.printed:
            self.trim()
        return Walk(self.schedule(), walked / max(len(entries), 1))

    def trim(self) -> None:
        """Give up the servers that each job's last slot does not need, the last one first."""
        for j, p in enumerate(self.profile):
            spare = self.work[j] - self.required[j]
            last = max((t for t in range(self.slots) if self.scale[j][t]), default=0)
            while self.scale[j][last]:
                u = self.scale[j][last] - self.k_min[p]
                spare -= self.gain[p][u]
                if spare < 0:
                    break
                self.scale[j][last] = self.k_min[p] + u - 1 if u else 0

    def schedule(self) -> dict[str, list[Any]]:
        """Return the schedule as columns, by job and slot."""
        rows = [(j, t) for j in range(len(self.names)) for t in range(self.slots) if self.scale[j][t]]
        return {
            "job": [self.names[j] for j, _ in rows],
            "slot": [t for _, t in rows],
            "servers": [self.scale[j][t] for j, t in rows],
        }
