"""Method `price`: the Lagrangian bound of slot prices, and a schedule by annealed best responses to the load.

1. Maximise the dual function over prices of reserved CPU-hours and multipliers of the limits: the bound.
2. Where jobs may not split, find places of the largest ones together.
3. From each job's best answer to the prices, let the jobs respond to the load of all others, at a temperature that
   falls; at last each to the exact load. Repeat in longer rounds until the gap is closed or time is out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import Kernel, loops
from carbonopt.core.errors import TooLargeError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.methods.certificates import infeasible, proof_of_infeasibility, stated
from carbonopt.problems.purchasing.methods.lp_rounding import lp_rounding
from carbonopt.problems.purchasing.methods.milp import branch
from carbonopt.problems.purchasing.methods.no_wait import first_schedule, improved
from carbonopt.problems.purchasing.methods.parameters import PolishParameters
from carbonopt.problems.purchasing.methods.price.bound import Proof, best_bound
from carbonopt.problems.purchasing.methods.price.branch_parameters import BranchParameters
from carbonopt.problems.purchasing.methods.price.branches import Tree
from carbonopt.problems.purchasing.methods.price.kernels.cell_responses import sweep
from carbonopt.problems.purchasing.methods.price.kernels.exact_responses import respond
from carbonopt.problems.purchasing.methods.price.kernels.piece_pricing import price_pieces
from carbonopt.problems.purchasing.methods.price.kernels.piece_responses import respond_pieces
from carbonopt.problems.purchasing.methods.price.kernels.ruins import ruin
from carbonopt.problems.purchasing.methods.price.kernels.run_pricing import price_runs
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters
from carbonopt.problems.purchasing.methods.price.placements import placements_of
from carbonopt.problems.purchasing.methods.price.rounds import Rounds
from carbonopt.problems.purchasing.methods.rounding import checked
from carbonopt.problems.purchasing.verify.certificate import ceiling

STEPS_AN_HOUR = 250_000
"""Loop steps for each hour of a job's window: 500 evaluations of 20 steps a breakpoint, and as much for the search."""
COMPILE_SECONDS = 12.0
"""Time that the loops of one model take to compile, rounded up."""


@dataclass
class _Share:
    """What is left of a share of the time, or of the work; the share begins when it is first called.

    The first call comes after the first evaluation of the dual function. That one loads numba's code, which out of a
    time limit of 2 s would use up the whole share.
    """

    options: Options
    share: float
    until: float | None = None

    def __call__(self) -> float:
        if self.until is None:
            self.until = self.options.elapsed + self.share * self.options.remaining
        return self.until - self.options.elapsed


def price(instance: PurchasingInstance, options: Options) -> Outcome:
    """Bound an instance by prices of reserved CPUs, and search for a schedule near the bound.

    Parameters
    ----------
    instance
        Of any model, with or without spot CPUs and limits, R given or to be decided.
    options
        `mip_rel_gap` and `mip_abs_gap` end the method early.

    Returns
    -------
    Outcome
        With certificate ``{"kind": "lagrangian", "grid_slots": k, "prices": [k T], "multipliers": {...} or None,
        "bound": ...}``. ``infeasible`` where it proves that the limits cannot be kept.
    """
    if not len(instance.jobs):
        return _empty(instance, options)
    steps = STEPS_AN_HOUR * float((instance.max_wait_hours + instance.jobs.length_hours).sum())
    kernels = _kernels(instance)
    left = options.seconds_left
    with loops(steps, kernels, COMPILE_SECONDS, remaining=left, problem="purchasing") as ready:
        return _price(instance, options) if ready else without_loops(instance, options)


def _kernels(instance: PurchasingInstance) -> tuple[Kernel[..., Any], ...]:
    """Return the loops that take long to compile, of those that an instance needs."""
    if instance.model == "suspend-resume":
        return price_pieces, respond_pieces
    return (price_runs, sweep, respond, ruin) if instance.model == "no-split" else (price_runs, sweep, respond)


def without_loops(instance: PurchasingInstance, options: Options) -> Outcome:
    """Return the best of what needs no compiled loops, for who has no time to compile them.

    The LP relaxation is rounded, and HiGHS goes on from there with the whole program. Where these programs exceed the
    memory, the schedule is that without waiting, or the one given, improved by best responses, and the bound is that
    of reserved CPUs for nothing: each job by itself.
    """
    try:
        outcome = lp_rounding(instance, options)
        if outcome.status is not Status.INFEASIBLE and options.remaining > 0:
            best = None if outcome.schedule is None else checked(instance, outcome.schedule)
            return branch(instance, best, outcome, options)
    except TooLargeError:
        return _alone(instance, options)
    return outcome


def _alone(instance: PurchasingInstance, options: Options) -> Outcome:
    """Return a schedule by best responses alone, and the bound of reserved CPUs for nothing."""
    free = {"kind": "lagrangian", "grid_slots": 1, "prices": np.zeros(instance.time.slots), "multipliers": None}
    value, certificate = stated(instance, free)
    best = first_schedule(instance, options)
    if best is None:
        return Outcome(Status.TIME_LIMIT, None, value, certificate)
    best = improved(instance, best, PolishParameters())
    return Outcome(Status.TIME_LIMIT, best.schedule, value, certificate, best.info)


def _price(instance: PurchasingInstance, options: Options) -> Outcome:
    parameters = options.parameters(PriceParameters)
    first = first_schedule(instance, options)
    if first is not None:
        options.report(incumbent=first.objective, schedule=lambda: first.schedule, info=first.info)
    proof = best_bound(instance, _Share(options, parameters.bound.time_share), options, parameters.bound)
    if first is None and proof.value > ceiling(instance):
        ruled_out = proof_of_infeasibility(instance, proof.certificate)
        if ruled_out is not None:
            return Outcome(Status.INFEASIBLE, certificate=ruled_out)
    value, certificate = stated(instance, proof.certificate)
    options.report(bound=value, certificate=lambda: certificate)
    share = _Share(options, parameters.placements.time_share)
    rounds = Rounds(
        instance, options, proof, parameters, partial(placements_of, proof, share, options, parameters.placements)
    )
    info = rounds.run()
    runs = rounds.best.runs
    if runs is not None:
        raised = _branched(rounds, proof, parameters.branches, options)
        if raised is not None:
            value, certificate, info["branches"] = raised
    if first is not None and first.objective < rounds.best.objective:
        status = Status.TIME_LIMIT if options.remaining <= 0 else Status.FEASIBLE
        return Outcome(status, first.schedule, value, certificate, info | first.info)
    if runs is None:
        late = options.remaining <= 0
        status = Status.TIME_LIMIT if late else Status.UNKNOWN
        return Outcome(status, None, value, certificate, info)
    if instance.reserved_cpus is None:
        info["reserved_cpus"] = int(runs.reserved)
    return Outcome(_status(rounds, value, options), runs.columns(instance), value, certificate, info)


def _branched(
    rounds: Rounds, proof: Proof, parameters: BranchParameters, options: Options
) -> tuple[float, dict[str, Any], int] | None:
    """Return a better bound by branches, its certificate, and how many leaves it has; None where none is found."""
    instance = rounds.instance
    few = len(instance.jobs) <= parameters.most_jobs
    whole = instance.model == "no-split" and instance.reserved_cpus is not None and not instance.limits
    if not (few and whole) or rounds.done() or parameters.pace == 0:
        return None
    tree = Tree(proof, rounds.best.objective, parameters, options)
    told = proof.value
    for bound in tree.grow():
        if bound > told:
            told = bound
            options.report(bound=bound, certificate=lambda: stated(instance, tree.certificate())[1])
        if rounds.closed_by(bound):
            break
    value, certificate = stated(instance, tree.certificate())
    if value is None or certificate is None or value <= proof.value:
        return None
    return value, certificate, tree.size


def _status(rounds: Rounds, bound: float | None, options: Options) -> Status:
    if bound is not None and rounds.closed_by(max(bound, rounds.proof.value)):
        return Status.OPTIMAL
    return Status.TIME_LIMIT if options.remaining <= 0 else Status.FEASIBLE


def _empty(instance: PurchasingInstance, options: Options) -> Outcome:
    """Return the schedule of no jobs; what is prepaid may exceed a limit even so."""
    columns: dict[str, Any] = {"job": [], "start_hours": [], "end_hours": [], "option": []}
    info = {"reserved_cpus": 0} if instance.reserved_cpus is None else {}
    if not np.isfinite(checked(instance, columns).objective):
        return infeasible(instance, options, {})
    return Outcome(Status.OPTIMAL, columns, 0.0, None, info)
