"""How every picture looks: colours, sizes and the time zone of its clock."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.time import zone_of_time

P = ParamSpec("P")
R = TypeVar("R")

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#7878ff", "#c30f3c", "#2d96a5")
"""Colours of what is compared. Each stands out from white and from the dark page, and tells itself from the others
for readers without red or green cones: tests/plotting/test_style.py measures both."""
LINES = ("-", "--", "-.", ":")
"""Kinds of lines, so that a print in black and white can be read too."""
LETTER = 0.66
"""Mean width of a letter of a title, over the size of the other letters: a tenth is left for the axis labels."""
BESIDE = 0.8
"""What labels beside the axes take of the width: a title stands in the middle of the axes [inches]."""
ROOM_BELOW = 40
"""Between axes and the legend below them: ticks and the label of the x-axis [points]."""


def line_of(number: int) -> dict[str, Any]:
    """Return colour and kind of line of the `number`-th of what is compared: colours first, then kinds of lines."""
    kind = LINES[number // len(PALETTE) % len(LINES)]
    return {"color": PALETTE[number % len(PALETTE)], "linestyle": kind, "linewidth": 1.6}


@dataclass(frozen=True)
class Theme:
    """Colours of the page.

    Parameters
    ----------
    paper, ink, faint
        Background, text and lines, and grid.
    shades
        Colour map of carbon intensity behind bars: from the colour of the paper to a shade of the ink.
    """

    paper: str
    ink: str
    faint: str
    shades: tuple[str, str]


@dataclass(frozen=True)
class Size:
    """What a picture is made for.

    Parameters
    ----------
    inches
        Its width [inches].
    points
        Of its letters.
    tall
        Height of its axes, relative to those on a page.
    """

    inches: float
    points: float
    tall: float


THEMES: Mapping[str, Theme] = MappingProxyType(
    {
        "light": Theme("#ffffff", "#222222", "#dddddd", ("#ffffff", "#9a9a9a")),
        "dark": Theme("#131416", "#dedede", "#3a3d42", ("#131416", "#70757d")),
    }
)
SIZES: Mapping[str, Size] = MappingProxyType(
    {"column": Size(3.5, 7, 0.8), "page": Size(7.2, 9, 1.0), "slide": Size(10.0, 14, 1.2)}
)


@dataclass(frozen=True)
class Style:
    """How pictures look.

    Parameters
    ----------
    theme
        A name of `THEMES`.
    size
        A name of `SIZES`.
    tz
        Time zone of clocks, e.g. ``Europe/Berlin``.

    Raises
    ------
    UnsupportedError
        If there is no such theme, size or time zone.
    """

    theme: str = "light"
    size: str = "page"
    tz: str = "UTC"

    def __post_init__(self) -> None:
        for kind, name, known in (("theme", self.theme, THEMES), ("size", self.size, SIZES)):
            if name not in known:
                raise UnsupportedError(f"unknown {kind} {name!r}: must be {one_of(tuple(known))}")
        zone_of_time(self.tz)

    @property
    def colors(self) -> Theme:
        """Colours of the page."""
        return THEMES[self.theme]

    @property
    def shape(self) -> Size:
        """Width, letters and height."""
        return SIZES[self.size]

    def settings(self) -> dict[str, Any]:
        """Return what matplotlib is told."""
        from cycler import cycler

        colors = self.colors
        points = self.shape.points
        inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
        return {
            **dict.fromkeys(inks, colors.ink),
            "figure.facecolor": colors.paper,
            "axes.facecolor": colors.paper,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.titlesize": points + 1,
            "figure.constrained_layout.h_pad": 0.08,
            "grid.color": colors.faint,
            "grid.linewidth": 0.6,
            "font.size": points,
            "legend.fontsize": points - 1,
            "legend.frameon": False,
            "lines.linewidth": 1.6,
            "text.parse_math": False,  # a name may hold a dollar sign
            "pdf.fonttype": 42,  # letters stay letters
        }


_style: ContextVar[Style | None] = ContextVar("style", default=None)


def current() -> Style:
    """Return the style in which pictures are drawn now."""
    return _style.get() or Style()


@contextmanager
def style(**changes: str) -> Iterator[Style]:
    """Draw all pictures inside in another style.

    Parameters
    ----------
    **changes
        Fields of `Style`: ``theme``, ``size``, ``tz``.

    Examples
    --------
    >>> with style(theme="dark", tz="Europe/Berlin") as dark:
    ...     dark.colors.paper
    '#131416'
    """
    from matplotlib import rc_context

    chosen = replace(current(), **changes)
    token = _style.set(chosen)
    try:
        with rc_context(chosen.settings()):
            yield chosen
    finally:
        _style.reset(token)


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Return a function that draws in the style of now, whatever matplotlib's own settings are."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        with style():
            return draw(*args, **kwargs)

    return drawn


def title(axis: Any, text: str) -> None:
    """Put a title above the axes, in as many lines as it needs."""
    from textwrap import fill

    shape = current().shape
    letters = int((shape.inches - BESIDE) * 72 / (shape.points * LETTER))
    axis.set_title(fill(text, letters, break_long_words=False, break_on_hyphens=False))


def legend(axis: Any, *others: Any, columns: int = 4) -> None:
    """Put the legend of `axis`, and of others such as its right-hand twin, below the x-axis and outside the data."""
    from matplotlib.transforms import ScaledTranslation

    named: dict[str, Any] = {}
    for one in (axis, *others):
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if not named:
        return
    room = ROOM_BELOW * current().shape.points / Style().shape.points / 72
    below = axis.transAxes + ScaledTranslation(0, -room, axis.figure.dpi_scale_trans)
    if current().size == "column":
        columns = min(columns, 2)
    axis.legend(named.values(), named, loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, ncols=columns)
