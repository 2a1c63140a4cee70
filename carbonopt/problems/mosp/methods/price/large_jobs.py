"""Cliques; and where few large jobs make most of the costs or many are alike, branches, dives and neighbourhoods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.block_trees import BlockTrees
from carbonopt.problems.mosp.methods.price.blocks import Blocks
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dives import Dives
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.neighbourhoods import Neighbourhoods
from carbonopt.problems.mosp.methods.price.search import Goal, anneal, rules_of
from carbonopt.problems.mosp.methods.price.solver import STEPS_A_MOVE, Solver
from carbonopt.problems.mosp.methods.price.stages import dive_in_stages
from carbonopt.problems.mosp.methods.price.state import at_places
from carbonopt.problems.mosp.methods.price.window_tree import WindowTree

FEW_JOBS = 100
"""Jobs of an instance up to which a tree branches on large ones that are alike: of more it does not get so far."""
CHECKS = 2
"""How often a tree is rechecked after its last branch: at the end, and for a checkpoint that begins just before."""
CHECK_SHARE = 0.1
"""Of the time that is left, what one of these may take: then there are no more branches. Under a limit of some seconds
to a minute this ends the tree; to recheck a branch takes half as long as to make it."""
WITHOUT_BRANCHES = 0.3
"""Of the least rise by cliques, where no branches raise the bound after them."""
LONGER_WITHOUT_BRANCHES = 1.5
"""Of the time of cliques, how much they may take there: no branches and no dives need it."""
LATE = 0.25
"""Of the time of dives, what must be left for one more to begin. Neighbourhoods make better use of less."""
FEW_BRANCHES = 30
"""Branches that a tree must be on course to have in its time: fewer raise the bound little."""
ROOTS = 10
"""How often its root must fit into its time: else there are no branches."""
FIRST_TIME = 0.35
"""Share of its time after which this is asked."""
LEAST_TO_CERTIFY = 1.0
"""Work that certifying may take, however little there was before it [work units]."""


def has_use_for_programs(solver: Solver) -> bool:
    """Return whether linear programs are likely to lead the search, and places are few enough for them.

    They are where few large jobs make most of the costs, or where many jobs are alike, so that programs are small.
    """
    params = solver.params.dives
    are_alike = solver.kinds <= params.most_kinds * len(solver.instance.jobs)
    return (solver.heavy or are_alike) and solver.place_count <= params.most_places


def add_cliques(solver: Solver) -> None:
    """Raise the bound by cliques, where places are not too many."""
    params = solver.params.cliques
    share = params.time_share
    if not has_use_for_programs(solver):
        params = replace(params, least_rise=WITHOUT_BRANCHES * params.least_rise)
        share = share if solver.certifies else min(1.0, LONGER_WITHOUT_BRANCHES * share)
    options = solver.options.part(share)
    if solver.closed or options.remaining == 0 or solver.place_count > params.most_places:
        return
    for _ in raise_by_cliques(_program(solver, options), _goal(solver), params, options):
        solver.report(improved=False)
        if solver.closed:
            return


def raise_by_blocks(solver: Solver) -> None:
    """Raise the bound by blocks of slots in which jobs are whole, then certify what time allows."""
    params = solver.params.blocks
    options = solver.options.part(params.time_share)
    if solver.closed or not solver.complete or options.remaining == 0 or not params.most_programs:
        return
    if solver.place_count > solver.params.cliques.most_places:
        return
    cliques = _program(solver, options).cliques
    if cliques.proof.bound < solver.proof.best:  # branches on rejections prove more
        return
    blocks = Blocks(cliques, np.array(solver.state.best), solver.state.best_total, params)
    for bound in blocks.raise_bound(options.part(1.0 - params.tree_time_share)):
        solver.proof.tree = max(solver.proof.tree, bound)
        solver.report(improved=False)
        if solver.closed:
            return
    trees = BlockTrees(blocks, params)
    for _ in trees.grow(options):
        solver.proof.blocks = trees
        solver.tell()
        if trees.check_seconds >= CHECK_SHARE * solver.options.seconds_left:
            break
    if solver.proof.blocks is not None:
        solver.report(improved=False)
        solver.options = solver.options.keeping_back(CHECKS * trees.check_seconds)


def _program(solver: Solver, options: Options) -> GrowingProgram:
    """Return the linear program over places; it is made once, from the prices of capacity."""
    if solver.program is None:
        prices = solver.proof.prices.reshape(solver.dual.shape)
        most_apart = solver.params.windows.most_jobs if len(solver.instance.jobs) <= FEW_JOBS else 0
        cliques = CliqueBound(choices_of(solver.instance, solver.value, most_apart), prices, solver.params.cliques)
        solver.proof.cliques = cliques
        solver.program = GrowingProgram(cliques, _goal(solver), options)
    return solver.program


def branch_on_windows(solver: Solver) -> None:
    """Raise the bound by branches on where and when large jobs start."""
    params = solver.params.windows
    options = solver.options if solver.certifies else solver.options.part(params.time_share)
    if solver.closed or options.remaining == 0 or solver.place_count > params.most_places:
        return
    first = options.part(FIRST_TIME)
    program = _program(solver, options)
    begun = options.elapsed
    tree = WindowTree(program, _goal(solver), params, options)
    solver.proof.windows = tree
    root = tree.bound
    is_asked = solver.certifies  # no dives follow that would make better use of the time
    has_time = is_asked or options.remaining >= ROOTS * (options.elapsed - begun)
    for _ in tree.grow(options) if has_time else ():
        solver.tell()
        if solver.closed or tree.check_seconds >= CHECK_SHARE * solver.options.seconds_left:
            break
        if not is_asked and first.remaining == 0:
            is_asked = True
            least_rise = params.least_rise * (_goal(solver) - root)
            if len(tree.branches) < FIRST_TIME * FEW_BRANCHES or tree.bound - root < least_rise < np.inf:
                break
    solver.report(improved=False)
    solver.options = solver.options.keeping_back(CHECKS * tree.check_seconds)


def certify(solver: Solver) -> None:
    """Raise what the certificate proves, by cliques and branches: the bound of a search tree has none.

    At most as much work as all before it goes into that, whatever the limit is: the answer may be there already.
    """
    pace = solver.params.windows.certify_pace
    if not solver.complete or pace == 0:
        return
    options = solver.options
    done = options.work.units
    most = done + max(LEAST_TO_CERTIFY, pace * done)
    if options.work_limit is not None:
        most = min(most, options.work_limit)
    solver.options = replace(options, work_limit=most, threads=1)
    solver.certifies = True
    solver.told = 0.0
    try:
        add_cliques(solver)
        branch_on_windows(solver)
    finally:
        solver.certifies = False
        solver.told = 0.0
        solver.options = options


def _goal(solver: Solver) -> float:
    """Return what a better schedule costs less than."""
    return solver.state.best_total if solver.complete else np.inf


def dive(solver: Solver) -> None:
    """Make schedules by linear programs: from each open branch of the tree, then from nothing."""
    params = solver.params.dives
    options = solver.options.part(params.time_share)
    if solver.closed or options.remaining == 0:
        return
    dives = Dives(_program(solver, options), params, options, solver.tell)
    tree = solver.proof.windows
    starts = iter([]) if tree is None else tree.starts(lambda: _goal(solver))
    time = options.remaining
    for _ in range(params.most):
        place = dive_in_stages(dives, _goal(solver), options, next(starts, None))
        if place is not None:
            _fill(solver, place, options)
        solver.report(improved=False)
        late = LATE * time if solver.complete and solver.params.neighbourhoods.most_in_vain else 0.0
        if solver.closed or options.remaining <= late < np.inf:
            return


def _fill(solver: Solver, place: IntArray, options: Options) -> None:
    """Place the jobs that a dive has left out, and improve the schedule by a short search."""
    params = solver.params.dives
    prices = solver.proof.prices
    state = at_places(solver.empty, place, solver.dual, prices, fill=True)
    moves = params.moves_per_job * len(place)
    first = params.heat * solver.modes()[0].first_temperature
    pace = (1 / solver.params.search.cooling) ** (1 / max(1, moves))
    rules = rules_of(solver.params.search.move, ejects=False)
    none = Goal(-np.inf, 0.0, 0.0)
    anneal(0, moves, solver.rng, first, pace, none, solver.dual.table, solver.places, rules, state)
    options.spend(STEPS_A_MOVE * moves)
    solver.moves += moves
    solver.take_places(state.best)


def search_neighbourhoods(solver: Solver) -> None:
    """Give some jobs better places at a time, by dives."""
    params = solver.params.neighbourhoods
    options = solver.options.part(params.time_share)
    if solver.closed or not solver.complete or options.remaining == 0:
        return
    around = Neighbourhoods(_program(solver, options).cliques, solver.params.dives, options.seed)
    in_vain = 0
    while in_vain < params.most_in_vain and not solver.closed and options.remaining > 0:
        solver.tell()
        place = around.dive(np.array(solver.state.best), options, solver.tell)
        in_vain = 0 if place is not None and solver.take_places(place) else in_vain + 1
