"""The columns of an ecas schedule, as solution files hold them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, IntArray
from carbonopt.problems.ecas.data.instance import EcasInstance


def as_schedule(
    instance: EcasInstance, job: Iterable[int], machine: Iterable[int], start: Iterable[int], on: BoolArray
) -> dict[str, Any]:
    """Return runs of jobs, by numbers, and the stretches in which machines are on, shape (M, T)."""
    jobs, machines = instance.jobs, instance.machines
    rows: list[tuple[str | None, str, int, int]] = [
        (jobs.name[j], machines.name[m], int(t), int(t + jobs.duration[j]))
        for j, m, t in zip(job, machine, start, strict=True)
    ]
    for m in range(len(machines)):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], on[m], [False]])))
        rows += [(None, machines.name[m], int(a), int(b)) for a, b in edges.reshape(-1, 2)]
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    return {name: list(column) for name, column in zip(("job", "machine", "start", "end"), columns, strict=True)}


def from_schedule(instance: EcasInstance, schedule: dict[str, Any]) -> tuple[IntArray, IntArray]:
    """Return machine and start of each job of a schedule that the checker passed, shapes (N,)."""
    numbers = {name: j for j, name in enumerate(instance.jobs.name)}
    machines = {name: m for m, name in enumerate(instance.machines.name)}
    machine, first = np.zeros((2, len(numbers)), dtype=np.int64)
    for job, name, start in zip(schedule["job"], schedule["machine"], schedule["start"], strict=True):
        if job is not None:
            machine[numbers[job]] = machines[name]
            first[numbers[job]] = start
    return machine, first
