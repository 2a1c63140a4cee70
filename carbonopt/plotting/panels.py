"""Load over time, against capacity and against carbon intensity: one axes a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.instance import Instance
from carbonopt.plotting.clock import Clock
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import PALETTE, current, legend, styled
from carbonopt.plotting.style import title as put_title

LEAST_HEIGHT = 0.5
"""Of a y-axis on which everything is 0."""
ROOM_ABOVE = 1.1
"""Height of a y-axis over the highest value on it."""
CARBON = "carbon intensity"
CARBON_UNIT = "gCO2e/kWh"


class Steps(NamedTuple):
    """Values that are constant between moments.

    Parameters
    ----------
    hours
        The moments, since the beginning of slot 0 [h], shape (K + 1,).
    values
        Between each and the next one, shape (K,).
    """

    hours: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class Panel:
    """What one axes shows.

    Parameters
    ----------
    label
        Of the y-axis: place and unit.
    hours
        Moments at which the load changes, since the beginning of slot 0 [h], shape (K + 1,).
    layers
        Load of each kind between these moments, by name, each of shape (K,); they are stacked.
    limit
        What the load is held against, by name.
    signal
        Over the slots, on the right-hand axis, shape (T,); None for none.
    signal_name, signal_unit
        Of its axis.
    """

    label: str
    hours: FloatArray
    layers: Mapping[str, FloatArray]
    limit: Mapping[str, Steps]
    signal: FloatArray | None
    signal_name: str = CARBON
    signal_unit: str = CARBON_UNIT


@styled
def draw_panels(instance: Instance, panels: Sequence[Panel], title: str, ax: Any = None) -> list[Any]:
    """Draw the panels above each other and return their axes.

    Parameters
    ----------
    instance
        Whose clock the x-axis shows.
    panels
        One an axes.
    title
        Above the first.
    ax
        As many axes; None for a new figure.
    """
    axes = axes_for(ax, rows=len(panels), height=2.6 if len(panels) == 1 else 1.8)
    clock = Clock(instance.time)
    twins = [_draw(axis, panel, clock) for axis, panel in zip(axes, panels, strict=True)]
    clock.label(axes[-1])
    put_title(axes[0], title)
    legend(axes[-1], *axes[:-1], *(twin for twin in twins if twin is not None))
    return axes


def _draw(axis: Any, panel: Panel, clock: Clock) -> Any:
    """Draw load and limit on the left, the signal on the right; return the right-hand axis, None without one."""
    top = np.zeros(len(panel.hours) - 1)
    edges = clock.at(panel.hours)
    for (name, load), color in zip(panel.layers.items(), _colors(len(panel.layers)), strict=True):
        axis.stairs(top + load, edges, baseline=top, fill=True, color=color, alpha=0.85, label=name)
        top = top + load
    highest = top.max(initial=LEAST_HEIGHT)
    for name, (hours, values) in panel.limit.items():
        axis.stairs(values, clock.at(hours), baseline=None, color=current().colors.ink, linewidth=1.4, label=name)
        highest = max(highest, values.max())
    axis.set_ylim(0, ROOM_ABOVE * highest)
    axis.set_ylabel(panel.label)
    if panel.signal is None:
        return None
    return _signal(axis, panel, clock)


def _signal(axis: Any, panel: Panel, clock: Clock) -> Any:
    assert panel.signal is not None
    right = axis.twinx()
    right.spines["right"].set_visible(True)
    ink = current().colors.ink
    right.stairs(
        panel.signal, clock.edges(), baseline=None, color=ink, linestyle=":", linewidth=1.2, label=panel.signal_name
    )
    right.set_ylim(min(0.0, ROOM_ABOVE * panel.signal.min()), ROOM_ABOVE * max(panel.signal.max(), LEAST_HEIGHT))
    right.set_ylabel(f"{panel.signal_name}\n[{panel.signal_unit}]")
    right.grid(visible=False)
    return right


def _colors(count: int) -> list[Any]:
    """Return as many colours as there are layers: of the palette, or of a scale where it has too few."""
    from matplotlib import colormaps

    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return list(colormaps["viridis"](np.linspace(0.1, 0.95, count)))
