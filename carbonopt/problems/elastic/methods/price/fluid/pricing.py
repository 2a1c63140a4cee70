"""What the jobs do at given slot prices: the Lagrangian bound of the fluid model, and its subgradient.

With prices lambda_t >= 0 on the capacities, the program falls apart into one fractional covering
knapsack a job: do l_j of work at least cost, where a unit costs CI_t e_u + lambda_t w_u in slot t.
Weak duality bounds every schedule from below:

    sum_j cost_j(lambda) - sum_t lambda_t M_t

A job takes the steps of its window (`ladder`) in the order of cost per work; the ratio at which its
work is done is its break price mu_j.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.fractional_knapsack import BELOW_ALL, Items, fill, move_bracket
from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder

FLOAT_ERROR = 1e-12
"""By how much the sums of a bound may be wrong, relative: subtracted from it."""
ADDING_ERROR = 1e-14
"""The same of each slot's terms, over their size."""
LEAST_BRACKET = 1e-3
"""Least half width of a first bracket, over the largest break price."""

UNIT_STEPS = 15.0
"""Loop steps to price all jobs once, for each unit of all windows."""


class Pricer:
    """Prices all jobs of an instance again and again; remembers their break prices as a start.

    Parameters
    ----------
    program
        N jobs, T slots.
    shortage_price
        Cost of a slot of work that is not done [g], which keeps the bound finite where a job cannot
        complete; None: far above what any slot costs. The bound holds for any value.

    Attributes
    ----------
    mu
        Break price of each job at the last prices [g per slot of work], shape (N,).
    evaluations
        How often jobs were priced.
    """

    def __init__(self, program: FluidProgram, shortage_price: float | None = None) -> None:
        units = program.units
        self.program, self.carbon = program, program.carbon
        used = self.carbon[:, :, 0].max(initial=0.0) / max(units.gain[:, 0].min(initial=1.0), 1e-9)
        if shortage_price is not None:
            self.shortage_price = shortage_price
        else:
            self.shortage_price = 1e3 * max(float(used), 1.0)
        self.limit = program.limit
        self.mu = np.full(len(program.arrival), float(np.median(self.carbon[:, :, 0])) if self.carbon.size else 0.0)
        self.evaluations = 0
        most = np.array([units.gain[p].sum() for p in range(len(units.count))])
        self._most_work = program.width * most[program.profile]  # at the largest scale in every slot
        shape = self.carbon.shape
        self._ladder = Ladder.of_shape(*shape)
        width = int(program.width.max(initial=1))
        self._items = Items.of_length(width * shape[2])

    def closed_slot_prices(self) -> FloatArray:
        """Return prices that keep jobs out of slots without capacity, and are 0 elsewhere, shape (T,)."""
        return np.where(self.program.capacity > 0, 0.0, self.shortage_price)

    def __call__(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound [g] at `prices` [g per server and slot], shape (T,), and load less capacity.

        The second is a supergradient of the bound [servers], shape (T,).
        """
        self.evaluations += 1
        program = self.program
        self._ladder.set(self.carbon, prices, program.units)
        load = np.zeros(len(prices))
        value = cover(
            program.arrival, program.end, program.profile, program.required, self.shortage_price,
            self._ladder, self.mu, load, self._items,
            LEAST_BRACKET * float(self.mu.max(initial=0.0)) + 1e-9,
        )  # fmt: skip
        paid = float((prices * self.limit).sum())
        earned = float((self.mu * program.required).sum())
        rounding = FLOAT_ERROR * (value + paid + earned) + ADDING_ERROR * float((self.mu * self._most_work).sum())
        overfull = (
            1.001 * program.allowance * max(0.0, earned - value)
        )  # shares of a slot may add up to a little over 1
        return value - paid - rounding - overfull, load - self.limit


@kernel
def cover(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
    required: FloatArray,
    shortage_price: float,
    ladder: Ladder,
    mu: FloatArray,
    load: FloatArray,
    items: Items,
    least_bracket: float,
) -> float:
    """Cover each job's work at least cost; return the cost, set `mu`, add to `load`.

    A pass over the window adds up the steps below a bracket around the last break price, and collects
    those inside; the bracket moves until the break is inside, which mostly it is at once.
    """
    ratio = ladder.ratio
    gain = ladder.gain
    servers = ladder.servers
    steps = ladder.steps
    total = 0.0
    for j in range(len(arrival)):
        p = profile[j]
        need = required[j]
        width = 0.03 * mu[j] + least_bracket
        low, high = mu[j] - width, min(mu[j] + width, shortage_price)  # dearer work is left undone
        below = 0.0
        inside = 0.0
        n = 0
        while True:
            below = 0.0
            inside = 0.0
            n = 0
            for t in range(arrival[j], end[j]):
                k = 0
                while k < steps[p, t] and ratio[p, t, k] <= low:
                    below += gain[p, t, k]
                    k += 1
                while k < steps[p, t] and ratio[p, t, k] <= high:
                    items.ratio[n] = ratio[p, t, k]
                    items.size[n] = gain[p, t, k]
                    items.slot[n], items.step[n] = t, k
                    inside += gain[p, t, k]
                    n += 1
                    k += 1
            width *= 4.0
            next_low, next_high = move_bracket(low, high, width, below, inside, need, BELOW_ALL, shortage_price)
            if next_low == low:
                break
            low, high = next_low, next_high
        taken, left, mu[j] = fill(items, n, below, need, shortage_price)
        cost = 0.0
        for i in taken:
            cost += items.part[i] * items.ratio[i] * items.size[i]
            load[items.slot[i]] += items.part[i] * servers[p, items.slot[i], items.step[i]]
        cost += left * shortage_price
        for t in range(arrival[j], end[j]):
            for k in range(steps[p, t]):
                if ratio[p, t, k] > low:
                    break
                cost += ratio[p, t, k] * gain[p, t, k]
                load[t] += servers[p, t, k]
        total += cost
    return total
