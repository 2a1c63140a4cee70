"""Rounds of the linear program with cliques: solve it, add what its solution lacks, and solve it again.

A solution is a corner, and the next one may be far from it. Cliques that the mean of solutions so far violates are
needed longer, so large programs need fewer rounds.

References
----------
Ben-Ameur, Neto (2007), "Acceleration of cutting-plane and column generation algorithms: applications to network
design", Networks 49, 3-17.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.growing import PLACE_STEPS, GrowingProgram

NEW_SHARE = 0.5
"""Share of a solution in the mean of it and the earlier ones, where cliques are sought."""
SLOW_SHARE = 1 / 3
SLOW_ROUNDS = 6
SLOW_ROUNDS_OF_HALVES = 4
"""Over this share of the time so far, and after so many rounds, it is asked whether more are worth it."""
LEAST_HIDDEN = 1e-6
"""Share of the bound that missing places do not count as hiding: so much they hide by the tolerance of prices."""


def raise_by_cliques(
    program: GrowingProgram, goal: float, params: CliqueParameters, options: Options
) -> Iterator[float]:
    """Solve the program, then add what it lacks; yield the best bound after each round.

    They end where the last ones have closed too little of the gap to `goal`, the cost of a schedule, and places that
    are still missing would not change that. Then come rounds with cuts by halves, up to the same end: earlier ones
    would stand in for cliques that do more. A solution that costs more than `goal` gets only places, if it lacks any.
    """
    left = yield from _rounds(program, goal, params, params.rounds, options, by_halves=False)
    if params.halves and goal > program.cliques.proof.bound:
        yield from _rounds(program, goal, params, left, options, by_halves=True)


def _rounds(
    program: GrowingProgram, goal: float, params: CliqueParameters, left: int, options: Options, *, by_halves: bool
) -> Generator[float, None, int]:
    """Yield the best bound after each of at most `left` rounds, with new cliques or cuts by halves; return the rest."""
    cliques = program.cliques
    past: list[tuple[float, float]] = []
    least_rounds = SLOW_ROUNDS_OF_HALVES if by_halves else SLOW_ROUNDS
    middle: FloatArray | None = None
    while left and options.remaining > 0:
        program.tidy(options)
        options.spend(PLACE_STEPS * len(cliques.cost))
        point = program.solve(program.counts, np.inf, options)
        if point is None:
            return left
        prices = program.prices(point)
        cost = cliques.prove(prices.capacity, prices.cliques)
        yield cliques.proof.bound
        past.append((options.elapsed, cliques.proof.bound))
        least_rise = params.least_rise * (goal - cliques.proof.bound)
        hidden = point.objective - cliques.proof.bound
        is_slow = len(past) >= least_rounds and _is_slow(past, least_rise)
        if is_slow and hidden < max(least_rise, LEAST_HIDDEN * abs(cliques.proof.bound)):
            return left
        if point.objective > goal and program.add_places(cost, prices, options):
            continue
        left -= 1
        starts = program.starts(point)
        middle = starts if middle is None else NEW_SHARE * starts + (1 - NEW_SHARE) * middle
        least = params.least_violation
        is_new = any(
            program.extend(point, at, cost, prices, least, options, over_pairs=True, by_halves=by_halves)
            for at in ((starts,) if by_halves else (middle, starts))
        )
        if not is_new and not program.insist(point):
            return left
    return left


def _is_slow(past: list[tuple[float, float]], least: float) -> bool:
    """Return whether a bound rose by less than `least` in the last third of its time; `past` has time and bound."""
    begun, now = past[0][0], past[-1][0]
    before = [bound for elapsed, bound in past if elapsed <= now - SLOW_SHARE * (now - begun)]
    return bool(np.isfinite(least)) and past[-1][1] - before[-1] < least
