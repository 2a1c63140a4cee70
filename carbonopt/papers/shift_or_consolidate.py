"""Shift or consolidate: what plans without idle power emit, and what time and machines save apart and together.

The jobs of a `mosp` instance run in each of its zones in turn, on machines whose idle power is half of what a busy
one draws. Four plans are compared, each with its machines on as is cheapest for it:

- `neither`: each job as early as it fits, on the least loaded machine.
- `shift`: the plan of `mosp`, which knows the carbon signal and no idle power.
- `consolidate`: starts of `neither`, on the machines on which they emit least.
- `both`: times and machines together. `shift_then` has the starts of `shift` and other machines.

What the last three could save lies between the plan found and a proven bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.solution import Solution
from carbonopt.evaluate import evaluate
from carbonopt.idle_power import on_machines, with_idle_power, with_starts
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.points import bars
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.data.schedule import from_schedule
from carbonopt.solve import solve

UNITS = 16
"""Of a machine: jobs of the generator use 1 to 5."""
WATTS_PER_UNIT = 20.0
"""Of a unit in use [W]."""
IDLE_WATTS = UNITS * WATTS_PER_UNIT
"""Of a machine that is on: half of what it draws with all units in use [W]."""
ON_KG = 0.02
"""Of a start: some ten minutes of idling at 400 g/kWh [kg]."""
LOAD = 0.4
"""Work over the room of all machines."""
LATENESS_KG = 10.0
"""Of each slot that a job of `mosp` ends late: windows of `ecas` are hard [kg]."""
SHIFT_GAP = 0.002
"""At which the search of `mosp` ends, relative."""
EFFORT = {"search": {"moves_per_job": 400}}
"""Of `ecas`: by moves, so that the same instance gives the same table."""
SHOWN = {"shift_percent": "shift", "consolidate_percent": "consolidate", "both_percent": "both"}


def in_zone(instance: MospInstance, zone: str) -> MospInstance:
    """Return the jobs of an instance on machines of one zone, as many as `LOAD` needs, each a cluster."""
    jobs = instance.jobs
    if len(instance.resources) != 1:
        raise UnsupportedError(f"{instance.name}: must have one resource")
    work = float(jobs.duration @ jobs.demand[:, 0])
    count = max(1, int(np.ceil(work / (LOAD * UNITS * instance.time.slots))))
    names = tuple(f"m{m}" for m in range(count))
    room = np.full((count, 1), float(UNITS))
    clusters = Clusters(names, (zone,) * count, room, np.full((count, 1), WATTS_PER_UNIT))
    objective = CarbonObjective(1.0, LATENESS_KG, 0.0)
    return replace(
        instance,
        name=f"{instance.name}-{zone}",
        clusters=clusters,
        jobs=replace(jobs, eligible=None),
        objective=objective,
        fixed=None,
    )


def earliest(instance: EcasInstance) -> tuple[IntArray, IntArray]:
    """Return machine and start of each job: as early as it fits, on the machine with the least load.

    Raises
    ------
    UnsupportedError
        If some job fits nowhere in its window.
    """
    jobs = instance.jobs
    load = np.zeros((len(instance.machines), instance.time.slots), dtype=np.int64)
    machine, start = np.zeros((2, len(jobs)), dtype=np.int64)
    for j in np.argsort(jobs.arrival, kind="stable"):
        for s in range(jobs.arrival[j], jobs.last_start[j] + 1):
            run = slice(s, s + jobs.duration[j])
            m = int(np.argmin(load[:, run].max(axis=1)))
            if load[m, run].max() + jobs.use[j, 0] <= instance.machines.capacity[m, 0]:
                break
        else:
            raise UnsupportedError(f"{instance.name}: job {jobs.name[j]} finds no machine when it arrives")
        load[m, run] += jobs.use[j, 0]
        machine[j] = m
        start[j] = s
    return machine, start


def _table(run: Run) -> pd.DataFrame:
    """Return one row a zone."""
    return pd.DataFrame([row for instance in run.instances for row in _rows(run, instance)])


def _rows(run: Run, instance: Any) -> Iterator[dict[str, Any]]:
    for zone in instance.carbon.zones:
        yield _row(run, in_zone(instance, zone), zone)


def _row(run: Run, source: MospInstance, zone: str) -> dict[str, Any]:
    """Return what the plans of one zone emit, the bounds, and what they save."""
    limits: dict[str, Any] = {"seed": run.settings.get("seed", 0), "time_limit": run.time_limit}
    search: Any = partial(solve, method="price", params=EFFORT, **limits)
    target = with_idle_power(source, IDLE_WATTS, ON_KG)

    def kept(label: str, found: Solution) -> Solution:
        run.say(f"{zone}: {label}")
        return run.keep(label, found)

    def packed(label: str, begin: Solution, start: IntArray) -> Solution:
        timed = with_starts(target, start)
        return kept(label, search(timed, initial_solution=evaluate(timed, begin.columns)))

    machine, start = earliest(target)
    neither = evaluate(target, on_machines(target, machine, start))
    consolidated = packed("consolidate", neither, start)
    plan = kept("shift", solve(source, method="price", mip_rel_gap=SHIFT_GAP, **limits))
    _, machine, start = _by_job(source, plan)
    shifted = evaluate(target, on_machines(target, machine, start))
    then = packed("shift, then consolidate", shifted, start)
    best = min((neither, consolidated, shifted, then), key=_kg)
    both = kept("both", search(target, initial_solution=evaluate(target, best.columns)))
    row: dict[str, Any] = {"zone": zone, "promised_kg": plan.metrics["carbon_kg"]}
    row |= {"neither_kg": neither.objective, "shift_kg": shifted.objective}
    for name, found in (("consolidate", consolidated), ("shift_then", then), ("both", both)):
        row |= {f"{name}_kg": found.objective, f"{name}_bound_kg": found.bound}
    return row | _savings(row)


def _kg(found: Solution) -> float:
    assert found.objective is not None
    return found.objective


def _by_job(source: MospInstance, plan: Solution) -> tuple[IntArray, IntArray, IntArray]:
    """Return job, machine and start of a plan, in the order of the jobs.

    Raises
    ------
    UnsupportedError
        If the plan has no schedule, or jobs that are late.
    """
    if plan.columns is None or plan.metrics["deadlines_met"] < len(source.jobs):
        raise UnsupportedError(f"{source.name}: mosp finds no plan in which every job is on time; give more time")
    job, machine, start = (np.array(column, dtype=np.int64) for column in from_schedule(source, plan.columns))
    order = np.argsort(job)
    return job[order], machine[order], start[order]


def _savings(row: dict[str, Any]) -> dict[str, float | None]:
    """Return what each plan saves over `neither` [%], and the most that any plan of its kind could."""
    base = row["neither_kg"]
    found: dict[str, float | None] = {}
    for name in ("shift", "consolidate", "shift_then", "both"):
        found[f"{name}_percent"] = 100 * (base - row[f"{name}_kg"]) / base if base > 0 else None
        bound = row.get(f"{name}_bound_kg")
        if bound is not None and base > 0:
            found[f"{name}_most_percent"] = 100 * (base - bound) / base
    return found


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    ax = bars(table, "zone", SHOWN, ax)
    ax.set_ylabel("carbon saved over neither [%]")
    return ax


SAVINGS = Figure(
    "mosp",
    "shift in time, consolidate on few machines, or both: carbon with idle power, by zone",
    _table,
    _draw,
    "Each saving is of a plan that was found; its kind saves at most what is called most_percent, by a proven bound."
    " promised_kg is what mosp counts of the plan called shift, without idle power. Without files: a drawn instance"
    " and synthetic signals with the statistics of ten zones.",
    ({"preset": "bench", "jobs": 200, "clusters": 10, "slots": 48, "load": 0.1, "seed": 1},),
    solves=True,
)
"""`shift-or-consolidate`."""
