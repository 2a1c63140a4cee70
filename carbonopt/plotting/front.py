"""A Pareto front: what one quantity costs in terms of another, with the proven bound below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carbonopt.plotting.figure import new_axes

if TYPE_CHECKING:
    from carbonopt.pareto import Front

LABELS = {"carbon_kg": "carbon [kg CO2e]", "cost_usd": "cost [$]", "mean_wait_hours": "mean wait [h]"}


def plot_front(front: Front, ax: Any = None) -> Any:
    """Draw the first quantity against the second, a line for each limit on the third.

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
    axis = new_axes(height=3.6)[0] if ax is None else ax
    y, x, *rest = front.quantities
    table = front.table
    column = f"limit_{rest[0]}" if rest else None
    groups = [(None, table)] if column is None or column not in table else list(table.groupby(column, dropna=False))
    for number, (limit, part) in enumerate(groups):
        color = f"C{number}"
        line = part.sort_values(x)
        axis.plot(line[x], line[y], "o-", color=color, label=_label(rest, limit))
        if front.bounded == y:
            axis.plot(line[x], line["bound"], ":", color=color, label="proven bound" if number == 0 else None)
    axis.set_xlabel(LABELS.get(x, x))
    axis.set_ylabel(LABELS.get(y, y))
    axis.legend(fontsize="small")
    return axis


def _label(rest: list[str], limit: Any) -> str:
    if not rest:
        return "best found"
    free = limit is None or limit != limit
    return f"{LABELS.get(rest[0], rest[0])} free" if free else f"{LABELS.get(rest[0], rest[0])} at most {limit:.3g}"
