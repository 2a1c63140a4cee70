"""The checker of elastic: imports no solver, no formulation and no heuristic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from carbonopt.core.report import Report, Violation
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.verify.allocation import check_allocation
from carbonopt.problems.elastic.verify.late_windows import extended, is_sound, online_metrics


def check(instance: ElasticInstance, schedule: dict[str, Any], info: dict[str, Any] | None = None) -> Report:
    """Check a schedule and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job`` (names), ``slot`` and ``servers``; in the fluid model also ``share``, the part of the slot in
        which the job has that many servers. A job without rows does not run.
    info
        A simulation with late jobs says in ``late_slots`` by how many slots the window of each is extended. The
        schedule is then checked against the extended instance, and `online_metrics` are among its metrics.

    Returns
    -------
    Report
        Every violated constraint, the objective [g], and the metrics.
    """
    late = (info or {}).get("late_slots")
    if late is None:
        return check_allocation(instance, schedule)
    if not is_sound(instance, late):
        words = "late_slots must hold whole numbers of slots, above 0, by the names of jobs"
        return Report((Violation("format", words),), None)
    longer = extended(instance, late)
    report = check_allocation(longer, schedule)
    if report.objective is None or report.violations:
        return report
    return replace(report, metrics={**report.metrics, **online_metrics(longer, schedule), "late_jobs": len(late)})
