"""Workloads and policies of a few lines, for the tests of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.simulation import ENDED, Log, Policy, State, Workload


def jobs(*rows: tuple[float, float, float], **columns: Any) -> Workload:
    """Return a workload of rows (arrival, work, units)."""
    arrival, work, units = zip(*rows, strict=True)
    return Workload(np.array(arrival), np.array(work), np.array(units), **columns)


def rows(log: Log) -> list[tuple[int, str, float, float, float, str]]:
    """Return (job, pool, units, start, end, why it ended) of each segment."""
    return [
        (int(job), log.pools[pool], float(units), float(start), float(end), ENDED[ended])
        for job, pool, units, start, end, ended in zip(
            log.job, log.pool, log.units, log.start, log.end, log.ended, strict=True
        )
    ]


class Queue(Policy):
    """First come, first served, without overtaking."""

    def on_settled(self, state: State) -> None:
        for job in list(state.queued):
            if not state.fits(job):
                break
            state.start(job)


class AtOnce(Policy):
    """Every job at its arrival."""

    def on_arrival(self, state: State, job: int) -> None:
        state.start(job)


def scripted(**hooks: Any) -> Policy:
    """Return a policy of the given hooks; jobs start at their arrival unless a hook says otherwise."""
    return type("Scripted", (AtOnce,), {name: lambda self, *what, _do=do: _do(*what) for name, do in hooks.items()})()
