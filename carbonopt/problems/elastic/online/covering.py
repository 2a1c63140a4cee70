"""Role ``covering`` of elastic: what has every one of some simulated schedules among its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from carbonopt.core.solution import Solution
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.verify.late_windows import extended

KG_PER_G = 1e-3


def covering(instance: ElasticInstance, runs: Sequence[Solution], carbon: bool) -> tuple[ElasticInstance, float]:
    """Return an instance whose windows end where a run was latest, and its objective's unit.

    Parameters
    ----------
    instance
        That was simulated.
    runs
        Checked schedules of it, whose info says which jobs are late.
    carbon
        Whether it minimises carbon alone, without a price on switching.

    Returns
    -------
    ElasticInstance
        What every run is a schedule of.
    float
        What a unit of its objective is, in kg where it minimises carbon and else in units of `instance`'s own.
    """
    late: dict[str, int] = {}
    for run in runs:
        for job, slots in run.info.get("late_slots", {}).items():
            late[job] = max(slots, late.get(job, 0))
    longer = extended(instance, late)
    return (replace(longer, switching_g_per_server=0.0), KG_PER_G) if carbon else (longer, 1.0)
