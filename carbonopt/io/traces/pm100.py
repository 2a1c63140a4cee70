"""PM100: jobs of the supercomputer Marconi100 with their measured power (``job_table.parquet``).

Fields: https://github.com/francescoantici/PM100-data. Power is that of all nodes of a job together, a list of
samples; its mean is read. ``run_time`` is in seconds, ``time_limit`` in minutes.
"""

from __future__ import annotations

from collections.abc import Collection

from carbonopt.io.jobs import LATEST_HOURS, LONGEST_HOURS, JobTrace
from carbonopt.io.traces.cells import Cells, state_reasons, trace_of
from carbonopt.io.traces.parquet import read_rows
from carbonopt.io.traces.source import Look, Paths, TraceSource

_REQUIRED: dict[str, tuple[str, ...]] = {
    "submit_time": ("submit_time",),
    "run_time": ("run_time",),
    "job_state": ("job_state",),
    "cpus": ("num_cores_alloc", "num_cpus_alloc"),
    "power": ("node_power_consumption", "power_consumption"),
    "job_id": ("job_id",),
}
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "start_time": ("start_time",),
    "time_limit": ("time_limit",),
    "gpus": ("num_gpus_alloc",),
    "memory": ("mem_alloc",),
    "user": ("user_id",),
    "priority": ("priority",),
}
HIGHEST_WATTS = 1e9
"""Of a job: more than any computer draws."""


def _matches(look: Look) -> bool:
    return {"submit_time", "run_time", "job_state"} <= set(look.columns)


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read jobs with the mean of their measured power."""
    table = read_rows(paths[0], _REQUIRED | _OPTIONAL, means=("power",))
    cells = Cells(table, _REQUIRED, _OPTIONAL)
    ended = cells.texts("job_state")
    return trace_of(
        table,
        cells.faults,
        state_reasons(ended, PM100.states, states),
        cells.moments("submit_time"),
        cells.numbers("run_time", "a number of seconds", 3600 * LONGEST_HOURS),
        cells.numbers("cpus", "a number of CPUs"),
        cells.ids("job_id"),
        dated=True,
        gpus=cells.numbers("gpus", "a number of GPUs"),
        memory_gb=cells.numbers("memory", "a number of GB"),
        watts=cells.numbers("power", "a mean power in W", HIGHEST_WATTS),
        limit_hours=cells.numbers("time_limit", "a number of minutes", 60 * LATEST_HOURS) / 60,
        priority=cells.numbers("priority", "a priority"),
        user=cells.texts("user"),
        state=ended,
        started=cells.moments("start_time"),
    )


PM100 = TraceSource(
    "pm100", _matches, _read, ("COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED")
)
