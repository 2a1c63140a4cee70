"""Prices that maximise the Lagrangian dual function: the bound and its certificate.

The function is written at `carbonopt.problems.ecas.verify.certificate`, and what cuts add at
`carbonopt.problems.ecas.verify.cuts`. Jobs take their cheapest start, machines their cheapest on/off pattern. Prices of
capacity come first. Then there are rounds: the solution of the relaxation that belongs to the prices violates some
`cuts`, and these get prices, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.bound_kernels import priced_starts, soft_patterns
from carbonopt.problems.ecas.methods.price.cuts import Cuts, no_cuts, violated
from carbonopt.problems.ecas.methods.price.parameters import BoundParameters
from carbonopt.problems.ecas.methods.price.patterns import least_patterns
from carbonopt.problems.ecas.methods.price.tables import Tables

EVALUATION_STEPS = 8.0
"""Loop steps of an evaluation for each start of a job and each slot of a machine."""
TEMPERATURES = (1e-2, 1e-3, 1e-4, 3e-5)
"""Of the soft minima, in mean costs of a job."""
LATER_STAGES = slice(1, None)
"""Of these, where the prices are near the best ones already."""
LEAST_RISE = 1e-7
"""A stage of the smoothed ascent ends when it rises by less, relative."""
SEARCHES = 10.0
"""Evaluations that a search for cuts takes as long as, about."""
LEAST_SCALE = 1e-100
"""Size of a typical price, at least: the largest one divided by it is finite."""
LAST_STEPS = 100
"""Subgradient steps after the smoothed ascent, at most."""
LAST_GAP = 3e-5
"""Distance to the best bound that these assume, relative."""


class Prices(NamedTuple):
    """Prices of capacity, shape (R, T), and the cuts with theirs, shape (K,); `guide` are the best without cuts."""

    guide: FloatArray
    capacity: FloatArray
    cuts: Cuts
    of_cuts: FloatArray

    def certificate(self) -> dict[str, Any]:
        """Return what proves the bound without a solver; cuts without a price are left out."""
        paid = self.of_cuts > 0
        cuts = self.cuts.kept(paid).as_certificate(self.of_cuts[paid]) if paid.any() else None
        return certificate(self.capacity, cuts)


class Dual:
    """The dual function of prices as one flat array: of capacity, shape (R T,), then of the cuts, shape (K,).

    A price of a cut is of a machine in a slot. Here it is divided by the mean capacity, so that it has the size of the
    others.
    """

    def __init__(self, instance: EcasInstance, tables: Tables, cuts: Cuts | None = None) -> None:
        self.instance, self.tables = instance, tables
        self.cuts = no_cuts() if cuts is None else cuts
        self.shape = (len(instance.resources), instance.time.slots)
        machines, jobs, slots = len(instance.machines), len(instance.jobs), instance.time.slots
        self._none, self._came = np.zeros(slots, dtype=np.int64), np.zeros((slots, 2), dtype=np.int64)
        self._on, self._came_soft = np.zeros((machines, slots), dtype=np.int64), np.zeros((slots, 2))
        self._soft_on = np.zeros((machines, slots))
        self._weight, self._paid = np.zeros(slots), np.zeros(slots + 1)
        self._used = np.zeros((self.shape[0], slots + 1))
        self._capacity = instance.machines.capacity.astype(np.float64)
        self.unit = max(1.0, float(self._capacity.mean())) if self._capacity.size else 1.0
        some = len(self.cuts.slot) > 0
        self._charges = np.zeros((jobs, slots) if some else (0, 0))
        self._presence = np.zeros((jobs, slots) if some else (0, 0))

    @property
    def steps(self) -> float:
        """Loop steps of an evaluation, about; with cuts, charges are made anew for all jobs and slots."""
        jobs = self.instance.jobs
        windows = float((jobs.deadline - jobs.arrival).sum())
        return EVALUATION_STEPS * (windows + self.tables.idle.size) + self._charges.size + len(self.cuts.job)

    def hard(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return value and subgradient."""
        tables = self.tables
        jobs, cost = self._priced(flat, 0.0)
        machines = least_patterns(cost, tables.up, tables.down, self._none, self._came, self._on)
        return self._joined(flat, jobs + machines, self._on)

    def soft(self, flat: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return value and gradient of the smoothed function."""
        tables = self.tables
        jobs, cost = self._priced(flat, temperature)
        machines = soft_patterns(cost, tables.up, tables.down, temperature, self._came_soft, self._soft_on)
        return self._joined(flat, jobs + machines, self._soft_on)

    def relaxed(self, flat: FloatArray, temperature: float) -> tuple[FloatArray, FloatArray]:
        """Return the solution of the relaxation at prices: presence of jobs, shape (N, T), and machines on, (T,)."""
        self._presence = np.zeros((len(self.instance.jobs), self.shape[1]))  # asked for, with cuts or without
        self.soft(flat, temperature)
        return self._presence, self._soft_on.sum(axis=0)

    def split(self, flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the prices of capacity, shape (R, T), and of the cuts, shape (K,)."""
        capacity = self.shape[0] * self.shape[1]
        return flat[:capacity].reshape(self.shape), np.minimum(flat[capacity:] * self.unit, LARGEST_PRICE)

    def _priced(self, flat: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return what the jobs cost, and what machines cost while on, shape (M, T)."""
        prices, of_cuts = self.split(flat)
        cuts = self.cuts
        cost = self.tables.idle - self._capacity @ prices
        if len(of_cuts):
            cost -= np.bincount(cuts.slot, of_cuts, self.shape[1])
            self._charges[:] = 0.0
            np.add.at(self._charges, (cuts.job, cuts.slot[cuts.cut]), of_cuts[cuts.cut] * cuts.slope)
        jobs = priced_starts(
            self.tables, prices, self._charges, temperature, self._weight, self._paid, self._used, self._presence
        )
        return jobs, cost

    def _joined(self, flat: FloatArray, value: float, on: FloatArray | IntArray) -> tuple[float, FloatArray]:
        """Return value and slope, from where jobs run and machines are on, shape (M, T)."""
        cuts = self.cuts
        used = np.cumsum(self._used[:, :-1], axis=1)
        slope = (used - self._capacity.T @ on).ravel()
        if not len(cuts.slot):
            return value, slope
        running = self._presence[cuts.job, cuts.slot[cuts.cut]] * cuts.slope
        short = cuts.least + np.bincount(cuts.cut, running, len(cuts.slot)) - on.sum(axis=0)[cuts.slot]
        return value + float(self.split(flat)[1] @ cuts.least), np.concatenate([slope, short * self.unit])

    def first(self) -> FloatArray:
        """Return prices at which the idle energy of all machines is what their capacity is sold for."""
        idle = np.maximum(self.instance.idle_cost.sum(axis=0), 0.0)
        capacity = np.maximum(self._capacity.sum(axis=0), 1.0)
        return np.asarray(np.outer(1 / capacity / max(1, self.shape[0]), idle)).ravel()


def prefix(prices: FloatArray) -> FloatArray:
    """Return sums over the first t slots, shape (R, T + 1)."""
    sums = np.zeros((prices.shape[0], prices.shape[1] + 1))
    np.cumsum(prices, axis=1, out=sums[:, 1:])
    return sums


def best_prices(instance: EcasInstance, tables: Tables, options: Options, params: BoundParameters) -> Prices:
    """Return prices of a high bound, within the share of the time or work that `params` say."""
    _call_all_loops(Dual(instance, tables))
    dual = Dual(instance, tables)
    options = params.part(options)
    climb = _ascent(dual, dual.first(), options)
    climb.look(np.zeros_like(climb.prices))
    climb.step(params.steps, params.first_gap)
    temperatures = np.array(TEMPERATURES) * abs(climb.value) / max(1, len(instance.jobs))
    smooth = bool(temperatures[-1] > 0)
    if smooth and options.remaining > 0:
        climb = _smoothed(dual, climb.prices, temperatures.tolist(), options, params)
    guide = dual.split(climb.prices)[0]
    for _ in range(params.rounds):
        if not smooth or options.remaining <= 0:
            break
        before = climb.value
        grown, begin = _with_cuts(dual, climb.prices, float(temperatures[-1]), params.cuts)
        options.spend(SEARCHES * dual.steps)
        if len(grown.cuts.slot) == 0:
            break
        dual = grown
        climb = _smoothed(dual, begin, temperatures[LATER_STAGES].tolist(), options, params)
        if climb.value < before + params.least_rise * abs(before):
            break
    prices, of_cuts = dual.split(climb.prices)
    return Prices(guide, prices, dual.cuts, of_cuts)


def _call_all_loops(dual: Dual) -> None:
    """Call each once: to compile what no earlier run has left takes nothing of the time for the bound then."""
    dual.hard(dual.first())
    presence, on = dual.relaxed(dual.first(), 1.0)
    violated(dual.tables, np.zeros_like(presence), np.zeros_like(on), 1)


def _ascent(dual: Dual, begin: FloatArray, options: Options) -> Ascent:
    return Ascent(
        dual.hard,
        dual.soft,
        begin,
        upper=LARGEST_PRICE / dual.unit,
        scale=max(float(begin.max(initial=0.0)), LEAST_SCALE),
        remaining=lambda: options.remaining,
        spend=lambda: options.spend(dual.steps),
    )


def _smoothed(
    dual: Dual, begin: FloatArray, temperatures: list[float], options: Options, params: BoundParameters
) -> Ascent:
    """Return the ascent by falling temperatures, and then by some steps."""
    climb = _ascent(dual, begin, options)
    climb.smooth(temperatures, params.iterations, LEAST_RISE)
    climb.step(LAST_STEPS, LAST_GAP)
    return climb


def _with_cuts(dual: Dual, flat: FloatArray, temperature: float, most: int) -> tuple[Dual, FloatArray]:
    """Return the dual function with the cuts that are violated, and where to begin: cuts without a price are left."""
    _, of_cuts = dual.split(flat)
    paid = of_cuts > 0
    capacity = flat[: len(flat) - len(of_cuts)]
    cuts = dual.cuts.kept(paid)
    cuts = cuts.joined(violated(dual.tables, *dual.relaxed(flat, temperature), most))
    grown = Dual(dual.instance, dual.tables, cuts)
    fresh = np.zeros(len(cuts.slot) - np.count_nonzero(paid))
    return grown, np.concatenate([capacity, of_cuts[paid] / dual.unit, fresh])


def certificate(prices: FloatArray, cuts: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what proves the bound without a solver, with cuts or without."""
    proof = {"kind": "lagrangian", "prices": prices.tolist(), "bound": 0.0}
    return proof if cuts is None else {**proof, "cuts": cuts}
