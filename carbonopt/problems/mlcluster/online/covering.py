"""Role ``covering`` of mlcluster: what has every one of some simulated schedules among its own."""

from __future__ import annotations

from collections.abc import Sequence

from carbonopt.core.solution import Solution
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.methods.limited import at_equal


def covering(instance: MlClusterInstance, runs: Sequence[Solution], carbon: bool) -> tuple[MlClusterInstance, float]:
    """Return an instance that has all runs among its schedules, and its objective's unit.

    Parameters
    ----------
    instance
        That was simulated.
    runs
        Checked schedules of it.
    carbon
        Whether it minimises carbon alone, at a mean completion time of no more than that of the slowest run.

    Returns
    -------
    MlClusterInstance
        What every run is a schedule of.
    float
        What a unit of its objective is, in kg where it minimises carbon and else in units of `instance`'s own.
    """
    if not carbon:
        return instance, 1.0
    slowest = max(float(run.metrics["mean_jct_hours"]) for run in runs)
    return at_equal(instance, {"mean_jct_hours": slowest})[0], 1.0
