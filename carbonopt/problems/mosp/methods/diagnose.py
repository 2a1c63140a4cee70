"""Why a mosp instance has no schedule, told in jobs, clusters and slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.core.report import Diagnosis, Finding
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.elastic import add_shortage
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.formulation.program import (
    Placements,
    build,
    count_starts,
    estimate_size,
    possible_placements,
)
from carbonopt.problems.mosp.methods.bounds import lagrangian_bound
from carbonopt.problems.mosp.methods.fixed import free_part
from carbonopt.problems.mosp.methods.heuristics import must_run
from carbonopt.problems.mosp.verify.check import check

SHOWN = 8
"""Names that a message lists before it counts the rest."""
PROVEN_SHORTAGE = 1e-8
"""Above this a shortage is one and not rounding, relative to the largest demand (a job) or to the capacity."""


def diagnose(instance: MospInstance, options: Options) -> Diagnosis:
    """Say whether an instance has a schedule in which every job runs, and why not.

    Jobs that can run nowhere are found by inspection. For the others the elastic relaxation
    (capacity that may be exceeded) is solved, first as an LP, whose duals prove a shortage and
    name its jobs and slots, then in integers.

    Parameters
    ----------
    instance
        Under either objective. Where jobs may be rejected there is always a schedule; the findings
        then tell what keeps all of them from running.
    options
        Time limit and threads of the solver.
    """
    instance = free_part(instance)
    stuck = list(stuck_jobs(instance))
    rest = _without(instance, {finding.jobs[0] for finding in stuck})
    if len(rest.jobs):
        found = _shortage(rest, options)
    else:
        found = Diagnosis(True, "no job is left to place")
    findings = (*stuck, *found.findings)
    if not must_run(instance):
        return Diagnosis(True, "jobs may be rejected, so the empty schedule is one", findings)
    if "limits" in instance.constraints and found.feasible and not stuck:
        return Diagnosis(None, "all jobs have room, but objective.limits are not looked at", findings)
    if stuck:
        return Diagnosis(False, "inspection: some jobs can run nowhere", findings)
    return replace(found, findings=findings)


def stuck_jobs(instance: MospInstance) -> Iterator[Finding]:
    """Yield a finding for each job that could not run even if only the fixed ones did."""
    instance = free_part(instance)
    jobs = instance.jobs
    clusters = instance.clusters
    possible = np.bincount(possible_placements(instance).job, minlength=len(jobs))
    starts = count_starts(instance)
    largest = clusters.capacity.max(axis=2, initial=0.0)
    for i in np.flatnonzero(possible == 0):
        name = jobs.name[i]
        where = np.flatnonzero(instance.eligible[i])
        if not len(where):
            yield Finding(f"job {name!r} is eligible for no cluster", (name,))
        elif starts[i] == 0:
            text = f"arrives in slot {jobs.arrival[i]} and runs {jobs.duration[i]} slots"
            yield Finding(f"job {name!r} {text}: past the horizon of {instance.time.slots} slots", (name,))
        else:
            over = [(r, largest[where, r].max()) for r in range(len(instance.resources))]
            short = [(r, most) for r, most in over if jobs.demand[i, r] > most]
            named = tuple(clusters.name[j] for j in where)
            if short:
                r, most = short[0]
                resource = instance.resources[r]
                need = jobs.demand[i, r]
                text = f"needs {need:.10g} {resource}, the largest cluster that may run it has {most:.10g}"
                yield Finding(f"job {name!r} {text}", (name,), named, (), resource, float(need), float(most))
            else:
                text = f"finds no {jobs.duration[i]} slots in a row with room for it alone on any cluster"
                yield Finding(f"job {name!r} {text} ({_listed(named)})", (name,), named)


def _without(instance: MospInstance, names: set[str]) -> MospInstance:
    keep = np.flatnonzero([name not in names for name in instance.jobs.name])
    return replace(instance, jobs=instance.jobs.part(keep), objective=CarbonObjective())


def _nothing(instance: MospInstance) -> PlacementValue:
    """Return an objective in which every placement is worth 0."""
    jobs = instance.jobs
    shape = instance.clusters.capacity.shape
    prefix = np.zeros((*shape[:2], shape[2] + 1))
    return PlacementValue("min", prefix, jobs.demand, jobs.duration, jobs.deadline, 0.0, 0.0, False)


def _shortage(instance: MospInstance, options: Options) -> Diagnosis:
    """Find the least total shortage of capacity, as an LP and then in integers."""
    nothing = _nothing(instance)
    form = build(instance, nothing, integer=False)
    unit = _unit(instance)
    add_shortage(form.program, form.capacity, unit)
    result = highs.solve(form.program, options)
    if result.row_dual is not None:
        prices = np.clip(-result.row_dual[form.capacity.slice].reshape(form.capacity.shape), 0.0, 1 / unit)
        missing = lagrangian_bound(instance, nothing, prices)
        if missing is not None and missing > PROVEN_SHORTAGE * len(instance.jobs):
            findings = tuple(_explain(instance, prices * unit)) or (_total(missing),)
            return Diagnosis(False, "duals of the elastic LP: less capacity than any schedule needs", findings)
    if result.status is Status.INFEASIBLE:  # whatever the capacity: only (S) can be short
        words = "fewer jobs may start, by clusters.max_starts_per_slot, than must"
        return Diagnosis(False, "the elastic LP has no solution", (Finding(words),))
    if result.status is not Status.OPTIMAL:
        return Diagnosis(None, "the time limit ended the elastic LP")
    return _integer_shortage(instance, nothing, options)


def _integer_shortage(instance: MospInstance, nothing: PlacementValue, options: Options) -> Diagnosis:
    form = build(instance, nothing)
    unit = _unit(instance)
    shortage = add_shortage(form.program, form.capacity, unit)
    least = PROVEN_SHORTAGE * len(instance.jobs)
    result = highs.solve(form.program, replace(options, mip_abs_gap=least / 2))
    if result.values is not None and not check(instance, form.schedule(result.values, instance)).violations:
        return Diagnosis(True, "a schedule was found and checked")
    if result.values is None:
        missing = None
    else:
        missing = unit * result.values[shortage.slice].reshape(shortage.shape)
    findings = () if missing is None else tuple(_repairs(instance, missing))
    if result.bound is not None and result.bound > least:
        proof = "search tree of the elastic MILP: fractions of jobs would fit, whole jobs do not"
        return Diagnosis(False, proof, findings)
    if result.status is Status.OPTIMAL:
        return Diagnosis(None, "what is missing is too little for the solver's tolerances", findings)
    return Diagnosis(None, "the time limit ended the elastic MILP", findings)


def _unit(instance: MospInstance) -> FloatArray:
    """Return the largest demand for each resource, 1 where there is none, shape (1, R, 1)."""
    largest = instance.jobs.demand.max(axis=0, initial=0.0)
    return np.where(largest > 0, largest, 1.0)[None, :, None]


def _total(missing: float) -> Finding:
    return Finding(f"capacity is missing: at least {missing:g} slots of the largest demand")


def _explain(instance: MospInstance, prices: FloatArray) -> Iterator[Finding]:
    """Turn dual prices into sets of slots and the jobs that cannot avoid them.

    A set of rows with price 1 proves a shortage if the jobs together use more of it, wherever
    they go, than is there. Fractional prices are rounded first, where the proof survives that.
    """
    best = max((prices > limit for limit in (0.0, 0.25, 0.5, 0.75)), key=lambda rows: _excess(instance, rows))
    if _excess(instance, best) <= 0:
        best = prices > 0
    for rows, jobs, needed in _components(instance, best):
        available = float(instance.clusters.capacity[rows].sum())
        if needed.sum() > available * (1 + PROVEN_SHORTAGE):
            yield _told(instance, rows, jobs, float(needed.sum()), available)


def _least_use(instance: MospInstance, rows: BoolArray, placements: Placements) -> FloatArray:
    """Return what each job uses of `rows` at least, wherever it goes [unit-slots], shape (N,)."""
    least = np.full(len(instance.jobs), np.inf)
    np.minimum.at(least, placements.job, _use(instance, rows, placements))
    return least


def _use(instance: MospInstance, rows: BoolArray, placements: Placements) -> FloatArray:
    prefix = prefix_sums(rows.astype(float))
    end = placements.start + instance.jobs.duration[placements.job]
    inside = prefix[placements.cluster, :, end] - prefix[placements.cluster, :, placements.start]
    return np.asarray((inside * instance.jobs.demand[placements.job]).sum(axis=1))


def _excess(instance: MospInstance, rows: BoolArray) -> float:
    least = _least_use(instance, rows, possible_placements(instance))
    return float(least.sum() - (1 + PROVEN_SHORTAGE) * instance.clusters.capacity[rows].sum())


def _components(instance: MospInstance, rows: BoolArray) -> Iterator[tuple[BoolArray, IntArray, FloatArray]]:
    """Split `rows` into stretches that share no job that needs them, with those jobs and needs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    placements = possible_placements(instance)
    least = _least_use(instance, rows, placements)
    needy = np.flatnonzero(least > 0)
    begins = rows & ~np.concatenate([np.zeros_like(rows[..., :1]), rows[..., :-1]], axis=2)
    stretch = np.where(rows, begins.reshape(-1).cumsum().reshape(rows.shape) - 1, -1)
    count = int(begins.sum())
    links: list[tuple[int, int]] = []
    for i in needy:
        mine = placements.job == i
        for j, t in set(zip(placements.cluster[mine].tolist(), placements.start[mine].tolist(), strict=True)):
            run = stretch[j, instance.jobs.demand[i] > 0, t : t + instance.jobs.duration[i]]
            links += [(int(i), int(s)) for s in np.unique(run[run >= 0])]
    job, node = np.array(sorted(set(links)), dtype=np.int64).reshape(-1, 2).T
    size = count + len(instance.jobs)
    graph = coo_array((np.ones(len(job)), (node, count + job)), shape=(size, size))
    label = connected_components(graph, directed=False)[1]
    for component in np.unique(label[stretch[rows]]):
        inside = rows & (label[np.maximum(stretch, 0)] == component)
        members = needy[label[count + needy] == component]
        yield inside, members, least[members]


def _told(instance: MospInstance, rows: BoolArray, jobs: IntArray, needed: float, available: float) -> Finding:
    places = []
    clusters = []
    slots = []
    for j, r in np.argwhere(rows.any(axis=2)):
        for first, last in _stretches(np.flatnonzero(rows[j, r])):
            clusters.append(instance.clusters.name[j])
            slots.append((first, last))
            places.append(f"{_slots(first, last)} of {clusters[-1]}")
    resources = sorted({instance.resources[r] for r in np.argwhere(rows)[:, 1]})
    named = tuple(instance.jobs.name[i] for i in jobs)
    unit = " and ".join(resources)
    where = " and ".join(places)
    who = f"jobs {_listed(named)} need" if len(named) > 1 else f"job {_listed(named)} needs"
    width = slots[0][1] - slots[0][0] + 1
    if len(slots) > 1:
        text = f"{who} at least {needed:.10g} {unit}-slots in {where}, {available:.10g} are there"
    elif width > 1:
        total = f" ({needed:.10g} against {available:.10g} {unit}-slots)"
        text = f"{who} {needed / width:.10g} {unit} in {where}, {available / width:.10g} are there{total}"
    else:
        text = f"{who} {needed:.10g} {unit} in {where}, {available:.10g} are there"
    return Finding(text, named, tuple(clusters), tuple(slots), unit, needed, available)


def _repairs(instance: MospInstance, missing: FloatArray) -> Iterator[Finding]:
    """Tell where the least shortage lies: capacity that would make the instance feasible."""
    for j, r in np.argwhere((missing > PROVEN_SHORTAGE * _unit(instance)).any(axis=2)):
        for first, last in _stretches(np.flatnonzero(missing[j, r] > PROVEN_SHORTAGE * _unit(instance)[0, r])):
            cluster = instance.clusters.name[j]
            resource = instance.resources[r]
            most = missing[j, r, first : last + 1].max()
            text = f"{most:.10g} more {resource} in {_slots(first, last)} of {cluster} would help to fit whole jobs"
            yield Finding(text, (), (cluster,), ((first, last),), resource)


def _stretches(slots: IntArray) -> list[tuple[int, int]]:
    """Return first and last of each run of consecutive numbers."""
    breaks = np.flatnonzero(np.diff(slots) > 1)
    return [(int(part[0]), int(part[-1])) for part in np.split(slots, breaks + 1)]


def _slots(first: int, last: int) -> str:
    if first == last:
        return f"slot {first}"
    return f"slots {first}-{last}"


def _listed(names: tuple[str, ...]) -> str:
    more = ""
    if len(names) > SHOWN:
        more = f" and {len(names) - SHOWN} more"
    return ", ".join(names[:SHOWN]) + more


def inspect(instance: MospInstance) -> dict[str, Any]:
    """Return the size of the program, and jobs that can run nowhere."""
    columns, nonzeros = estimate_size(instance)
    return {
        "columns_at_most": columns,
        "nonzeros_at_most": nonzeros,
        "warnings": [str(finding) for finding in stuck_jobs(instance)],
    }
