"""Method `price`: slot prices for the bound, and a search for schedules that they guide.

1. Prices of capacity by ascent of the dual function, smoothed and then hard: the bound, with its certificate.
2. A first schedule: jobs where a linear program over the places of least reduced cost puts them, rounded; of few
   jobs, or where time is out, each inserted where it costs least at these prices.
3. A higher bound where the relaxation rejects jobs: branches on how many.
4. Annealing: take jobs out, insert them again. Rounds grow until the gap is closed, the time is out, or the budget
   of moves is used. Where few large jobs make most of the costs, or many jobs are alike, cliques and branches on where
   and when large jobs start raise the bound, and dives by linear programs make schedules and search neighbourhoods of
   the best one.
5. Beam search over the slots: over parts of the schedule, in search of better ones; over few jobs, a proof.
6. Cliques, and blocks of slots in which jobs are whole, raise the bound of more jobs; after dives, HiGHS's cuts do.
   Trees certify what blocks add, as far as time allows. What gap few jobs leave goes to HiGHS, without what the prices
   rule out. If asked, cliques and branches then make the certificate of few jobs better.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.errors import TooLargeError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.methods.fixed import keeps_fixed
from carbonopt.problems.mosp.methods.greedy import greedy
from carbonopt.problems.mosp.methods.milp import branch
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule
from carbonopt.problems.mosp.methods.price.beam.expansion import expand
from carbonopt.problems.mosp.methods.price.beam.improve import is_small
from carbonopt.problems.mosp.methods.price.beam.part import whole_units
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.large_jobs import (
    add_cliques,
    branch_on_windows,
    certify,
    dive,
    has_use_for_programs,
    raise_by_blocks,
    search_neighbourhoods,
)
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.search import anneal
from carbonopt.problems.mosp.methods.price.solver import STEPS_A_MOVE, Solver
from carbonopt.problems.mosp.methods.price.units import in_like_units
from carbonopt.problems.mosp.methods.price.windows import restrict
from carbonopt.problems.mosp.methods.rounding import lp_rounding

EVALUATIONS = 5_000
"""Evaluations of the dual function in an ascent, about: a part of the guess whether compiling pays."""
COMPILE_SECONDS = 30.0
"""What it takes to compile the loops, about, on a slow machine [s]."""
OPEN_SHARE = 0.1
"""Of the time that is left to HiGHS, what is kept for a better certificate of few jobs."""


@keeps_fixed
@in_like_units
def price(instance: MospInstance, options: Options) -> Outcome:
    """Bound by slot prices and search with them."""
    value, info = value_of(instance, options)
    if not len(instance.jobs):
        return Outcome(Status.OPTIMAL, {"job": [], "cluster": [], "start": []}, 0.0, info=info)
    params = options.parameters(PriceParameters)
    dual = Dual(instance, value, params.bound.cluster_temperature)
    steps = EVALUATIONS * dual.steps + STEPS_A_MOVE * params.search.moves(len(instance.jobs))
    large = (anneal, expand, restrict)
    with loops(steps, large, COMPILE_SECONDS, remaining=options.seconds_left, problem="mosp") as ready:
        if not ready:
            return without_loops(instance, value, options)
        return _search(Solver(instance, value, dual, options), info)


def without_loops(instance: MospInstance, value: PlacementValue, options: Options) -> Outcome:
    """Round the LP and give the rest of the time to HiGHS; where its program exceeds the memory, go by greed."""
    try:
        rounded = lp_rounding(instance, options)
    except TooLargeError:
        return greedy(instance, options, clean_ties=True)
    if rounded.status is Status.INFEASIBLE or options.remaining == 0:
        return rounded
    if rounded.schedule is None:
        best = None
    else:
        best = PartialSchedule.of(instance, value, rounded.schedule)
    with suppress(TooLargeError):  # a tree takes more memory than its root
        return branch(instance, value, best, rounded, options)
    return rounded


def _search(solver: Solver, info: dict[str, Any]) -> Outcome:
    """Bound, then search, then close what gap is left."""
    instance = solver.instance
    options = solver.options
    if solver.proof.price_bound == np.inf:  # some job can run nowhere
        return Outcome(Status.INFEASIBLE, info=info)
    solver.raise_prices()
    solver.start()
    params = solver.params
    jobs = len(instance.jobs)
    few = jobs <= params.cuts.most_jobs_of_tree
    small = is_small(instance, solver.dual, params.beam)
    beams = params.beam.least_jobs <= jobs <= params.beam.most_jobs
    beams = beams and whole_units(instance.jobs.demand) is not None
    if jobs <= params.rejections.most_jobs:
        solver.count_rejections()
    leads = has_use_for_programs(solver) and not few
    if leads:
        solver.search(options.part(params.search.heavy.time_share))
        add_cliques(solver)
        branch_on_windows(solver)
        if solver.proof.certified == np.inf:  # no branch has a schedule
            return Outcome(Status.INFEASIBLE, certificate=solver.proof.certificate(solver.sign), info=info)
        dive(solver)  # in the branches of the tree
        search_neighbourhoods(solver)
        options = solver.options
    elif few or (beams and small):
        solver.search(options.part(params.search.small_time_share), params.search.small_moves_per_job)
    elif beams and solver.rejects:
        solver.search(options.part(params.search.rejecting_time_share))
    elif beams:
        has_few = jobs <= params.beam.small_jobs  # beams do more for these
        solver.search(options.part(params.search.small_time_share if has_few else params.search.time_share))
    if beams and not few:
        if leads:
            solver.cut()
        else:
            solver.search_beams(few, noisy=True)
            add_cliques(solver)
            raise_by_blocks(solver)
    if beams and (small or not few):
        solver.search_beams(few)
    if few:
        return _close(solver, info)
    solver.search(options)
    return solver.outcome(info)


def _close(solver: Solver, info: dict[str, Any]) -> Outcome:
    """Let HiGHS close the gap of few jobs, and raise what the certificate proves; return the outcome."""
    certifies = solver.params.windows.certify_pace > 0
    for share in (1.0 - OPEN_SHARE, 1.0) if certifies else (1.0,):
        closed = solver.branch(solver.options.part(share))
        if closed is not None:
            info = info | closed.info
            if closed.status is Status.INFEASIBLE and not solver.complete:
                return Outcome(Status.INFEASIBLE, info=info)
        if share < 1.0:  # once: what time certifying leaves is HiGHS's again
            certify(solver)
    return solver.outcome(info)
