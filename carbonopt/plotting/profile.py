"""A performance profile: on which share of the instances each method is within a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.errors import UnsupportedError
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import legend, line_of, styled

if TYPE_CHECKING:
    import pandas as pd

LEAST_GAP = 1e-6
"""Smaller gaps are drawn there: the axis is logarithmic, and this is below every solver's tolerance."""


@styled
def plot_profile(table: pd.DataFrame, ax: Any = None) -> Any:
    """Draw for each method the share of instances on which its gap is at most x.

    Parameters
    ----------
    table
        One row a run, with ``instance``, ``method``, maybe ``seed``, and ``gap_to_best_bound``, which is relative and
        missing where the method has no schedule: `carbonopt.bench.gaps.with_best_bounds` makes it.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.

    Raises
    ------
    UnsupportedError
        If no run has a gap.
    """
    if table["gap_to_best_bound"].notna().sum() == 0:
        raise UnsupportedError("no run has a gap: there is nothing to draw")
    axis = axes_for(ax, height=3.0)[0]
    instances = table["instance"].nunique()
    cases = len(table[["instance", "seed"]].drop_duplicates()) if "seed" in table else instances
    largest = 100 * max(table["gap_to_best_bound"].max(), 10 * LEAST_GAP)
    for number, (method, part) in enumerate(table.groupby("method", sort=False)):
        gaps = 100 * np.sort(np.maximum(part["gap_to_best_bound"].dropna().to_numpy(dtype=float), LEAST_GAP))
        share = 100 * np.arange(len(gaps) + 1) / cases
        axis.stairs(
            share,
            np.concatenate([[100 * LEAST_GAP / 2], gaps, [2 * largest]]),
            baseline=None,
            label=str(method),
            **line_of(number),
        )
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")  # not in powers of ten, which are formulas, and a name is none
    axis.set_xlim(100 * LEAST_GAP / 2, 2 * largest)
    axis.set_ylim(0, 103)
    axis.set_xlabel("gap to the best proven bound [%]")
    what = "instances" if cases == instances else "instances and seeds"
    axis.set_ylabel(f"share of {cases} {what} [%]")
    legend(axis)
    return axis
