"""Jobs that prices cannot tell apart, put together: groups, shapes, classes and members.

The cost of job i at prices mu is scale_i x D + f_i(t), where D[t], the least priced cost of one unit of its mix of
resources over the clusters that it may use, is the same for all jobs of equal duration, mix and allowed places.

    group    equal duration, mix of resources, and allowed (cluster, start): one D
    shape    a group and a scale (units in all)
    class    a shape, an arrival, and a last start on time
    member   a class and a deadline: jobs that are equal in everything that the objective and constraints see
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue


class Table(NamedTuple):
    """The jobs as prices see them; everything in the sense of a minimisation.

    Attributes
    ----------
    length, mix
        Of each group [slots], shape (G,), and its share of each resource, shape (G, R).
    mask, allowed
        Row of each group in `allowed`, shape (G,): whether it may start on a cluster in a slot, shape (masks, M, T).
    group, scale
        Of each shape, shape (H,): its group and its units of all resources together.
    class_first
        Classes of shape h are class_first[h]:class_first[h + 1].
    first, last
        Of each class: first start, and last start that is on time; above the last possible one for nobody.
    member_first
        Members of class c are member_first[c]:member_first[c + 1].
    deadline, jobs
        Of each member [slots], and its number of jobs.
    on_time
        Cost of completion at C on time, shape (T + 1,).
    late
        Weight of tardiness.
    inverse
        Whether lateness costs late x (1 - 1 / (1 + tardiness)), which is caspian's, instead of late x tardiness.
    rejection_cost
        Cost of a job that does not run; infinite where it must.
    """

    length: IntArray
    mix: FloatArray
    mask: IntArray
    allowed: BoolArray
    group: IntArray
    scale: FloatArray
    class_first: IntArray
    first: IntArray
    last: IntArray
    member_first: IntArray
    deadline: FloatArray
    jobs: FloatArray
    on_time: FloatArray
    late: float
    inverse: bool
    rejection_cost: float


class Jobs(NamedTuple):
    """Where each job is in a table.

    Attributes
    ----------
    member, shape
        Of each job, shape (N,).
    """

    member: IntArray
    shape: IntArray


def time_costs(completion: IntArray, deadline: FloatArray, table: Table) -> FloatArray:
    """Return the costs of completions at slots, with tardiness."""
    tardiness = np.maximum(0.0, completion - deadline)
    lateness = tardiness / (1.0 + tardiness) if table.inverse else tardiness
    return np.asarray(table.on_time[completion] + table.late * lateness)


def make_table(instance: MospInstance, value: PlacementValue) -> tuple[Table, Jobs]:
    """Return the table of an instance and the place of each of its jobs in it."""
    jobs = instance.jobs
    slots = instance.time.slots
    scale = jobs.demand.sum(axis=1)
    mix = np.divide(jobs.demand, scale[:, None], out=np.zeros_like(jobs.demand), where=scale[:, None] > 0)
    mask, allowed = _places(instance)
    kind = np.column_stack([jobs.duration, mask, mix])
    groups, of_group = np.unique(kind, axis=0, return_inverse=True)
    shapes, of_shape = np.unique(np.column_stack([of_group.ravel(), scale]), axis=0, return_inverse=True)
    last = np.minimum(np.floor(jobs.deadline), slots).astype(np.int64) - jobs.duration
    classes, of_class = np.unique(np.column_stack([of_shape.ravel(), jobs.arrival, last]), axis=0, return_inverse=True)
    members, of_member, count = np.unique(
        np.column_stack([of_class.ravel(), jobs.deadline]), axis=0, return_inverse=True, return_counts=True
    )
    completion = np.arange(slots + 1, dtype=np.float64)
    on_time = value.completion * completion
    if value.inverse:
        on_time = -value.tardiness - value.completion / (1 + completion)
    table = Table(
        length=groups[:, 0].astype(np.int64),
        mix=np.ascontiguousarray(groups[:, 2:]),
        mask=groups[:, 1].astype(np.int64),
        allowed=allowed,
        group=shapes[:, 0].astype(np.int64),
        scale=np.ascontiguousarray(shapes[:, 1]),
        class_first=_firsts(classes[:, 0], len(shapes)),
        first=classes[:, 1].astype(np.int64),
        last=classes[:, 2].astype(np.int64),
        member_first=_firsts(members[:, 0], len(classes)),
        deadline=np.ascontiguousarray(members[:, 1]),
        jobs=count.astype(np.float64),
        on_time=on_time,
        late=value.tardiness,
        inverse=value.inverse,
        rejection_cost=instance.objective.rejection_cost,
    )
    return table, Jobs(of_member.ravel().astype(np.int64), of_shape.ravel().astype(np.int64))


def _firsts(label: FloatArray, count: int) -> IntArray:
    """Return where the rows of each of `count` labels begin; labels are sorted."""
    return np.searchsorted(label, np.arange(count + 1)).astype(np.int64)


def _places(instance: MospInstance) -> tuple[IntArray, BoolArray]:
    """Return each job's row among the different sets of allowed (cluster, start), and these, shape (masks, M, T)."""
    jobs = instance.jobs
    limit = instance.clusters.limit
    least = limit.min(axis=2, initial=np.inf)
    most = limit.max(axis=2, initial=0.0)
    always = instance.eligible.copy()
    ever = instance.eligible.copy()
    for r in range(len(instance.resources)):
        always &= jobs.demand[:, r, None] <= least[:, r]
        ever &= jobs.demand[:, r, None] <= most[:, r]
    plain = (always == ever).all(axis=1)  # on each cluster, any start or none
    rows: dict[bytes, int] = {}
    masks: list[BoolArray] = []
    known: dict[Any, int] = {}
    of_job = np.zeros(len(jobs), dtype=np.int64)
    packed = np.packbits(always, axis=1)
    for i in range(len(jobs)):
        if plain[i]:
            key = packed[i].tobytes()
        else:
            key = (int(jobs.duration[i]), *jobs.demand[i], ever[i].tobytes())
        if key not in known:
            if plain[i]:
                mask = np.repeat(always[i][:, None], limit.shape[2], axis=1)
            else:
                mask = _fits(instance, i, ever[i])
            row = rows.setdefault(mask.tobytes(), len(masks))
            if row == len(masks):
                masks.append(mask)
            known[key] = row
        of_job[i] = known[key]
    return of_job, np.array(masks).reshape(-1, *limit[:, 0].shape)


def _fits(instance: MospInstance, job: int, clusters: BoolArray) -> BoolArray:
    """Return where one job fits on its own by start, shape (M, T); starts that end too late are left out."""
    limit = instance.clusters.limit
    length = int(instance.jobs.duration[job])
    lacking = (limit < instance.jobs.demand[job][:, None]).any(axis=1)
    blocked = np.zeros((len(lacking), lacking.shape[1] + 1), dtype=np.int64)
    np.cumsum(lacking, axis=1, out=blocked[:, 1:])
    fits = np.zeros(lacking.shape, dtype=np.bool_)
    starts = max(0, lacking.shape[1] - length + 1)
    fits[:, :starts] = blocked[:, length:] == blocked[:, :starts]
    return np.asarray(fits & clusters[:, None])
