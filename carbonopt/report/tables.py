"""How far each method is from the best bounds: a row for each problem and method."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

GAP_SHIFT = 1e-3
"""Added to gaps before their geometric mean is taken, and taken off after it: gaps far below it count alike."""
SECONDS_SHIFT = 1.0
"""The same for wall seconds [s]."""
GAPS = ("mean gap [%]", "median gap [%]", "worst gap [%]")
HEADS = ("problem", "method", *GAPS, "mean seconds", "runs", "no schedule", "optimal")


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
        Means are shifted geometric means. A run without a schedule counts with a gap of 100 %. Methods without any
        schedule only bound, and have no gap.
    """
    import pandas as pd

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["problem"], row["method"]), []).append(row)
    lines = [_line(key, group) for key, group in groups.items()]
    frame = pd.DataFrame(lines, columns=[*HEADS])
    return frame.sort_values(["problem", GAPS[0]], kind="stable", ignore_index=True)


def _line(key: tuple[str, str], group: Sequence[dict[str, Any]]) -> list[Any]:
    without = sum(row["objective"] is None for row in group)
    gaps = [row["counted"] for row in group if row["counted"] is not None]
    measures: list[float | None] = [None, None, None]
    if gaps and without < len(group):
        measures = [100 * value for value in (shifted_mean(gaps, GAP_SHIFT), median(gaps), max(gaps))]
    optimal = sum(row["status"] == "optimal" for row in group)
    seconds = shifted_mean([row["wall_seconds"] for row in group], SECONDS_SHIFT)
    return [*key, *measures, seconds, len(group), without, optimal]
