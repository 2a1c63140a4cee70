"""Pictures of schedules in a report: load, runs, and prices over the carbon signal."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from carbonopt.bench.runs import Row
from carbonopt.core.errors import CarbonoptError, one_line
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.io.read import read, read_solution
from carbonopt.plotting.clock import Clock
from carbonopt.plotting.figure import image, new_axes
from carbonopt.plotting.prices import plot_prices
from carbonopt.plotting.style import legend, line_of, style, title

DOTS = 130
"""Of an inch of a picture."""
PRICES = ("Prices that prove the bound", "Prices that prove the bound, over the carbon signal")
"""Title of their picture, without a signal and with one."""
MOST_ZONES = 6
"""Carbon signals that are drawn in one axes."""


def pictures(rows: Sequence[Row], most: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the pictures of the best solutions, and why others have none.

    Parameters
    ----------
    rows
        Of `carbonopt.report.rows.read_rows`; ``solution`` names the file beside the results.
    most
        Solutions that are drawn: the best of each instance first.

    Returns
    -------
    list of dict, list of str
        Each with ``id``, the number of the run, and ``images``: content of PNG files by title.
    """
    drawn: list[dict[str, Any]] = []
    faults = []
    for number in _best_first(rows):
        if len(drawn) == most:
            break
        row = rows[number]
        try:
            images = _images(*_read(row))
        except (CarbonoptError, OSError) as error:
            faults.append(one_line(f"{row['instance']}, {row['method']}: {error}"))
            continue
        drawn.append({"id": number, "images": images})
    return drawn, faults


def _best_first(rows: Sequence[Row]) -> list[int]:
    """Return the numbers of the rows with a solution: the best of each instance, then the second best, ..."""
    ranked: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        if isinstance(row.get("solution"), str) and row["objective"] is not None:
            ranked.setdefault(row["instance_sha256"], []).append(number)
    for numbers in ranked.values():
        numbers.sort(key=lambda n: rows[n]["objective"] if rows[n]["sense"] == "min" else -rows[n]["objective"])
    places = [(place, number) for numbers in ranked.values() for place, number in enumerate(numbers)]
    return [number for _, number in sorted(places)]


def _read(row: Row) -> tuple[Instance, Solution]:
    """Return instance and solution of a run; files beside the results come before those of the working folder."""
    solution = read_solution(row["folder"] / row["solution"])
    file = Path(str(row.get("instance_file")))
    beside = row["folder"] / file
    instance = read(beside if beside.exists() else file)
    if instance.sha256 != solution.instance_sha256 or instance.sha256 != row["instance_sha256"]:
        raise CarbonoptError("instance or solution have changed since the run")
    return instance, solution


def _images(instance: Instance, solution: Solution) -> dict[str, str]:
    draw: dict[str, Callable[[], Any]] = {
        "Load": lambda: solution.plot(instance, "load"),
        "Runs of all jobs": lambda: solution.plot(instance, "gantt"),
        PRICES[bool(instance.carbon.zones)]: lambda: prices_over_signal(instance, solution),
    }
    found = {}
    for name, make in draw.items():
        try:
            with style():
                found[name] = base64.b64encode(image(make(), "png", DOTS)).decode()
        except CarbonoptError:  # no prices, or a schedule that does not say when jobs end: the others are drawn
            continue
    return found


def prices_over_signal(instance: Instance, solution: Solution) -> Any:
    """Draw the prices that prove the bound above the carbon intensity of the same hours."""
    axes = new_axes(2 if instance.carbon.zones else 1)
    plot_prices(instance, solution, ax=axes[0])
    if len(axes) == 1:
        return axes
    clock = Clock(instance.time)
    for number, zone in enumerate(instance.carbon.zones[:MOST_ZONES]):
        axes[1].stairs(
            instance.carbon.g_per_kwh[number], clock.edges(), baseline=None, label=str(zone), **line_of(number)
        )
    axes[1].set_ylabel("carbon intensity\n[gCO2e/kWh]")
    title(axes[0], f"{instance.name}, {solution.method}")
    axes[0].set_xlabel("")
    clock.label(axes[1])
    legend(axes[1])
    return axes
