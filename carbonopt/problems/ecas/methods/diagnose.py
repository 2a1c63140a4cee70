"""Whether an ecas instance has a schedule, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray
from carbonopt.core.options import Options
from carbonopt.core.report import Diagnosis, Finding
from carbonopt.core.status import Status
from carbonopt.problems.ecas import PROBLEM
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.formulation.program import estimate_size
from carbonopt.problems.ecas.methods.milp import choose


def diagnose(instance: EcasInstance, options: Options) -> Diagnosis:
    """Name jobs that fit no machine and slots with too much work, else look for a schedule."""
    findings = (*stuck_jobs(instance), *_crowded(instance))
    if findings:
        return Diagnosis(False, "jobs that can only run in some slots, and the room there", findings)
    names = ("milp",) if instance.constraints else ("greedy", choose(instance))
    for name in names:
        outcome = PROBLEM.run(name, instance, options)
        if outcome.schedule is not None:
            break
    if outcome.schedule is not None:
        return Diagnosis(True, "a schedule in which every job runs")
    if outcome.status is Status.INFEASIBLE:
        text = "the jobs cannot be packed: HiGHS finds no schedule, though each slot has room for their sum"
        return Diagnosis(False, "the whole program has no solution", (Finding(text),))
    return Diagnosis(None, "the time ran out" if options.remaining <= 0 else "no schedule was found, and no proof")


def inspect(instance: EcasInstance) -> dict[str, Any]:
    """Return the size of the program, and what stands in the way of a schedule."""
    columns, nonzeros = estimate_size(instance)
    warnings = [str(finding) for finding in (*stuck_jobs(instance), *_crowded(instance))]
    return {"program_columns": columns, "program_nonzeros": nonzeros, "warnings": warnings}


def stuck_jobs(instance: EcasInstance) -> Iterator[Finding]:
    """Yield the jobs that no machine has room for."""
    largest = instance.machines.capacity.max(axis=0, initial=0)
    for j in np.flatnonzero(~np.any(instance.fits, axis=1)):
        name = instance.jobs.name[j]
        short = [
            f": it needs {need} {resource}, the largest has {most}"
            for resource, need, most in zip(instance.resources, instance.jobs.use[j], largest, strict=True)
            if need > most
        ]
        yield Finding(f"job {name!r} fits no machine, even alone{''.join(short[:1])}", (name,))


def _crowded(instance: EcasInstance) -> Iterator[Finding]:
    """Yield the resources of which the jobs that cannot avoid a slot need more than all machines have."""
    jobs = instance.jobs
    slots = np.arange(instance.time.slots)
    forced: BoolArray = (jobs.last_start[:, None] <= slots) & (slots < (jobs.arrival + jobs.duration)[:, None])
    about_needed = jobs.use.T.astype(np.float64) @ forced
    machines = instance.machines
    available = np.ones((len(machines), len(slots))) if machines.available is None else machines.available
    about_there = machines.capacity.T.astype(np.float64) @ available
    for r, resource in enumerate(instance.resources):
        t = int(np.argmax(about_needed[r] - about_there[r]))
        need = sum(jobs.use[forced[:, t], r].tolist())  # exact, where sums exceed 64 bits
        room = sum(machines.capacity[available[:, t] > 0, r].tolist())
        if need > room:
            names = tuple(instance.jobs.name[j] for j in np.flatnonzero(forced[:, t] & (jobs.use[:, r] > 0)))
            needed = f"{len(names)} jobs that must run in slot {t} need {need} {resource}"
            text = f"{needed}, the machines have {room}"
            yield Finding(text, names, (), ((t, t),), resource, float(need), float(room))
