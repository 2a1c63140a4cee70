"""SenseTime's Helios and Shanghai AI Lab's Acme: GPU jobs of Slurm and Kubernetes clusters, in CSV.

Fields: https://github.com/S-Lab-System-Group/HeliosData and https://github.com/InternLM/AcmeTrace. The column
``duration`` is not read: in Acme's Kalos it counts from the submission.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from carbonopt.io.csvfile import words
from carbonopt.io.jobs import JobTrace
from carbonopt.io.traces.cells import Cells, read_columns, state_reasons, trace_of
from carbonopt.io.traces.source import Look, Paths, TraceSource

_REQUIRED = {
    name: (name,) for name in ("job_id", "user", "gpu_num", "cpu_num", "state", "submit_time", "start_time", "end_time")
}
_OPTIONAL = {name: (name,) for name in ("node_num", "mem_per_pod_GB")}


def _matches(look: Look) -> bool:
    return {"job id", "gpu num", "submit time"} <= {words(cell) for cell in look.first_line.split(",")}


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read jobs: they run from their start to their end."""
    table = read_columns(paths[0], _REQUIRED | _OPTIONAL)
    cells = Cells(table, _REQUIRED, _OPTIONAL)
    ended = cells.texts("state")
    submit, start, end = (cells.moments(f"{name}_time") for name in ("submit", "start", "end"))
    nodes = cells.numbers("node_num", "a number of nodes")
    memory = cells.numbers("mem_per_pod_GB", "a number of GB")
    return trace_of(
        table,
        cells.faults,
        state_reasons(ended, HELIOS.states, states),
        submit,
        cells.span(start, end, "end_time", "start_time"),
        cells.numbers("cpu_num", "a number of CPUs"),
        cells.ids("job_id"),
        dated=True,
        gpus=cells.numbers("gpu_num", "a number of GPUs"),
        memory_gb=memory * np.where(nodes > 0, nodes, 1.0),
        user=cells.texts("user"),
        state=ended,
        started=start,
    )


HELIOS = TraceSource("helios", _matches, _read, ("COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL"))
