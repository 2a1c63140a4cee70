"""Tables on the terminal: no number is ever cut, however narrow the terminal is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from carbonopt.core.errors import one_line

PIPED_WIDTH = 1_000
"""Characters of a line where no person reads it: a table is not divided."""
LEAST_WIDTH = 40
"""Characters of a line that a terminal has at the least."""
GAP = 2
"""Spaces between two columns."""
TableFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Table to write: .csv, .md, .tex or .html; with several inputs, a folder."),
]


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as the terminal is.

    Heads are broken between words. What does not fit beside the first column follows below, with the first column
    again, and with the second where the first does not tell the rows apart. Only words are ever broken; a cell of text
    that is wider than the terminal goes on in the next line.

    Parameters
    ----------
    title
        One line above it.
    columns
        Heads. The first column is text, and so is the second; the others are numbers.
    rows
        Cells, one row each.
    """
    width = terminal_width()
    cells = [[one_line(cell) for cell in row] for row in rows]
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    console.print(Text(one_line(title), style="bold", overflow="fold"), soft_wrap=width >= PIPED_WIDTH)
    widths = _widths(columns, cells, width)
    for count, part in enumerate(parts(widths, width, _keys(cells, widths, width))):
        if count:
            console.print()
        console.print(_table(columns, cells, widths, part))


def terminal_width() -> int:
    """Return how many characters a line has: of the terminal, or as many as needed where there is none."""
    if not sys.stdout.isatty():
        return PIPED_WIDTH
    return max(LEAST_WIDTH, shutil.get_terminal_size().columns)


def parts(widths: Sequence[int], width: int, keys: int = 1) -> list[list[int]]:
    """Return the columns of each part of a table that fits into `width`: the first `keys`, and as many as fit.

    Examples
    --------
    >>> parts([10, 8, 8, 8], 31)
    [[0, 1, 2], [0, 3]]
    >>> parts([10, 8, 8, 8], 31, keys=2)
    [[0, 1, 2], [0, 1, 3]]
    """
    first = list(range(keys))
    found: list[list[int]] = [list(first)]
    begun = sum(widths[:keys]) + GAP * (keys - 1)
    used = begun
    for column in range(keys, len(widths)):
        if used + GAP + widths[column] > width and len(found[-1]) > keys:
            found.append(list(first))
            used = begun
        found[-1].append(column)
        used += GAP + widths[column]
    return found


def _keys(cells: Sequence[Sequence[str]], widths: Sequence[int], width: int) -> int:
    """Return how many columns tell the rows apart: 1, or 2 where the first does not and both leave room for others."""
    if len({row[0] for row in cells}) == len(cells) or len({tuple(row[:2]) for row in cells}) < len(cells):
        return 1
    rest = max(widths[2:], default=width)
    return 2 if widths[0] + widths[1] + rest + 2 * GAP <= width else 1


def _widths(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the characters of each column: of its longest cell, and of its head where all heads fit unbroken."""
    longest = [max((cell_len(row[column]) for row in cells), default=0) for column in range(len(columns))]
    whole = [max(cell, cell_len(head)) for cell, head in zip(longest, columns, strict=True)]
    if sum(whole) + GAP * (len(whole) - 1) <= width:
        return whole
    words = [max(map(cell_len, head.split()), default=0) for head in columns]
    widths = [max(cell, word) for cell, word in zip(longest, words, strict=True)]
    if len(widths) == 2:  # the second may be a long text: it goes on in the next line
        widths[1] = min(widths[1], max(LEAST_WIDTH // 2, width - widths[0] - GAP))
    widest = max(widths[1:], default=0)
    widths[0] = min(widths[0], max(LEAST_WIDTH // 4, width - GAP - widest))
    return widths


def _table(columns: Sequence[str], cells: Sequence[Sequence[str]], widths: Sequence[int], part: Sequence[int]) -> Table:
    """Return some of the columns as a table."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in part:
        right = column > 1
        table.add_column(
            columns[column], justify="right" if right else "left", width=widths[column], overflow="fold", no_wrap=False
        )
    for row in cells:
        table.add_row(*(Text(row[column], overflow="fold", no_wrap=column > 1) for column in part))
    return table
