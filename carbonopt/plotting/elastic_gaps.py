"""How far a method is from the optimum, against what makes an instance hard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import PALETTE, legend, styled

if TYPE_CHECKING:
    import pandas as pd

LABELS = {"capacity": "capacity [servers]", "slack_hours": "slack [h]", "utilisation": "utilisation"}
"""Of columns that are often drawn; others bear their own names."""


@styled
def plot_elastic_gaps(table: pd.DataFrame, by: str, ax: Any = None) -> Any:
    """Draw the gap of each row as a dot, and a line through the means.

    Parameters
    ----------
    table
        One row an instance, with the columns `by` and ``gap``, which is relative: 0.05 is drawn as 5 %.
        Rows whose gap is missing are left out.
    by
        Column of numbers along the x-axis, e.g. ``capacity``.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.
    """
    axis = axes_for(ax)[0]
    known = table.dropna(subset=["gap"])
    mean = known.groupby(by)["gap"].mean()
    axis.plot(known[by], 100 * known["gap"], "o", color=PALETTE[0], alpha=0.4, label="one instance")
    axis.plot(mean.index, 100 * mean, "-", color=PALETTE[1], label="mean")
    axis.set_ylim(bottom=0)
    axis.set_xlabel(LABELS.get(by, by))
    axis.set_ylabel("gap to the optimum [%]")
    legend(axis)
    return axis
