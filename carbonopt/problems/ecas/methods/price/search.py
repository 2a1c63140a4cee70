"""Schedules by ruin and recreation: jobs are taken out together and put back, machines switched exactly.

A move is accepted by simulated annealing. Its temperature falls with the moves, or with the time if that runs out
first.

References
----------
Schrimpf, Schneider, Stamm-Wilbrandt, Dueck (2000), "Record breaking optimization results using the ruin and recreate
principle", Journal of Computational Physics 159, 139-171.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.kernels import change, fill, settle
from carbonopt.problems.ecas.methods.price.parameters import SearchParameters
from carbonopt.problems.ecas.methods.price.search_kernels import Moves, draws_of_move, search, value_of, work_space
from carbonopt.problems.ecas.methods.price.tables import NOWHERE, Ranking, State, Tables, empty_state

CHUNK = 60_000
"""Random numbers that are drawn at once: after them the time is asked for, and the incumbent is told."""
JOBS_PER_CALL = 2_000
"""Jobs that are inserted at once: after them the time is asked for."""
SMALL_CHUNK = 4_000
"""The same where kernels run as plain Python."""
MOVE_STEPS = 3.5
"""Loop steps of a move for each slot of a job's window and each machine that a job is offered (measured)."""


def greedy_steps(instance: EcasInstance) -> float:
    """Return about how many loop steps a greedy schedule takes."""
    jobs = instance.jobs
    window = float((jobs.deadline - jobs.arrival).sum()) * (len(instance.resources) + 1)
    return window * len(instance.machines) + 10.0 * len(jobs) * instance.time.slots


def filled(instance: EcasInstance, tables: Tables, ranking: Ranking, options: Options, rounds: int = 1) -> State:
    """Return a schedule by greedy insertion, largest jobs first; some may have no place.

    Where some have none, it begins anew with those at the front, `rounds` times at most. The schedule with the fewest
    of them is returned.
    """
    order = np.argsort(-tables.size, kind="stable")
    best = empty_state(instance, tables)
    fewest = len(order) + 1
    for _ in range(rounds):
        state = empty_state(instance, tables)
        for m in range(len(instance.machines)):
            settle(tables, state, m)
        for first in range(0, len(order), JOBS_PER_CALL):
            fill(tables, state, ranking, order[first : first + JOBS_PER_CALL])
            if options.seconds_left <= 0:
                break
        options.spend(greedy_steps(instance))
        has_none = state.machine[order] == NOWHERE
        missing = int(np.count_nonzero(has_none))
        if missing < fewest:
            best = state
            fewest = missing
        if not missing or options.remaining <= 0:
            break
        order = np.concatenate([order[has_none], order[~has_none]])
    return best


def restored(instance: EcasInstance, tables: Tables, machine: IntArray, start: IntArray) -> State:
    """Return the state in which jobs have given places."""
    state = empty_state(instance, tables)
    for j in map(int, np.flatnonzero(machine != NOWHERE)):
        state.machine[j] = machine[j]
        state.start[j] = start[j]
        change(tables, state, j, state.machine[j], state.start[j], 1)
    for m in range(len(instance.machines)):
        settle(tables, state, m)
    return state


def improved(
    instance: EcasInstance,
    tables: Tables,
    state: State,
    guided: Ranking,
    plain: Ranking,
    options: Options,
    params: SearchParameters,
    enough: Callable[[float, State], bool],
) -> tuple[State, int]:
    """Return the best schedule of the search, and the number of its moves.

    Parameters
    ----------
    guided, plain
        Starts of jobs by energy with prices, and by energy alone.
    enough
        Called with the best value and a state that holds its places now and then; True ends the search.
    """
    jobs = len(instance.jobs)
    value = best = value_of(tables, state)
    machine = state.machine.copy()
    start = state.start.copy()
    rng = np.random.default_rng(options.seed)
    limit = params.moves(jobs)
    moves = 0
    rounds = 0
    work = work_space(state, params.removed, params.offered)
    reach = max(1, round(min(instance.time.slots, params.reach_hours / instance.time.slot_hours)))
    recreate = Moves(
        noise=params.noise,
        offered=params.offered,
        among=params.among,
        reach=reach,
        closing=params.closing,
        closed_jobs=params.closed_jobs,
        others=params.closing_others,
    )
    window = float((instance.jobs.deadline - instance.jobs.arrival).mean()) if jobs else 0.0
    steps = MOVE_STEPS * (params.offered + 1) * window
    scale = abs(value) / max(1, jobs)
    begun = options.elapsed
    chunk = max(CHUNK if limit * 50 > CHUNK else SMALL_CHUNK, draws_of_move(len(work.taken), params.offered))
    while moves < limit and options.remaining > 0:
        span = options.elapsed + options.remaining - begun
        passed = (options.elapsed - begun) / span if np.isfinite(span) else 0.0
        share = max(moves / limit, passed)
        ratio = params.end_temperature / params.start_temperature
        temperature = scale * params.start_temperature * ratio**share
        known = best
        ranking = plain if rounds % params.plain_every == 0 else guided
        rounds += 1
        value, best, made = search(
            tables,
            state,
            ranking,
            plain,
            recreate,
            temperature,
            rng.random(chunk),
            work,
            value,
            best,
            machine,
            start,
        )
        moves += made
        options.spend(made * steps)
        if best < known and enough(best, state._replace(machine=machine, start=start)):
            break
    return restored(instance, tables, machine, start), moves
