"""Jobs that are expected: those of a past stretch, in the program of a period as if they were to come again.

A plan for the jobs that are there alone puts off what can wait, as if nobody else came; the capacity that it counts
on is then taken by those who do. Not of the paper.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mosp.data.instance import MospInstance, MospJobs
from carbonopt.problems.mosp.online.window import Sight, Window, due, overdue


def require_alike(past: MospInstance, whole: MospInstance) -> None:
    """Refuse a past whose jobs are no jobs of the instance's clusters, or are the instance's own: that is no past."""
    same = past.resources == whole.resources and past.clusters.name == whole.clusters.name
    if not same or past.time.slot_hours != whole.time.slot_hours:
        raise UnsupportedError(f"the past {past.name!r} must have the resources, clusters and slots of {whole.name!r}")
    if len(whole.jobs) and _runs(past.jobs) == _runs(whole.jobs):
        raise UnsupportedError(
            f"the past {past.name!r} has the jobs of {whole.name!r} itself: who expects them knows all"
        )


def _runs(jobs: MospJobs) -> set[tuple[str, int, int]]:
    """Return names, arrivals and run times, in no order."""
    return set(zip(jobs.name, jobs.arrival.tolist(), jobs.duration.tolist(), strict=True))


def with_expected(window: Window, past: MospInstance, now: int, sight: Sight) -> Window:
    """Return the window with the jobs of `past` that arrive after `now` and can complete in it.

    Parameters
    ----------
    window
        Of slot `now` of the whole instance.
    past
        Its slot t stands for slot t of the whole instance.
    now
        The present slot, counted from the beginning of the whole instance.
    sight
        Which `window` was made with.

    Returns
    -------
    Window
        With these jobs after its own. Their `Window.job` is -1: what the plan does with them is of no account.
    """
    jobs = past.jobs
    base = now - window.now
    row = np.flatnonzero((jobs.arrival > now) & (jobs.arrival + jobs.duration <= base + window.instance.time.slots))
    own = window.instance.jobs
    eligible = np.vstack([window.instance.eligible, past.eligible[row][:, window.cluster]])
    deadline = np.concatenate([own.deadline, due(jobs.deadline[row], sight) - base])
    table = MospJobs(
        (*own.name, *(f"{past.name}: {jobs.name[i]}" for i in row.tolist())),
        np.concatenate([own.arrival, jobs.arrival[row] - base]),
        np.concatenate([own.duration, jobs.duration[row]]),
        np.maximum(deadline, 0.0),
        np.concatenate([own.demand, jobs.demand[row]]),
        eligible,
    )
    nobody = np.full(len(row), -1)
    return replace(
        window,
        instance=replace(window.instance, jobs=overdue(table, deadline)),
        job=np.concatenate([window.job, nobody]),
        home=np.concatenate([window.home, nobody]),
        running=np.concatenate([window.running, np.zeros(len(row), dtype=np.bool_)]),
    )
