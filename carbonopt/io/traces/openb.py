"""Alibaba's GPU trace of 2023: pods of a Kubernetes cluster (``openb_pod_list_*.csv``).

Fields: https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from carbonopt.io.csvfile import words
from carbonopt.io.jobs import JobTrace
from carbonopt.io.traces.cells import Cells, read_columns, state_reasons, trace_of
from carbonopt.io.traces.source import Look, Paths, TraceSource

_REQUIRED = {
    name: (name,)
    for name in ("name", "cpu_milli", "num_gpu", "pod_phase", "creation_time", "deletion_time", "scheduled_time")
}
_OPTIONAL = {name: (name,) for name in ("memory_mib", "gpu_milli")}


def _matches(look: Look) -> bool:
    return {"cpu milli", "pod phase"} <= {words(cell) for cell in look.first_line.split(",")}


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read pods: they arrive at their creation and run from being scheduled to their deletion."""
    table = read_columns(paths[0], _REQUIRED | _OPTIONAL)
    cells = Cells(table, _REQUIRED, _OPTIONAL)
    phases = cells.texts("pod_phase")
    created, deleted, scheduled = (cells.seconds(f"{name}_time") for name in ("creation", "deletion", "scheduled"))
    gpus = cells.numbers("num_gpu", "a number of GPUs")
    share = cells.numbers("gpu_milli", "thousandths of a GPU", 1000)
    return trace_of(
        table,
        cells.faults,
        state_reasons(phases, OPENB.states, states),
        created,
        cells.span(scheduled, deleted, "deletion_time", "scheduled_time"),
        cells.numbers("cpu_milli", "thousandths of a CPU") / 1000,
        cells.ids("name"),
        dated=False,
        gpus=np.where((gpus == 1) & (share >= 0), share / 1000, gpus),
        memory_gb=cells.numbers("memory_mib", "a number of MiB") / 1024,
        state=phases,
        started=scheduled,
    )


OPENB = TraceSource("openb", _matches, _read, ("Succeeded", "Failed"))
