"""Rounds of annealing, from a short one to long ones, and the best schedule of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.instance import PurchasingInstance
from carbonopt.problems.purchasing.prices.bound import Bound
from carbonopt.problems.purchasing.prices.cooling import Cooling
from carbonopt.problems.purchasing.prices.plan import Plan, amounts, best_reserved, fits, mixed
from carbonopt.problems.purchasing.prices.resume import PieceSearch
from carbonopt.problems.purchasing.prices.search import Search

HOT, WARM, COLD = 0.05, 0.003, 1e-4
"""Temperatures over the mean cost of a job on demand: first, between coarse and fine sweeps, last."""
WARM_WHOLE, COLD_WHOLE = 0.01, 3e-4
"""The same where jobs may not split: fine sweeps see the exact load there, for means over cells hide conflicts."""
REHEAT = 0.02
STEEP = (1.0, 1.2, 1e6)
"""Price of load above R where there may be none, over that on demand: first, between, last. Steep from the beginning,
the pool jams: 7.7 % in place of 1.0 % (pai_1k, R = 18)."""
COARSE_HOURS, FINE_HOURS = 1 / 12, 1 / 60
SHORT, LONG = 30, 10_000
"""Coarse sweeps of the first round, and of the others at most."""
FINE = 3
"""Coarse sweeps per fine one."""
EXACT = 4
"""Sweeps over the exact load at the end of a round."""
SHARES = (0.4, 0.55)
"""Of a round's time: for coarse and for fine sweeps."""
LAST_ROUND = 3
MORE = 0.05
"""First addition to the multipliers of limits that are not kept, in their units."""
MULTIPLIERS = 14
"""Trials of multipliers of the limits, at most."""


@dataclass(eq=False)
class Incumbent:
    """The best schedule so far."""

    plan: Plan | None = None
    objective: float = np.inf


@dataclass(eq=False)
class Rounds:
    """Searches for a schedule beside a bound.

    Parameters
    ----------
    instance, options
        See `method.price`.
    bound
        Its multipliers are added to the weights; its prices say where the jobs begin.
    """

    instance: PurchasingInstance
    options: Options
    bound: Bound
    best: Incumbent = field(default_factory=Incumbent)

    def __post_init__(self) -> None:
        jobs, dual = self.instance.jobs, self.bound.dual
        self.random = np.random.default_rng(self.options.seed)
        self.unit = dual.unit * float(np.mean(jobs.cpus * jobs.length_hours)) or 1.0
        self.weights = self.bound.weights
        self.start, self.on_pool = dual.start.copy(), dual.used_other < 0.5
        self.reserved = float(self.instance.reserved_cpus or 0)
        if self.instance.reserved_cpus is None:
            self.reserved = self._likely_reserved()
        self.seconds_per_sweep = 0.0
        self.whole = self.instance.model == "no-split"

    def _likely_reserved(self) -> float:
        """Return the R at which the load of the relaxation is above it for the share of time that pays for it."""
        dual, prices = self.bound.dual, self.instance.prices
        _, slope = dual.soft(self.bound.point, 1e-3)
        unit = dual.split(self.bound.point)[1]
        cap = dual.weights_at(unit)[1] * dual.on_demand if dual.capped else dual.unit
        load = slope[: dual.grid.cells] / (cap or 1.0) / dual.grid.hours
        return float(max(0.0, np.round(np.quantile(load - load.min(), 1.0 - min(1.0, prices.reserved_fraction)))))

    def run(self) -> dict[str, Any]:
        """Search until the gap is closed, time is out, or the rounds are done; return what to tell of it."""
        number = 0
        while number < LAST_ROUND and not self.done():
            self._round(number)
            number += 1
            if self.instance.limits and not self.done():
                self._keep_limits()
        return {"rounds": number, "seconds_per_sweep": self.seconds_per_sweep}

    def done(self) -> bool:
        """Return whether to stop."""
        return self.options.remaining <= 0 or self.closed()

    def closed(self) -> bool:
        """Return whether the gap is what was asked for."""
        gap = self.best.objective - self.bound.value
        if not np.isfinite(gap):
            return False
        asked = max(self.options.mip_abs_gap, self.options.mip_rel_gap * abs(self.best.objective))
        return bool(gap <= asked)

    def search(self) -> Search | PieceSearch:
        """Return a search from where the last one ended."""
        kind = PieceSearch if self.instance.model == "suspend-resume" else Search
        other = self.bound.dual.other_at(self.weights)
        return kind(self.instance, self.weights, self.reserved, other, self.start, self.on_pool, self.random)

    def _round(self, number: int) -> None:
        """Anneal from hot, or reheat; the first round is short, and tells how long a sweep takes."""
        left = 0.97 * self.options.remaining
        sweeps = SHORT if number == 0 else self._affordable(left)
        search = self.search()
        hot, warm = (HOT if number < 2 else REHEAT), (WARM_WHOLE if self.whole else WARM)
        coarse = Cooling(sweeps, hot * self.unit, warm * self.unit, SHARES[0] * left, STEEP[:2])
        search.anneal(COARSE_HOURS, coarse)
        self.seconds_per_sweep = coarse.spent / max(1, coarse.done)
        self._cool(search, max(10, sweeps // FINE) if sweeps > SHORT or self.whole else FINE, left)

    def _affordable(self, left: float) -> int:
        most = min(LONG, 100 + 20 * len(self.instance.jobs))
        if not np.isfinite(left) or self.seconds_per_sweep == 0:
            return most
        return int(max(10, min(most, SHARES[0] * left / self.seconds_per_sweep)))

    def _cool(self, search: Search | PieceSearch, sweeps: int, left: float) -> Plan:
        """Cool down on fine cells, or on the exact load, settle, and offer the schedule."""
        cold, warm = (COLD_WHOLE, WARM_WHOLE) if self.whole else (COLD, WARM)
        cooling = Cooling(sweeps, warm * self.unit, cold * self.unit, SHARES[1] * left, STEEP[1:])
        if self.whole:
            search.settle(cooling)
        else:
            search.anneal(FINE_HOURS, cooling)
        search.settle(Cooling(EXACT, 0.0, 0.0, (1 - sum(SHARES)) * left, (STEEP[2], STEEP[2])))
        self.start, self.on_pool = search.choice.start, search.choice.on_pool
        plan = search.plan()
        self.offer(plan)
        return plan

    def offer(self, plan: Plan) -> bool:
        """Offer a schedule, with the best reserved CPUs if they are decided; return whether it keeps the limits."""
        instance = self.instance
        if instance.reserved_cpus is None:
            self.reserved = best_reserved(plan, instance, float(self.weights[1]))
            plan = Plan(plan.job, plan.start, plan.end, plan.option, self.reserved)
        found = amounts(plan, instance, self.bound.dual.other_at(self.weights))
        objective = found.objective(instance)
        self.kept = not (found.excess(instance) > 0).any()
        if not self.kept or not fits(plan, instance):
            return False
        if objective < self.best.objective:
            self.best.plan, self.best.objective = plan, objective
            info = {"reserved_cpus": int(plan.reserved)} if instance.reserved_cpus is None else {}
            self.options.report(
                objective=objective, bound=self.bound.value, incumbent=lambda: plan.columns(instance), info=info
            )
        return True

    def _keep_limits(self) -> None:
        """Raise the multipliers of the limits until these are kept, lower them as far as that allows, and mix."""
        low, high, step = 0.0, np.inf, 1.0
        plans: dict[bool, Plan] = {}
        for _ in range(MULTIPLIERS):
            self.weights = self._weights_at(step)
            plan = self._cool(self.search(), 10, self.options.remaining)
            plans[self.kept] = plan
            if self.kept:
                high = step
            else:
                low = step
            step = 2 * step if np.isinf(high) else (low + high) / 2
            if self.done() or high - low < 1e-4 * high:
                break
        if len(plans) == 2:
            self._mix(plans[True], plans[False])

    def _weights_at(self, step: float) -> FloatArray:
        """Return the weights with the bound's multipliers times `step`, and more of each limit above 1."""
        dual = self.bound.dual
        weights = dual.weights + min(step, 1.0) * (self.bound.weights - dual.weights)
        weights[dual.limited.index] += MORE * max(0.0, step - 1.0) * dual.limited.unit
        return weights

    def _mix(self, kept: Plan, cheap: Plan) -> None:
        """Let as many jobs as the limits allow do what they do in a schedule that does not keep them."""
        jobs = len(self.instance.jobs)
        order = self.random.permutation(jobs)
        few, many = 0, jobs
        while many - few > 1 and self.options.remaining > 0:
            some = (few + many) // 2
            of_cheap = np.zeros(jobs, dtype=np.bool_)
            of_cheap[order[:some]] = True
            self.offer(mixed(kept, cheap, of_cheap))
            few, many = (some, many) if self.kept else (few, some)
