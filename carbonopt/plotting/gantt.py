"""A Gantt chart: the runs of all jobs, place by place, with carbon intensity behind them."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.display import counted
from carbonopt.core.errors import one_line
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.plotting.clock import Clock
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.panels import CARBON, CARBON_UNIT
from carbonopt.plotting.runs import EVERYWHERE, Runs, lanes, runs_of
from carbonopt.plotting.style import PALETTE, current, legend, styled, title

MOST_PLACES = 12
"""Places that are drawn; more would leave none of them any height."""
MOST_OUTLINED = 200
"""Runs whose bars have an outline; of more, it would hide the short ones."""
MOST_ROWS = 60
"""Jobs of which each has a row with its name; of more, those that run at different times share rows."""
BAR = 0.8
"""Height of a bar in its row."""
ROW = 0.16
"""Height of a row with a name [inches on a page]."""
LEAST = 1.5
"""Height of all rows at the least, so that the scale of carbon has room for its label [inches on a page]."""
NAME, PLACE = 28, 14
"""Letters of the name of a job that are shown, and of that of a place in one line."""
AT_A_TIME = "jobs at a time"
SMALL = 0.8
"""Height of the letters of jobs over that of others."""


@styled
def plot_gantt(instance: Instance, solution: Solution, ax: Any = None) -> Any:
    """Draw one axes a place, one bar a run, and carbon intensity as the shade behind them.

    Parameters
    ----------
    instance, solution
        An instance and a solution of it. Of more than `MOST_PLACES` places those with most runs are drawn.
    ax
        As many axes as there are places with runs; None for a new figure.

    Returns
    -------
    list of Axes
        One a place with runs.
    """
    runs = runs_of(instance, solution)
    every = {name: runs.place.count(name) for name in _places(instance, runs.place)}
    counts = {name: count for name, count in every.items() if count} or dict(list(every.items())[:1])
    shown = sorted(counts, key=lambda name: -counts[name])[:MOST_PLACES]
    places = [name for name in counts if name in shown]
    colors = _colors(set(runs.kind))
    named = len(set(zip(runs.place, runs.job, strict=True))) <= MOST_ROWS
    rows = {place: [row for row, where in enumerate(runs.place) if where == place] for place in places}
    lane = {place: (_by_job if named else _packed)(runs, rows[place]) for place in places}
    heights = [max(lane[place], default=0) + 1 for place in places] if named else [1] * len(places)
    inches = max(ROW * sum(heights), LEAST)
    height = inches / len(places) if named else min(2.4, 7.0 / len(places))
    thick = BAR * min(1.0, 2 * ROW * sum(heights) / inches) if named else BAR
    axes = axes_for(ax, rows=len(places), height=height, shares=heights)
    clock = Clock(instance.time)
    shades = {place: _intensity(instance, place) for place in places}
    most = max((float(values.max()) for values in shades.values() if values is not None), default=0.0)
    shade = None
    for axis, place in zip(axes, places, strict=True):
        shade = _shade(axis, shades[place], most, clock) or shade
        for kind, color in colors.items():
            bars = [(row, at) for row, at in zip(rows[place], lane[place], strict=True) if runs.kind[row] == kind]
            _bars(axis, clock, runs, bars, color, thick)
        axis.set_ylim(max(lane[place], default=0) + 1, 0)
        if named:
            _name_rows(axis, place, dict(zip(lane[place], rows[place], strict=True)), runs)
        else:
            _count_rows(axis, place, is_alone=len(places) == 1)
        axis.grid(visible=False)
    if ax is None and not named and len(places) > 1:
        axes[0].figure.supylabel(AT_A_TIME, fontsize="medium")
    clock.label(axes[-1])
    idle = [one_line(name) for name, count in every.items() if not count]
    without = f", none on {', '.join(idle)}" if runs.place and 0 < len(idle) <= MOST_PLACES else ""
    title(axes[0], f"{instance.name}, {solution.method}: {counted(len(runs.place), 'run')}{without}")
    if shade is not None:
        axes[0].figure.colorbar(shade, ax=axes, label=f"{CARBON}\n[{CARBON_UNIT}]", pad=0.01)
    legend(axes[-1], *axes[:-1])
    return axes


def _by_job(runs: Runs, rows: list[int]) -> list[int]:
    """Return the lane of each run at a place: one a job, in the order in which they begin."""
    order = {runs.job[row]: None for row in sorted(rows, key=lambda row: runs.begin[row])}
    lane = {job: number for number, job in enumerate(order)}
    return [lane[runs.job[row]] for row in rows]


def _packed(runs: Runs, rows: list[int]) -> list[int]:
    """Return the lane of each run at a place: as few as there are runs at a time."""
    return lanes(runs.begin[rows], runs.end[rows])


def _name_rows(axis: Any, place: str, row_of: dict[int, int], runs: Runs) -> None:
    """Write the names of the jobs beside their lanes, and that of the place beside them."""
    from matplotlib import rcParams

    names = [one_line(runs.job[row]) for row in row_of.values()]
    short = [name if len(name) <= NAME else f"{name[: NAME - 1]}…" for name in names]
    axis.set_yticks([lane + 0.5 for lane in row_of], short, fontsize=SMALL * float(rcParams["font.size"]))
    axis.tick_params(axis="y", length=0)
    if not row_of:
        axis.text(0.5, 0.5, "no runs", transform=axis.transAxes, ha="center", va="center")
    if place != EVERYWHERE:
        axis.set_ylabel(fill(one_line(place), PLACE), rotation=0, ha="right", va="center")


def _count_rows(axis: Any, place: str, is_alone: bool) -> None:
    """Write the numbers of the lanes of a place, which many jobs share, and its name where there are others."""
    from matplotlib.ticker import MaxNLocator

    axis.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    if is_alone:
        axis.set_ylabel(AT_A_TIME if place == EVERYWHERE else f"{one_line(place)}\n{AT_A_TIME}")
    else:
        axis.set_ylabel(fill(one_line(place), PLACE), rotation=0, ha="right", va="center")


def _places(instance: Instance, used: list[str]) -> list[str]:
    """Return the names of the places, in the order of the instance."""
    known = getattr(instance, "clusters", getattr(instance, "machines", None))
    return list(dict.fromkeys(used)) or ["jobs"] if known is None else list(known.name)


def _intensity(instance: Instance, place: str) -> FloatArray | None:
    """Return the carbon intensity at a place [g/kWh], shape (T,); None where it is not known."""
    if not instance.carbon.zones:
        return None
    clusters = getattr(instance, "clusters", None)
    row = 0 if clusters is None else instance.carbon.index(clusters.zone[clusters.name.index(place)])
    return np.asarray(instance.carbon.g_per_kwh[row])


def _colors(kinds: set[str]) -> dict[str, Any]:
    """Return a colour for each kind: of a scale where the kinds are amounts, else of the palette."""
    from matplotlib import colormaps

    names = sorted(kinds, key=lambda kind: (len(kind), kind))  # 2 GPUs before 10 GPUs
    if len(names) <= len(PALETTE):
        return dict(zip(names, PALETTE, strict=False))
    return dict(zip(names, colormaps["viridis"](np.linspace(0.1, 0.95, len(names))), strict=True))


def _shade(axis: Any, intensity: FloatArray | None, most: float, clock: Clock) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    if intensity is None:
        return None
    colors = LinearSegmentedColormap.from_list("shade", current().colors.shades)
    return axis.pcolormesh(
        clock.edges(),
        [0.0, 1.0],
        intensity[None, :],
        cmap=colors,
        vmin=0.0,
        vmax=most or 1.0,
        transform=axis.get_xaxis_transform(),
        rasterized=True,
        zorder=0,
    )


def _bars(axis: Any, clock: Clock, runs: Runs, bars: list[tuple[int, int]], color: Any, thick: float) -> None:
    """Draw the runs of one kind, each as (row, lane), in a share of the height of their lanes."""
    if not bars:
        return
    rows = [row for row, _ in bars]
    left = clock.at(runs.begin[rows])
    axis.barh(
        np.array([lane for _, lane in bars]) + (1 - thick) / 2,
        clock.at(runs.end[rows]) - left,
        thick,
        left=left,
        align="edge",
        color=color,
        edgecolor=current().colors.paper,
        linewidth=0.3 if len(runs.place) <= MOST_OUTLINED else 0.0,
        label=runs.kind[rows[0]] or "a job from begin to end",
    )
