"""The paper's numbers as marks in a figure that is drawn again.

A text often prints a number as a ratio to another one, such as "16 % more than Wait Awhile". The mark then stands at
that ratio to our number, and the label says to which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def mark_paper(axis: Any, at: Any, values: Any, label: str) -> None:
    """Mark the paper's numbers by hollow diamonds, in the colour of text, which is seen on light and dark."""
    color = axis.xaxis.label.get_color()
    axis.plot(at, values, "D", color=color, fillstyle="none", label=label)


def mark_bars(axis: Any, columns: Mapping[str, str], printed: Mapping[str, Any], label: str) -> None:
    """Mark the paper's numbers over the bars that `carbonopt.plotting.points.bars` drew, and add them to the legend.

    Parameters
    ----------
    axis
        Where the bars are.
    columns
        Those that were drawn, with their labels, in their order.
    printed
        For some of them what the paper prints: one number a group, not a number where it prints none.
    label
        Of the marks.
    """
    if not printed:
        return
    width = 0.8 / len(columns)
    at: list[float] = []
    values: list[float] = []
    for number, column in enumerate(columns):
        for place, value in enumerate(np.asarray(printed.get(column, ()), dtype=np.float64)):
            if np.isfinite(value):
                at.append(place + (number - (len(columns) - 1) / 2) * width)
                values.append(float(value))
    if not values:
        return
    mark_paper(axis, at, values, label)
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(3, len(columns) + 1), frameon=False)
