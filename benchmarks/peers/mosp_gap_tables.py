"""The gaps of `mosp_gap.py`: of each line of an instance, and of each case over all instances."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from carbonopt.core.solution import relative_gap

Numbers = dict[str, Any]
GAPS = ("gap", "own_gap", "bound_gap")
LINE = {
    "cpu_s": ("CPU s", 8, ".1f"),
    "peak_mb": ("peak MB", 9, ".0f"),
    "rise_mb": ("rise MB", 9, ".0f"),
    "objective": ("objective", 14, ",.4f"),
    "bound": ("bound", 14, ",.4f"),
    "gap": ("gap", 11, ".4%"),
    "own_gap": ("own gap", 11, ".4%"),
    "bound_gap": ("bound gap", 11, ".4%"),
}
"""Head, width and format of each column of an instance's table."""
CASE = {
    "schedules": ("schedules", 11, ""),
    "bounds": ("bounds", 8, ""),
    "gap_median": ("median gap", 12, ".4%"),
    "gap_worst": ("worst", 11, ".4%"),
    "own_gap_median": ("median own", 12, ".4%"),
    "own_gap_worst": ("worst", 11, ".4%"),
    "bound_gap_median": ("median bound", 14, ".4%"),
    "bound_gap_worst": ("worst", 11, ".4%"),
}
"""The same of the table over all instances."""


def add_gaps(results: Sequence[Numbers]) -> None:
    """Set the gaps of the lines of one instance, which is a minimisation.

    ``gap`` is of the objective to the best bound of all lines, ``own_gap`` to the line's own, and ``bound_gap`` of the
    line's bound to the best objective of all lines.
    """
    bound = max((result["bound"] for result in results if result["bound"] is not None), default=None)
    best = min((result["objective"] for result in results if result["objective"] is not None), default=None)
    for result in results:
        result["gap"] = relative_gap(result["objective"], bound)
        result["own_gap"] = relative_gap(result["objective"], result["bound"])
        result["bound_gap"] = relative_gap(best, result["bound"])


def summary(instances: Sequence[Sequence[Numbers]]) -> list[Numbers]:
    """Return median and worst gaps of each case; a gap that does not exist is worse than any that does."""
    lines = []
    for name in dict.fromkeys(result["name"] for results in instances for result in results):
        own = [result for results in instances for result in results if result["name"] == name]
        line: Numbers = {"name": name}
        for key, counted in (("objective", "schedules"), ("bound", "bounds")):
            line[counted] = f"{sum(result[key] is not None for result in own)}/{len(own)}"
        for gap in GAPS:
            values = [float("inf") if result[gap] is None else result[gap] for result in own]
            for of, value in (("median", statistics.median(values)), ("worst", max(values))):
                line[f"{gap}_{of}"] = None if value == float("inf") else value
        lines.append(line)
    return lines


def table(lines: Sequence[Numbers], columns: dict[str, tuple[str, int, str]]) -> str:
    """Return lines as text, `LINE` or `CASE` being the columns; a number that does not exist is a dash."""
    heads = "".join(f"{head:>{width}}" for head, width, _ in columns.values())
    shown = [f"{'':20}{heads}{'  status' if columns is LINE else ''}"]
    for line in lines:
        cells = ((line[key], width, style) for key, (_, width, style) in columns.items())
        texts = [f"{'-' if value is None else format(value, style):>{width}}" for value, width, style in cells]
        shown.append(f"{line['name']:20}{''.join(texts)}{'  ' + line['status'] if columns is LINE else ''}")
    return "\n".join(shown)
