"""Method `price`: a certified bound by prices of capacity, and schedules by ruin and recreation that they guide."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import Kernel, loops
from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import TooLargeError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome, relative_gap
from carbonopt.core.status import Status
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.data.schedule import from_schedule
from carbonopt.problems.ecas.formulation.program import estimate_size
from carbonopt.problems.ecas.methods.milp import milp
from carbonopt.problems.ecas.methods.price.bound import best_prices, prefix
from carbonopt.problems.ecas.methods.price.bound_kernels import deepest_cut, priced_starts, soft_patterns
from carbonopt.problems.ecas.methods.price.eject_kernels import eject
from carbonopt.problems.ecas.methods.price.kernels import fill
from carbonopt.problems.ecas.methods.price.parameters import PriceParameters
from carbonopt.problems.ecas.methods.price.repair import repair_steps, repaired
from carbonopt.problems.ecas.methods.price.search import filled, greedy_steps, improved, restored
from carbonopt.problems.ecas.methods.price.search_kernels import search, value_of
from carbonopt.problems.ecas.methods.price.tables import (
    NOWHERE,
    Ranking,
    State,
    Tables,
    by_energy,
    ranked,
    schedule_of,
    tables_of,
)
from carbonopt.problems.ecas.verify.certificate import proven_bound
from carbonopt.problems.ecas.verify.check import check

PRICE_KERNELS = (search, fill, priced_starts, soft_patterns, deepest_cut, eject)
"""Kernels that take long to compile."""
COMPILE_SECONDS = 25.0
"""How long numba takes to compile all kernels of the method [s]; 37 measured on a processor 1.7 times as slow."""
GREEDY_COMPILE_SECONDS = 12.0
"""The same for the one that fills machines [s]; 10 measured on the slower processor."""
MOST_COLUMNS = 300_000
"""Of the program that HiGHS gets where no loops are compiled: it does not end with larger ones in so short a time."""
SECOND_GREEDY = 4.0
"""Times of a greedy schedule that must be left for a second one by another order."""


def compiled(
    steps: float,
    options: Options,
    kernels: tuple[Kernel[..., Any], ...] = PRICE_KERNELS,
    seconds: float | None = None,
) -> AbstractContextManager[bool]:
    """Decide whether kernels are compiled, for about so many loop steps and the time that is left.

    To compile them takes about so many seconds, `COMPILE_SECONDS` if None.
    """
    seconds = COMPILE_SECONDS if seconds is None else seconds
    return loops(steps, kernels, seconds, remaining=options.seconds_left, problem="ecas")


def greedy(instance: EcasInstance, options: Options) -> Outcome:
    """Give jobs the place of the least marginal cost one after the other, largest first.

    The marginal cost is the job's energy, and what the machine adds: idle energy, a start and a stop. Jobs that find
    no place then force others out of theirs.
    """
    if not len(instance.machines):
        return _without_machines(instance)
    params = options.parameters(PriceParameters)
    tables = tables_of(instance, params.search.penalty)
    with compiled(greedy_steps(instance), options, (fill,), GREEDY_COMPILE_SECONDS) as ready:
        if not ready:
            return Outcome(Status.TIME_LIMIT)
        by_cost = by_energy(tables)
        state = filled(instance, tables, by_cost, options)
    if (state.machine == NOWHERE).any() and instance.fits.any(axis=1).all():
        state = _all_placed(instance, tables, by_cost, state, options, params)
    missing = int(np.count_nonzero(state.machine == NOWHERE))
    if missing:
        status = Status.UNKNOWN if options.remaining > 0 else Status.TIME_LIMIT
        return Outcome(status, info={"jobs_without_place": missing})
    return Outcome(Status.FEASIBLE, schedule_of(instance, state))


def _all_placed(
    instance: EcasInstance, tables: Tables, ranking: Ranking, state: State, options: Options, params: PriceParameters
) -> State:
    """Return a schedule with a place for more jobs than `state`, where there is one.

    Jobs without a place come first in further rounds, and then force others out of theirs. Where the time is too short
    to compile the loops of the latter, there are only rounds.
    """
    rounds = params.search.greedy_rounds
    steps = rounds * greedy_steps(instance)
    with compiled(steps + repair_steps(instance, params.repair), options) as ready:
        if ready:
            state = filled(instance, tables, ranking, options.part(params.repair.time_share), rounds)
            repaired(tables, state, ranking, options, params.repair)
            return state
    with compiled(steps, options, (fill,), GREEDY_COMPILE_SECONDS) as ready:
        return filled(instance, tables, ranking, options, rounds) if ready else state


def price(instance: EcasInstance, options: Options) -> Outcome:
    """Bound an instance by prices, and search for a schedule that is close to the bound.

    Where the loops are not compiled yet and the time limit is too short for that, HiGHS has the time.
    """
    if not len(instance.machines):
        return _without_machines(instance)
    params = options.parameters(PriceParameters)
    steps = params.bound.evaluations * 0.1 * greedy_steps(instance)
    steps += params.search.moves(len(instance.jobs)) / max(1, len(instance.jobs)) * greedy_steps(instance)
    with compiled(steps, options) as ready:
        if ready:
            return _price(instance, options, params)
    return without_loops(instance, options)


def without_loops(instance: EcasInstance, options: Options) -> Outcome:
    """Give the time that is left to HiGHS, and return the better of its schedule and the first one, and its bound.

    The first is the user's start, or else the greedy schedule, whose loops run as Python or take less to compile. It is
    all there is where the program is large.
    """
    first = options.start if options.start is not None else greedy(instance, options).schedule
    if first is not None:
        options.report(incumbent=check(instance, first).cost, schedule=partial(dict, first))
    found = Outcome(Status.TIME_LIMIT)
    if estimate_size(instance)[0] <= MOST_COLUMNS and options.remaining > 0:
        with suppress(TooLargeError):
            found = milp(instance, replace(options, start=None))
    if found.schedule is None and found.status is not Status.INFEASIBLE:
        stopped = found.status is Status.INTERRUPTED
        return replace(found, schedule=first, status=found.status if stopped else Status.TIME_LIMIT)
    if first is None or found.schedule is None or check(instance, first).cost >= check(instance, found.schedule).cost:
        return found
    return replace(found, schedule=first)


def _price(instance: EcasInstance, options: Options, params: PriceParameters) -> Outcome:
    tables = tables_of(instance, params.search.penalty)
    prices = best_prices(instance, tables, options, params.bound)
    proof = prices.certificate()
    bound, _ = proven_bound(instance, proof, {})
    if bound is None or bound == np.inf:
        return Outcome(Status.INFEASIBLE, certificate=proof)
    proof["bound"] = bound
    options.report(bound=bound, certificate=lambda: proof)
    state, moves = search_from(instance, tables, prices.guide, options, params, bound)
    info = {"moves": moves, "jobs_without_place": int(np.count_nonzero(state.machine == NOWHERE))}
    schedule = None if info["jobs_without_place"] else schedule_of(instance, state)
    status = Status.UNKNOWN if schedule is None else Status.FEASIBLE
    if options.remaining <= 0:
        status = Status.TIME_LIMIT
    return Outcome(status, schedule, bound, proof, info)


def guiding(instance: EcasInstance, prices: FloatArray, guide: float) -> FloatArray:
    """Return prices that guide the search: of what they hold of idle energy, the share `guide`.

    A price pays for the idle energy of machines, and above it for room that is scarce. Idle energy the search counts
    itself, where a place adds to it.

    Parameters
    ----------
    prices
        Shape (R, T).
    """
    idle = np.maximum(instance.idle_cost.mean(axis=0), 0.0)
    paid = instance.machines.capacity.mean(axis=0) @ prices
    idle_share = np.divide(idle, paid, out=np.ones_like(paid), where=paid > idle)
    return np.asarray(prices * (1 - (1 - guide) * idle_share))


def search_from(
    instance: EcasInstance,
    tables: Tables,
    prices: FloatArray,
    options: Options,
    params: PriceParameters,
    bound: float,
) -> tuple[State, int]:
    """Return the best state of greedy insertion, of the user's start, and of the search from the better one."""
    plain = by_energy(tables)
    ranking = ranked(tables, prefix(guiding(instance, prices, params.search.guide)), params.search.guide)
    candidates = []
    for order in (ranking, plain):
        begun = options.elapsed
        candidates.append(filled(instance, tables, order, options))
        if options.remaining < SECOND_GREEDY * (options.elapsed - begun):
            break  # places for jobs that have none, and the search, are worth more than a second beginning
    if options.start is not None:
        candidates.append(restored(instance, tables, *from_schedule(instance, options.start)))
    state = min(candidates, key=lambda found: value_of(tables, found))
    repaired(tables, state, plain, options.part(params.repair.time_share), params.repair)

    def enough(value: float, found: State) -> bool:
        if (found.machine == NOWHERE).any():
            return False
        machine = found.machine.copy()
        start = found.start.copy()

        def incumbent() -> Schedule:
            return schedule_of(instance, restored(instance, tables, machine, start))

        options.report(incumbent=value, bound=bound, schedule=incumbent)
        gap = relative_gap(value, bound)
        return (gap is not None and gap <= options.mip_rel_gap) or abs(value - bound) <= options.mip_abs_gap

    return improved(instance, tables, state, ranking, plain, options, params.search, enough)


def _without_machines(instance: EcasInstance) -> Outcome:
    """Answer where there is no machine: only an instance without jobs has a schedule."""
    if len(instance.jobs):
        return Outcome(Status.INFEASIBLE)
    return Outcome(Status.OPTIMAL, {"job": [], "machine": [], "start": [], "end": []}, 0.0)
