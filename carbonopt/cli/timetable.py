"""`carbonopt timetable`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from carbonopt.cli import console, tables
from carbonopt.cli.plot import read_pair
from carbonopt.core.display import number
from carbonopt.core.errors import one_line
from carbonopt.core.tablefile import csv_text, write_table
from carbonopt.core.time import format_utc

if TYPE_CHECKING:
    import pandas as pd

WITHOUT_JOB = "(machine on)"
"""What stands for the job in rows of `ecas` that say when a machine is on."""

MOMENTS = ("begin", "end", "deadline")
"""Columns that hold moments."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, timetable)


def timetable(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    solution_file: Annotated[
        Path, typer.Argument(metavar="SOLUTION", help="Solution file, of solve -o or simulate -o.")
    ],
    tz: Annotated[str, typer.Option("--tz", help="Time zone of begin and end, e.g. Europe/Berlin.")] = "UTC",
    output: tables.TableFile = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")] = False,
    json_output: console.Json = False,
) -> None:
    """Print when each job of a schedule begins and ends by the clock, and where it runs."""
    from carbonopt.timetable import timetable as make_table

    console.require_target(output, [instance_file, solution_file], console.TABLE)
    console.require_one_format(csv, json_output)
    instance, solution = read_pair(instance_file, solution_file)
    table = make_table(instance, solution, tz)
    frame = _with_utc(table)
    if output is not None:
        write_table(output, frame)
    if json_output:
        console.print_json({"instance": instance.name, "tz": tz, "rows": console.records(frame)})
    elif csv:
        typer.echo(csv_text(frame), nl=False)
    else:
        _print(f"{instance.name}: {solution.method}, times in {tz}", table)


def _with_utc(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with moments as ISO 8601, in the time zone and in UTC; None where there is none."""
    named = [name for name in MOMENTS if name in table]
    texts: dict[str, Any] = {}
    for suffix, text in (("", lambda moment: moment.isoformat()), ("_utc", format_utc)):
        for name in named:
            cells = [None if moment != moment else text(moment) for moment in table[name]]  # NaT is not itself
            texts[f"{name}{suffix}"] = np.array(cells, dtype=object)
    frame = table.assign(**texts)
    return frame[[*(name for name in table if name not in named), *texts]]


def _print(title: str, table: pd.DataFrame) -> None:
    named = [name for name in MOMENTS if name in table]
    moments = [moment for name in named for moment in table[name] if moment == moment]
    form = "%Y-%m-%d %H:%M:%S" if any(moment.second for moment in moments) else "%Y-%m-%d %H:%M"
    if len({moment.utcoffset() for moment in moments}) > 1:  # clocks change: the hour alone does not tell
        form += " %Z"
    shown = table.assign(job=table["job"].replace("", WITHOUT_JOB))
    for name in shown.columns:
        if name in named:
            shown[name] = table[name].dt.strftime(form).fillna("-")
        elif table[name].dtype == np.float64:
            shown[name] = [number(value) for value in table[name]]
    heads = [one_line(name.removeprefix("demand.").removeprefix("use.")) for name in shown.columns]
    tables.print_table(title, heads, shown.astype(str).to_numpy().tolist())
