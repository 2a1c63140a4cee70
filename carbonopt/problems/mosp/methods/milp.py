"""The methods of mosp: each takes (instance, options) and returns an Outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.data.instance import CaspianObjective, MospInstance
from carbonopt.problems.mosp.data.schedule import from_schedule
from carbonopt.problems.mosp.formulation.objective import PlacementValue, placement_value, single_term
from carbonopt.problems.mosp.formulation.program import (
    MospProgram,
    build,
    build_normalizer,
    estimate_size,
    refuse_if_too_large,
)
from carbonopt.problems.mosp.methods import heuristics
from carbonopt.problems.mosp.methods.bounds import free_bound, lagrangian_bound, tighter, typical_cost
from carbonopt.problems.mosp.methods.partial_schedule import Room
from carbonopt.problems.mosp.verify.check import check

MILP_COLUMNS = 2_000
"""`auto` gives programs up to this size to HiGHS as they are: it closes them before numba is loaded."""
LP_COLUMNS = 600_000
"""Above this size LPs take minutes, and so does what needs their optimum: Caspian's normalizers."""
START_COLUMNS = 200_000
"""Up to this size `milp` starts from a rounding of the LP, if that is found in `START_SHARE` of the time."""
START_SHARE = 0.4
"""Of the time that is left, what `milp` spends at most on finding a schedule to start from."""
INTERIOR_POINT_COLUMNS = 100_000
"""LPs above this size go to the interior point: at 343,000 columns it takes a third of simplex's time."""

_NORMALIZERS: WeakKeyDictionary[MospInstance, tuple[float, float, float]] = WeakKeyDictionary()


def choose(instance: MospInstance) -> str:
    """Return the method that `auto` stands for, by size."""
    columns, _ = estimate_size(instance)
    if columns <= MILP_COLUMNS:
        return "milp"
    objective = instance.objective
    needs_lp = isinstance(objective, CaspianObjective) and objective.normalizers is None
    return "greedy-clean" if needs_lp and columns > LP_COLUMNS else "price"


def formulate(instance: MospInstance, form: str) -> Program:
    """Return the program that `milp` (or, relaxed, `lp`) solves."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    value, _ = value_of(instance, Options(time_limit=None))
    assert value is not None
    return build(instance, value, integer=form == "milp").program


def milp(instance: MospInstance, options: Options) -> Outcome:
    """Solve the whole program with HiGHS, from the best schedule that insertion and rounding find."""
    value, info = value_of(instance, options)
    if value is None:
        return out_of_time(info)
    form = build(instance, value)
    rooms = [] if options.start is None else [_room_of(instance, value, options.start)]
    rooms.append(heuristics.best_insertion(instance, value, options))
    bound = free_bound(instance, value)
    best = _report_best(rooms, bound, options)
    if form.program.columns <= START_COLUMNS and options.remaining > 0:
        rounded, bound = _first_rounding(instance, value, options, bound)
        rooms += rounded
        best = _report_best(rooms, bound, options)
    result = highs.solve(
        form.program,
        options,
        start=None if best is None else _columns_of(form, best),
        schedule_of=lambda values: form.schedule(values, instance),
        typical_cost=typical_cost(instance, value),
        bound_error=(len(instance.jobs), float(value.rounding().sum())),
    )
    info |= result.info
    if result.status is Status.INFEASIBLE and best is None:
        return Outcome(Status.INFEASIBLE, info=info)
    schedule = None if best is None else best.schedule()
    if result.values is not None and (best is None or _improves(form, result.values, best)):
        found = form.schedule(result.values, instance)
        if not check(instance, found, info).violations:  # a whole job may not fit where almost all of it does
            schedule = found
    status = result.status
    if status is Status.OPTIMAL and schedule is None:
        status = Status.UNKNOWN
    elif status is Status.INFEASIBLE:  # refuted by the schedule at hand
        status = Status.FEASIBLE
    return Outcome(status, schedule, tighter(value.sense, result.bound, bound), info=info)


def _report_best(rooms: list[Room], bound: float | None, options: Options) -> Room | None:
    """Return the best of the schedules that are whole, and hand it out as the incumbent."""
    whole = [room for room in rooms if heuristics.is_schedule(room)]
    best = min(whole, key=heuristics.total_cost) if whole else None
    options.report(bound=bound, incumbent=None if best is None else best.schedule)
    return best


def _first_rounding(
    instance: MospInstance, value: PlacementValue, options: Options, bound: float | None
) -> tuple[list[Room], float | None]:
    """Round the LP within a share of the time; return what came of it and the better bound."""
    share = replace(options.part(START_SHARE), callback=None)
    relaxed, form, x = _relaxation(instance, value, share)
    if relaxed.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    rooms = [] if x is None else [heuristics.price_rounding(instance, value, form, x, share, rounds=4)]
    return rooms, tighter(value.sense, bound, relaxed.bound)


def _improves(form: MospProgram, values: FloatArray, best: Room) -> bool:
    sign = 1.0 if form.program.sense == "min" else -1.0
    cost = form.program.arrays().cost
    return bool(sign * (cost @ values) < sign * (cost @ _columns_of(form, best)))


def lp(instance: MospInstance, options: Options) -> Outcome:
    """Bound the optimum by the LP relaxation; the duals of the capacity rows certify it."""
    value, info = value_of(instance, options)
    if value is None:
        return out_of_time(info)
    outcome, _, _ = _relaxation(instance, value, options)
    return replace(outcome, info=info | outcome.info)


def lp_rounding(instance: MospInstance, options: Options) -> Outcome:
    """Round the LP optimum to where it places the jobs, and improve by single moves.

    An insertion comes first, so that there is a schedule even if the LP takes all the time.
    """

    def rounded(value: PlacementValue, form: MospProgram, x: FloatArray) -> Room:
        return heuristics.price_rounding(instance, value, form, x, options)

    return _rounded(instance, options, rounded, insert_first=True)


def caspian_rounding(instance: MospInstance, options: Options) -> Outcome:
    """Caspian's Algorithms 2 and 3."""

    def rounded(value: PlacementValue, form: MospProgram, x: FloatArray) -> Room:
        return heuristics.caspian_rounding(instance, value, form, x)

    return _rounded(instance, options, rounded)


def greedy(instance: MospInstance, options: Options, clean_ties: bool) -> Outcome:
    """Start every job as early as possible; among equally early clusters, on the cleanest, or at random."""
    value, info = value_of(instance, options)
    if value is None:
        return out_of_time(info)
    room = heuristics.earliest_start(instance, value, options, clean_ties)
    return _heuristic_outcome(room, None, info, options)


def _rounded(
    instance: MospInstance,
    options: Options,
    rounding: Callable[[PlacementValue, MospProgram, FloatArray], Room],
    insert_first: bool = False,
) -> Outcome:
    refuse_if_too_large(instance)
    value, info = value_of(instance, options)
    if value is None:
        return out_of_time(info)
    rooms = [heuristics.best_insertion(instance, value, options)] if insert_first else []
    best = _report_best(rooms, None, options)
    relaxed, form, x = _relaxation(instance, value, options)
    if relaxed.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    info |= relaxed.info
    if x is not None:
        options.report(bound=relaxed.bound)
        rooms.append(rounding(value, form, x))
        best = _report_best(rooms, relaxed.bound, options) or rooms[-1]
    if best is None:
        return replace(relaxed, schedule=None, info=info)
    outcome = _heuristic_outcome(best, relaxed.bound, info, options)
    return replace(outcome, certificate=relaxed.certificate)


def _heuristic_outcome(room: Room, bound: float | None, info: dict[str, Any], options: Options) -> Outcome:
    late = options.remaining == 0
    if not heuristics.is_schedule(room):
        left = [room.instance.jobs.name[i] for i in np.flatnonzero(room.cluster < 0)[:20]]
        return Outcome(Status.TIME_LIMIT if late else Status.UNKNOWN, None, bound, info=info | {"unplaced_jobs": left})
    return Outcome(Status.TIME_LIMIT if late else Status.FEASIBLE, room.schedule(), bound, info=info)


def _relaxation(
    instance: MospInstance, value: PlacementValue, options: Options
) -> tuple[Outcome, MospProgram, FloatArray | None]:
    """Solve the LP; its bound is recomputed from the duals, so that it stands without the solver."""
    form = build(instance, value, integer=False)
    solver = "ipm" if form.program.columns > INTERIOR_POINT_COLUMNS else "choose"
    cost = typical_cost(instance, value)
    result = highs.solve(form.program, options, lp_solver=solver, typical_cost=cost)
    if result.status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE, info=result.info), form, None
    bound, prices = free_bound(instance, value), np.zeros_like(instance.clusters.capacity)
    if result.row_dual is not None:
        sign = -1.0 if value.sense == "min" else 1.0
        duals = np.maximum(0.0, sign * result.row_dual[form.capacity.slice]).reshape(form.capacity.shape)
        priced = lagrangian_bound(instance, value, duals)
        if tighter(value.sense, bound, priced) == priced:
            bound, prices = priced, duals
    certificate = None if bound is None else {"kind": "lagrangian", "prices": prices.tolist(), "bound": bound}
    info = {**result.info, "lp_objective": result.objective}
    x = result.values if result.status is Status.OPTIMAL else None
    schedule = None
    if x is not None and bool((np.abs(x - np.round(x)) < 1e-9).all()):
        schedule = form.schedule(x, instance)
    return Outcome(result.status, schedule, bound, certificate, info), form, x


def value_of(instance: MospInstance, options: Options) -> tuple[PlacementValue | None, dict[str, Any]]:
    """Return the objective's coefficients; None if time ran out over the normalizers."""
    if not isinstance(instance.objective, CaspianObjective) or instance.objective.normalizers:
        return placement_value(instance), {}
    bars = normalizers(instance, options)
    if bars is None:
        return None, {"stopped": "before the normalizers Zbar were known"}
    return placement_value(instance, bars), {"normalizers": dict(zip(("z1", "z2", "z3"), bars, strict=True))}


def normalizers(instance: MospInstance, options: Options) -> tuple[float, float, float] | None:
    """Return Zbar_k: the LP optimum of each Z_k alone (Algorithm 2, line 1); None if time ran out.

    Kept as long as the instance, so that every method of one comparison divides by the same numbers.
    """
    known = _NORMALIZERS.get(instance)
    if known is None:
        bars = []
        for k in (1, 2, 3):
            bar = _largest(instance, single_term(instance, k), options)
            if bar is None:
                return None
            bars.append(bar)
        known = (bars[0], bars[1], bars[2])
        _NORMALIZERS[instance] = known
    return known


def _largest(instance: MospInstance, term: PlacementValue, options: Options) -> float | None:
    form = build_normalizer(instance, term)
    result = highs.solve(form.program, replace(options, callback=None), lp_solver="ipm")
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if result.status is not Status.OPTIMAL or result.objective is None:
        return None
    return max(0.0, result.objective)


def out_of_time(info: dict[str, Any]) -> Outcome:
    """Return the outcome of a method that could not begin."""
    return Outcome(Status.TIME_LIMIT, info=info)


def _room_of(instance: MospInstance, value: PlacementValue, schedule: Schedule) -> Room:
    room = Room(instance, value)
    for job, cluster, start in zip(*from_schedule(instance, schedule), strict=True):
        room.place(job, cluster, start)
    return room


def _columns_of(form: MospProgram, room: Room) -> FloatArray:
    """Return the column values that stand for the schedule in `room`."""
    placements = form.placements
    values = np.zeros(form.program.columns)
    chosen = (room.cluster[placements.job] == placements.cluster) & (room.start[placements.job] == placements.start)
    values[form.x.slice] = chosen
    if "rejected" in form.program.variables:
        values[form.program.variables["rejected"].slice] = room.cluster < 0
    return values
