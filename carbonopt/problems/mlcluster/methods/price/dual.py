"""The dual function of the fluid program: the Lagrangian bound at prices of GPU time and of completion times.

For any prices lambda_t >= 0 of the cells' GPU time, and mu >= 0 of the JCT budget B where there is one, every
schedule costs at least

    sum_j cost_j(lambda, w)  +  w sum_j (p_j / 2 - r_j)  -  sum_t lambda_t C delta  -  mu N B,      w = w_J + mu

with cost_j the least cost of job j's work at these prices, w_J the objective's own weight of completion times.
"""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.fractional_knapsack import Items
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.methods.price import kernels

LEAST_BRACKET = 1e-3
"""Least half width of a bracket around a break price, over the largest break price."""
ACCURACY = 1e-6
"""Relative error of the work at a soft break price."""
FLOAT_ERROR = 1e-12
"""By how much the sums of a bound may be wrong, relative: subtracted from it."""


def ladder_steps(coefficients: CellCoefficients) -> float:
    """Return about how many loop steps it takes to make the ladders."""
    return coefficients.count * float(coefficients.speed.shape[0] * coefficients.speed.shape[1] ** 2)


class Dual:
    """The dual function; remembers the jobs' break prices as a start.

    Prices come as one flat array: lambda of the T cells [objective a GPU min], then, where there is a JCT
    budget, mu in units of `unit` [objective an hour].

    Parameters
    ----------
    coefficients
        N jobs, T cells.

    Attributes
    ----------
    mu
        Break prices of the jobs' work at the last prices [objective a 1-GPU min], shape (N,).
    evaluations
        How often jobs were priced.
    steps
        Loop steps that the last evaluation took, about.
    """

    def __init__(self, coefficients: CellCoefficients) -> None:
        instance = coefficients.instance
        self.coefficients, self.instance = coefficients, instance
        jobs = len(instance.jobs)
        (kinds, most) = coefficients.speed.shape
        self.budget = instance.limits.mean_jct_hours
        self.mu = np.zeros(jobs)
        self.evaluations = 0
        self.steps = 0.0
        arrival = instance.jobs.arrival_minutes
        self._jobs = kernels.CellJobs(
            coefficients.first_cell, arrival, coefficients.kind, coefficients.required, coefficients.minutes
        )
        self._ladder = kernels.Ladder.of_shape(kinds, coefficients.count, most)
        self._items = Items.of_length(coefficients.count * most)
        work = coefficients.required
        span = max(float(coefficients.required.sum()) / instance.cluster.gpus, 60.0)
        carbon = float(coefficients.carbon.mean()) * float(np.median(coefficients.watts[:, 0]))
        late = instance.weights.jct_hours / 60 * 0.1 * span / float(work.mean())
        self.typical = max(carbon + late, 1e-12)
        """A usual price of GPU time [objective a GPU min]."""
        self.unit = max(float(work.mean()) * 60 / span, 1e-12)  # so that all prices are of a size
        fastest = float(coefficients.required.max(initial=1.0))
        self.shortage_price = 1e3 * (self.typical * 10 + instance.weights.jct_hours) * max(fastest, 1.0)

    def split(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Return lambda, shape (T,), and mu [objective an hour of completion time]."""
        if self.budget is None:
            return prices, 0.0
        return prices[:-1], float(prices[-1]) * self.unit

    def joined(self, cell_prices: FloatArray, mu: float) -> FloatArray:
        """Return the flat array of lambda and mu."""
        return cell_prices if self.budget is None else np.append(cell_prices, mu / self.unit)

    def start(self) -> FloatArray:
        """Return prices to start from."""
        return np.zeros(self.coefficients.count + (self.budget is not None))

    def hard(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound at `prices` and a supergradient."""
        bracket = LEAST_BRACKET * float(self.mu.max(initial=0.0)) + 1e-9 * self.typical
        own = (bracket, self._items)
        return self._evaluate(kernels.cover, prices, own)

    def soft(self, prices: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return the smoothed bound at `prices` and its gradient; `temperature` in units of a usual price."""
        return self._evaluate(kernels.soft_cover, prices, (temperature * self.typical, ACCURACY, self._items))

    def _evaluate(
        self, kernel: Kernel[..., tuple[float, float, int]], prices: FloatArray, own: tuple[object, ...]
    ) -> tuple[float, FloatArray]:
        self.evaluations += 1
        coefficients, instance = self.coefficients, self.instance
        cell_prices, mu = self.split(np.asarray(prices))
        weight = (instance.weights.jct_hours + mu) / 60
        speed, watts = coefficients.speed, coefficients.watts
        by_ratio = weight <= 0  # then cells that cost too much need not be looked at, whenever they are
        kernels.ladders(coefficients.carbon, np.ascontiguousarray(cell_prices), speed, watts, by_ratio, self._ladder)
        load = np.zeros(coefficients.count)
        cost, moments, looked_at = kernel(self._jobs, weight, self.shortage_price, self._ladder, self.mu, load, *own)
        self.steps = float(looked_at * speed.shape[1]) + ladder_steps(coefficients)
        delay = float(coefficients.least_delay.sum())
        paid = coefficients.capacity * float(cell_prices.sum())
        late = 0.0 if self.budget is None else mu * len(instance.jobs) * self.budget
        sizes = abs(cost) + weight * float(np.abs(coefficients.least_delay).sum()) + paid + late
        value = cost + weight * delay - paid - late - FLOAT_ERROR * sizes
        gradient = np.array(load - coefficients.capacity)
        if self.budget is not None:
            slack = (moments + delay) / 60 - len(instance.jobs) * self.budget
            gradient = np.append(gradient, slack * self.unit)
        return float(value), gradient
