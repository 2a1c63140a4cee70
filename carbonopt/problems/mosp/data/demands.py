"""What jobs of a trace hold, and the power that goes with it.

Power that was measured is no multiple of what a job holds. So it is a resource of its own, in kW, of which every
cluster has enough for all jobs at once; CPUs and GPUs then limit, and draw nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.io.jobs import JobTrace

POWER = "kw"
"""Resource that stands for a job's measured power."""


class Demands(NamedTuple):
    """Units of each resource that N jobs hold, shape (N, R), and watts of a used unit, shape (R,)."""

    resources: tuple[str, ...]
    units: FloatArray
    watts: FloatArray
    provenance: dict[str, Any]


def demands_of(trace: JobTrace, cpu_watts: float, gpu_watts: float) -> Demands:
    """Return what the jobs of a trace hold: CPUs, GPUs where some have one, and power where it was measured.

    Jobs whose power was not measured draw `cpu_watts` for a CPU and `gpu_watts` for a GPU [W].
    """
    columns = {"cpu": (trace.cpus, cpu_watts)} if trace.cpus_known else {}
    if trace.gpus is not None and np.nan_to_num(trace.gpus).any():
        columns["gpu"] = (np.nan_to_num(trace.gpus), gpu_watts)
    units = np.column_stack([held for held, _ in columns.values()]).astype(float)
    watts = np.array([each for _, each in columns.values()], dtype=float)
    if trace.watts is None:
        return Demands(tuple(columns), units, watts, {})
    measured = ~np.isnan(trace.watts)
    power = np.where(measured, trace.watts, units @ watts) / 1000
    told = {"measured_power_jobs": int(measured.sum())}
    return Demands((*columns, POWER), np.column_stack([units, power]), np.append(0 * watts, 1000.0), told)
