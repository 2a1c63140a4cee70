"""Gaps of a campaign: each run against the best bound of its instance, then by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from carbonopt.core.solution import relative_gap
from carbonopt.core.trace import points_of, primal_integral

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = [
    "instance",
    "method",
    "seed",
    "status",
    "objective",
    "bound",
    "best_bound",
    "gap_to_best_bound",
    "wall_seconds",
    "root_gap",
    "primal_integral",
    "seconds_to_1_percent",
    "seconds_to_0.1_percent",
    "without_loops",
]


def with_best_bounds(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return one row a run, measured against the best of its instance.

    Parameters
    ----------
    records
        Of a campaign.

    Returns
    -------
    DataFrame
        ``gap_to_best_bound`` is the gap of the objective to ``best_bound``. ``root_gap`` is that of HiGHS's bound
        before it branches to the best objective. ``primal_integral`` [s] is over the time limit, or over the run where
        it has none, against the best objective. ``seconds_to_1_percent`` is when the run's own gap was that small.
        ``without_loops`` says whether the method did without its compiled loops, for want of time to compile them.
    """
    import pandas as pd

    bounds: dict[str, float] = {}
    objectives: dict[str, float] = {}
    for record in records:
        bound = record["bound"]
        key = record["instance_sha256"]
        if bound is not None:
            better = max if record["sense"] == "min" else min
            bounds[key] = better(bounds.get(key, bound), bound)
        objective = record["objective"]
        if objective is not None:
            lower = min if record["sense"] == "min" else max
            objectives[key] = lower(objectives.get(key, objective), objective)
    rows = [
        {
            "instance": record["instance"],
            "method": record["method"],
            "seed": record["seed"],
            "status": record["status"],
            "objective": record["objective"],
            "bound": record["bound"],
            "best_bound": bounds.get(record["instance_sha256"]),
            "gap_to_best_bound": relative_gap(record["objective"], bounds.get(record["instance_sha256"])),
            "wall_seconds": record["wall_seconds"],
            "root_gap": relative_gap(objectives.get(record["instance_sha256"]), _number(record, "root_bound")),
            "primal_integral": _integral(record, objectives.get(record["instance_sha256"])),
            "seconds_to_1_percent": _number(record, "seconds_to_1_percent"),
            "seconds_to_0.1_percent": _number(record, "seconds_to_0.1_percent"),
            "without_loops": record.get("without_loops") is True,
        }
        for record in records
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _number(record: dict[str, Any], name: str) -> float | None:
    """Return a number of a record; None in records of earlier versions, which have none."""
    value = record.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _integral(record: dict[str, Any], best: float | None) -> float | None:
    points = points_of(record)
    if points is None or best is None:
        return None
    limit = record["time_limit"]
    return primal_integral(points, best, record["wall_seconds"] if limit is None else limit)


def by_method(table: pd.DataFrame) -> pd.DataFrame:
    """Return runs, runs with a schedule, proven optima, median and worst gap, and median seconds by method.

    Where any run did without its compiled loops, a column says how many of each method did.
    """
    groups = table.groupby("method", sort=False)
    result = groups["wall_seconds"].agg(runs="size", median_seconds="median")
    result["with_schedule"] = groups["objective"].count()
    result["optimal"] = groups["status"].agg(lambda column: int((column == "optimal").sum()))
    result["median_gap"] = groups["gap_to_best_bound"].median()
    result["worst_gap"] = groups["gap_to_best_bound"].max()
    result["median_primal_integral"] = groups["primal_integral"].median()
    if table["without_loops"].any():
        result["without_loops"] = groups["without_loops"].sum()
    return result.reset_index()
