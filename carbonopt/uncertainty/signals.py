"""Plans under risk by single signals: ordinary instances whose bounds hold for the risk, and whose plans have one.

Both measures are the largest objective over a set of signals:

    CVaR_alpha    sum_s q_s G_s            0 <= q_s <= p_s / (1 - alpha), sum_s q_s <= 1
    budget        mean + sum_zt u_zt D_zt  0 <= u_zt <= 1, sum_zt u_zt <= Gamma

So the risk of a plan is at least its objective under any one of these signals, and no plan's risk is below the optimum
of the instance with that signal. Decomposition by slot prices proves a bound for such an instance.

The signal whose bound is highest is sought by cutting planes (Kelley, Journal of SIAM 8, 1960): the objective of a plan
is linear in the signal, and above the optimum. The next signal is halfway from the best one so far to the highest point
of the cuts. The first one has the duals of the relaxation's rows as its weights.

Rounding: the objective rises with the intensity. So a signal that is a little below one of the set has a valid bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.instance import Instance
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.milp.program import Program
from carbonopt.solve import solve
from carbonopt.uncertainty.costs import measured, objectives_of, rises_of
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation, Risk
from carbonopt.uncertainty.scenarios import Scenarios

ROUNDS = 40
"""Signals that are tried at most."""
SHARE = 0.15
"""Of the time that is left, what one signal gets at most."""
GAP_SHARE = 0.25
"""Of the wanted gap, what the instance of one signal may leave open."""
LP_SHARE = 0.3
"""Of the time, what the relaxation gets at most."""
LP_TOLERANCE = 1e-4
"""Relative gap at which the relaxation's interior point stops: its duals are only a beginning."""
FLAT = 1e-9
"""Cuts that promise less than this over the best bound, relative to it, end the search."""
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
            return cls(scenarios.mean, direction, np.ones(len(direction)), risk.pairs)
        level = risk.level if isinstance(risk, CVaR) else 0.0
        return cls(np.zeros_like(scenarios.mean), scenarios.g_per_kwh, scenarios.weights / (1 - level), 1.0)

    def within(self, weight: FloatArray) -> FloatArray:
        """Return the weights, cut to their limits."""
        kept = np.clip(weight, 0.0, self.most)
        return np.asarray(kept * min(1.0, self.total / kept.sum()) if kept.sum() > 0 else kept)

    def signal(self, weight: FloatArray) -> FloatArray:
        """Return the signal of some weights, lowered by more than rounding may have raised it, shape (Z, T)."""
        exact = self.base + np.tensordot(self.within(weight), self.direction, axes=1)
        lowered = 1 - SUM_ROUNDINGS * (len(self.most) + SUM_ROUNDINGS) * np.finfo(np.float64).eps
        return np.asarray(exact * lowered)

    def cut(self, instance: Instance, scenarios: Scenarios, solution: Solution) -> tuple[float, FloatArray]:
        """Return what a plan costs at the base, and what each direction adds, shape (K,)."""
        if self.base.any():
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
    """

    status: Status = Status.TIME_LIMIT
    plan: Solution | None = None
    value: float | None = None
    bound: float | None = None
    signal: FloatArray | None = None
    rounds: int = 0

    def closed(self, gap: float) -> bool:
        """Return whether value and bound are as near as wanted."""
        found = relative_gap(self.value, self.bound)
        return found is not None and found <= gap


def search(instance: Instance, scenarios: Scenarios, risk: Risk, first: FloatArray | None, options: Options) -> Search:
    """Search for the plan of least risk and for the signal that proves most.

    Parameters
    ----------
    instance, scenarios, risk
        As in `carbonopt.uncertainty.solve.solve_under_risk`.
    first
        Weights of the first signal, see `SignalSet`, shape (K,); None for even ones.
    options
        Of the whole search.
    """
    signals = SignalSet.of(scenarios, risk)
    even = np.minimum(signals.most, signals.total * signals.most / max(1.0, signals.most.sum()))
    weight = even if first is None else signals.within(first)
    best = weight
    cuts: list[tuple[float, FloatArray]] = []
    found = Search()
    while found.rounds < ROUNDS and not (found.rounds and options.remaining <= 0):
        signal = signals.signal(weight)
        solution = _solved(scenarios.under(instance, signal), options)
        found.rounds += 1
        found.status = solution.status
        if solution.bound is not None and (found.bound is None or solution.bound > found.bound):
            found.bound = solution.bound
            found.signal = signal
            best = weight
        if not solution.has_solution:
            break
        value = measured(instance, scenarios, solution.schedule, risk)
        if found.value is None or value < found.value:
            found.value = value
            found.plan = solution
        if solution.status is Status.INTERRUPTED or found.closed(options.mip_rel_gap):
            break
        cuts.append(signals.cut(instance, scenarios, solution))
        promised, highest = _highest(signals, cuts, options)
        if highest is None or (found.bound is not None and promised <= found.bound + FLAT * abs(found.bound)):
            break
        weight = (best + highest) / 2
    return found


def _solved(instance: Instance, options: Options) -> Solution:
    limit = None if options.time_limit is None else SHARE * options.remaining
    gap = GAP_SHARE * options.mip_rel_gap
    return solve(instance, time_limit=limit, mip_rel_gap=gap, seed=options.seed, threads=options.threads)


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
    result = highs.solve(program, Options(None, seed=options.seed, threads=options.threads))
    if result.values is None:
        return np.inf, None
    return float(result.values[cost.start]), signals.within(result.values[weight.slice])
