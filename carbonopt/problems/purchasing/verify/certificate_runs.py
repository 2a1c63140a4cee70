"""The least that a job can cost at given prices when it runs without a break: a part of `certificate`.

A run of L hours from s costs n w_c (A(s + L) - A(s)) + m (B(s + L) - B(s)) + w_w (s - a), with A and B the integrals
of carbon and of the price. Between breakpoints, where s or s + L passes an edge of the grid, that is linear in s: the
least is at a breakpoint or at an end of the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from itertools import accumulate

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_float
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

EPSILON = float(np.finfo(np.float64).eps)
CHUNK = 30_000
"""Moments that are looked at together: a million leave the processor's cache, and take up to ten times as long."""
DIGITS = 60


@dataclass(frozen=True, eq=False)
class Priced:
    """Prices of reserved CPUs on a grid, with weights to which the multipliers of limits are added.

    Parameters
    ----------
    instance
        The instance.
    prices
        lambda of each cell [objective per CPU-hour], shape (G,), G a multiple of the slots.
    carbon, cost, wait
        Objective per kg, $ and hour.
    kg_sums, price_sums
        Integrals of carbon and of the price to each edge, shape (G + 1,), where they are known.
    terms
        Of how many products each price, and its integral, is the sum.
    """

    instance: PurchasingInstance
    prices: FloatArray
    carbon: float
    cost: float
    wait: float
    kg_sums: FloatArray | None = None
    price_sums: FloatArray | None = None
    terms: int = 1

    @cached_property
    def edges(self) -> FloatArray:
        """Edges of the cells [h], shape (G + 1,)."""
        return np.asarray(np.arange(len(self.prices) + 1) * self.cell_hours)

    @property
    def cell_hours(self) -> float:
        """Length of a cell [h]."""
        return self.instance.time.slot_hours / (len(self.prices) // self.instance.time.slots)

    @cached_property
    def kg(self) -> FloatArray:
        """Carbon of a CPU in each cell [kg/h], shape (G,)."""
        return np.repeat(self.instance.kg_per_cpu_hour, len(self.prices) // self.instance.time.slots)

    @cached_property
    def kg_until(self) -> FloatArray:
        """Carbon of a CPU from the beginning to each edge [kg], shape (G + 1,)."""
        return long_sum(self.kg, self.cell_hours) if self.kg_sums is None else self.kg_sums

    @cached_property
    def price_until(self) -> FloatArray:
        """Integral of the price to each edge [objective per CPU], shape (G + 1,)."""
        return long_sum(self.prices, self.cell_hours) if self.price_sums is None else self.price_sums

    def cell(self, moment: FloatArray) -> IntArray:
        """Return the cell of each moment."""
        return np.clip(np.floor(moment / self.cell_hours), 0, len(self.prices) - 1).astype(np.int64)

    def rounding(self, cpus: FloatArray, shared: FloatArray) -> FloatArray:
        """Return by how much doubles may be wrong about the cost of any run, shape (N,).

        Sums to an edge are rounded once, half an epsilon; between edges they are interpolated, with the same error
        twice more; a run takes two of them, and their multiples are added: 8 of each sum over the horizon. Moments and
        edges are each wrong by an epsilon of the horizon, at the highest price there is: 6 of these. Where prices are
        sums, each term but the first adds its product and its sum, an epsilon at each of two edges. Rounded up.
        """
        sums = self.carbon * cpus * self.kg_until[-1] + shared * self.price_until[-1]
        highest = self.carbon * cpus * self.kg.max(initial=0.0) + shared * self.prices.max(initial=0.0) + self.wait
        added = 4 * (self.terms - 1)
        return np.asarray(EPSILON * ((12 + added) * sums + (8 + added) * self.instance.time.hours * highest))


@dataclass(frozen=True, eq=False)
class Windows:
    """What jobs may do in a branch.

    Parameters
    ----------
    first, last
        Starts on reserved CPUs [h], shape (N,); none where the last is before the first.
    reserved, beside
        Whether each job may run on reserved CPUs, and whether it may do something else, shape (N,).
    """

    first: FloatArray
    last: FloatArray
    reserved: BoolArray
    beside: BoolArray

    @staticmethod
    def of(instance: PurchasingInstance) -> Windows:
        """Return that jobs may do all that an instance lets them do."""
        arrival = instance.jobs.arrival_hours
        every = np.ones(len(arrival), dtype=np.bool_)
        return Windows(np.array(arrival), arrival + instance.max_wait_hours, every, every)

    @property
    def on_reserved(self) -> BoolArray:
        """Whether each job has a start on reserved CPUs, shape (N,)."""
        return self.reserved & (self.first <= self.last)


def long_sum(values: FloatArray, hours: float) -> FloatArray:
    """Return ``hours`` times the sums of the first values, each rounded once, one more than there are values."""
    with localcontext() as context:
        context.prec = DIGITS
        step = Decimal(hours)
        sums: Iterable[Decimal] = accumulate(map(Decimal, values.tolist()), initial=Decimal(0))
        return frozen_float([float(total * step) for total in sums])


def least_of_runs(
    instance: PurchasingInstance,
    priced: Priced,
    shared: FloatArray,
    among: IntArray | None = None,
    windows: Windows | None = None,
) -> FloatArray:
    """Return a lower bound on carbon, wait and the price of `shared` reserved CPUs of each job, shape (N,).

    Of jobs that are not `among` those that are looked at, it is infinite; None for all. With `windows`, starts are
    those of a branch.
    """
    jobs = instance.jobs
    least = np.full(len(jobs), np.inf)
    for some, start in starts_of_chunks(instance, priced, (0, 1), among, windows):
        end = start + jobs.length_hours[some, None]
        value = priced.wait * (start - jobs.arrival_hours[some, None])
        carbon = np.interp(end, priced.edges, priced.kg_until) - np.interp(start, priced.edges, priced.kg_until)
        value += (priced.carbon * jobs.cpus[some])[:, None] * carbon
        if shared[some].any():
            price = np.interp(end, priced.edges, priced.price_until)
            price -= np.interp(start, priced.edges, priced.price_until)
            value += shared[some, None] * price
        least[some] = value.min(axis=1)
    return np.asarray(least - priced.rounding(jobs.cpus, shared))


def starts_of_chunks(
    instance: PurchasingInstance,
    priced: Priced,
    lengths: tuple[int, ...],
    among: IntArray | None = None,
    windows: Windows | None = None,
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield groups of jobs and for each job the ends of its window and its breakpoints, in no order, (J, S).

    Breakpoints are starts s at which ``s + k L`` is an edge, for each k in `lengths`. Windows of a branch are of
    many lengths, so all jobs are one group then.
    """
    jobs, step = instance.jobs, priced.cell_hours
    among = np.arange(len(jobs)) if among is None else among
    if windows is None:
        first, waits = jobs.arrival_hours, instance.max_wait_hours
        last = first + waits
        groups = [among[waits[among] == wait] for wait in np.unique(waits[among])]
    else:
        first, last = windows.first, np.maximum(windows.first, windows.last)
        waits = last - first
        groups = [among] if len(among) else []
    for alike in groups:
        count = int(np.ceil(waits[alike].max() / step)) + 2
        size = max(1, CHUNK // (count * len(lengths)))
        for begin in range(0, len(alike), size):
            some = alike[begin : begin + size]
            earliest, latest = first[some, None], last[some, None]
            offset = [k * jobs.length_hours[some, None] for k in lengths]
            edge = [(np.floor((earliest + part) / step) + np.arange(count)) * step - part for part in offset]
            start = np.concatenate([earliest, *edge, latest], axis=1)
            yield some, np.clip(start, earliest, latest)
