"""Bars and lines of a table's columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.plotting.figure import new_axes

if TYPE_CHECKING:
    import pandas as pd


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
    axis = new_axes(height=3.2)[0] if ax is None else ax
    place = np.arange(len(table))
    width = 0.8 / len(columns)
    for number, (column, label) in enumerate(columns.items()):
        axis.bar(place + (number - (len(columns) - 1) / 2) * width, table[column], width, label=label)
    axis.set_xticks(place, [str(name).replace("-", "-\n") for name in table[by]], fontsize="small")
    axis.legend(
        fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(4, len(columns)), frameon=False
    )
    return axis


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
    axis = new_axes(height=3.2)[0] if ax is None else ax
    ordered = table.sort_values(x, kind="stable")
    marker = "o" if len(ordered) <= 50 else None
    for column, label in columns.items():
        axis.plot(ordered[x], ordered[column], marker=marker, label=label)
    axis.set_xlabel(x)
    axis.legend(fontsize="small")
    return axis
