"""What all policies of an ML cluster share: its tables, service so far, and whole allocations at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.ranges import require_number
from carbonopt.simulation import Policy, State, StepSignal

LEAST_ROUND_MINUTES = 0.01
"""Shortest time between two rounds of decisions: a simulation of weeks ends."""
GAMMA = 1.0 - 1e-9
"""DEGRADATION that jobs of a baseline keep: all, but for rounding (GREEN, section 8.1: the best energy efficiency)."""


class ClusterPolicy(Policy):
    """A policy that gives each job whole GPUs of one cluster.

    Attributes
    ----------
    least, most
        Fewest and most GPUs of each job.
    profile
        Position of each job's profile.
    speed, watts
        X(n) and power [W] of each profile, by profile and n - 1.
    efficiency
        EFFICIENCY(n) = X(n) over power, with a share of the hosts, of each profile.
    served
        GPU time that each job has had before its present run [GPU min].
    """

    def on_begin(self, state: State) -> None:
        """Read the instance."""
        instance = state.instance
        self.total: int = instance.cluster.gpus
        self.least: list[int] = instance.jobs.min_gpus.tolist()
        self.most: list[int] = instance.most_gpus.tolist()
        self.profile: list[int] = instance.profile_of_job.tolist()
        self.speed: list[list[float]] = instance.scales.throughput.tolist()
        share = instance.cluster.host_watts_per_gpu * np.arange(1, instance.scales.watts.shape[1] + 1)
        self.watts: list[list[float]] = (instance.scales.watts + share).tolist()
        self.efficiency = [
            [speed / watts if watts else 0.0 for speed, watts in zip(*rows, strict=True)]
            for rows in zip(self.speed, self.watts, strict=True)
        ]
        self.signal = StepSignal(instance.intensity, instance.slot_minutes)
        self.served = [0.0] * len(instance.jobs)

    def free(self, state: State) -> int:
        """Return the GPUs without a job."""
        return round(state.free())

    def degradation(self, job: int, gpus: int) -> float:
        """Return DEGRADATION(n) = EFFICIENCY(n) / EFFICIENCY(n_min)."""
        efficiency = self.efficiency[self.profile[job]]
        return efficiency[gpus - 1] / efficiency[self.least[job] - 1]

    def attained(self, state: State, job: int) -> float:
        """Return the GPU time that a job has had [GPU min]."""
        run = state.running.get(job)
        return self.served[job] + (0.0 if run is None else run.units * (state.now - run.start))

    def stopping(self, state: State, job: int) -> None:
        """Note what a running job has had, before its run ends for another scale or a pause."""
        self.served[job] = self.attained(state, job)

    def give(self, state: State, job: int, gpus: int) -> bool:
        """Start a job, or scale it, if there is room; return whether it has so many GPUs now."""
        run = state.running.get(job)
        held = 0 if run is None else round(run.units)
        if held == gpus:
            return True
        if gpus - held > self.free(state):
            return False
        if run is None:
            state.start(job, units=gpus)
        else:
            self.stopping(state, job)
            state.scale(job, gpus)
        return True

    def take(self, state: State, job: int) -> None:
        """Suspend a running job."""
        self.stopping(state, job)
        state.suspend(job)

    def protected(self, state: State) -> dict[int, int]:
        """Return the GPUs of jobs that have not yet progressed for one epoch since they were started or scaled.

        To preempt those would let a cluster restart jobs for ever, without progress, where rounds are shorter
        than restarts.
        """
        grace = self.epoch or 0.0
        return {job: round(run.units) for job, run in state.running.items() if state.now < run.ready + grace - 1e-9}

    def allocate(self, state: State, target: Mapping[int, int]) -> None:
        """Give each job the GPUs of `target`, and suspend those that are not in it; keep what stays."""
        for job in [job for job in state.running if job not in target]:
            self.take(state, job)
        held = {job: round(run.units) for job, run in state.running.items()}
        for job, gpus in target.items():
            if gpus < held.get(job, 0):
                self.give(state, job, gpus)
        for job, gpus in target.items():
            self.give(state, job, gpus)

    def select(self, ranked: Iterable[tuple[int, int]], room: int, target: dict[int, int]) -> int:
        """Add (job, GPUs) in their order to `target` as far as they fit into `room`; return what is left of it."""
        for job, gpus in ranked:
            if room <= 0:
                break
            if gpus <= room and job not in target:
                target[job] = gpus
                room -= gpus
        return room


class FixedScale(ClusterPolicy):
    """A policy that runs every job on a fixed number of GPUs, as far as its limits allow.

    Parameters
    ----------
    gpus
        That number; None: as many as a job may grow to while DEGRADATION stays at `gamma` or above.
    gamma
        See `gpus`; None for 1: the most GPUs at the best energy efficiency, as GREEN's section 8.1 presets jobs of
        schedulers that do not scale. A lower one gives jobs more GPUs, and takes more energy for the same work.

    Raises
    ------
    UnsupportedError
        For values that are none, or a `gamma` beside a number of GPUs.
    """

    def __init__(self, gpus: int | None = 1, gamma: float | None = None) -> None:
        require_number("gpus", gpus, least=1, whole=True, none=True)
        require_number("gamma", gamma, above=0, most=1, none=True)
        if gamma is not None and gpus is not None:
            raise UnsupportedError(f"gamma = {shown(gamma)}: says nothing of a fixed number; must come with gpus=none")
        self.gpus = gpus
        self.gamma = GAMMA if gamma is None else gamma

    def on_begin(self, state: State) -> None:
        """Choose the scale of each job."""
        super().on_begin(state)
        self.scales = [self._fixed(job) for job in range(len(self.least))]

    def scale_of(self, job: int) -> int:
        """Return the GPUs of a job."""
        return self.scales[job]

    def start_in_order(self, state: State, jobs: Iterable[int], backfill: bool = True) -> None:
        """Start jobs in their order while GPUs are free; without `backfill` none after one that has no room."""
        room = self.free(state)
        for job in jobs:
            gpus = self.scale_of(job)
            if gpus <= room:
                state.start(job, units=gpus)
                room -= gpus
            elif not backfill:
                break
            if not room:
                break

    def _fixed(self, job: int) -> int:
        least = self.least[job]
        most = self.most[job]
        if self.gpus is not None:
            return min(max(self.gpus, least), most)
        return next((n for n in range(least, most) if self.degradation(job, n + 1) < self.gamma), most)


class FirstCome(FixedScale):
    """First come, first served, without preemption: ``fcfs``.

    Parameters
    ----------
    gpus, gamma
        See `FixedScale`.
    backfill
        Whether a job may start before an earlier one for which there is no room.
    """

    def __init__(self, gpus: int | None = 1, gamma: float | None = None, backfill: bool = False) -> None:
        super().__init__(gpus, gamma)
        self.backfill = backfill

    def on_settled(self, state: State) -> None:
        """Start jobs in their order."""
        if self.free(state):
            self.start_in_order(state, list(state.queued), self.backfill)
