"""Method `price`: the bound by prices of GPU time, and schedules that the prices lead to.

Where there is a JCT budget, a schedule that follows the prices ends somewhat later than the relaxation says. The
prices are then made anew for a smaller budget, until the schedule keeps the true one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.settings import Limits
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.methods.price.bound import Proof, ascend, ceiling, cells_of, pricing_steps
from carbonopt.problems.mlcluster.methods.price.construct import construct
from carbonopt.problems.mlcluster.methods.price.dual import Dual
from carbonopt.problems.mlcluster.methods.price.follow import PricePolicy, follow_prices
from carbonopt.problems.mlcluster.methods.price.improve import Search, improve
from carbonopt.problems.mlcluster.methods.price.incumbent import Incumbent
from carbonopt.problems.mlcluster.methods.price.kernels import cover, soft_cover
from carbonopt.problems.mlcluster.methods.price.parameters import BoundParameters, PriceParameters
from carbonopt.problems.mlcluster.methods.price.place_kernels import place_all
from carbonopt.problems.mlcluster.methods.price.restarts import RestartDual, count_restarts
from carbonopt.problems.mlcluster.methods.price.rows import Rows, schedule_of
from carbonopt.problems.mlcluster.methods.price.ruin_kernels import ruin_and_recreate
from carbonopt.problems.mlcluster.methods.price.walks import price_walks

PRICE_KERNELS = (cover, soft_cover, price_walks, place_all, ruin_and_recreate)
"""Kernels that take long to compile."""
COMPILE_SECONDS = 25.0
"""How long numba takes to compile all kernels of the method [s]; 40 measured on a processor 1.7 times as slow."""
PRICINGS = 300.0
"""Rough number of times that all jobs are priced: by it `price_steps` guesses the work."""
RULES = ("fixed-2", "tiresias")
"""Policies that are tried if there is still no schedule at last."""


def price_steps(instance: MlClusterInstance, params: BoundParameters) -> float:
    """Return about how many loop steps prices and the schedules that follow them take."""
    cells = cells_of(instance, params)
    return PRICINGS * pricing_steps(instance, cells) + follow_steps(len(instance.jobs), instance.time.slots * cells)


def follow_steps(jobs: int, cells: int) -> float:
    """Return about how many loop steps a schedule takes that follows the prices."""
    return float(jobs) * cells**2


def price(instance: MlClusterInstance, options: Options) -> Outcome:
    """Bound an instance by prices, and follow them to a schedule.

    Where the loops are not compiled yet and the time limit is too short for that, they run as Python, fewer times.
    """
    params = options.parameters(PriceParameters).bound
    steps = price_steps(instance, params)
    left = options.seconds_left
    with loops(steps, PRICE_KERNELS, COMPILE_SECONDS, remaining=left, problem="mlcluster") as ready:
        if ready:
            return _price(instance, options)
    with loops(steps=0):
        return _price(instance, options)


def _price(instance: MlClusterInstance, options: Options) -> Outcome:
    if not len(instance.jobs):
        empty: Schedule = {"job": [], "start_minutes": [], "end_minutes": [], "gpus": []}
        return Outcome(Status.OPTIMAL, empty, 0.0)
    incumbent = Incumbent.early(instance, options)
    _prepare_loops(instance, options)
    followed = proof = ascend(instance, options)
    if proof.bound <= ceiling(instance):
        proof = count_restarts(proof, options)
    if proof.bound > ceiling(instance):
        return Outcome(Status.INFEASIBLE, certificate=proof.certificate(), info=proof.info)
    options.report(bound=proof.bound, certificate=proof.certificate)
    return search_schedule(instance, options, proof, incumbent, followed)


def _prepare_loops(instance: MlClusterInstance, options: Options) -> None:
    """Call each loop once for nothing: the share of the time that prices take leaves out to compile them."""
    params = options.parameters(PriceParameters)
    coefficients = CellCoefficients(instance, cells_of(instance, params.bound))
    dual = Dual(coefficients)
    dual.soft(dual.start(), 1.0)
    dual.hard(dual.start())
    proof = Proof(coefficients, np.zeros(coefficients.count), 0.0, dual.mu, 0.0, {})
    RestartDual(proof).prepare()
    policy = PricePolicy(proof, 1.0, 1.0, 0)
    none = np.zeros(0, dtype=np.int64)
    policy.raise_break_prices(none, np.zeros(0), 0, 0.0)
    search = Search(proof, params.repair, Rows.space(0), 0)
    search.rounds(0)
    place_all(search.room.tables, search.room.state, none, search.room.work)


def search_schedule(
    instance: MlClusterInstance,
    options: Options,
    proof: Proof,
    best: Incumbent,
    followed: Proof | None = None,
) -> Outcome:
    """Make schedules at the prices, from nothing or by following them, and return the best, or what there is already.

    Parameters
    ----------
    followed
        Prices to follow, where those of the bound count restarts: break prices of walks say less of single cells.
    """
    params = options.parameters(PriceParameters).follow
    is_constructed = _construct(proof, options, best) and best.schedule is not None
    if not is_constructed or follow_steps(len(instance.jobs), proof.coefficients.count) <= params.most_steps:
        for follower in _tightened(instance, options, followed or proof, best):
            _follow_in_time(follower, options, best)
    if best.schedule is None:
        for haste in params.hastes:  # completion times may exceed the budget by less
            best.offer(follow_prices(proof, options, haste=haste) if options.remaining > 0 else None)
        best.follow_rules(RULES)
    told = improve(proof, options, best)
    status = Status.FEASIBLE if best.schedule is not None else Status.UNKNOWN
    if options.remaining <= 0:
        status = Status.TIME_LIMIT
    return Outcome(status, best.schedule, proof.bound, proof.certificate(), {**proof.info, **told})


def _construct(proof: Proof, options: Options, best: Incumbent) -> bool:
    """Offer schedules that are made from nothing; return whether there are any.

    Not where completion times have a price: the largest jobs first would let all others wait.
    """
    if proof.delay_price > 0:
        return False
    params = options.parameters(PriceParameters).construct
    found = [_offer(construct(proof, options, share), best) for share in params.first_shares]
    return any(found) or any(_offer(construct(proof, options, share, share), best) for share in params.kept_shares)


def _offer(rows: Rows | None, best: Incumbent) -> bool:
    """Offer runs; return whether there are any."""
    if rows is None:
        return False
    best.offer(schedule_of(best.instance.jobs.name, rows))
    return True


def _follow_in_time(proof: Proof, options: Options, best: Incumbent) -> None:
    """Offer schedules that follow the prices, with more and more haste until the jobs of one end by the horizon.

    In whole GPUs and with restarts, work takes longer than the relaxation says: where there is little slack, jobs that
    wait for their cheap cells come too late.
    """
    params = options.parameters(PriceParameters).follow
    for haste in (1.0, *params.hastes):
        ended = False
        for premium in params.premiums:
            if options.remaining > 0:
                schedule = follow_prices(proof, options, premium, haste)
            else:
                schedule = None
            best.offer(schedule, close=True)
            ended = ended or schedule is not None
        if ended or options.remaining <= 0:
            return


def _tightened(instance: MlClusterInstance, options: Options, proof: Proof, best: Incumbent) -> Iterator[Proof]:
    """Yield prices for smaller and smaller budgets, as long as schedules exceed the true one."""
    yield proof
    params = options.parameters(PriceParameters)
    limit = instance.limits.mean_jct_hours
    budget = instance.limits.mean_jct_hours
    for _ in range(params.follow.budget_rounds):
        if limit is None or budget is None or best.mean_jct is None or options.remaining <= 0:
            return
        if params.follow.budget_use * limit <= best.mean_jct <= limit:
            return
        budget *= limit / best.mean_jct
        best.mean_jct = None
        silent = replace(options, callback=None)  # bounds for a smaller budget are none for the true one
        proof = ascend(instance.with_objective(limits=Limits(budget)), silent, proof)
        yield proof
