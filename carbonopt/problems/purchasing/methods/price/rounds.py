"""Rounds of annealing, from a short one to long ones, and the best schedule of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import RESERVED
from carbonopt.problems.purchasing.methods.price.bound import Proof
from carbonopt.problems.purchasing.methods.price.cooling import Cooling
from carbonopt.problems.purchasing.methods.price.guides import Guide, best_of
from carbonopt.problems.purchasing.methods.price.multipliers import Multipliers
from carbonopt.problems.purchasing.methods.price.parameters import PriceParameters
from carbonopt.problems.purchasing.methods.price.piece_search import PieceSearch
from carbonopt.problems.purchasing.methods.price.ruins import RuinSearch
from carbonopt.problems.purchasing.methods.price.run_table import RunTable, amounts, best_reserved, fits, mixed
from carbonopt.problems.purchasing.methods.price.search import Search
from carbonopt.problems.purchasing.methods.price.stage_parameters import StageParameters
from carbonopt.problems.purchasing.methods.price.stages import course

S = TypeVar("S", Search, PieceSearch, RuinSearch)

POINT_STEPS = 20.0
"""Loop steps of a sweep for each start that it looks at."""
CELL_POINTS = 10.0
"""Starts that stand for what each job takes beside those."""
OFFERED_SHARE = 0.02
"""Share of an annealing by ruin and recreate after which a better schedule is offered again."""
LEAST_SHARE = 0.2
"""Of the time of the round before, what a round needs: a shorter one spoils the schedule that it begins with."""


@dataclass(eq=False)
class Incumbent:
    """The best schedule so far, and what its search began with."""

    runs: RunTable | None = None
    objective: float = np.inf
    guide: Guide | None = None


@dataclass(eq=False)
class Rounds:
    """Searches for a schedule beside a proof of the bound.

    Parameters
    ----------
    instance, options
        See `method.price`.
    proof
        Its multipliers are added to the weights; its prices say where the jobs begin.
    parameters
        Of the method.
    more_guides
        Finds what rounds may begin with beside the prices of the proof; called after the first round.
    """

    instance: PurchasingInstance
    options: Options
    proof: Proof
    parameters: PriceParameters
    more_guides: Callable[[], Sequence[Guide]] = tuple
    best: Incumbent = field(default_factory=Incumbent)

    def __post_init__(self) -> None:
        jobs = self.instance.jobs
        dual = self.proof.dual
        self.random = np.random.default_rng(self.options.seed)
        self.random_of_ruins = np.random.default_rng([self.options.seed, 1])  # rounds do not depend on them
        work = jobs.cpus * jobs.length_hours
        if self.instance.model == "suspend-resume":
            typical = float(work.mean())
        else:
            typical = _typical(work)
        self.unit = dual.unit * typical or 1.0
        self.weights = self.proof.weights
        limited = dual.limited
        begin = np.maximum(self.weights - dual.weights, 0.0)[limited.index]
        least = self.parameters.limits.addition * limited.unit
        self.multipliers = Multipliers(begin, least, self.parameters.limits)
        self.guide = Guide.of(dual, self.proof.point)
        self.start, self.on_pool = self.guide.start.copy(), self.guide.on_pool
        self.reserved = float(self.instance.reserved_cpus or 0)
        if self.instance.reserved_cpus is None:
            self.reserved = self._likely_reserved()
        self.per_sweep = 0.0
        self.kept_back = 0.0
        self.offered = np.inf
        self.per_try = 0.0
        hard = self.parameters.no_split
        self.steepness = (hard.start_steepness, hard.middle_steepness, hard.end_steepness)

    def _likely_reserved(self) -> float:
        """Return the R at which the load of the relaxation is above it for the share of time that pays for it."""
        dual = self.proof.dual
        prices = self.instance.prices
        _, slope = dual.soft(self.proof.point, 1e-3)
        unit = dual.split(self.proof.point)[1]
        cap = dual.weights_at(unit)[1] * dual.on_demand if dual.capped else dual.unit
        load = slope[: dual.grid.cells] / (cap or 1.0) / dual.grid.hours
        return float(max(0.0, np.round(np.quantile(load - load.min(), 1.0 - min(1.0, prices.reserved_fraction)))))

    def run(self) -> dict[str, Any]:
        """Search until the gap is closed, time is out, or the rounds are done; return what to tell of it."""
        number = 0
        least = kept = 0.0
        guides = [self.guide]
        while number < self.parameters.rounds.rounds and not self.done() and self._left() > least:
            begun = self.options.elapsed
            self._round(number, self.parameters.rounds.time_share * self._left())
            number += 1
            if number == 1 and not self.done():
                guides = [*self.more_guides(), self.guide]
                kept = self._time_of_ruins()
                self.kept_back = kept if kept < np.inf else 0.0
                time = self.parameters.placements.contest_share * self._left()
                self.guide = best_of(guides, time, self._cost, self.done)
            else:
                least = LEAST_SHARE * (self.options.elapsed - begun)
            if self.instance.limits and not self.done():
                self._keep_limits()
        if kept:
            self._ruin()
        begun_with = self.best.guide or self.guide
        told = {} if len(guides) == 1 else {"placed_jobs": int(begun_with.placed.sum())}
        return {"rounds": number} | told | self._pace()

    def done(self) -> bool:
        """Return whether to stop."""
        return self.options.remaining <= 0 or self.closed()

    def _left(self) -> float:
        """Return the time or work that is left for rounds."""
        return self.options.remaining - self.kept_back

    @property
    def kept(self) -> bool:
        """Whether the schedule that was offered last keeps the limits."""
        return not (self.over > 0).any()

    def closed(self) -> bool:
        """Return whether the gap is what was asked for."""
        return self.closed_by(self.proof.value)

    def closed_by(self, bound: float) -> bool:
        """Return whether the gap to a bound is what was asked for."""
        gap = self.best.objective - bound
        if not np.isfinite(gap):
            return False
        asked = max(self.options.mip_abs_gap, self.options.mip_rel_gap * abs(self.best.objective))
        return bool(gap <= asked)

    def search(self) -> Search | PieceSearch:
        """Return a search from where the last one ended."""
        if self.instance.model == "suspend-resume":
            return self._of_kind(PieceSearch, self.start, self.on_pool, self.reserved, self.random)
        placed = self.guide.placed
        return self._of_kind(Search, self.start, self.on_pool, self.reserved, self.random, placed=placed)

    def _of_kind(
        self,
        kind: type[S],
        start: FloatArray,
        on_pool: BoolArray,
        reserved: float,
        random: np.random.Generator,
        **more: Any,
    ) -> S:
        """Return a search from starts [h], on the pool or not, shapes (N,), with so many reserved CPUs."""
        dual = self.proof.dual
        other = dual.other_at(self.weights)
        return kind(
            self.instance,
            self.weights,
            reserved,
            other,
            start,
            on_pool,
            dual.sizes.of_job,
            self.guide.prices,
            random,
            self.parameters,
            **more,
        )

    def _time_of_ruins(self) -> float:
        """Return what time or work is kept for ruin and recreate: a share of what is left, if enough for some tries."""
        parameters = self.parameters.ruins
        search = self._ruin_search()
        if search is None or parameters.rounds == 0:
            return 0.0
        cold = parameters.end_temperature * self.unit
        trial = self._cooling(2, (cold, cold), search)  # the first sweep loads the loops
        for _ in search.sweeps(trial):
            pass
        self.per_try = trial.per_sweep / search.tries
        time = parameters.time_share * self.options.remaining
        return time if self.per_try * parameters.least_tries * len(search.movable) <= time else 0.0

    def _ruin(self) -> None:
        """Anneal by ruin and recreate, each time from the best schedule; what is better on the way is kept.

        An annealing for which the time is too short begins less hot, and is the last one.
        """
        parameters = self.parameters.ruins
        self.guide = self.best.guide or self.guide
        cold = self.unit * parameters.end_temperature
        for number in range(parameters.rounds):
            search = self._ruin_search()
            if search is None or self.done():
                return
            tries = parameters.tries * parameters.tries_growth**number * len(search.movable)
            allowed = min(1.0, self.options.remaining / max(tries * self.per_try, 1e-9))
            hot = self.unit * parameters.start_temperature * parameters.heat_growth**number * allowed
            cooling = self._cooling(max(2, round(tries / search.tries)), (max(hot, cold), cold), search)
            offered, least = 0.0, 0.0
            for change in search.sweeps(cooling):
                if change < least and cooling.share >= offered + OFFERED_SHARE:
                    self.offer(search.runs())
                    offered, least = cooling.share, change
                    if self.closed():
                        return
            self.offer(search.runs())
            if allowed < 1.0:
                return

    def _ruin_search(self) -> RuinSearch | None:
        """Return ruin and recreate from the best schedule; None where there is none."""
        runs = self.best.runs
        if runs is None or self.instance.model != "no-split" or self.instance.limits:
            return None
        on_pool = runs.option == RESERVED
        start = np.where(on_pool, runs.start, self.start)
        search = self._of_kind(RuinSearch, start, on_pool, runs.reserved, self.random_of_ruins)
        return search if len(search.movable) else None

    def _cooling(self, sweeps: int, heat: tuple[float, float], search: RuinSearch) -> Cooling:
        spend = partial(self.options.spend, search.steps)
        return Cooling(sweeps, *heat, self.options.remaining, clock=self._clock, spend=spend)

    def _cost(self, guide: Guide, time: float) -> float:
        """Return the cost of the schedule of a round that begins with a guide."""
        self.guide = guide
        self._round(1, time)
        return self.offered

    def _round(self, number: int, left: float) -> None:
        """Anneal from hot, or reheat, in a time; the first round is short, and tells how long a sweep takes."""
        rounds = self.parameters.rounds
        model = self.instance.model
        if number == 1:  # prices know better where the jobs belong than a schedule made in haste
            self.start, self.on_pool = self.guide.start.copy(), self.guide.on_pool
        search = self.search()
        stages = self.parameters.stages(model)
        sweeps = rounds.first_sweeps
        hardens = model == "no-split"  # the price above R rises step by step, or evicts too many
        least = rounds.least_sweeps if number > 0 or hardens else 1
        if number > 0:
            stages, sweeps = course(model, len(self.instance.jobs), left, self.per_sweep, self.parameters)
        for place, stage in enumerate(stages):
            if place and self.options.remaining <= 0:
                break
            count = max(least, round(stage.sweeps * sweeps))
            if place == 0 and number > 1:
                heat = max(stage.end_temperature, rounds.reheat * stage.start_temperature)
                stage = replace(stage, start_temperature=heat)
            per_sweep = self._sweep(search, stage, count, left, self.steepness[min(place, 1) :][:2])
            if number == 0 and place == 0:
                self.per_sweep = per_sweep
        self._settle(search, rounds.settling_sweeps if number else 1)

    def _sweep(
        self, search: Search | PieceSearch, stage: StageParameters, sweeps: int, left: float, steep: tuple[float, ...]
    ) -> float:
        """Make the sweeps of a stage; return how much time or work one took."""
        cooling = Cooling(
            sweeps,
            stage.start_temperature * self.unit,
            stage.end_temperature * self.unit,
            limit=stage.time_share * left,
            steep=(steep[0], steep[-1]),
            firm=(stage.start_firmness, stage.end_firmness),
            clock=self._clock,
            spend=self._spend(stage.cell_hours),
        )
        reach = np.inf if stage.reach_hours is None else stage.reach_hours
        if stage.cell_hours > 0:
            search.anneal(stage.cell_hours, cooling, reach)
        else:
            search.settle(cooling, reach)
        return cooling.per_sweep

    def _pace(self) -> dict[str, float]:
        """Return what a coarse sweep takes, as a solution file tells it; work says nothing that is not known."""
        return {"seconds_per_sweep": self.per_sweep} if self.options.work_limit is None else {}

    def _clock(self) -> float:
        return self.options.elapsed

    def _spend(self, cell_hours: float) -> Callable[[], None]:
        """Return what counts the work of a sweep on cells of so many hours; 0 for one at the exact load."""
        jobs = self.instance.jobs
        wait = self.instance.max_wait_hours
        if cell_hours > 0:
            points = float((wait / cell_hours + CELL_POINTS).sum())
        else:
            crowd = 2.0 * len(jobs.cpus) / self.instance.time.hours  # begins and ends of runs in an hour
            points = float((2 * wait * (crowd + 1) + CELL_POINTS).sum())
        return partial(self.options.spend, POINT_STEPS * points)

    def _settle(self, search: Search | PieceSearch, sweeps: int) -> RunTable:
        """Respond to the exact load, and offer the schedule."""
        steepest = self.steepness[-1]
        left = max(0.0, self.options.remaining)
        steep = (steepest, steepest)
        search.settle(Cooling(sweeps, 0.0, 0.0, left, steep, clock=self._clock, spend=self._spend(0.0)))
        self.start = search.choice.start
        self.on_pool = search.choice.on_pool
        runs = search.runs()
        self.offer(runs)
        return runs

    def offer(self, runs: RunTable) -> bool:
        """Offer a schedule, with the best reserved CPUs if they are decided; return whether it keeps the limits."""
        instance = self.instance
        if instance.reserved_cpus is None:
            self.reserved = best_reserved(runs, instance, float(self.weights[1]))
            runs = RunTable(runs.job, runs.start, runs.end, runs.option, self.reserved)
        found = amounts(runs, instance, self.proof.dual.other_at(self.weights))
        objective = found.objective(instance)
        self.over = found.excess(instance)[self.proof.dual.limited.index]
        self.offered = np.inf
        if not self.kept or not fits(runs, instance):
            return False
        self.offered = objective
        if objective < self.best.objective:
            self.best.runs, self.best.objective, self.best.guide = runs, objective, self.guide
            if instance.reserved_cpus is None:
                info = {"reserved_cpus": int(runs.reserved)}
            else:
                info = {}
            self.options.report(
                incumbent=objective, bound=self.proof.value, schedule=lambda: runs.columns(instance), info=info
            )
        return True

    def _keep_limits(self) -> None:
        """Search at multipliers that follow by how much the limits are exceeded, and mix what is found."""
        limits = self.parameters.limits
        stage = limits.stage(self.instance.model)
        tables: dict[bool, RunTable] = {}
        self.multipliers.begin()
        for _ in range(limits.trials):
            near = self.multipliers.values
            self._weigh(near)
            search = self.search()
            self._sweep(search, stage, limits.sweeps, self.options.remaining, self.steepness[1:])
            runs = self._settle(search, self.parameters.rounds.settling_sweeps)
            tables[self.kept] = runs
            self.multipliers.follow(self.over)
            for _ in range(limits.nudges):
                if self.done():
                    break
                near = self.multipliers.nudged(near, self.over)
                self._weigh(near)
                runs = self._settle(self.search(), 1)
                tables[self.kept] = runs
            if self.done() or self.multipliers.found():
                break
        if len(tables) == 2:
            self._mix(tables[True], tables[False])

    def _weigh(self, multipliers: FloatArray) -> None:
        """Let the limited amounts weigh so much more, shape (K,)."""
        dual = self.proof.dual
        self.weights = dual.weights.copy()
        self.weights[dual.limited.index] += multipliers

    def _mix(self, kept: RunTable, cheap: RunTable) -> None:
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


def _typical(work: FloatArray) -> float:
    """Return the size of job that half of all work is above."""
    order = np.sort(work)
    until = np.cumsum(order)
    return float(order[np.searchsorted(until, until[-1] / 2)])
