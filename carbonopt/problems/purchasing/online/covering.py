"""Role ``covering`` of purchasing: what has every one of some simulated schedules among its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from carbonopt.core.solution import Solution
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.methods.epsilon_constraints import (
    COMMITMENTS,
    OBJECTIVE_METRICS,
    at_equal,
    commitments,
)


def covering(instance: PurchasingInstance, runs: Sequence[Solution], carbon: bool) -> tuple[PurchasingInstance, float]:
    """Return an instance whose model is the loosest that a run needs, and its objective's unit.

    Parameters
    ----------
    instance
        That was simulated.
    runs
        Checked schedules of it.
    carbon
        Whether it minimises carbon alone, at no more cost and no more wait than the run with most of it.

    Returns
    -------
    PurchasingInstance
        What every run is a schedule of.
    float
        What a unit of its objective is, in kg where it minimises carbon and else in units of `instance`'s own.
    """
    needed = {instance.model, *(commitments(run)[0][1] for run in runs)}
    model = next(looser for _, looser in reversed(COMMITMENTS) if looser in needed)
    if not carbon:
        return replace(instance, model=model), 1.0
    most = {name: max(run.metrics[name] for run in runs) for name in (*OBJECTIVE_METRICS, "reserved_cpus")}
    return at_equal(instance, most, "carbon_kg", model)[0], 1.0
