"""Figures without a display, and how to save them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from carbonopt.core.errors import UnsupportedError, one_line
from carbonopt.core.files import PathLike, write_bytes
from carbonopt.plotting.style import current, styled


@styled
def new_axes(rows: int = 1, height: float = 2.2, shares: Sequence[float] | None = None) -> Any:
    """Return `rows` axes above each other on a new figure that needs no display.

    Parameters
    ----------
    rows
        How many.
    height
        Of each on a page, on average [inches]; other sizes of the style scale it.
    shares
        Of each in the height of all, shape (rows,); None for equal ones.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    shape = current().shape
    figure = _picture()(figsize=(shape.inches, 1.1 + shape.tall * height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(rows, 1, squeeze=False, sharex=True, height_ratios=shares)[:, 0]


@cache
def _picture() -> Any:
    """Return matplotlib's class of figures, with what a notebook shows: without pyplot, it shows none by itself."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            content = io.BytesIO()
            self.savefig(content, format="png", dpi=150)
            return content.getvalue()

    return Picture


def axes_for(ax: Any, rows: int = 1, height: float = 2.6, shares: Sequence[float] | None = None) -> list[Any]:
    """Return the axes that a user gave, or new ones.

    Raises
    ------
    UnsupportedError
        If they are not as many as are needed.
    """
    axes = list(np.ravel(np.asarray(new_axes(rows, height, shares) if ax is None else ax, dtype=object)))
    if len(axes) != rows:
        raise UnsupportedError(f"ax = {len(axes)} axes: must be {rows}")
    return axes


def save(axes: Any, path: PathLike) -> None:
    """Save the figure that `axes` are on, in the format that the suffix of the path names.

    Raises
    ------
    UnsupportedError
        If matplotlib does not know the suffix.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    known = _figure(axes).canvas.get_supported_filetypes()
    if suffix not in known:
        raise UnsupportedError(f"{path}: the name must end in one of .{', .'.join(known)}")
    write_bytes(path, image(axes, suffix))


def image(axes: Any, suffix: str, dots_per_inch: int = 200) -> bytes:
    """Return the figure that `axes` are on as the content of an image file."""
    figure = _figure(axes)
    for text in figure.findobj(lambda artist: hasattr(artist, "set_parse_math")):
        lines = text.get_text().split("\n")
        text.set_text("\n".join(map(one_line, lines)))  # an SVG file with control characters is none
        text.set_parse_math(False)  # a name may hold a dollar sign
    content = io.BytesIO()
    figure.savefig(content, format=suffix, dpi=dots_per_inch)
    return content.getvalue()


def _figure(axes: Any) -> Any:
    return (axes if hasattr(axes, "figure") else axes[0]).figure
