"""Roles ``covering`` and ``covering_bound`` of mosp: what has some simulated schedules among its own, and its bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carbonopt.core.solution import Solution
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective
from carbonopt.problems.mosp.online.bound import pieces_bound


def covering(instance: MospInstance, runs: Sequence[Solution], carbon: bool) -> tuple[MospInstance, float]:
    """Return an instance whose schedules, in pieces or not, have all runs among them, and its objective's unit.

    Parameters
    ----------
    instance
        That was simulated.
    runs
        Checked schedules of it.
    carbon
        Whether it minimises carbon alone. A job may then be rejected, for nothing, where it is in a run.

    Returns
    -------
    MospInstance
        What every run is a schedule of.
    float
        What a unit of its objective is, in kg where it minimises carbon and else in units of `instance`'s own.
    """
    if carbon:
        all_run = all(len(set(_columns(run)["job"])) == len(instance.jobs) for run in runs)
        return instance.with_objective(CarbonObjective(1.0, 0.0, 0.0, None if all_run else 0.0)), 1.0
    objective = instance.objective
    if isinstance(objective, CaspianObjective) and objective.normalizers is None:
        bars = runs[0].info["normalizers"]
        known = (bars["z1"], bars["z2"], bars["z3"])
        return instance.with_objective(CaspianObjective(objective.z1, objective.z2, objective.z3, known)), 1.0
    return instance, 1.0


def covering_bound(target: MospInstance, runs: Sequence[Solution], found: Solution) -> float | None:
    """Return a bound on the objective of all schedules of the kind of the runs.

    Parameters
    ----------
    target
        What `covering` returned.
    runs
        Checked schedules.
    found
        What a method found on `target`: its bound holds where no job runs in several pieces.

    Returns
    -------
    float or None
        Where a run has pieces: that of `pieces_bound`, and under the caspian objective none.
    """
    if not any(_has_pieces(run) for run in runs):
        return found.bound
    if not isinstance(target.objective, CarbonObjective):
        return None
    shape = target.clusters.limit.shape
    told = np.asarray((found.certificate or {}).get("prices", np.zeros(shape)), dtype=np.float64)
    prices = told if told.shape == shape else None
    return pieces_bound(target, any(run.info.get("pieces") == "migrate" for run in runs), prices)[0]


def _columns(run: Solution) -> dict[str, list[object]]:
    return dict(run.columns or {})


def _has_pieces(run: Solution) -> bool:
    jobs = _columns(run)["job"]
    return len(set(jobs)) < len(jobs)
