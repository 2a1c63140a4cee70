"""The columns of a mosp schedule, as solution files hold them."""

from __future__ import annotations

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.mosp.data.instance import MospInstance


def as_schedule(instance: MospInstance, job: IntArray, cluster: IntArray, start: IntArray) -> Schedule:
    """Return runs, given by row numbers and start slots, with the names of jobs and clusters."""
    return {
        "job": [instance.jobs.name[i] for i in job],
        "cluster": [instance.clusters.name[j] for j in cluster],
        "start": [int(t) for t in start],
    }


def from_schedule(instance: MospInstance, schedule: Schedule) -> tuple[list[int], list[int], list[int]]:
    """Return row numbers of jobs and clusters, and start slots, of a schedule that the checker passed."""
    jobs = {name: i for i, name in enumerate(instance.jobs.name)}
    clusters = {name: j for j, name in enumerate(instance.clusters.name)}
    return (
        [jobs[name] for name in schedule["job"]],
        [clusters[name] for name in schedule["cluster"]],
        [int(start) for start in schedule["start"]],
    )
