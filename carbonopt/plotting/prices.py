"""The prices of capacity from which a bound is recomputed, over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.plotting.clock import Clock
from carbonopt.plotting.figure import axes_for
from carbonopt.plotting.style import legend, line_of, styled, title


@styled
def plot_prices(instance: Instance, solution: Solution, ax: Any = None) -> Any:
    """Draw the price of a unit of capacity in each slot: what one more unit there would be worth.

    Parameters
    ----------
    instance, solution
        An instance, and a solution of it whose certificate holds prices.
    ax
        Axes to draw on; None for a new figure.

    Returns
    -------
    Axes
        Those that were drawn on.

    Raises
    ------
    UnsupportedError
        If the solution has no certificate with one price a slot.
    """
    certificate = solution.certificate or {}
    if "prices" not in certificate:
        told = "another certificate" if certificate else "no certificate"
        raise UnsupportedError(f"{solution.method} on {solution.instance}: has {told}, and no prices to draw")
    prices = np.asarray(certificate["prices"], dtype=float)
    rows = prices.reshape(-1, prices.shape[-1])
    axis = axes_for(ax, height=2.6)[0]
    clock = Clock(instance.time)
    edges = clock.at(np.linspace(0, instance.time.hours, rows.shape[1] + 1))  # cells may be parts of slots
    for number, (name, row) in enumerate(zip(_names(instance, prices.shape[:-1]), rows, strict=True)):
        axis.stairs(row, edges, baseline=None, label=name, **line_of(number))
    axis.set_ylim(bottom=0)
    axis.set_ylabel("price of capacity\n[objective per unit and slot]")
    title(axis, f"{instance.name}, {solution.method}: prices that prove the bound")
    clock.label(axis)
    legend(axis)
    return axis


def _names(instance: Instance, shape: tuple[int, ...]) -> list[str]:
    """Return a name for each row of prices: places and resources, where the instance has them."""
    places = getattr(instance, "clusters", getattr(instance, "machines", None))
    resources = list(getattr(instance, "resources", []))
    names = [] if places is None else list(places.name)
    if len(shape) == 2 and shape == (len(names), len(resources)):
        if len(resources) == 1:
            return names
        return [f"{name}, {resource}" for name in names for resource in resources]
    for known in (names, resources):
        if shape == (len(known),):
            return known
    return [f"price {number}" for number in range(int(np.prod(shape)))] if shape else ["price"]
