"""Tables on disk as CSV, in which no text that came from a file is a formula to whoever opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carbonopt.core.errors import one_line
from carbonopt.core.files import PathLike, write_bytes

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@")
"""What spreadsheets take the beginning of a formula for."""


def write_table(path: PathLike, table: pd.DataFrame) -> None:
    """Write a table as CSV, whole or not at all, gzip if the name ends in ``.gz``."""
    write_bytes(path, table.map(_plain).to_csv(index=False).encode())


def _plain(cell: Any) -> Any:
    """Return a cell that is text without control characters, and with a quote before what would be a formula."""
    if not isinstance(cell, str):
        return cell
    text = one_line(cell)
    return f"'{text}" if text.startswith(FORMULA) else text
