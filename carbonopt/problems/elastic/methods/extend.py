"""The paper's way out when its greedy leaves jobs unfinished: extend their deadlines and repeat.

CarbonFlex (section 4.1) extends the deadline of unfinished jobs and runs Algorithm 1 again. That gives
another instance, with other windows, so it is made here explicitly, with a record of who got how much.
Often no extension is needed: the greedy fails on instances that have a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.greedy import allocate
from carbonopt.problems.elastic.methods.price.fluid.method import prove_shortage


@dataclass(frozen=True, eq=False)
class Extension:
    """An instance with longer windows.

    Parameters
    ----------
    instance
        The instance on which Algorithm 1 completes every job.
    job
        Names of the extended jobs.
    extra_slots
        By how much each was extended [slots].
    rounds
        How often Algorithm 1 ran.
    needed
        True if it is proven that some extension was needed; False if the fluid model of the instance as
        it was has a schedule; None if the time ran out.
    """

    instance: ElasticInstance
    job: tuple[str, ...]
    extra_slots: tuple[int, ...]
    rounds: int
    needed: bool | None


def extend(instance: ElasticInstance, options: Options, step_slots: int = 1, variant: str = "corrected") -> Extension:
    """Extend the slack of jobs that Algorithm 1 leaves unfinished until it completes all.

    Parameters
    ----------
    instance
        N jobs, T slots.
    options
        The time limit of the test whether an extension is needed at all.
    step_slots
        Slots added to each unfinished job's slack before the next round, at least 1.
    variant
        Of Algorithm 1: ``corrected`` or ``fluid``.

    Raises
    ------
    UnsupportedError
        If a window would have to end after the horizon; the message says which.
    """
    if step_slots < 1:
        raise UnsupportedError(f"step_slots = {shown(step_slots)}: must be at least 1")
    slack: IntArray = instance.jobs.slack.copy()
    end_of_work = instance.jobs.arrival + instance.jobs.whole_slots
    extended, rounds = instance, 1
    unfinished = allocate(extended, variant).unfinished
    while len(unfinished):
        beyond = unfinished[end_of_work[unfinished] + slack[unfinished] >= instance.time.slots]
        if len(beyond):
            name = instance.jobs.name[beyond[0]]
            slots = instance.time.slots
            words = (
                f"Algorithm 1 leaves job {name!r} unfinished with a window up to the horizon of {slots} slots: give "
                "the instance more slots, or use another method"
            )
            raise UnsupportedError(words)
        longer = slack[unfinished] + step_slots
        slack[unfinished] = np.minimum(longer, instance.time.slots - end_of_work[unfinished])
        extended = instance.with_slack(slack)
        rounds += 1
        unfinished = allocate(extended, variant).unfinished
    changed = np.flatnonzero(slack > instance.jobs.slack)
    if not len(changed):
        return Extension(instance, (), (), rounds, False)
    note = {"extended_from": instance.name, "extended_jobs": len(changed), "step_slots": step_slots}
    extended = replace(extended, name=f"{instance.name}-extended", provenance={**instance.provenance, **note})
    proof = prove_shortage(instance, options).status
    needed = {Status.INFEASIBLE: True, Status.OPTIMAL: False}.get(proof)
    names = tuple(instance.jobs.name[j] for j in changed)
    extra = tuple(int(slack[j] - instance.jobs.slack[j]) for j in changed)
    return Extension(extended, names, extra, rounds, needed)
