"""The coefficients of the linear program of the page: what every schedule of an ML cluster costs at least.

    min  sum_jnt  (w_c c_t dP_j(n) + w X_j(n) b_jt / W_j) y_jnt  +  w sum_j (p_j / 2 - r_j)
    s.t. sum_nt X_j(n) y_jnt = W_j            work of each job
         sum_jn n y_jnt <= C delta            GPU time of each cell
         sum_n y_jnt <= available time        of each cell, after the arrival

y_jnt is the time of job j at n GPUs in cell t, b_jt the beginning of its available time, p_j the shortest time in
which a job runs and w the price of completion times: the weight of the objective and the multiplier of the JCT budget.
The mean moment of a job's progress, plus half of p_j, is never after its completion: the last half of the work
takes at least p_j / 2. Restarts take GPU time and power without work, so leaving them out costs nothing: the
optimum is a lower bound for every preemptive malleable schedule that ends by the horizon.

A cell is a slot of the carbon signal or an equal part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance


@dataclass(frozen=True, eq=False)
class CellCoefficients:
    """The coefficients of the objective and of the rows, over a grid of cells.

    Parameters
    ----------
    instance
        N jobs.
    cells
        Cells of each slot.
    """

    instance: MlClusterInstance
    cells: int = 1

    @property
    def count(self) -> int:
        """Number of cells, T."""
        return self.instance.time.slots * self.cells

    @property
    def minutes(self) -> float:
        """delta: length of a cell [min]."""
        return self.instance.slot_minutes / self.cells

    @cached_property
    def carbon(self) -> FloatArray:
        """w_c c_t: price of a watt's carbon [objective a W min], shape (T,)."""
        return np.repeat(self.instance.weights.carbon_kg * self.instance.kg_per_watt_minute, self.cells)

    @cached_property
    def _kinds(self) -> tuple[IntArray, IntArray]:
        """Distinct (profile, fewest GPUs, most GPUs), shape (K, 3), and each job's, shape (N,)."""
        instance = self.instance
        columns = np.stack([instance.profile_of_job, instance.jobs.min_gpus, instance.most_gpus], axis=1)
        kinds, kind = np.unique(columns, axis=0, return_inverse=True)
        return kinds, np.asarray(kind.reshape(-1), dtype=np.int64)

    @property
    def kind(self) -> IntArray:
        """Row of each job in `speed` and `watts`, shape (N,)."""
        return self._kinds[1]

    @cached_property
    def speed(self) -> FloatArray:
        """X(n) of each kind where n GPUs are allowed, else 0; column n - 1, shape (K, M)."""
        kinds = self._kinds[0]
        scales = self.instance.scales
        gpus = np.arange(1, scales.throughput.shape[1] + 1)
        inside = (gpus >= kinds[:, 1:2]) & (gpus <= kinds[:, 2:3])
        return np.where(inside, scales.throughput[kinds[:, 0]], 0.0)

    @cached_property
    def watts(self) -> FloatArray:
        """dP(n) of each kind [W], shape (K, M)."""
        return self.instance.scales.added_watts[self._kinds[0][:, 0]]

    @cached_property
    def required(self) -> FloatArray:
        """W_j, less what the checker takes for rounding [1-GPU minutes], shape (N,)."""
        return self.instance.jobs.required

    @cached_property
    def first_cell(self) -> IntArray:
        """Cell of each arrival, shape (N,)."""
        return np.minimum(self.instance.jobs.arrival_minutes // self.minutes, self.count - 1).astype(np.int64)

    @cached_property
    def least_delay(self) -> FloatArray:
        """p_j / 2 - r_j [min], shape (N,)."""
        fastest = self.required / self.speed.max(axis=1)[self.kind]
        return np.asarray(fastest / 2 - self.instance.jobs.arrival_minutes)

    @property
    def capacity(self) -> float:
        """C delta: GPU time of a cell [GPU min]."""
        return self.instance.cluster.gpus * self.minutes
