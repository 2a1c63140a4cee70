"""One style for all pictures: read by everyone, on a light and on a dark page, at the clock of the reader."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.time import TimeGrid
from carbonopt.plotting.clock import Clock
from carbonopt.plotting.figure import new_axes, save
from carbonopt.plotting.points import lines
from carbonopt.plotting.style import PALETTE, SIZES, THEMES, Style, current, style, title

CONES = {
    "all": np.eye(3),
    "no red": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "no green": np.array([[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
}
"""What a reader without a kind of cones sees of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1)."""


def linear(color: str) -> np.ndarray:
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(color: str) -> float:
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def lab(rgb: np.ndarray) -> np.ndarray:
    """Return CIELAB of linear RGB, with the white of D65."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_stands_out_from_the_page(theme: str) -> None:
    paper = luminance(THEMES[theme].paper)
    for color in PALETTE:
        light, dark = sorted([luminance(color), paper], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3  # WCAG 2.1, 1.4.11: graphical objects


@pytest.mark.parametrize("cones", CONES)
def test_no_two_colours_look_alike(cones: str) -> None:
    for one, other in combinations(PALETTE, 2):
        apart = lab(CONES[cones] @ linear(one)) - lab(CONES[cones] @ linear(other))
        assert np.linalg.norm(apart) >= 20, (one, other)


def test_the_clock_is_that_of_the_chosen_zone() -> None:
    grid = TimeGrid(48, start=datetime(2024, 3, 30, tzinfo=UTC))  # the clocks go forward in the second night
    with style(tz="Europe/Berlin"):
        axis = new_axes()[0]
        Clock(grid).label(axis)
        axis.figure.canvas.draw()
        words = [label.get_text() for label in axis.get_xticklabels()]
        assert axis.get_xlabel() == "time (Europe/Berlin) from 2024-03-30 on"
        assert not axis.xaxis.get_offset_text().get_text()  # the date is in the label, once
        assert "Mar-31" in words  # midnight there, an hour before midnight in UTC
        assert axis.get_xticks()[words.index("Mar-31")] == pytest.approx(Clock(grid).at(23.0))


@pytest.mark.parametrize(("slots", "hours"), [(3, 1e-9), (10, 1e300), (2, 1e8)])
def test_a_horizon_without_dates_is_drawn_in_hours(slots: int, hours: float, tmp_path) -> None:
    axis = new_axes()[0]
    Clock(TimeGrid(slots, hours)).label(axis)
    assert axis.get_xlabel() == "hours since the start [h]"


def test_a_style_ends_with_its_block_and_refuses_what_it_does_not_know() -> None:
    with style(theme="dark"), style(size="slide"):
        assert current() == Style("dark", "slide")
        assert new_axes()[0].figure.get_facecolor()[:3] == pytest.approx([0x13 / 255, 0x14 / 255, 0x16 / 255])
    assert current() == Style()
    for wrong in ({"theme": "pink"}, {"size": "wall"}, {"tz": "Mars/Olympus"}):
        with pytest.raises(co.UnsupportedError, match="unknown"), style(**wrong):
            pass


@pytest.mark.parametrize("size", SIZES)
def test_a_long_title_stays_inside(size: str) -> None:
    with style(size=size):
        axis = new_axes()[0]
        title(axis, "purchasing-synthetic-j0060-t192-AU-SA-s01, simulate:carbon-time: 0.02242 kg CO2e and 18.17 $")
        axis.figure.canvas.draw()
        extent = axis.title.get_window_extent()
        assert 0 <= extent.x0 < extent.x1 <= axis.figure.bbox.x1


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_suffix_is_the_format(suffix: str, tmp_path, tiny_mosp) -> None:
    instance, solution = tiny_mosp
    save(solution.plot(instance), tmp_path / f"a.{suffix}")
    assert {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix] in (tmp_path / f"a.{suffix}").read_bytes()[:10]


def test_legends_are_outside_the_data(tiny_mosp) -> None:
    import pandas as pd

    instance, solution = tiny_mosp
    axes = [*solution.plot(instance)[-1:], *solution.plot(instance, "gantt")[-1:]]
    axes.append(lines(pd.DataFrame({"x": [1, 2], "y": [3, 4]}), "x", {"y": "why"}))
    for axis in axes:
        axis.figure.canvas.draw()
        assert axis.get_legend().get_window_extent().y1 <= axis.get_window_extent().y0


def test_what_cannot_be_drawn_is_told(tiny_mosp) -> None:
    instance, solution = tiny_mosp
    with pytest.raises(co.UnsupportedError, match="unknown plot 'pie': must be 'load', 'gantt' or 'prices'"):
        solution.plot(instance, "pie")
    with pytest.raises(co.UnsupportedError, match="has no certificate, and no prices to draw"):
        replace(solution, certificate=None).plot(instance, "prices")
    with pytest.raises(co.UnsupportedError, match="ax = 1 axes: must be 2"):
        solution.plot(instance, ax=new_axes())


def test_a_notebook_shows_the_figure(tiny_mosp) -> None:
    instance, solution = tiny_mosp
    instance = replace(instance, name="$a_{$")  # no formula
    assert solution.plot(instance)[0].figure._repr_png_().startswith(b"\x89PNG")
