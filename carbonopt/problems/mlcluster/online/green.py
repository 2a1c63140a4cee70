"""GREEN: a multi-level feedback queue of energy efficiency above and carbon footprint below (Xu et al., NSDI 2025).

A job enters the upper queue and grows by one GPU a round while its energy efficiency holds up,

    EFFICIENCY = d progress / d energy,   DEGRADATION(n) = EFFICIENCY(n) / EFFICIENCY(n_min) >= gamma,

on at most a share theta of the GPUs. Then it moves to the lower queue, which runs by

    PRIORITY = FOOTPRINT / DEGRADATION x SHIFTING,   P* = (P - P_min) / (P_max - P_min) (mu - 1) + 1,

lowest first. SHIFTING is P* or 1 / P*, by the job's power against the median and by the intensity of the hour.
Active rounds rank the lower queue and preempt; passive rounds fill GPUs that are free in the last order.

The paper leaves points open; each is a field of `GreenOptions`, with what was decided as its default.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.problems.mlcluster.online.base import ClusterPolicy
from carbonopt.problems.mlcluster.online.green_options import GreenOptions
from carbonopt.simulation import State


class Green(ClusterPolicy):
    """GREEN's scheduler: ``green``.

    Parameters
    ----------
    **options
        Of `GreenOptions`.
    """

    Options = GreenOptions

    def __init__(self, **options: Any) -> None:
        self.options = GreenOptions(**options)
        self.epoch = self.options.scale_minutes
        self.upper: dict[int, None] = {}
        self.lower: dict[int, None] = {}
        self.last_order: list[int] = []
        self.next_rank = 0.0
        self.settle = False

    def on_begin(self, state: State) -> None:
        """Lay out efficiencies and the carbon so far."""
        super().on_begin(state)
        options = self.options
        self.cap = [max(low, min(high, options.cap)) for low, high in zip(self.least, self.most, strict=True)]
        self.scale = list(self.least)
        self.grown = [False] * len(self.least)
        self.carbon = [0.0] * len(self.least)
        self.waiting_since = [0.0] * len(self.least)
        values = self.signal.values
        self.mean = float(values.mean())
        self.day = max(1, round(1440 / self.signal.step))

    # what is known of a job

    def power(self, job: int, gpus: int) -> float:
        """Return the power of a job, with its share of the hosts [W]."""
        return self.watts[self.profile[job]][gpus - 1]

    def footprint(self, state: State, job: int) -> float:
        """Return what a job has emitted so far [W g/kWh min]."""
        run = state.running.get(job)
        if run is None:
            return self.carbon[job]
        return self.carbon[job] + self.power(job, round(run.units)) * self.signal.integral(run.start, state.now).item()

    def stopping(self, state: State, job: int) -> None:
        """Note what a job has emitted and had."""
        self.carbon[job] = self.footprint(state, job)
        self.waiting_since[job] = state.now
        super().stopping(state, job)

    def gamma(self) -> float:
        """Return the DEGRADATION that jobs must keep now."""
        options = self.options
        if options.gamma is not None:
            return options.gamma
        demand = sum(self.scale[job] for job in self.upper) + sum(self.scale[job] for job in self.lower)
        return min(options.gamma_idle + options.gamma_rise * (demand / self.total), options.gamma_most)

    # events

    def on_arrival(self, state: State, job: int) -> None:  # noqa: ARG002
        """Append a job to the upper queue."""
        self.upper[job] = None
        self.settle = True

    def on_completion(self, state: State, job: int) -> None:  # noqa: ARG002
        """Forget a job, and let a passive round follow."""
        self.upper.pop(job, None)
        self.lower.pop(job, None)
        self.settle = True

    def on_epoch(self, state: State) -> None:
        """Let jobs of the upper queue grow; rank all where that is due."""
        if not self.upper and not self.lower:
            self.next_rank = state.now
            return
        changed = self._grow(state)
        if self.options.spare and not state.queued:
            self._grow_into_spare(state, changed)
        if state.now >= self.next_rank - 1e-6:
            self.next_rank = state.now + self.options.rerank_minutes
            self._active_round(state)
        self.settle = True

    def on_settled(self, state: State) -> None:
        """Fill free GPUs: a passive round."""
        if self.settle:
            self.settle = False
            self._passive_round(state)

    # the upper queue

    def _room_above(self) -> float:
        return self.options.theta * self.total

    def _upper_order(self) -> list[int]:
        if self.options.upper == "fcfs":
            return list(self.upper)
        return sorted(self.upper, key=lambda job: -self.degradation(job, self.scale[job]))

    def _grow(self, state: State) -> set[int]:
        """Let each running job of the upper queue grow by one GPU, or move on; return those whose scale changed."""
        changed = set()
        running = [job for job in self._upper_order() if job in state.running]
        used = sum(self.scale[job] for job in running)
        gamma = self.gamma()
        full = False
        for job in running:
            gpus = self.scale[job]
            if self.degradation(job, gpus) < gamma and gpus > self.least[job]:
                if self.options.failed == "give-back":
                    self.scale[job] = gpus - 1
                    self.give(state, job, gpus - 1)
                changed.add(job)
                self.grown[job] = True
                used -= gpus
                self._move_on(job)
            elif gpus >= self.cap[job]:
                self.grown[job] = True
                used -= gpus
                self._move_on(job)
            elif not full and used + 1 <= self._room_above():
                if self.give(state, job, gpus + 1):
                    self.scale[job] = gpus + 1
                    changed.add(job)
                    used += 1
            else:
                full = True
                if self.options.full == "move-on":
                    used -= gpus
                    self._move_on(job)
        return changed

    def _grow_into_spare(self, state: State, changed: set[int]) -> None:
        """Let jobs that have not grown as far as they may take GPUs that would idle, one each a round."""
        room = self.free(state)
        gamma = self.gamma()
        for job in [job for job in (*self.upper, *self.last_order) if job in state.running]:
            gpus = self.scale[job]
            if room <= 0:
                break
            if job in changed or self.grown[job] or gpus >= self.cap[job]:
                continue
            if self.degradation(job, gpus) < gamma and gpus > self.least[job]:
                self.grown[job] = True
                self.scale[job] = gpus - (self.options.failed == "give-back")
            else:
                self.scale[job] = gpus + 1
            self.give(state, job, self.scale[job])
            room = self.free(state)

    def _move_on(self, job: int) -> None:
        del self.upper[job]
        self.lower[job] = None
        self.last_order.append(job)

    # the lower queue

    def _active_round(self, state: State) -> None:
        """Rank the lower queue, and give all GPUs anew."""
        self.last_order = self._ranked(state)
        target = self.protected(state)
        kept = sum(target.values())
        above = [(job, self.scale[job]) for job in self._upper_order() if job not in target]
        limit = int(self._room_above()) - sum(gpus for job, gpus in target.items() if job in self.upper)
        limit = max(0, min(limit, self.total - kept))
        room = self.total - kept - limit + self._first_fitting(above, limit, target)
        room = self.select(((job, self.scale[job]) for job in self.last_order), room, target)
        if self.options.backfill:
            self.select(above, room, target)
        self.allocate(state, target)

    def _first_fitting(self, above: list[tuple[int, int]], limit: int, target: dict[int, int]) -> int:
        """Take jobs of the upper queue in their order, and stop before they exceed `limit`; return what is left."""
        for job, gpus in above:
            if gpus > limit:
                break
            target[job] = gpus
            limit -= gpus
        return limit

    def _passive_round(self, state: State) -> None:
        """Start jobs in the last order where GPUs are free, the upper queue's own share first."""
        room = self.free(state)
        if room <= 0 or not state.queued:
            return
        above = self._room_above() - sum(self.scale[job] for job in self.upper if job in state.running)
        for job in self._upper_order() if above >= 1 else ():
            if job not in state.queued:
                continue
            gpus = self.scale[job]
            if gpus > above or gpus > room:
                break
            state.start(job, units=gpus)
            above = above - gpus
            room = room - gpus
        orders = [self.last_order, self._upper_order() if self.options.backfill else []]
        for order in orders:
            for job in order:
                if room <= 0:
                    return
                if job in state.queued and self.scale[job] <= room:
                    state.start(job, units=self.scale[job])
                    room -= self.scale[job]

    def _ranked(self, state: State) -> list[int]:
        """Return the lower queue by PRIORITY; those that have waited too long come first."""
        jobs = list(self.lower)
        if not jobs:
            return []
        watts = {job: self.power(job, self.scale[job]) for job in (*jobs, *self.upper)}
        median = float(np.median(list(watts.values())))
        least = min(watts.values())
        most = max(watts.values())
        strength = (self.options.mu - 1) / (most - least) if most > least else 0.0
        green = self._is_green(state)
        figure = self.options.shifting == "figure-5a"
        sign = 1.0 if self.options.order == "ascending" else -1.0
        limit = np.inf if self.options.ageing_hours is None else 60 * self.options.ageing_hours
        keys = {}
        for job in jobs:
            star = (watts[job] - least) * strength + 1.0
            divides = ((watts[job] > median) == green) == figure
            if self.options.footprint == "carbon":
                had = self.footprint(state, job)
            else:
                had = self.attained(state, job)
            shifting = 1.0 / star if divides else star
            priority = had / self.degradation(job, self.scale[job]) * shifting
            old = job in state.queued and state.now - self.waiting_since[job] > limit
            keys[job] = (not old, sign * priority, job)
        return sorted(jobs, key=keys.__getitem__)

    def _is_green(self, state: State) -> bool:
        values = self.signal.values
        slot = int(self.signal.position(state.now))
        mean = self.mean
        if self.options.mean == "past-day":
            mean = float(values[max(0, slot + 1 - self.day) : slot + 1].mean())
        elif self.options.mean == "day":
            first = slot - slot % self.day
            mean = float(values[first : first + self.day].mean())
        return bool(values[slot] < mean)
