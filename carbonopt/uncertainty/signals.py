"""Plans under risk by single signals: ordinary instances whose bounds hold for the risk, and whose plans have one.

Both measures are the largest objective over a set of signals:

    CVaR_alpha    sum_s q_s G_s            0 <= q_s <= p_s / (1 - alpha), sum_s q_s <= 1
    budget        mean + sum_zt u_zt D_zt  0 <= u_zt <= 1, sum_zt u_zt <= Gamma

So the risk of a plan is at least its objective under any one of these signals, and no plan's risk is below the optimum
of the instance with that signal. Decomposition by slot prices proves a bound for such an instance.

The signal whose bound is highest is sought by cutting planes (Kelley, Journal of SIAM 8, 1960): the objective of a plan
is linear in the signal, and above the optimum. The next signal is halfway from the best one so far to the highest point
of the cuts. The first one has the duals of the relaxation's rows as its weights.

The plan of a signal is the best against that signal alone. So after the first one the search goes on for `mosp`: under
a budget by ceilings (`carbonopt/uncertainty/ceilings.py`), then by the risk itself
(`carbonopt/uncertainty/hedging.py`).

Rounding: the objective rises with the intensity. So a signal that is a little below one of the set has a valid bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.instance import Instance
from carbonopt.core.interrupt import is_asked
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.uncertainty.ceilings import plans_under_ceilings
from carbonopt.uncertainty.costs import measured, objectives_of, rises_of
from carbonopt.uncertainty.hedging import hedged
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, Risk
from carbonopt.uncertainty.ordinary import solved
from carbonopt.uncertainty.scenarios import Scenarios

ROUNDS = 40
"""Signals that are tried at most."""
FIRST_SHARE = 0.3
"""Of the time or work that is left, what the first signal gets at most: its bound is nearly the best."""
FIRST_SHARE_OF_CEILINGS = 0.2
"""The same where plans are sought under ceilings, too."""
CEILING_SHARE = 0.9
"""Of what the first signal leaves, what the search for plans under ceilings gets."""
SHARE = 0.15
"""The same for each other signal."""
HEDGE_SHARE = 0.85
"""Of it, what the search for a plan of less risk gets, once: after the first signal."""
GAP_SHARE = 0.25
"""Of the wanted gap, what the instance of one signal may leave open."""
LP_SHARE = 0.3
"""Of the time, what the relaxation gets at most."""
LP_TOLERANCE = 1e-4
"""Relative gap at which the relaxation's interior point stops: its duals are only a beginning."""
FLAT = 1e-9
"""Cuts that promise less than this over the best bound, relative to it, end the search."""
CUT_SHORT = 2
"""Signals after the first whose share ended before a better bound was proven, one after the other, end the search."""
SUM_ROUNDINGS = 4
"""Of each term of a signal: its weight, its product, the sum of the weights, and the sum of the terms."""


@dataclass(frozen=True, eq=False)
class SignalSet:
    """The signals ``base + sum_k weight_k direction_k`` whose largest objective is the risk.

    Parameters
    ----------
    base
        [g/kWh], shape (Z, T).
    direction
        K of them [g/kWh], shape (K, Z, T), none negative.
    most
        Largest weight of each direction, shape (K,).
    total
        Largest sum of the weights.
    """

    base: FloatArray
    direction: FloatArray
    most: FloatArray
    total: float

    @classmethod
    def of(cls, scenarios: Scenarios, risk: Risk) -> SignalSet:
        """Return the signals of a measure."""
        if isinstance(risk, Budget):
            pairs = np.nonzero(scenarios.rise)
            direction = np.zeros((len(pairs[0]), *scenarios.rise.shape))
            direction[np.arange(len(direction)), *pairs] = scenarios.rise[pairs]
            return cls(scenarios.mean, direction, np.ones(len(direction)), min(risk.pairs, float(len(direction))))
        level = risk.level if isinstance(risk, CVaR) else 0.0
        most = np.minimum(1.0, scenarios.weights / (1 - level))
        return cls(np.zeros_like(scenarios.mean), scenarios.g_per_kwh, most, 1.0)

    def within(self, weight: FloatArray) -> FloatArray:
        """Return the weights, cut to their limits."""
        kept = np.clip(weight, 0.0, self.most)
        return np.asarray(kept * min(1.0, self.total / kept.sum()) if kept.sum() > 0 else kept)

    def signal(self, weight: FloatArray) -> FloatArray:
        """Return the signal of some weights, lowered by more than rounding may have raised it, shape (Z, T)."""
        exact = self.base + np.tensordot(self.within(weight), self.direction, axes=1)
        lowered = 1 - SUM_ROUNDINGS * (len(self.most) + SUM_ROUNDINGS) * np.finfo(np.float64).eps
        return np.asarray(exact * lowered)

    def cut(self, instance: Instance, scenarios: Scenarios, risk: Risk, solution: Solution) -> tuple[float, FloatArray]:
        """Return what a plan costs at the base, and what each direction adds, shape (K,)."""
        if isinstance(risk, Budget):
            rises = rises_of(instance, scenarios, solution.schedule)
            return measured(instance, scenarios, solution.schedule, Expectation()), rises[scenarios.rise > 0]
        return 0.0, objectives_of(instance, scenarios, solution.schedule)


@dataclass(eq=False)
class Search:
    """The best plan and the best bound so far.

    Parameters
    ----------
    status
        Of the last instance.
    plan, value
        Plan of the least risk, and that risk by the checker.
    bound
        The highest: no plan has a smaller risk.
    signal
        Under which that bound was proven [g/kWh], shape (Z, T).
    rounds
        Signals that were tried.
    proof
        The answer for the instance under that signal.
    """

    status: Status = Status.TIME_LIMIT
    plan: Solution | None = None
    value: float | None = None
    bound: float | None = None
    signal: FloatArray | None = None
    rounds: int = 0
    proof: Solution | None = None

    def offer(self, plan: Solution, value: float) -> None:
        """Keep a plan if its risk is the least so far."""
        if self.value is None or value < self.value:
            self.value = value
            self.plan = plan

    def closed(self, gap: float) -> bool:
        """Return whether value and bound are as near as wanted."""
        found = relative_gap(self.value, self.bound)
        return found is not None and found <= gap


def search(
    instance: Instance,
    scenarios: Scenarios,
    risk: CVaR | Budget,
    first: FloatArray | None,
    options: Options,
    ceiling: float | None = None,
) -> Search:
    """Search for the plan of least risk and for the signal that proves most.

    Parameters
    ----------
    instance, scenarios, risk
        As in `carbonopt.uncertainty.solve.solve_under_risk`.
    first
        Weights of the first signal, see `SignalSet`, shape (K,); None for even ones.
    options
        Of the whole search.
    ceiling
        Of a budget, that of the relaxation, see `carbonopt.uncertainty.ceilings`; None for none.
    """
    signals = SignalSet.of(scenarios, risk)
    first_share = FIRST_SHARE if ceiling is None else FIRST_SHARE_OF_CEILINGS
    even = np.minimum(signals.most, signals.total * signals.most / max(1.0, signals.most.sum()))
    weight = even if first is None else signals.within(first)
    best = weight
    cuts: list[tuple[float, FloatArray]] = []
    found = Search()
    cut_short = 0
    while found.rounds < ROUNDS and not (found.rounds and options.remaining <= 0):
        signal = signals.signal(weight)
        case = scenarios.under(instance, signal)
        share = SHARE if found.rounds else first_share
        solution = solved(case, options, share, GAP_SHARE * options.mip_rel_gap)
        found.rounds += 1
        found.status = solution.status
        is_higher = solution.bound is not None and (found.bound is None or solution.bound > found.bound)
        cut_short = 0 if is_higher or solution.status is Status.OPTIMAL else cut_short + 1
        if is_higher:
            found.bound = solution.bound
            found.signal = signal
            found.proof = solution
            best = weight
        if not solution.has_solution:
            break
        plans = [solution]
        found.offer(solution, measured(instance, scenarios, solution.schedule, risk))
        if found.rounds == 1 and ceiling is not None and not _is_over(found, options):
            plans += _under_ceilings(found, instance, scenarios, risk, ceiling, options.part(CEILING_SHARE))
        if found.rounds == 1 and not _is_over(found, options):
            plans += _hedge(found, instance, scenarios, risk, case, options)
        if _is_over(found, options) or cut_short >= CUT_SHORT:
            break
        cuts += [signals.cut(instance, scenarios, risk, plan) for plan in plans]
        promised, highest = _highest(signals, cuts, options)
        if highest is None or (found.bound is not None and promised <= found.bound + FLAT * abs(found.bound)):
            break
        weight = (best + highest) / 2
    return found


def _is_over(found: Search, options: Options) -> bool:
    return found.status is Status.INTERRUPTED or found.closed(options.mip_rel_gap)


def _under_ceilings(
    found: Search, instance: Instance, scenarios: Scenarios, risk: Risk, ceiling: float, options: Options
) -> list[Solution]:
    """Search for plans of less risk under ceilings, and return them; Ctrl-C leaves what there is."""
    plans: list[Solution] = []
    if not isinstance(instance, MospInstance) or instance.fixed is not None or not isinstance(risk, Budget):
        return plans
    assert found.value is not None
    try:
        for plan, value in plans_under_ceilings(instance, scenarios, risk, ceiling, found.value, options):
            found.offer(plan, value)
            plans.append(plan)
            if is_asked() or found.closed(options.mip_rel_gap):
                break
    except KeyboardInterrupt:
        found.status = Status.INTERRUPTED
    if is_asked():
        found.status = Status.INTERRUPTED
    return plans


def _hedge(
    found: Search, instance: Instance, scenarios: Scenarios, risk: CVaR | Budget, case: Instance, options: Options
) -> list[Solution]:
    """Search for a plan of less risk, and return it; Ctrl-C leaves what there is."""
    assert found.plan is not None
    if found.proof is None:  # nothing was proven
        return []
    try:
        plan = hedged(instance, scenarios, risk, found.plan, found.proof, case, options.part(HEDGE_SHARE))
    except KeyboardInterrupt:
        plan = None
        found.status = Status.INTERRUPTED
    if plan is None:
        return []
    if is_asked():
        found.status = Status.INTERRUPTED
    found.offer(plan, measured(instance, scenarios, plan.schedule, risk))
    return [plan]


def _highest(
    signals: SignalSet, cuts: list[tuple[float, FloatArray]], options: Options
) -> tuple[float, FloatArray | None]:
    """Return the largest objective that all cuts allow, and its weights; None where the program was not solved."""
    from carbonopt.milp import highs

    program = Program("signals", sense="max")
    cost = program.add_variables("cost", 1, lower=-np.inf, cost=1.0)
    weight = program.add_variables("weight", len(signals.most), upper=signals.most)
    total = program.add_rows("total", 1, upper=signals.total)
    program.add_entries(total.index, weight.index, 1.0)
    rows = program.add_rows("cuts", len(cuts), upper=[base for base, _ in cuts])
    program.add_entries(rows.index, cost.index, 1.0)
    program.add_entries(rows.index[:, None], weight.index[None], -np.array([added for _, added in cuts]))
    result = highs.solve(program, replace(options, time_limit=None, work_limit=None, mip_rel_gap=0.0))
    if result.values is None:
        return np.inf, None
    return float(result.values[cost.start]), signals.within(result.values[weight.slice])
