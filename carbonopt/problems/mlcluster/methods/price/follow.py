"""Schedules that follow the prices: a policy of the simulation engine that knows the prices of all cells.

At the beginning of each cell every job that is there wants the scale at which its next GPU is still worth
its price: the steps of its ladder up to its break price. GPUs go to the steps that are worth most, those of
running jobs with a premium for the restart that they save. A job that has fallen behind gets a higher
break price, such that its remaining work fits into the remaining cells. Whole GPUs change hands at the
beginnings of cells, at arrivals and at completions alone, so the checker accepts what comes out.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options, Schedule
from carbonopt.problems.mlcluster.methods.price import kernels
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters
from carbonopt.problems.mlcluster.online.base import ClusterPolicy
from carbonopt.problems.mlcluster.online.run import schedule_in_time
from carbonopt.simulation import State

WORTH = 1 + 1e-9
"""A step is taken if its cost is at most so many times the break price: rounding must not refuse a step at it."""
CATCH_UP = 1e9
"""Break price of a job that can no longer end in time, over the usual."""


def follow_prices(proof: Proof, options: Options, premium: float = 1.0, haste: float = 1.0) -> Schedule | None:
    """Return a schedule that follows the prices; None where not all jobs end by the horizon, or the time runs out.

    Parameters
    ----------
    proof
        The prices.
    options
        For the time that is left, and the parameters.
    premium
        Worth of a restart that is saved, over the work that it would take.
    haste
        How many times its remaining work a job wants room for; above 1 where there is little slack.
    """
    most_passed = options.parameters(PriceParameters).follow.most_passed
    policy = PricePolicy(proof, premium, haste, most_passed)
    return schedule_in_time(proof.coefficients.instance, policy, options)


class PricePolicy(ClusterPolicy):
    """Follow prices of GPU time.

    Parameters
    ----------
    proof
        The prices.
    premium, haste
        See `follow_prices`.
    most_passed
        Jobs that were left over and do not fit, which are passed over at most.
    """

    def __init__(self, proof: Proof, premium: float, haste: float, most_passed: int) -> None:
        coefficients = proof.coefficients
        self.most_passed = most_passed
        self.coefficients = coefficients
        self.premium = premium
        self.haste = haste
        self.epoch = coefficients.minutes
        kinds, most = coefficients.speed.shape
        self.ladder = kernels.Ladder.of_shape(kinds, coefficients.count, most)
        kernels.ladders(coefficients.carbon, proof.prices, coefficients.speed, coefficients.watts, False, self.ladder)
        self.prices = proof.prices
        self.mu = proof.work_prices.copy()
        self.highest = CATCH_UP * float(max(self.mu.max(initial=0.0), 1e-9))
        self.slope = proof.delay_price / 60 / coefficients.required
        self.restart = coefficients.instance.scales.restart_minutes[coefficients.instance.profile_of_job]
        self.began = np.zeros(len(coefficients.required), dtype=np.bool_)
        self.left = coefficients.instance.jobs.work_gpu_minutes.copy()
        self.left_over: deque[tuple[int, int]] = deque()
        self.new: list[int] = []

    def on_arrival(self, state: State, job: int) -> None:  # noqa: ARG002
        """Look at a job between two epochs."""
        self.new.append(job)

    def on_epoch(self, state: State) -> None:
        """Give all GPUs anew."""
        jobs = np.array([*state.running, *state.queued], dtype=np.int64)
        if not len(jobs):
            return
        self._catch_up(state, jobs)
        target, over = self._choose(state, jobs, self.total)
        self.left_over = deque(over)
        self.new = []
        self.allocate(state, target)
        self.began[list(target)] = True

    def on_settled(self, state: State) -> None:
        """Let jobs that were left over, or have just come, take GPUs that are free."""
        room = self.free(state)
        if room and self.new:
            target, over = self._choose(state, np.array(self.new, dtype=np.int64), room)
            self.left_over += over
            for job, gpus in target.items():
                self.give(state, job, gpus)
                self.began[job] = True
            room = self.free(state)
        self.new = []
        if not room:
            return
        passed: list[tuple[int, int]] = []
        while self.left_over and room and len(passed) < self.most_passed:
            job, gpus = self.left_over.popleft()
            if job not in state.queued:
                continue
            if gpus <= room:
                state.start(job, units=gpus)
                self.began[job] = True
                room -= gpus
            else:
                passed.append((job, gpus))
        self.left_over.extendleft(reversed(passed))

    def _cell(self, state: State) -> int:
        return min(int(state.now / self.coefficients.minutes + 1e-9), self.coefficients.count - 1)

    def _catch_up(self, state: State, jobs: IntArray) -> None:
        """Raise the break prices of jobs whose remaining work does not fit below them."""
        for job in state.running:
            self.left[job] = state.remaining(job)
        needed = self.haste * self.left[jobs] + self.began[jobs] * self.restart[jobs]
        self.raise_break_prices(jobs, needed, self._cell(state), state.now)

    def raise_break_prices(self, jobs: IntArray, needed: FloatArray, cell: int, now: float) -> None:
        """Raise break prices until the cells from `cell` on, at the moment `now` [min], hold the work `needed`."""
        _raise(
            jobs, needed, self.coefficients.kind, self.slope, cell, now, self.coefficients.minutes,
            self.ladder, self.mu, self.highest,
        )  # fmt: skip

    def _choose(self, state: State, jobs: IntArray, room: int) -> tuple[dict[int, int], list[tuple[int, int]]]:
        """Return GPUs by job, at most `room` of them, and the jobs that got none though they are worth some."""
        cell = self._cell(state)
        kind = self.coefficients.kind[jobs]
        held = np.zeros(len(jobs))
        if len(state.running):
            units = np.zeros(len(self.mu))
            units[list(state.running)] = [run.units for run in state.running.values()]
            held = units[jobs]
        ratio, gain, gpus = (part[kind, cell] for part in (self.ladder.ratio, self.ladder.gain, self.ladder.gpus))
        there = np.arange(ratio.shape[1]) < self.ladder.steps[kind, cell][:, None]
        price = self.mu[jobs] - self.slope[jobs] * state.now
        wanted = there & (ratio <= WORTH * price[:, None])
        top = np.cumsum(gpus, axis=1)
        worth = np.where(wanted, (price[:, None] - ratio) * gain / np.maximum(gpus, 1.0), 0.0)
        saved = self.premium * self.restart[jobs] / self.coefficients.minutes
        keeps = wanted & (top <= held[:, None] + 0.5)
        lost = wanted & ((held > 0) | self.began[jobs])[:, None] & ~keeps
        at_stake = (saved * price)[:, None] * gain / np.maximum(gpus, 1.0)
        worth += np.where(keeps, at_stake, 0.0) - np.where(lost, at_stake, 0.0)
        row, step = np.nonzero(wanted)
        order = np.lexsort((row, step, -worth[row, step]))
        target: dict[int, int] = {}
        reached = np.zeros(len(jobs), dtype=np.int64)
        for r, s in zip(row[order].tolist(), step[order].tolist(), strict=True):
            size = int(gpus[r, s])
            if size <= room and reached[r] == s:
                reached[r] = s + 1
                target[int(jobs[r])] = int(top[r, s])
                room -= size
                if not room:
                    break
        wanting = np.flatnonzero(wanted.any(axis=1) & (reached == 0))
        wanting = wanting[np.argsort(-worth[wanting, 0], kind="stable")]
        return target, [(int(jobs[r]), int(gpus[r, 0])) for r in wanting.tolist()]


@kernel
def _raise(
    jobs: IntArray,
    needed: FloatArray,
    kind: IntArray,
    slope: FloatArray,
    cell: int,
    now: float,
    minutes: float,
    ladder: kernels.Ladder,
    mu: FloatArray,
    most: float,
) -> None:
    """Raise `mu` of each job by steps until the cells from now on hold its work below it."""
    ratio = ladder.ratio
    gain = ladder.gain
    steps = ladder.steps
    for q in range(len(jobs)):
        j = jobs[q]
        k = kind[j]
        for _ in range(60):
            room, following = 0.0, most
            for t in range(cell, ratio.shape[1]):
                begin = max(now, t * minutes)
                extra = slope[j] * begin
                time = (t + 1) * minutes - begin
                for i in range(steps[k, t]):
                    r = ratio[k, t, i] + extra
                    if r > mu[j] * 1.000000001:
                        following = min(following, r)
                        break
                    room += gain[k, t, i] * time
                if room >= needed[q]:
                    break
            if room >= needed[q] or mu[j] >= most:
                break
            mu[j] = max(following, 1.02 * mu[j])
