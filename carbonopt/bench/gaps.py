"""Gaps of a campaign: each run against the best bound of its instance, then by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from carbonopt.core.solution import relative_gap

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ["instance", "method", "status", "objective", "bound", "best_bound", "gap_to_best_bound", "wall_seconds"]


def with_best_bounds(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return one row a run, with ``best_bound`` of its instance and ``gap_to_best_bound``."""
    import pandas as pd

    bounds: dict[str, float] = {}
    for record in records:
        bound = record["bound"]
        key = record["instance_sha256"]
        if bound is not None:
            better = max if record["sense"] == "min" else min
            bounds[key] = better(bounds.get(key, bound), bound)
    rows = [
        {
            "instance": record["instance"],
            "method": record["method"],
            "status": record["status"],
            "objective": record["objective"],
            "bound": record["bound"],
            "best_bound": bounds.get(record["instance_sha256"]),
            "gap_to_best_bound": relative_gap(record["objective"], bounds.get(record["instance_sha256"])),
            "wall_seconds": record["wall_seconds"],
        }
        for record in records
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def by_method(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs, runs with a schedule, proven optima, median and worst gap, and median seconds by method."""
    groups = table.groupby("method", sort=False)
    result = groups["wall_seconds"].agg(runs="size", median_seconds="median")
    result["with_schedule"] = groups["objective"].count()
    result["optimal"] = groups["status"].agg(lambda column: int((column == "optimal").sum()))
    result["median_gap"] = groups["gap_to_best_bound"].median()
    result["worst_gap"] = groups["gap_to_best_bound"].max()
    return result.reset_index()
