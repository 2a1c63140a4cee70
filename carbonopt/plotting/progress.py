"""How a method closes its gap while it runs."""

from __future__ import annotations

from typing import Any

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.trace import Trace
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import PALETTE, current, legend, styled


@styled
def plot_progress(trace: Trace, ax: Any = None) -> Any:
    """Draw objective and proven bound over time; the area between them is the gap.

    Parameters
    ----------
    trace
        Of one run.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.

    Raises
    ------
    UnsupportedError
        If the run reported nothing.
    """
    import numpy as np

    if not trace.seconds:
        raise UnsupportedError("the method reported nothing while it ran: there is nothing to draw")
    axis = axes_for(ax, height=2.6)[0]
    seconds = np.array(trace.seconds)
    objective, bound = (_known(values) for values in (trace.objective, trace.bound))
    axis.step(seconds, objective, where="post", color=PALETTE[1], label="best schedule")
    axis.step(seconds, bound, where="post", color=PALETTE[0], label="proven bound")
    axis.fill_between(seconds, bound, objective, step="post", color=current().colors.faint, label="gap", linewidth=0)
    axis.set_xlim(left=0)
    axis.set_xlabel("wall time [s]")
    axis.set_ylabel("objective")
    legend(axis)
    return axis


def _known(values: list[float | None]) -> Any:
    """Return the values with the last known one where a report has none; nan before the first."""
    import pandas as pd

    return pd.Series(values, dtype=float).ffill().to_numpy()
