"""Method `price` for the integer model: column generation for the bound, balancing of plans for the schedule.

1. Insert the jobs one by one at the fluid model's slot prices: a first schedule.
2. Column generation over whole-job plans, from plans at perturbed prices: the bound, and better prices.
3. Choose among all plans of little excess so that loads meet the capacities (`balance`); what does not
   fit is repaired by ruin and recreate (`search`). Repeat with more plans and moves until the gap is
   closed, time is out, or nothing gets better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.data.schedule import integer_schedule, levels_of
from carbonopt.problems.elastic.methods.bounds import shortage_of_plans
from carbonopt.problems.elastic.methods.price.parameters import BalanceParameters, PriceParameters
from carbonopt.problems.elastic.methods.price.plans.balance import Balance, anneal, cheapest
from carbonopt.problems.elastic.methods.price.plans.columns import Bound, Columns, PlanPricer, generate
from carbonopt.problems.elastic.methods.price.plans.pricing import price_jobs
from carbonopt.problems.elastic.methods.price.plans.search import Draws, State, insert_all, search
from carbonopt.problems.elastic.methods.price.plans.table import scratch_of, table_of

STEPS_PER_CALL, MOVES_PER_CALL = 300_000, 4_000
"""Steps of the balancing and moves of the search without a chance to interrupt."""
PLAN_KERNELS = (price_jobs, anneal, search)
"""Kernels of the integer model that take long to compile."""
PLAN_COMPILE_SECONDS = 12.0
"""How long numba takes for them (measured)."""
STEPS_PER_MOVE = 30.0
"""Rough number of loop steps of a move of the balancing."""
PUT_STEPS = 15_000.0
"""Rough number of loop steps of a move of the search, which prices plans anew."""


def plan_steps(instance: ElasticInstance, params: BalanceParameters) -> float:
    """Return about how many loop steps the balancing of plans takes."""
    return STEPS_PER_MOVE * params.sweeps * params.patience * len(instance.jobs)


@dataclass(eq=False)
class _Incumbent:
    """The best schedule so far: levels in the flat order of the table, and carbon [g]."""

    level: IntArray | None = None
    carbon: float = np.inf

    def offer(self, level: IntArray, carbon: float) -> bool:
        """Take a schedule if it is better; return whether it is."""
        better = carbon < self.carbon
        if better:
            self.level = level.copy()
            self.carbon = carbon
        return better


class _Solver:
    """What the phases share."""

    def __init__(self, instance: ElasticInstance, options: Options) -> None:
        self.instance = instance
        self.options = options
        self.table = table_of(instance)
        self.params = options.parameters(PriceParameters)
        self.scratch = scratch_of(self.table, self.params.columns.labels, self.params.columns.label_steps)
        self.room = np.floor(instance.cluster.limit).astype(np.int64)
        self.pricer = PlanPricer(self.table, self.scratch, instance.servers_to_give)
        self.columns = Columns(self.table, self.room)
        self.random = np.random.default_rng(options.seed)
        self.incumbent = _Incumbent()
        order = np.lexsort((self.columns.flat_job, self.columns.flat_slot))
        count = np.bincount(self.columns.flat_slot, minlength=len(self.room))
        self.slot_first = np.concatenate([[0], np.cumsum(count)])
        self.slot_job = self.columns.flat_job[order]

    def offer(self, level: IntArray, bound: Bound) -> bool:
        """Offer a schedule in which every job has a plan; its columns are kept as well."""
        self.columns.add(level)
        if not bool((self.columns.load(level) <= self.room).all()):
            return False
        if not self.incumbent.offer(level, float(self.columns.carbon(level).sum())):
            return False
        kept = level.copy()
        self.options.report(
            incumbent=self.incumbent.carbon,
            bound=bound.value,
            schedule=lambda: self.schedule(kept),
            certificate=bound.certificate,
        )
        return True

    def schedule(self, level: IntArray) -> Schedule:
        """Return levels as a schedule."""
        runs = np.flatnonzero(level > 0)
        job = self.columns.flat_job[runs]
        slot = self.columns.flat_slot[runs]
        return integer_schedule(self.instance, job, slot, self.columns.servers(level)[runs])

    def start(self, schedule: Schedule, bound: Bound) -> None:
        """Take the schedule to start from."""
        job, slot, servers = levels_of(self.instance, schedule)
        k_min = self.table.servers[self.table.profile[job], 1]
        level = np.zeros(len(self.columns.flat_job), dtype=np.int64)
        level[self.table.offset[job] + slot - self.table.first[job]] = servers - k_min + 1
        self.offer(level, bound)

    def perturb(self, prices: FloatArray, rounds: int) -> None:
        """Add the plans at `rounds` perturbations of `prices`, most of them slight."""
        columns = self.params.columns
        for _ in range(rounds):
            if self.options.remaining == 0:
                return
            noise = columns.noise * self.random.random() ** 2
            factor = 1 + noise * self.random.uniform(-1, 1, len(prices))
            shift = columns.shift * self.work_price * noise * self.random.random(len(prices))
            self.options.spend(self.pricer.steps)
            level, cost, _ = self.pricer(prices * factor + shift, self.room)
            assert np.isfinite(cost).all()
            self.columns.add(level)

    @property
    def work_price(self) -> float:
        """A typical price of a slot of work [g]."""
        return max(float(np.median(self.pricer.guess)), 1e-12)

    def state(self, bound: Bound, level: IntArray) -> State:
        """Return a state of the search in which the jobs have these levels, some of them perhaps none."""
        carbon = self.columns.carbon(level)
        unplanned = 10 * float(np.abs(bound.least).sum() + self.work_price * self.table.work.sum())
        runs = np.bincount(self.columns.flat_job, level > 0, len(carbon)) > 0
        carbon = np.where(runs, carbon, unplanned)
        paid = bound.prices[self.columns.flat_slot] * self.columns.servers(level)
        excess = carbon + np.bincount(self.columns.flat_job, paid, len(carbon)) - bound.least
        repair = self.params.repair
        return State(
            level=level.copy(),
            best=level.copy(),
            room=self.room - self.columns.load(level),
            carbon=carbon,
            excess=excess,
            guess=self.pricer.guess.copy(),
            price=bound.prices,
            least=bound.least,
            unplanned=np.array([unplanned]),
            slot_first=self.slot_first,
            slot_job=self.slot_job,
            total=np.full(2, carbon.sum()),
            kept=np.zeros((repair.most_removed, int(self.table.width.max())), dtype=np.int64),
            draws=Draws(*(getattr(repair, name) for name in Draws._fields)),
        )

    def insertion(self, bound: Bound) -> None:
        """Insert the jobs by increasing slack at the bound's prices."""
        state = self.state(bound, np.zeros(len(self.columns.flat_job), dtype=np.int64))
        order = np.argsort(self.instance.jobs.slack, kind="stable")
        if insert_all(order, 1.0, self.table, self.scratch, state) == 0:
            self.offer(state.level, bound)

    def prepare_loops(self, bound: Bound) -> None:
        """Call the loops that come after the bound without a step: its share of the time leaves out to compile them."""
        state = self.state(bound, np.zeros(len(self.columns.flat_job), dtype=np.int64))
        search(0, self.random, 1.0, 1.0, self.table, self.scratch, state)
        pool = self.columns.pool(bound.prices, bound.least, 0.0)
        chosen = cheapest(pool, self.room, bound.prices, 0.0, self.table)
        anneal(0, self.random, 1.0, 1.0, 1.0, pool, chosen, self.table)

    def balance(self, bound: Bound, sweeps: float) -> Balance:
        """Choose plans that meet the capacities as far as possible."""
        params = self.params.balance
        price = self.work_price
        pool = self.columns.pool(bound.prices, bound.least, params.most_excess * price)
        chosen = cheapest(pool, self.room, bound.prices, 1e-6 * price, self.table)
        steps = int(sweeps * len(self.table.first) / params.stages) + 1
        for stage in range(params.stages):
            growth = (params.last_weight / params.first_weight) ** (stage / (params.stages - 1))
            weight = price * params.first_weight * growth
            for part in _parts(steps, STEPS_PER_CALL):
                if self.options.remaining == 0:
                    return chosen
                self.options.spend(STEPS_PER_MOVE * part)
                anneal(
                    part, self.random, params.temperature * price, weight, params.swap_share, pool, chosen, self.table
                )
        return chosen

    def repair(self, bound: Bound, level: IntArray) -> None:
        """Take out jobs where loads exceed capacities, put them back where there is room, and search on."""
        servers = self.columns.servers(level)
        load = self.columns.load(level)
        out: set[int] = set()
        for t in np.flatnonzero(load > self.room).tolist():
            here = self.slot_job[self.slot_first[t] : self.slot_first[t + 1]]
            for j in self.random.permutation(here).tolist():
                if load[t] <= self.room[t]:
                    break
                own = slice(self.table.offset[j], self.table.offset[j] + self.table.width[j])
                if j not in out and level[self.table.offset[j] + t - self.table.first[j]] > 0:
                    out.add(j)
                    load[self.table.first[j] : self.table.first[j] + self.table.width[j]] -= servers[own]
        level = np.where(np.isin(self.columns.flat_job, list(out)), 0, level)
        state = self.state(bound, level)
        order = np.array(sorted(out, key=lambda j: self.instance.jobs.slack[j]), dtype=np.int64)
        insert_all(order, 1.0, self.table, self.scratch, state)
        state.total[:] = state.carbon.sum()
        state.best[:] = state.level
        params = self.params.repair
        hot = self.work_price * params.start_temperature
        cold = self.work_price * params.end_temperature
        moves = list(_parts(params.sweeps * len(self.table.first), MOVES_PER_CALL))
        for number, part in enumerate(moves):
            if self.options.remaining == 0:
                break
            begin, end = (hot * (cold / hot) ** ((number + more) / len(moves)) for more in (0, 1))
            self.options.spend(PUT_STEPS * part)
            search(part, self.random, begin, end, self.table, self.scratch, state)
        if state.total[1] < state.unplanned[0]:
            self.offer(state.best, bound)

    def closed(self, bound: Bound) -> bool:
        """Return whether the gap is closed."""
        if self.incumbent.level is None:
            return False
        gap = self.incumbent.carbon - bound.value
        return bool(gap <= max(self.options.mip_abs_gap, self.options.mip_rel_gap * self.incumbent.carbon))


def integer_price(instance: ElasticInstance, options: Options, prices: FloatArray) -> Outcome:
    """Solve the integer model to a small proven gap.

    Parameters
    ----------
    instance
        Of model ``integer`` without a price on switching; N jobs, T slots.
    options
        `mip_rel_gap` ends the method early.
    prices
        lambda_t: slot prices near the fluid optimum [g per server and slot], at least 0, shape (T,).

    Returns
    -------
    Outcome
        With the Lagrangian bound over whole-job plans, and the prices that prove it as certificate
        ``{"kind": "lagrangian-plans", "prices": [slot], "bound": g}``. ``infeasible`` where a job does not
        even fit alone, and where plans cost more at some prices than all servers do, with these prices as
        certificate ``{"kind": "shortage-plans", "prices": [slot], ...}``.
    """
    if not len(instance.jobs):
        return Outcome(Status.OPTIMAL, {"job": [], "slot": [], "servers": []}, 0.0)
    solver = _Solver(instance, options)
    level, cost, _ = solver.pricer(prices, solver.room)
    if not np.isfinite(cost).all():
        alone = [instance.jobs.name[j] for j in np.flatnonzero(~np.isfinite(cost))[:20]]
        return Outcome(Status.INFEASIBLE, info={"jobs_that_fit_nowhere": alone})
    solver.columns.add(level)
    bound, level = solver.pricer.bound(np.maximum(0.0, prices))
    solver.columns.add(level)
    if options.start is not None:
        solver.start(options.start, bound)
    solver.insertion(bound)
    solver.prepare_loops(bound)
    bound, info = _bound(solver, bound)
    if solver.incumbent.level is None:
        options.spend(solver.pricer.steps)
        short = solver.pricer.short_of_servers(bound.prices)
        if short > 0:
            return Outcome(Status.INFEASIBLE, certificate=shortage_of_plans(bound.prices, short), info=info)
    rounds = _rounds(solver, bound)
    best = solver.incumbent
    schedule = None if best.level is None else solver.schedule(best.level)
    info |= {"columns": len(solver.columns), "balancings": rounds}
    return Outcome(_status(solver, bound), schedule, bound.value, bound.certificate(), info)


def _bound(solver: _Solver, bound: Bound) -> tuple[Bound, dict[str, Any]]:
    """Generate columns, with load above a capacity at a price that is too low to pay."""
    params = solver.params.columns
    table = solver.table
    solver.perturb(bound.prices, params.first_perturbations)
    per_server = (table.kwh / np.maximum(1, np.diff(table.servers, axis=1))).max(initial=0.0)
    largest = float(per_server * table.intensity.max(initial=0.0))
    penalty = params.overload_penalty * max(largest, float(bound.prices.max(initial=0.0)), 1e-9)
    share = solver.options.part(params.time_share)
    bound, value = generate(solver.columns, solver.pricer, bound, penalty, params, share)
    return bound, {"plan_lp_optimum": value}


def _rounds(solver: _Solver, bound: Bound) -> int:
    """Balance and repair until the gap is closed, time is out, or nothing gets better; return how often."""
    params = solver.params.balance
    number = 0
    last = 0
    sweeps = params.sweeps
    solver.pricer(bound.prices)  # the break prices that perturbation and temperatures refer to
    while not solver.closed(bound) and solver.options.remaining > 0 and number - last < params.patience:
        number += 1
        solver.perturb(bound.prices, params.perturbations)
        level = solver.balance(bound, sweeps).level
        better = solver.offer(level, bound)
        if not solver.closed(bound) and solver.options.remaining > 0:
            before = solver.incumbent.carbon
            solver.repair(bound, level)
            better = better or solver.incumbent.carbon < before
        last = number if better else last
        sweeps *= params.growth
    return number


def _status(solver: _Solver, bound: Bound) -> Status:
    if solver.closed(bound):
        return Status.OPTIMAL
    if solver.options.remaining == 0:
        return Status.TIME_LIMIT
    return Status.UNKNOWN if solver.incumbent.level is None else Status.FEASIBLE


def _parts(total: int, most: int) -> list[int]:
    """Return whole numbers up to `most` that add up to `total`."""
    count = -(-total // most)
    return [total // count + (number < total % count) for number in range(count)]
