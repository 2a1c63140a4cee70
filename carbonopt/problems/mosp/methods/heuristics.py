"""Schedules without proof: the papers' baselines, Caspian's LP rounding, and a better rounding."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, carbon_kg_per_unit
from carbonopt.problems.mosp.formulation.program import MospProgram
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule

EJECTIONS_PER_JOB = 20
"""Ejections after which a repair gives up, per job of the instance."""


def earliest_start(
    instance: MospInstance, value: PlacementValue, options: Options, clean_ties: bool
) -> PartialSchedule:
    """Start every job, in order of arrival, in the first slot in which it fits somewhere.

    Parameters
    ----------
    instance, value
        The problem.
    options
        Its seed draws among clusters that are free equally early, its time limit ends the work.
    clean_ties
        True: take the one on which the run emits least; False: at random.

    Returns
    -------
    PartialSchedule
        With every job that fits; one that fits nowhere, or comes after the time limit, does not run.
    """
    rng = np.random.default_rng(options.seed)
    partial = PartialSchedule(instance, value)
    carbon = np.cumsum(carbon_kg_per_unit(instance), axis=2)
    for job in np.lexsort((np.arange(len(instance.jobs)), instance.jobs.arrival)):
        if options.remaining == 0:
            break
        options.report()
        options.spend(partial.steps_a_job)
        fits = partial.fits(job)
        slots = np.flatnonzero(fits.any(axis=0))
        if not len(slots):
            continue
        start = int(partial.starts(job)[slots[0]])
        free = np.flatnonzero(fits[:, slots[0]])
        if clean_ties:
            end = start + int(instance.jobs.duration[job])
            before = carbon[free, :, start - 1] if start else 0.0
            emitted = (carbon[free, :, end - 1] - before) @ instance.jobs.demand[job]
            partial.place(job, int(free[emitted.argmin()]), start)
        else:
            partial.place(job, int(rng.choice(free)), start)
    return partial


def caspian_rounding(
    instance: MospInstance, value: PlacementValue, form: MospProgram, x: FloatArray
) -> PartialSchedule:
    """Algorithms 2 and 3 of Caspian, as printed but for omega / Zbar where it prints omega * Zbar.

    Jobs by decreasing b_i, the share of the job that the LP places, each at the best (j, t) by
    z_ijt that still fits. Nearly all b_i are 1, so the order is mostly that of the job table, and
    where the LP places a job is never used.
    """
    placed_share = np.bincount(form.placements.job, weights=x[form.x.slice], minlength=len(instance.jobs))
    partial = PartialSchedule(instance, value)
    for job in np.argsort(-np.round(placed_share, 6), kind="stable"):
        best = partial.cheapest(job)
        if best is not None:
            partial.place(job, best[0], best[1])
    return partial


def price_rounding(
    instance: MospInstance,
    value: PlacementValue,
    form: MospProgram,
    x: FloatArray,
    options: Options,
    rounds: int = 16,
) -> PartialSchedule:
    """Round where the LP places each job, then move single jobs while that helps.

    Parameters
    ----------
    instance, value, form
        The problem and its program.
    x
        Column values of the LP optimum.
    options
        Its seed draws the roundings, its time limit ends them.
    rounds
        The first takes the largest x_ijt of each job, the others draw with probability x_ijt.

    Returns
    -------
    PartialSchedule
        The best schedule of all rounds; incomplete only if no round could place every job.
    """
    rng = np.random.default_rng(options.seed)
    job_of = form.placements.job
    weight = np.maximum(x[form.x.slice], 0.0)
    best: PartialSchedule | None = None
    for number in range(rounds):
        drawn = _draw(job_of, weight, len(instance.jobs), rng if number else None)
        partial = PartialSchedule(instance, value)
        left = []
        for job in _by_size(instance):
            k = drawn[job]
            if k >= 0 and partial.fits_at(job, int(form.placements.cluster[k]), int(form.placements.start[k])):
                partial.place(job, int(form.placements.cluster[k]), int(form.placements.start[k]))
            elif k >= 0:
                left.append(job)
        insert_all(partial, left, rng, options)
        descend(partial, rng, options)
        if best is None or _rank(partial) < _rank(best):
            best = partial
            report(best, options)
        if options.remaining == 0:
            break
    assert best is not None
    return best


def best_insertion(instance: MospInstance, value: PlacementValue, options: Options) -> PartialSchedule:
    """Insert jobs, each where it costs least, then move single jobs while that helps."""
    rng = np.random.default_rng(options.seed)
    partial = PartialSchedule(instance, value)
    insert_all(partial, list(_by_size(instance)), rng, options)
    descend(partial, rng, options)
    return partial


def insert_all(partial: PartialSchedule, jobs: list[int], rng: np.random.Generator, options: Options) -> None:
    """Place `jobs` where they cost least; where none fits, eject others and place those again.

    Gives up, with some jobs unplaced, after `EJECTIONS_PER_JOB` ejections per job or when time is up.
    """
    queue = [int(job) for job in jobs]
    options.report()
    budget = EJECTIONS_PER_JOB * len(partial.instance.jobs)
    while queue and options.remaining > 0:
        job = queue.pop(0)
        options.spend(partial.steps_a_job)
        place = partial.cheapest(job)
        if place is not None and place[2] < partial.instance.objective.rejection_cost:
            partial.place(job, place[0], place[1])
        elif must_run(partial.instance) and budget > 0:
            ejected = _force(partial, job, rng)
            budget -= len(ejected)
            queue += ejected


def descend(partial: PartialSchedule, rng: np.random.Generator, options: Options) -> None:
    """Move one job at a time to where it costs least, until no move helps or time is up."""
    improved = True
    while improved and options.remaining > 0:
        improved = False
        options.spend(partial.steps_a_job * len(partial.placed))
        for job in rng.permutation(partial.placed):
            cluster = int(partial.cluster[job])
            start = int(partial.start[job])
            before = _cost(partial, job, cluster, start)
            partial.remove(job)
            best = partial.cheapest(job)
            if best is not None and best[2] < before - 1e-9 * max(1.0, abs(before)):
                partial.place(job, best[0], best[1])
                improved = True
            else:
                partial.place(job, cluster, start)


def report(partial: PartialSchedule, options: Options) -> None:
    """Hand out `partial` as the incumbent, if it is a schedule."""
    if is_schedule(partial):
        options.report(schedule=partial.schedule)


def _by_size(instance: MospInstance) -> IntArray:
    """Return the jobs in the order in which they are placed.

    Large ones first, since they find no room later; small ones first where jobs may be rejected, since
    a small rejected job costs as much as a large one.
    """
    size = (instance.jobs.demand.sum(axis=1) * instance.jobs.duration).astype(float)
    return np.argsort(-size if must_run(instance) else size, kind="stable")


def must_run(instance: MospInstance) -> bool:
    """Return whether a schedule without one of the jobs is infeasible."""
    return instance.objective.rejection_cost == np.inf


def total_cost(partial: PartialSchedule) -> float:
    """Return the objective, negated under a maximisation; rejected jobs at their price, if they have one."""
    placed = partial.placed
    run = float(partial.value.sign * partial.value.of(placed, partial.cluster[placed], partial.start[placed]).sum())
    rejected = len(partial.instance.jobs) - len(placed)
    price = partial.instance.objective.rejection_cost
    return run + (rejected * price if np.isfinite(price) else 0.0)


def is_schedule(partial: PartialSchedule) -> bool:
    """Return whether the instance lets the jobs that are not placed be rejected."""
    return partial.complete or not must_run(partial.instance)


def _rank(partial: PartialSchedule) -> tuple[int, float]:
    """Sort key: fewer rejected jobs first where every job must run, then the cost."""
    rejected = int((partial.cluster < 0).sum())
    return (rejected if must_run(partial.instance) else 0, total_cost(partial))


def _cost(partial: PartialSchedule, job: int, cluster: int, start: int) -> float:
    value = partial.value.of(np.array([job]), np.array([cluster]), np.array([start]))[0]
    return float(partial.value.sign * value)


def _draw(job_of: IntArray, weight: FloatArray, jobs: int, rng: np.random.Generator | None) -> IntArray:
    """Return one column a job: the heaviest, or drawn by weight with `rng`; -1 where it has none."""
    keep = np.flatnonzero(weight > 1e-9)
    # The largest of log(w) + Gumbel noise falls on each column with probability w / sum w.
    score = np.log(weight[keep]) + (rng.gumbel(size=len(keep)) if rng is not None else 0.0)
    order = keep[np.lexsort((score, job_of[keep]))]
    drawn = np.full(jobs, -1, dtype=np.int64)
    drawn[job_of[order]] = order
    return drawn


def _force(partial: PartialSchedule, job: int, rng: np.random.Generator) -> list[int]:
    """Place `job` at random where it fits on its own, and return the jobs ejected for it."""
    alone = PartialSchedule(partial.instance, partial.value).fits(job)
    options = np.argwhere(alone)
    if not len(options):
        return []
    cluster, offset = (int(part) for part in options[rng.integers(len(options))])
    start = int(partial.starts(job)[offset])
    end = start + int(partial.instance.jobs.duration[job])
    ends = partial.start + partial.instance.jobs.duration
    rivals = np.flatnonzero((partial.cluster == cluster) & (partial.start < end) & (ends > start))
    ejected = []
    for rival in rng.permutation(rivals):
        if partial.fits_at(job, cluster, start):
            break
        partial.remove(int(rival))
        ejected.append(int(rival))
    partial.place(job, cluster, start)
    return ejected
