"""Ruin and recreate: a few jobs are taken out, and each gets its cheapest runs in what the others leave.

What runs cost for this is carbon and lateness, and a share of the prices of GPU time. With all of it a job leaves cheap
hours to those that win more by them; without any it takes what nobody else has. Both happen by turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.incumbent import Incumbent
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters, RepairParameters
from carbonopt.problems.mlcluster.methods.price.path import path_steps
from carbonopt.problems.mlcluster.methods.price.repair import Room, Rows, rows_of, schedule_of

TURNS = 3.0
"""Best walks that one job takes, about, with what surrounds them: by it the work is counted."""
INSERT_STEPS = 5e4
"""Loop steps that stand for the rest of putting a job back, in Python."""
OFFERED = 100
"""Rounds after which a better schedule is offered."""
LEAST_GAIN = 1e-9
"""A schedule is better by at least this, relative."""


def improve(proof: Proof, options: Options, best: Incumbent) -> dict[str, Any]:
    """Offer better schedules until the limit is used up or nothing better is found; return what is told of it."""
    if best.schedule is None:
        return {}
    params = options.parameters(PriceParameters).repair
    search = _Search(proof, options, params, rows_of(best.instance.jobs.name, best.schedule))
    patience = params.patience * len(best.instance.jobs)
    done, told, found = 0, best.objective, 0
    while (stale := done - found) < patience and options.remaining > 0 and not best.is_within(proof.bound):
        done += 1
        if search.round(params.temperature * (1 - stale / patience)):
            found = done
        if search.best < told and done % OFFERED == 0:
            best.offer(schedule_of(best.instance.jobs.name, search.best_rows))
            told = search.best
    if search.best < told:
        best.offer(schedule_of(best.instance.jobs.name, search.best_rows))
    return {"rounds": done, "converged": done - found >= patience}


@dataclass
class _Round:
    """What a round does: the jobs that are put back, in this order, at these prices."""

    jobs: IntArray
    prices: FloatArray


class _Search:
    """The present schedule and the best one, changed round by round."""

    def __init__(self, proof: Proof, options: Options, params: RepairParameters, rows: Rows) -> None:
        instance = proof.coefficients.instance
        self.proof, self.options, self.params, self.rows = proof, options, params, rows
        self.room = Room(proof, rows)
        self.count = len(instance.jobs)
        self.mean_bound = proof.bound / max(self.count, params.temperature_jobs)
        self.weight = instance.weights.jct_hours
        limit = instance.limits.mean_jct_hours
        self.most_hours = np.inf if limit is None else limit * self.count
        self.cost, self.hours = self._values(rows)
        self.best, self.best_rows = float(self.cost.sum()), rows
        self.now = self.best
        self.rng = np.random.default_rng(options.seed)

    def _values(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return what each job costs, and its completion time [h], shapes (N,); 0 where it has no rows."""
        last = np.zeros(self.count)
        np.maximum.at(last, rows.job, rows.end)
        hours = np.where(last > 0, (last - self.room.arrival) / 60, 0.0)
        return np.bincount(rows.job, self.room.costs(rows), self.count) + self.weight * hours, hours

    def round(self, temperature: float) -> bool:
        """Take jobs out and put them back; return whether the schedule is better than all before."""
        drawn = self._draw()
        room = self.room
        is_drawn = np.zeros(self.count, dtype=np.bool_)
        is_drawn[drawn.jobs] = True
        taken = is_drawn[self.rows.job]
        old = self.rows.kept(taken)
        new: list[Rows] = []
        room.remove(old)
        room.set_prices(drawn.prices)
        for job in drawn.jobs.tolist():
            rows = room.runs(job)
            self._spend()
            if rows is None:
                break
            new.append(rows)
            room.add(rows)
        most_rise = temperature * self.mean_bound * float(self.rng.exponential())
        if len(new) == len(drawn.jobs) and self._accepts(drawn.jobs, new, most_rise):
            self.rows = self.rows.kept(~taken).joined(*new)
            return self._keep_best()
        for rows in new:
            room.remove(rows)
        room.add(old)
        return False

    def _accepts(self, jobs: IntArray, new: list[Rows], most_rise: float) -> bool:
        """Count new runs of jobs unless they cost too much more than the old ones; return whether it is done."""
        hours = np.array([(rows.end[-1] - self.room.arrival[job]) / 60 for job, rows in zip(jobs, new, strict=True)])
        cost = np.array([self.room.costs(rows).sum() for rows in new]) + self.weight * hours
        change = float(cost.sum() - self.cost[jobs].sum())
        late = self.hours.sum() + hours.sum() - self.hours[jobs].sum()
        if late > self.most_hours or change > most_rise:
            return False
        self.cost[jobs], self.hours[jobs] = cost, hours
        self.now += change
        return True

    def _keep_best(self) -> bool:
        if self.now >= self.best - LEAST_GAIN * abs(self.best):
            return False
        self.best, self.best_rows = self.now, self.rows
        return True

    def _draw(self) -> _Round:
        params, rng = self.params, self.rng
        share = self.cost / max(float(self.cost.sum()), 1e-12)
        weight = np.ones(self.count) if rng.random() < params.uniform_share else share + 1e-9
        jobs = [self._drawn(weight)]
        own = np.flatnonzero(self.rows.job == jobs[0])
        run = own[rng.integers(len(own))]
        low, high = self.rows.start[run] - params.reach_minutes, self.rows.end[run] + params.reach_minutes
        near = self.rows.job[(self.rows.start < high) & (self.rows.end > low)]
        weight = share[near] + 0.5 / self.count
        for _ in range(int(rng.integers(params.most_jobs))):
            weight[near == jobs[-1]] = 0.0
            if not weight.any():
                break
            jobs.append(int(near[self._drawn(weight)]))
        return _Round(rng.permutation(np.array(jobs, dtype=np.int64)), self._prices())

    def _drawn(self, weight: FloatArray) -> int:
        """Return a number from 0, in proportion to its weight."""
        until = np.cumsum(weight)
        return min(int(np.searchsorted(until, until[-1] * self.rng.random(), side="right")), len(weight) - 1)

    def _prices(self) -> FloatArray:
        """Return prices of GPU time for a round."""
        share = 0.0 if self.rng.random() < self.params.free_share else self.rng.uniform(0, self.params.price_share)
        if share == 0:
            return np.zeros_like(self.proof.prices)
        return share * self.proof.prices * np.exp(self.params.noise * self.rng.normal(size=self.proof.prices.shape))

    def _spend(self) -> None:
        gpus = self.room.coefficients.speed.shape[1]
        self.options.spend(INSERT_STEPS + TURNS * path_steps(self.room.steps, gpus))
