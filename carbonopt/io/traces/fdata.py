"""F-DATA: jobs of the supercomputer Fugaku with their measured power (Parquet, a file a month).

Fields: https://zenodo.org/records/11467483. ``avgpcon`` is the mean power of the whole job [W], ``elpl`` its time
limit [s], ``mszl`` memory for each node [B].
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from carbonopt.io.jobs import LATEST_HOURS, JobTrace
from carbonopt.io.traces.cells import Cells, state_reasons, trace_of
from carbonopt.io.traces.parquet import read_rows
from carbonopt.io.traces.pm100 import HIGHEST_WATTS
from carbonopt.io.traces.source import Look, Paths, TraceSource

_REQUIRED = {
    "jid": ("jid",),
    "adt": ("adt",),
    "sdt": ("sdt",),
    "edt": ("edt",),
    "cnumr": ("cnumr",),
    "avgpcon": ("avgpcon",),
    "exit state": ("exit state",),
}
_OPTIONAL = {name: (name,) for name in ("usr", "cnumat", "nnumr", "elpl", "pri", "mszl")}
UNLIMITED_BYTES = 2.0**62
"""F-DATA's word for no limit is 2^64."""


def _matches(look: Look) -> bool:
    return {"adt", "sdt", "edt", "avgpcon"} <= set(look.columns)


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read jobs: they run from their start to their end."""
    table = read_rows(paths[0], _REQUIRED | _OPTIONAL)
    cells = Cells(table, _REQUIRED, _OPTIONAL)
    ended = cells.texts("exit state")
    submit, start, end = (cells.moments(name) for name in ("adt", "sdt", "edt"))
    asked, given = (cells.numbers(name, "a number of CPUs") for name in ("cnumr", "cnumat"))
    nodes = cells.numbers("nnumr", "a number of nodes")
    memory = cells.numbers("mszl", "a number of bytes")
    return trace_of(
        table,
        cells.faults,
        state_reasons(ended, FDATA.states, states),
        submit,
        cells.span(start, end, "edt", "sdt"),
        np.where(given > 0, given, asked),
        cells.ids("jid"),
        dated=True,
        memory_gb=np.where(memory < UNLIMITED_BYTES, memory * np.where(nodes > 0, nodes, 1.0) / 2**30, np.nan),
        watts=cells.numbers("avgpcon", "a mean power in W", HIGHEST_WATTS),
        limit_hours=cells.numbers("elpl", "a number of seconds", 3600 * LATEST_HOURS) / 3600,
        priority=cells.numbers("pri", "a priority"),
        user=cells.texts("usr"),
        state=ended,
        started=start,
    )


FDATA = TraceSource("fdata", _matches, _read, ("completed", "failed"))
