"""How far each method is from the best bounds: a row for each problem and method."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

from carbonopt.bench.runs import REFUSED, UNANSWERED

if TYPE_CHECKING:
    import pandas as pd

GAP_SHIFT = 1e-3
"""Added to gaps before their geometric mean is taken, and taken off after it: gaps far below it count alike."""
SECONDS_SHIFT = 1.0
"""The same for wall seconds [s]."""
GAPS = ("mean gap [%]", "median gap [%]", "worst gap [%]")
HEADS = ("problem", "method", *GAPS, "mean seconds", "runs", "failed", "no schedule", "optimal")


def shifted_mean(values: Sequence[float], shift: float) -> float:
    """Return the shifted geometric mean: ``(prod (x + s))^(1/n) - s``.

    Examples
    --------
    >>> round(shifted_mean([0.0, 3.0], 1.0), 9)
    1.0
    """
    return geometric_mean([value + shift for value in values]) - shift


def gap_table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each problem and method, the best of each problem first.

    Parameters
    ----------
    rows
        Of `carbonopt.report.rows.report_rows`.

    Returns
    -------
    DataFrame
        Means are shifted geometric means. A run without a schedule counts with a gap of 100 %, also if it failed: was
        refused, killed or crashed. Methods without any schedule have no gap. Seconds are without refused runs.
    """
    import pandas as pd

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["problem"], row["method"]), []).append(row)
    lines = [_line(key, group) for key, group in groups.items()]
    frame = pd.DataFrame(lines, columns=[*HEADS])
    return frame.sort_values(["problem", GAPS[0]], kind="stable", ignore_index=True)


def _line(key: tuple[str, str], group: Sequence[dict[str, Any]]) -> list[Any]:
    failed = sum(row["status"] in UNANSWERED for row in group)
    empty = [row for row in group if row["objective"] is None]
    without = sum(row["status"] not in UNANSWERED for row in empty)
    gaps = [row["counted"] for row in group if row["counted"] is not None]
    measures: list[float | None] = [None, None, None]
    if gaps and len(empty) < len(group):
        measures = [100 * value for value in (shifted_mean(gaps, GAP_SHIFT), median(gaps), max(gaps))]
    optimal = sum(row["status"] == "optimal" for row in group)
    taken = [row["wall_seconds"] for row in group if row["status"] != REFUSED]
    seconds = shifted_mean(taken, SECONDS_SHIFT) if taken else None
    return [*key, *measures, seconds, len(group), failed, without, optimal]
