"""Figures without a display, and how to save them."""

from __future__ import annotations

import os
from typing import Any

from carbonopt.core.errors import UnsupportedError


def new_axes(rows: int = 1, height: float = 2.2) -> Any:
    """Return `rows` axes above each other on a new figure that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 0.8 + height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]


def save(axes: Any, path: str | os.PathLike[str]) -> None:
    """Save the figure that `axes` are on.

    Raises
    ------
    UnsupportedError
        If matplotlib does not know the suffix.
    """
    first = axes if hasattr(axes, "figure") else axes[0]
    try:
        first.figure.savefig(path, dpi=150)
    except ValueError as error:
        raise UnsupportedError(f"{path}: {error}") from None
