"""A Pareto front: what one quantity costs in terms of another, with the proven bound below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import LINES, PALETTE, legend, styled

if TYPE_CHECKING:
    import pandas as pd

    from carbonopt.pareto import Front

MARGIN = 0.03
"""Length of the first step of a bound, relative to the width of the front."""
LABELS = {"carbon_kg": "carbon [kg CO2e]", "cost_usd": "cost [$]", "mean_wait_hours": "mean wait [h]"}


@styled
def plot_front(front: Front, ax: Any = None) -> Any:
    """Draw the first quantity against the second, a line for each limit on the third.

    A bound holds for all schedules that keep the limit, and not only for the one that was found. So its step ends at
    the limit.

    Parameters
    ----------
    front
        From `carbonopt.pareto.pareto`, with at least two quantities.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.
    """
    axis = axes_for(ax, height=3.6)[0]
    y, x, *rest = front.quantities
    table = front.table
    column = f"limit_{rest[0]}" if rest else None
    groups = [(None, table)] if column is None or column not in table else list(table.groupby(column, dropna=False))
    for number, (limit, part) in enumerate(groups):
        color = PALETTE[number % len(PALETTE)]
        line = part.sort_values(x)
        axis.plot(
            line[x],
            line[y],
            marker="o",
            drawstyle="steps-post",  # between two points nothing was found, and a slope would cross the bound
            color=color,
            linestyle=LINES[number % len(LINES)],
            label=_label(rest, limit),
        )
        if front.bounded == y:
            _bound(axis, part, x, color)
    axis.set_xlabel(LABELS.get(x, x))
    axis.set_ylabel(LABELS.get(y, y))
    legend(axis, columns=3)
    return axis


def _bound(axis: Any, part: pd.DataFrame, x: str, color: str) -> None:
    """Draw the proven bound as a step function of the limit on `x`; nothing is below it."""
    known = part.dropna(subset=["bound"])
    if known.empty:
        return
    limits = known.get(f"limit_{x}", known[x] * np.nan).to_numpy(dtype=float)
    values = known[x].to_numpy(dtype=float)
    free = np.nanmax([*values, *limits])  # a bound without a limit holds everywhere
    ends = np.where(np.isnan(limits), free, limits)
    order = np.argsort(ends, kind="stable")
    least = min(values.min(), ends.min())
    edges = np.concatenate([[least - MARGIN * max(free - least, abs(least))], ends[order]])
    bounds = known["bound"].to_numpy(dtype=float)[order]
    proven = np.maximum.accumulate(bounds[::-1])[::-1]  # what bounds a looser limit bounds a tighter one too
    axis.stairs(proven, edges, baseline=None, color=color, linestyle=":", linewidth=1.2, label="proven bound")


def _label(rest: list[str], limit: Any) -> str:
    if not rest:
        return "best found"
    name, _, unit = LABELS.get(rest[0], rest[0]).partition(" [")
    free = limit is None or limit != limit
    return f"any {name}" if free else f"{name} at most {limit:.3g} {unit.rstrip(']')}"
