"""The Lagrangian dual of every variant as a function of prices and multipliers, hard and smoothed.

For prices lambda(t) >= 0 of a reserved CPU-hour, weights w to which multipliers mu of the limits are added, and p the
weighted price of an hour on demand:

    D = - R int lambda - mu limits + sum_j min( p (n_j - m_j) L_j + min over runs of
            [ w_c n_j int c + m_j int lambda + w_w wait ],  something else )

with m_j = min(n_j, R) and lambda <= p. Where jobs may not split, m_j = n_j if n_j <= R, lambda has no cap, a run on
demand is something else, and rounded sizes may have prices beside lambda (`rounded_sizes`). Where R is decided, - R int
lambda is min over R in [0, largest load] of R (w p_res T - int lambda).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, prefix_sums
from carbonopt.problems.purchasing.data.instance import ROUNDING, ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.methods.price.grid import Grid, Tariff, Terms, jobs_of, largest_load
from carbonopt.problems.purchasing.methods.price.kernels.piece_pricing import Kept, PieceLoads, price_pieces
from carbonopt.problems.purchasing.methods.price.kernels.run_pricing import Found, Walk, price_runs, walk_starts
from carbonopt.problems.purchasing.methods.price.others import Other, Others
from carbonopt.problems.purchasing.methods.price.places import Places, Windows
from carbonopt.problems.purchasing.methods.price.rounded_sizes import RoundedSizes, Units, there_of

EVALUATION_STEPS = 20.0
"""Loop steps of an evaluation for each breakpoint of all jobs."""
SIZE_STEPS = 4.0
"""Loop steps of an evaluation for each cell and size of jobs, and for each cell, size and units, if there are any."""
FLOAT_ERROR = 1e-11
"""Allowance for the rounding of sums in double precision, relative to what is added up."""
LARGEST_MULTIPLIER = 1e29
"""Multiplier of a limit in its unit, at most: certificates stay within what files may hold."""
QUANTITIES = ("carbon_kg", "cost_usd", "mean_wait_hours")
"""Sums that may be limited, in the order of the weights."""


@dataclass(frozen=True)
class Limited:
    """The limits as the dual has them: of sums over jobs, without what is paid in advance.

    Parameters
    ----------
    index
        Of the limited quantities in `QUANTITIES`, shape (K,).
    amount
        What each may be at most, with the checker's allowance: kg, $, hours of all jobs, shape (K,).
    unit
        Of the multipliers: objective per kg, $, hour, for about the same effect each, shape (K,).
    """

    index: IntArray
    amount: FloatArray
    unit: FloatArray

    @staticmethod
    def of(instance: PurchasingInstance) -> Limited:
        """Return the limits of an instance."""
        jobs = instance.jobs
        weights = instance.weights
        limits = vars(instance.limits)
        index = [q for q, name in enumerate(QUANTITIES) if limits[name] is not None]
        work = float(jobs.cpus @ jobs.length_hours)
        sizes = np.array(
            [
                work * float(instance.kg_per_cpu_hour.mean()),
                work * instance.prices.on_demand_usd_per_cpu_hour,
                float(instance.max_wait_hours.sum()),
            ]
        )
        amount = np.array([limits[QUANTITIES[q]] * (1 + 1.1 * ROUNDING) for q in index])
        for k, q in enumerate(index):
            if q == 1 and instance.reserved_cpus is not None:
                amount[k] -= instance.prepaid_usd(instance.reserved_cpus) * (1 - 1e-15)
            if q == 2:
                amount[k] = (amount[k] + 1.1 * ROUNDING) * len(jobs)
        worth = float(np.array([weights.carbon_kg, weights.cost_usd, weights.wait_hours]) @ sizes) or 1.0
        return Limited(
            np.array(index, dtype=np.int64),
            amount,
            np.minimum(worth / np.maximum(sizes[index], 1e-300), LARGEST_MULTIPLIER),
        )


class Dual:
    """The dual function of an instance on one grid; flat arguments hold prices and multipliers.

    Prices are shares of what an hour on demand costs, multipliers are over their unit.

    Parameters
    ----------
    instance
        The instance.
    grid
        Cells of the prices.
    held_multiplier
        Least multiplier of a limit on cost, in its unit, until the prices are about right.
    units
        Of rounded sizes that have prices of their own, one a slot: Q kinds of units.
    apart
        Whether the loads of all sizes of jobs are told apart.

    Attributes
    ----------
    start, used_other, other
        Of the last evaluation: each job's best start, how far it does something else, and what that is.
    there
        How much of all units of each kind there is in each slot, shape (Q, T).
    placed
        Jobs that have one place, see `with_places`; shape (N,).
    load
        Of the last evaluation: CPU-hours in each cell that pay the price, for each size of jobs, shape (sizes, G).
    """

    def __init__(
        self,
        instance: PurchasingInstance,
        grid: Grid,
        held_multiplier: float = 0.0,
        units: Sequence[Units] = (),
        *,
        apart: bool = False,
    ) -> None:
        self.instance, self.grid = instance, grid
        self.held_multiplier = held_multiplier
        self.decided = instance.reserved_cpus is None
        if instance.reserved_cpus is None:
            self.most = largest_load(instance)
        else:
            self.most = float(instance.reserved_cpus)
        jobs = jobs_of(instance, self.most)
        self.sizes = RoundedSizes(jobs.shared, self.most, units, apart=apart)
        self.there: FloatArray = there_of(units, grid.slots)
        self.jobs = jobs._replace(size=self.sizes.of_job)
        self.limited = Limited.of(instance)
        self.kg = grid.spread(instance.kg_per_cpu_hour)
        self.others = Others(instance)
        self.weights = np.array(list(vars(instance.weights).values()), dtype=np.float64)
        self.on_demand = instance.prices.on_demand_usd_per_cpu_hour
        self.capped = instance.model != "no-split"
        self.unit = self.on_demand * self.weights[1] or self._typical_price()
        self._other: tuple[tuple[float, ...], Other] | None = None
        self.pieces = instance.model == "suspend-resume"
        self.placed: BoolArray = np.zeros(len(self.jobs.cpus), np.bool_)
        self._here: BoolArray = self.placed
        self._late: FloatArray = np.zeros(len(self.jobs.cpus))
        self._scratch()

    def _typical_price(self) -> float:
        """Return a unit of the prices where cost weighs nothing: what only a limit on it can make matter."""
        worth = self.limited.unit[self.limited.index == 1]
        return self.on_demand * float(worth[0]) if len(worth) and self.on_demand else 1.0

    def _scratch(self) -> None:
        jobs = self.jobs
        cells = self.grid.cells
        count = len(self.jobs.cpus)
        self.start, self.used_other, self.waited = np.array(jobs.arrival), np.zeros(count), np.zeros(count)
        window = jobs.wait + jobs.length if self.pieces else 2 * jobs.wait
        size = int(window.max(initial=0.0) / self.grid.hours) + 10
        self.breakpoints = float((window / self.grid.hours + 5).sum())
        self._walk = Walk(np.empty(size), np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64))
        self._kept = Kept(np.empty(size), np.empty(size), np.empty(size, np.int64), *(np.empty(size) for _ in range(3)))
        self.load = np.zeros((len(self.sizes.cpus), cells))

    def with_units(self, units: Sequence[Units], *, apart: bool = False) -> Dual:
        """Return the dual on the same grid with prices for other units."""
        return Dual(self.instance, self.grid, self.held_multiplier, units, apart=apart)

    def within(self, windows: Windows, there: FloatArray | None = None) -> Dual:
        """Return the dual of the schedules in which jobs keep to windows, where jobs may not split.

        With `there`, how much of all units of each kind there is in each slot then, shape (Q, T).
        """
        dual = copy.copy(self)
        jobs = self.jobs
        dual._here = ~windows.beside
        dual._late = windows.first - jobs.arrival
        dual.jobs = jobs._replace(
            arrival=windows.first,
            wait=windows.last - windows.first,
            shared=np.where(windows.on_pool, jobs.shared, 0.0),
        )
        if there is not None:
            dual.there = there
        dual._scratch()
        return dual

    def with_places(self, places: Places) -> Dual:
        """Return the dual of the schedules in which some jobs have one place each, where jobs may not split."""
        jobs = self.jobs
        here = places.placed & places.on_pool
        first = np.where(here, places.start, jobs.arrival)
        last = np.where(here, places.start, jobs.arrival + jobs.wait)
        dual = self.within(Windows(first, last, ~places.placed | places.on_pool, ~here))
        dual.placed = places.placed
        return dual

    def costs_of(self, job: int, x: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return a job's starts on the pool [h], what each costs at flat arguments, and what something else costs."""
        weights = self.weights_at(self.split(x)[1])
        count, _ = walk_starts(job, self._tariff(self.of_sizes(x), weights), self.jobs, self._walk)
        other = float(self.other_at(weights).value[job])
        return self._walk.start[:count].copy(), self._walk.value[:count].copy(), other

    @property
    def steps(self) -> float:
        """Loop steps of an evaluation."""
        each = self.sizes.taken.size if len(self.sizes.cpus) > 1 else 0
        return EVALUATION_STEPS * self.breakpoints + SIZE_STEPS * each * self.grid.cells

    @property
    def upper(self) -> FloatArray:
        """Upper bounds of the flat arguments: where jobs split, no price is above the one on demand."""
        most = 1.0 if self.capped else np.inf
        return np.concatenate([np.full(self.grid.cells, most), np.full(self._others, np.inf)])

    @property
    def _others(self) -> int:
        """How many flat arguments there are beside the prices of CPUs."""
        return len(self.limited.index) + len(self.sizes.units) * self.grid.slots

    @property
    def first(self) -> FloatArray:
        """Flat arguments to start from: no price; a multiplier only where on demand would cost nothing without."""
        return self._flat(np.where(self._needed, 1.0, 0.0))

    @property
    def held(self) -> FloatArray:
        """Lower bounds of the flat arguments to begin with.

        Where cost has no weight of its own, prices are shares of what its limit's multiplier makes an hour on demand
        cost, and at 0 neither tells how the other should grow: 18 % were lost where the limit was not tight.
        """
        return self._flat(np.where(self._needed, self.held_multiplier, 0.0))

    def _flat(self, multipliers: FloatArray) -> FloatArray:
        """Return flat arguments without prices."""
        rounded = np.zeros(self._others - len(multipliers))
        return np.concatenate([np.zeros(self.grid.cells), multipliers, rounded])

    @property
    def _needed(self) -> BoolArray:
        """Whether each multiplier is all that gives cost a weight, shape (K,)."""
        return np.asarray((self.limited.index == 1) & (self.weights[1] == 0))

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prices [objective per CPU-hour] and multipliers [objective per kg, $, hour] of flat arguments."""
        multipliers = x[self.grid.cells :][: len(self.limited.unit)] * self.limited.unit
        on_demand = self.weights_at(multipliers)[1] * self.on_demand
        return x[: self.grid.cells] * on_demand, multipliers

    def of_sizes(self, x: FloatArray) -> FloatArray:
        """Return what a CPU pays in each cell for jobs of each size [objective per CPU-hour], shape (sizes, G)."""
        prices, multipliers = self.split(x)
        rounded = self._rounded(x) * (self.weights_at(multipliers)[1] * self.on_demand)
        return self.sizes.taken @ np.vstack([prices, self.grid.spread(rounded)])

    def _rounded(self, x: FloatArray) -> FloatArray:
        """Return the flat arguments that are prices of rounded sizes, shape (Q, T)."""
        return x[self.grid.cells + len(self.limited.unit) :].reshape(len(self.sizes.units), self.grid.slots)

    def weights_at(self, multipliers: FloatArray) -> FloatArray:
        """Return the weights with multipliers added."""
        weights = self.weights.copy()
        weights[self.limited.index] += multipliers
        return weights

    def hard(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the dual value and a subgradient."""
        return self.soft(x, 0.0)

    def soft(self, x: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return the value and gradient with soft minima: the temperature is a share of a job's cost on demand."""
        prices, multipliers = self.split(x)
        weights = self.weights_at(multipliers)
        cap = weights[1] * self.on_demand
        other = self.other_at(weights)
        extra = self._extra(cap)
        value, load, load_all = self._price(self.of_sizes(x), weights, extra, other, temperature)
        split_hours = np.where(np.isfinite(extra), (self.jobs.cpus - self.jobs.shared) * self.jobs.length, 0.0)
        usd = self.on_demand * float((1.0 - self.used_other) @ split_hours)
        amounts = np.array([load_all @ self.kg, usd, self.waited.sum()])
        done = self.used_other
        amounts += np.array([done @ other.carbon_kg, done @ other.usd, done @ other.wait_hours])
        rounded = float((self.there * self._rounded(x)).sum())
        worth = (float(prices.sum()) + rounded * cap * self.grid.per_slot) * self.grid.hours
        reserved, slope, prepaid = self._reserved(worth, weights[1], temperature)
        amounts[1] += prepaid
        limit = self.limited
        value += reserved - float(multipliers @ limit.amount)
        self.load = load
        all_there = np.vstack([np.ones((1, self.grid.cells)), self.grid.spread(self.there)])
        slopes = slope * self.grid.hours * all_there + self.sizes.taken.T @ load
        of_cells, of_slots = slopes[0], slopes[1:].reshape(-1, self.grid.slots, self.grid.per_slot).sum(axis=2)
        amounts[1] += self.on_demand * float(of_cells @ x[: self.grid.cells])  # prices grow with the multiplier of cost
        amounts[1] += self.on_demand * float((of_slots * self._rounded(x)).sum())
        of_limits = (amounts[limit.index] - limit.amount) * limit.unit
        return value, np.concatenate([of_cells * cap, of_limits, of_slots.ravel() * cap])

    def other_at(self, weights: FloatArray) -> Other:
        """Return each job's best choice beside the pool."""
        key = tuple(weights.tolist())
        if self._other is None or self._other[0] != key:
            self._other = key, self.others.at(*key)
        return self._other[1]

    def _extra(self, cap: float) -> FloatArray:
        """Return what a job pays wherever it runs on the pool; infinite if it may not."""
        jobs = self.jobs
        if self.capped:
            return np.asarray(cap * (jobs.cpus - jobs.shared) * jobs.length)
        return np.where(jobs.shared > 0, self.weights[2] * self._late, np.inf)

    def _price(
        self, prices: FloatArray, weights: FloatArray, extra: FloatArray, other: Other, temperature: float
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the sum of the jobs' least costs, and the CPU-hours in each cell: priced by size, and all."""
        jobs = self.jobs
        grid = self.grid
        scale = self.unit
        tariff = self._tariff(prices, weights)
        if self.pieces:
            load = np.zeros(grid.cells)
            load_all = np.zeros(grid.cells)
            terms = Terms(extra, other.value, temperature * scale * jobs.shared)
            loads = PieceLoads(load, load_all, self.used_other, self.waited)
            return price_pieces(tariff, terms, jobs, self._kept, loads), load[None], load_all
        whole, part = (np.zeros((len(prices), grid.cells + 1)) for _ in range(2))
        whole_all, part_all = (np.zeros(grid.cells + 1) for _ in range(2))
        found = Found(whole, part, whole_all, part_all, self.start, self.used_other, self.waited)
        beside = np.where(self._here, np.inf, other.value)
        terms = Terms(extra, beside, temperature * scale * np.maximum(jobs.shared, 1e-9) * jobs.length)
        value = price_runs(tariff, terms, jobs, self._walk, found)
        return value, self._hours(found.whole, found.part), self._hours(found.whole_all, found.part_all)

    def _tariff(self, prices: FloatArray, weights: FloatArray) -> Tariff:
        """Return what CPUs of jobs of each size pay at weights."""
        grid = self.grid
        return Tariff(grid.hours, grid.rates(weights[0] * self.kg), grid.rates(prices), float(weights[2]))

    def _hours(self, whole: FloatArray, part: FloatArray) -> FloatArray:
        """Return the CPU-hours of each cell: those inside it, and it whole for all that ends above it."""
        above = prefix_sums(whole[..., ::-1])[..., ::-1][..., 1:]
        return np.asarray((part + self.grid.hours * above)[..., :-1])

    def _reserved(self, worth: float, cost: float, temperature: float) -> tuple[float, float, float]:
        """Return what reserved CPUs add, its slope in `worth`, the integral of prices, and what is prepaid [$]."""
        if not self.decided:
            return -self.most * worth, -self.most, 0.0
        each_usd = self.instance.prepaid_usd(1.0)
        margin = (cost * each_usd - worth) * self.most
        tau = temperature * 1e-2 * abs(cost * each_usd * self.most)
        low = min(0.0, margin)
        if tau <= 0:
            taken = 1.0 if margin < 0 else 0.0
        else:
            ratio = np.exp(-abs(margin) / tau)
            low -= tau * float(np.log1p(ratio))
            taken = float((1.0 if margin < 0 else ratio) / (1 + ratio))
        return low, -self.most * taken, self.most * taken * each_usd

    def certificate(self, x: FloatArray) -> tuple[float, dict[str, Any]]:
        """Return the bound that flat arguments prove, less what sums in doubles may lose, and its certificate."""
        prices, multipliers = self.split(x)
        weights = self.weights_at(multipliers)
        value = float(self.hard(x)[0])
        rounded = self._rounded(x) * (weights[1] * self.on_demand)
        worth = float(prices.sum() + rounded.sum() * self.grid.per_slot) * self.grid.hours * self.most * (1 + ROUNDING)
        sizes = self._sizes(self.of_sizes(x), weights)
        value -= FLOAT_ERROR * (sizes + worth + float(multipliers @ np.abs(self.limited.amount)))
        value -= self._uncounted(prices, rounded, weights[1] * self.on_demand)
        whole = bool((self.jobs.cpus == np.floor(self.jobs.cpus)).all()) and self.most * ROUNDING < 0.5
        if not self.capped and not whole:
            value -= 2.1 * ROUNDING * worth  # the checker's allowance on the load of reserved rows
        named = {QUANTITIES[q]: float(mu) for q, mu in zip(self.limited.index, multipliers, strict=True)}
        return value, {
            "kind": "lagrangian",
            "grid_slots": self.grid.per_slot,
            "prices": prices,
            "multipliers": named or None,
            **self._of_units(rounded),
            "bound": value,
        }

    def _uncounted(self, prices: FloatArray, rounded: FloatArray, cap: float) -> float:
        """Return what jobs pay beyond the price on demand in the moments that the checker does not count against R."""
        if self.capped:
            return 0.0
        above = np.vstack([np.maximum(prices - cap, 0.0), self.grid.spread(rounded)])
        most = (self.sizes.taken @ above).max(axis=1)
        return 3 * ROUNDING_HOURS * float(self.jobs.shared @ most[self.jobs.size])

    def _of_units(self, rounded: FloatArray) -> dict[str, Any]:
        """Return what a certificate has of rounded sizes, if there are any: prices of whole units."""
        pairs = zip(self.sizes.units, rounded, strict=True)
        entries = [units.entry() | {"prices": units.each(self.most) * prices} for units, prices in pairs]
        return {"rounded": entries} if entries else {}

    def _sizes(self, prices: FloatArray, weights: FloatArray) -> float:
        """Return a size of all that is added up."""
        jobs = self.jobs
        cost = weights[0] * float(self.kg.max(initial=0.0)) + max(
            float(prices.max(initial=0.0)), weights[1] * self.on_demand
        )
        return float(2 * cost * (jobs.cpus @ jobs.length) + weights[2] * (jobs.wait + jobs.length).sum())
