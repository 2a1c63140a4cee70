"""Tables on disk, in the format that the name says: CSV, Markdown, LaTeX or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import repeat
from os import fspath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from carbonopt.core.display import number
from carbonopt.core.errors import one_line
from carbonopt.core.files import PathLike, write_bytes

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@")
"""What spreadsheets take the beginning of a formula for."""
NUMBER = re.compile(r"<?[-+]?\d+(\.\d+)?(e[-+]?\d+)?( %)?|-")
"""A cell of a column of numbers; a dash where there is none."""
LATEX = {
    "\\": r"\textbackslash{}",
    **{character: rf"\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",  # by itself it prints as another character in LaTeX's old encoding of fonts
    ">": "$>$",
}
"""What stands for characters that LaTeX gives a meaning."""


UNITS = ("kg", "kWh", "kW", "h", "min", "s", "slots", "$")
"""Last words of heads that LaTeX puts into brackets: ``carbon [kg]``."""


def write_table(path: PathLike, table: pd.DataFrame, notes: Sequence[str] = ()) -> None:
    """Write a table, whole or not at all, gzip if the name ends in ``.gz``.

    Parameters
    ----------
    path
        Its ending is one of `WRITERS`; a name with another one, such as that of a device, gets CSV. CSV holds all
        digits, the others as many as a reader wants to see.
    table
        One row a line.
    notes
        Lines that LaTeX gets as comments above the table; the other formats have no room for them.
    """
    name = fspath(path).lower().removesuffix(".gz")
    write = next((writer for ending, writer in WRITERS.items() if name.endswith(ending)), csv_text)
    above = "".join(f"% {one_line(note)}\n" for note in notes) if write is _latex else ""
    write_bytes(path, (above + write(table)).encode())


def write_shown(
    path: PathLike,
    table: pd.DataFrame,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
) -> None:
    """Write a table as the screen shows it; CSV, which programs read, gets all columns with all digits.

    Parameters
    ----------
    path
        As of `write_table`.
    table
        What CSV gets.
    heads, rows
        Heads and cells of the screen, which the other formats get.
    notes
        As of `write_table`.
    """
    import pandas as pd

    name = fspath(path).lower().removesuffix(".gz")
    is_read = any(name.endswith(ending) for ending in WRITERS if ending != ".csv")
    write_table(path, pd.DataFrame(rows, columns=list(heads)) if is_read else table, notes)


def csv_text(table: pd.DataFrame) -> str:
    """Return a table as CSV: no cell holds a control character, or is a formula to a spreadsheet."""
    text: str = table.map(_plain).to_csv(index=False)
    return text


def _plain(cell: Any) -> Any:
    """Return a cell that is text without control characters, and with a quote before what would be a formula."""
    if not isinstance(cell, str):
        return cell
    text = one_line(cell)
    return f"'{text}" if text.startswith(FORMULA) else text


def _markdown(table: pd.DataFrame) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    head, rows = _cells(table)
    rules = ["--:" if right else "---" for right in _numeric(table)]
    return line(head) + f"|{'|'.join(rules)}|\n" + "".join(map(line, rows))


def _latex(table: pd.DataFrame) -> str:
    """Return the table with the rules of LaTeX's package booktabs, units in brackets, and ``--`` where nothing is."""

    def line(cells: Sequence[str]) -> str:
        texts = ("".join(LATEX.get(letter, letter) for letter in cell) for cell in cells)
        return " & ".join("--" if text == "-" else text for text in texts) + r" \\" + "\n"

    names, rows = _cells(table)
    head = [_bracketed(name) for name in names]
    sides = "".join("r" if right else "l" for right in _numeric(table))
    body = "\\toprule\n" + line(head) + "\\midrule\n" + "".join(map(line, rows)) + "\\bottomrule\n"
    return f"\\begin{{tabular}}{{{sides}}}\n{body}\\end{{tabular}}\n"


def _bracketed(head: str) -> str:
    """Return a head with its unit in brackets, if its last word is one."""
    quantity, _, unit = head.rpartition(" ")
    return f"{quantity} [{unit}]" if quantity and unit in UNITS else head


def _html(table: pd.DataFrame) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>\n"

    head, rows = _cells(table)
    body = "".join(line(row, "td") for row in rows)
    return f'<!DOCTYPE html>\n<meta charset="utf-8">\n<table>\n{line(head, "th")}{body}</table>\n'


def _cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return head and rows as text of one line each."""
    head = [one_line(str(name)) for name in table.columns]
    return head, [[one_line(number(cell)) for cell in row] for row in table.itertuples(index=False)]


def _numeric(table: pd.DataFrame) -> list[bool]:
    """Return which columns are numbers, with or without their unit, which stand on the right."""
    _, rows = _cells(table)
    columns = zip(*rows, strict=True) if rows else repeat((), len(table.columns))
    texts = [all(map(NUMBER.fullmatch, column)) and {*column} - {"-"} for column in columns]
    return [kind.kind in "iuf" or bool(text) for kind, text in zip(table.dtypes, texts, strict=True)]


WRITERS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {".csv": csv_text, ".md": _markdown, ".tex": _latex, ".html": _html}
)
"""What writes a table, by the ending of the name."""
