"""Azure's virtual machines of 2017 and 2019 (``vmtable.csv``), which have no header.

Fields: https://github.com/Azure/AzurePublicDataset. Of 2019, CPUs and memory are buckets.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from carbonopt.io.csvfile import Table
from carbonopt.io.jobs import JobTrace
from carbonopt.io.traces.cells import Cells, read_columns, state_reasons, trace_of
from carbonopt.io.traces.source import Look, Paths, TraceSource

COLUMNS = (
    "vmid", "subscriptionid", "deploymentid", "vmcreated", "vmdeleted", "maxcpu", "avgcpu", "p95maxcpu",
    "vmcategory", "vmcorecountbucket", "vmmemorybucket",
)  # fmt: skip
_REQUIRED = {
    name: (name,) for name in ("vmid", "subscriptionid", "vmcreated", "vmdeleted", "vmcategory", "vmcorecountbucket")
}
_MEMORY = {"vmmemorybucket": ("vmmemorybucket",)}
_ABOVE = {">24": "30", ">64": "70"}
"""What the open buckets of CPUs and of GB count as, in Azure's own notebook."""
END_SECONDS = 30 * 24 * 3600 - 600
"""Who is there in the last readings of the 30 days was deleted later."""


def _matches(look: Look) -> bool:
    cells = look.first_line.split(",")
    if len(cells) != len(COLUMNS):
        return False
    return cells[0].strip().lower() == "vmid" or bool(
        re.fullmatch(r"\s*(Delay-insensitive|Interactive|Unknown)\s*", cells[8], re.IGNORECASE)
    )


def _read(paths: Paths, states: Collection[str] | None) -> JobTrace:
    """Read virtual machines, each a job from its creation to its deletion."""
    table = _closed(read_columns(paths[0], _REQUIRED | _MEMORY, COLUMNS))
    cells = Cells(table, _REQUIRED, _MEMORY)
    kinds = cells.texts("vmcategory")
    created, deleted = cells.seconds("vmcreated"), cells.seconds("vmdeleted")
    reasons = state_reasons(kinds, AZURE.states, states)
    alive = np.select(
        [created <= 0, deleted >= END_SECONDS], ["alive when the trace began", "alive when it ended"], default=""
    )
    return trace_of(
        table,
        cells.faults,
        [reason or str(other) for reason, other in zip(reasons, alive, strict=True)],
        created,
        cells.span(created, deleted, "vmdeleted", "vmcreated"),
        cells.numbers("vmcorecountbucket", "a number of CPUs"),
        cells.ids("vmid"),
        dated=False,
        memory_gb=cells.numbers("vmmemorybucket", "a number of GB"),
        user=cells.texts("subscriptionid"),
        state=kinds,
    )


def _closed(table: Table) -> Table:
    """Return the table without a header's line, and with numbers in the place of open buckets."""
    first = 1 if table.cells[0][0].strip().lower() == "vmid" and len(table.lines) > 1 else 0
    cells = tuple(
        tuple(_ABOVE.get(cell.strip(), cell) if name.endswith("bucket") else cell for cell in column[first:])
        for name, column in zip(table.header, table.cells, strict=True)
    )
    return replace(table, cells=cells, lines=table.lines[first:])


AZURE = TraceSource("azure", _matches, _read, ("Delay-insensitive", "Interactive", "Unknown"))
