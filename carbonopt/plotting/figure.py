"""Figures without a display, and how to save them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_line
from carbonopt.core.files import PathLike, write_bytes


def new_axes(rows: int = 1, height: float = 2.2) -> Any:
    """Return `rows` axes above each other on a new figure that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 0.8 + height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]


def save(axes: Any, path: PathLike) -> None:
    """Save the figure that `axes` are on.

    Raises
    ------
    UnsupportedError
        If matplotlib does not know the suffix.
    """
    figure = (axes if hasattr(axes, "figure") else axes[0]).figure
    suffix = Path(path).suffix.lower().removeprefix(".")
    known = figure.canvas.get_supported_filetypes()
    if suffix not in known:
        raise UnsupportedError(f"{path}: the name must end in one of .{', .'.join(known)}")
    for text in figure.findobj(lambda artist: hasattr(artist, "set_parse_math")):
        lines = text.get_text().split("\n")
        text.set_text("\n".join(map(one_line, lines)))  # an SVG file with control characters is none
        text.set_parse_math(False)  # a name may hold a dollar sign
    content = io.BytesIO()
    figure.savefig(content, format=suffix, dpi=150)
    write_bytes(path, content.getvalue())
