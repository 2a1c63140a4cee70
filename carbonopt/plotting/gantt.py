"""A Gantt chart: the runs of all jobs, place by place, with carbon intensity behind them."""

from __future__ import annotations

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
MOST_NAMED = 60
"""Runs whose bars have the name of the job in them, where it fits."""
BAR = 0.8
"""Height of a bar in its lane."""
LETTERS, WIDTH = 0.75, 0.65
"""Height of the letters of names over that of others, and width of a letter over its height."""
LUMINANCE = (0.299, 0.587, 0.114)
"""Shares of red, green and blue in how light a colour is."""


@styled
def plot_gantt(instance: Instance, solution: Solution, ax: Any = None) -> Any:
    """Draw one axes a place, one bar a run, and carbon intensity as the shade behind them.

    Parameters
    ----------
    instance, solution
        An instance and a solution of it. Of more than `MOST_PLACES` places those with most runs are drawn.
    ax
        As many axes as there are places; None for a new figure.

    Returns
    -------
    list of Axes
        One a place.
    """
    from matplotlib.ticker import MaxNLocator

    runs = runs_of(instance, solution)
    counts = {name: runs.place.count(name) for name in _places(instance, runs.place)}
    shown = sorted(counts, key=lambda name: -counts[name])[:MOST_PLACES]
    places = [name for name in counts if name in shown]
    colors = _colors(set(runs.kind))
    axes = axes_for(ax, rows=len(places), height=min(2.4, 7.0 / len(places)))
    clock = Clock(instance.time)
    shades = {place: _intensity(instance, place) for place in places}
    most = max((float(values.max()) for values in shades.values() if values is not None), default=0.0)
    shade = None
    for axis, place in zip(axes, places, strict=True):
        shade = _shade(axis, shades[place], most, clock) or shade
        rows = [row for row, where in enumerate(runs.place) if where == place]
        lane = lanes(runs.begin[rows], runs.end[rows])
        for kind, color in colors.items():
            mine = [i for i, row in enumerate(rows) if runs.kind[row] == kind]
            _bars(axis, clock, runs, [(rows[i], lane[i]) for i in mine], color)
        axis.set_ylim(max(lane, default=0) + 1, 0)
        if len(runs.place) <= MOST_NAMED:
            _names(axis, clock, runs, list(zip(rows, lane, strict=True)), colors)
        axis.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        if not rows:
            axis.text(0.5, 0.5, "no runs", transform=axis.transAxes, ha="center", va="center")
        axis.set_ylabel("jobs at a time" if place == EVERYWHERE else f"{place}\njobs at a time")
        axis.grid(visible=False)
    clock.label(axes[-1])
    title(axes[0], f"{instance.name}, {solution.method}: {counted(len(runs.place), 'run')}")
    if shade is not None:
        axes[0].figure.colorbar(shade, ax=axes, label=f"{CARBON} [{CARBON_UNIT}]", pad=0.01)
    legend(axes[-1], *axes[:-1])
    return axes


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


def _bars(axis: Any, clock: Clock, runs: Runs, bars: list[tuple[int, int]], color: Any) -> None:
    """Draw the runs of one kind, each as (row, lane)."""
    if not bars:
        return
    rows = [row for row, _ in bars]
    left = clock.at(runs.begin[rows])
    axis.barh(
        np.array([lane for _, lane in bars]) + (1 - BAR) / 2,
        clock.at(runs.end[rows]) - left,
        BAR,
        left=left,
        align="edge",
        color=color,
        edgecolor=current().colors.paper,
        linewidth=0.3 if len(runs.place) <= MOST_OUTLINED else 0.0,
        label=runs.kind[rows[0]] or "a job from begin to end",
    )


def _names(axis: Any, clock: Clock, runs: Runs, bars: list[tuple[int, int]], colors: dict[str, Any]) -> None:
    """Write the name of each job, given as (row, lane), into its bar where it fits."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    size = LETTERS * float(rcParams["font.size"])
    box = axis.get_window_extent()
    points = 72 / axis.figure.dpi
    if box.height * points / axis.get_ylim()[0] * BAR < size:
        return
    whole = np.ptp(clock.edges())
    for row, lane in bars:
        begin, end = clock.at([runs.begin[row], runs.end[row]])
        name = one_line(runs.job[row])
        if len(name) * WIDTH * size > (end - begin) / whole * box.width * points:
            continue
        dark = np.dot(to_rgb(colors[runs.kind[row]]), LUMINANCE) < 0.5
        color = "white" if dark else "black"
        place = {"ha": "center", "va": "center", "clip_on": True, "parse_math": False}
        axis.text((begin + end) / 2, lane + 0.5, name, fontsize=size, color=color, **place)
