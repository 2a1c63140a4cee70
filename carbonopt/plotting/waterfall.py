"""The price of being online: what a policy emits above the proven least, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from carbonopt.core.errors import UnsupportedError
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import PALETTE, current, styled

DUE_TO = "due_to_"
"""How the names of columns begin that split the excess."""
NAMES = {
    "forecast_errors": "errors\nof the\nforecast",
    "forecast_window": "window\nof the\nforecast",
    "lengths": "unknown\nlengths",
    "heuristic": "the\nheuristic",
    "splitting": "no parts\non other\nCPUs",
    "preemption": "no\npauses",
}
"""Of the steps; others bear their own names."""
BAR = 0.7
NOTHING = 1e-6
"""Share of what is emitted below which a step is rounding alone."""
ROOM_ABOVE = 1.12
"""Height of the y-axis over the highest bar: its number stands there."""


@styled
def plot_waterfall(row: Mapping[str, Any], ax: Any = None) -> Any:
    """Draw the least carbon that is proven, each part of the excess, and what the policy emits.

    Parameters
    ----------
    row
        One row of `carbonopt.excess_table` with ``split=True``.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.

    Raises
    ------
    UnsupportedError
        If the row has no split, or nothing was proven.
    """
    parts = {str(name): value for name, value in row.items() if str(name).startswith(DUE_TO)}
    missing = [value is None or not np.isfinite(value) for value in (row.get("excess_over_loosest"), *parts.values())]
    if not parts or any(missing):
        raise UnsupportedError("the row does not say what all of the excess is due to: make it with split=True")
    emitted = float(row["carbon_kg"])
    least = emitted / (1 + float(row["excess_over_loosest"]))
    names = [name.removeprefix(DUE_TO) for name in reversed(parts)]
    steps = least * np.array([float(value) for value in reversed(parts.values())])
    steps[np.abs(steps) < NOTHING * emitted] = 0.0
    bottom = least + np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    axis = axes_for(ax, height=2.8)[0]
    ink = current().colors.ink
    axis.bar([0, len(steps) + 1], [least, emitted], BAR, color=[PALETTE[2], PALETTE[0]])
    axis.bar(np.arange(len(steps)) + 1, steps, BAR, bottom=bottom, color=PALETTE[1])
    tops = [least, *(bottom + np.maximum(steps, 0)), emitted]
    words = [f"{least:.4g}", *(f"{step:+.3g}" for step in steps), f"{emitted:.4g}"]
    for place, (top, word) in enumerate(zip(tops, words, strict=True)):
        axis.annotate(word, (place, top), (0, 2), textcoords="offset points", ha="center", color=ink)
    labels = [NAMES.get(name, name.replace("_", "\n")) for name in names]
    axis.set_xticks(range(len(steps) + 2), ["proven\nleast", *labels, str(row["policy"]).replace("-", "-\n")])
    axis.set_ylabel("carbon [kg CO2e]")
    axis.set_ylim(0, ROOM_ABOVE * max(tops))
    axis.grid(visible=False, axis="x")
    return axis
