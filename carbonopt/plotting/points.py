"""Bars and lines of a table's columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import LINES, PALETTE, legend, styled

HATCHES = ("", "///", "...")
"""Of bars, once all colours are used."""

if TYPE_CHECKING:
    import pandas as pd


@styled
def bars(table: pd.DataFrame, by: str, columns: Mapping[str, str], ax: Any = None) -> Any:
    """Draw a group of bars for each row.

    Parameters
    ----------
    table
        One row a group.
    by
        Column with the names of the groups.
    columns
        What the bars show, with their labels.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.
    """
    axis = axes_for(ax, height=3.2)[0]
    place = np.arange(len(table))
    width = 0.8 / len(columns)
    for number, (column, label) in enumerate(columns.items()):
        axis.bar(
            place + (number - (len(columns) - 1) / 2) * width,
            table[column],
            width,
            color=PALETTE[number % len(PALETTE)],
            hatch=HATCHES[number // len(PALETTE) % len(HATCHES)],
            label=label,
        )
    axis.set_xticks(place, [str(name).replace("-", "-\n") for name in table[by]], fontsize="small")
    axis.grid(visible=False, axis="x")
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(4, len(columns)))
    _name_ratios(axis, columns)
    return axis


@styled
def lines(table: pd.DataFrame, x: str, columns: Mapping[str, str], ax: Any = None) -> Any:
    """Draw a line for each of some columns against another one.

    Parameters
    ----------
    table
        One row a point.
    x
        Column along the x-axis, by which the points are sorted.
    columns
        What the lines show, with their labels.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.
    """
    axis = axes_for(ax, height=3.2)[0]
    ordered = table.sort_values(x, kind="stable")
    marker = "o" if len(ordered) <= 50 else None
    for column, label in columns.items():
        number = len(axis.lines)
        color, line = PALETTE[number % len(PALETTE)], LINES[number % len(LINES)]
        axis.plot(ordered[x], ordered[column], marker=marker, color=color, linestyle=line, label=label)
    axis.set_xlabel(x)
    legend(axis)
    _name_ratios(axis, columns)
    return axis


def _name_ratios(axis: Any, columns: Mapping[str, str]) -> None:
    """Title the y-axis where all labels say what a quantity is over: then it has no unit."""
    if all(" over " in label for label in columns.values()):
        axis.set_ylabel("ratio")
