"""Rounds of the linear program with cliques: solve it, add what its solution lacks, and solve it again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.growing import PLACE_STEPS, GrowingProgram

SLOW_SHARE = 1 / 3
SLOW_ROUNDS = 6
"""Over this share of the time so far, and after so many rounds, it is asked whether more are worth it."""


def raise_by_cliques(
    program: GrowingProgram, goal: float, params: CliqueParameters, options: Options
) -> Iterator[float]:
    """Solve the program, then add what it lacks; yield the best bound after each round.

    They end where the last ones have closed too little of the gap to `goal`, the cost of a schedule.
    """
    cliques = program.cliques
    past: list[tuple[float, float]] = []
    for _ in range(params.rounds):
        program.tidy(options)
        options.spend(PLACE_STEPS * len(cliques.cost))
        point = program.solve(np.ones(len(program.columns.row)), np.inf, options)
        if point is None:
            return
        prices = program.prices(point)
        cost = cliques.prove(prices.capacity, prices.cliques)
        yield cliques.proof.bound
        past.append((options.elapsed, cliques.proof.bound))
        if _is_slow(past, params.least_rise * (goal - cliques.proof.bound)):
            return
        starts = program.starts(point)
        is_new = program.extend(point, starts, cost, prices, params.least_violation, options, over_pairs=True)
        if not is_new and not program.insist(point):
            return


def _is_slow(past: list[tuple[float, float]], least: float) -> bool:
    """Return whether a bound rose by less than `least` in the last third of its time; `past` has time and bound."""
    begun, now = past[0][0], past[-1][0]
    before = [bound for elapsed, bound in past if elapsed <= now - SLOW_SHARE * (now - begun)]
    return len(past) >= SLOW_ROUNDS and np.isfinite(least) and past[-1][1] - before[-1] < least
