"""`carbonopt report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, tables
from carbonopt.core.display import number, percent
from carbonopt.core.errors import UnsupportedError, one_of, shown
from carbonopt.core.files import write_bytes
from carbonopt.core.tablefile import WRITERS

FORMATS = {"md": ".md", "latex": ".tex", "csv": ".csv"}
"""Ending of the file that a table would be in, by its format."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, report)


def report(
    results: Annotated[list[Path], typer.Argument(help="Results of `bench`, of one campaign.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Page to write (.html).")] = None,
    table: Annotated[
        str | None, typer.Option("--table", help="Print the table of gaps as md, latex (booktabs) or csv.")
    ] = None,
    online: Annotated[
        list[Path] | None, typer.Option("--online", help="Table of `compare -p all --split -o FILE.csv`.")
    ] = None,
    pictures: Annotated[int, typer.Option("--pictures", min=0, help="Solutions that are drawn.")] = 12,
    title: Annotated[str, typer.Option("--title", help="Title of the page.")] = "Campaign",
    json_output: console.Json = False,
) -> None:
    """Make a page for the browser of a campaign, or print how far each method is from the best bounds."""
    from carbonopt.report.page import report_page
    from carbonopt.report.rows import read_rows, report_rows
    from carbonopt.report.tables import gap_table

    if table is not None and table not in FORMATS:
        raise UnsupportedError(f"--table {shown(table)}: must be {one_of(tuple(FORMATS))}")
    console.require_target(output, [*results, *(online or [])], (".html",))
    if output is not None:
        write_bytes(output, report_page(results, online or [], pictures, title).encode())
    if output is not None and table is None:
        console.print_written(output, json_output)
        return
    frame = gap_table(report_rows(read_rows(results)))
    if table is not None:
        print(WRITERS[FORMATS[table]](frame), end="")
    elif json_output:
        for row in console.records(frame):
            console.print_json(row)
    else:
        names = [str(name) for name in frame.columns]
        cells = [
            [_shown(name, cell) for name, cell in zip(names, row, strict=True)] for row in frame.itertuples(index=False)
        ]
        tables.print_table("gaps to the best proven bound", [name.removesuffix(" [%]") for name in names], cells)


def _shown(name: str, cell: Any) -> str:
    from carbonopt.report.tables import GAPS

    if name in GAPS:
        return percent(None if cell is None else cell / 100)
    return number(cell, 4)
