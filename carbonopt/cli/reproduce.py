"""`carbonopt reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import campaigns, console, figures, progress, tables
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.tablefile import write_shown, write_table

if TYPE_CHECKING:
    import pandas as pd

    from carbonopt.papers.campaign import TableRun
    from carbonopt.papers.figure import Figure


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, reproduce)


def reproduce(
    figure: Annotated[str | None, typer.Argument(help="E.g. gaia-8; without one, all figures are listed.")] = None,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Instance files or folders; without one, what it generates.", readable=False),
    ] = None,
    mode: Annotated[str, typer.Option("--mode", help="paper, or artifact: as the authors' code does.")] = "paper",
    seeds: console.Seeds = "0",
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", "-t", min=0.0, help="Wall seconds of each solve, if there are any; inf: none."),
    ] = None,
    workers: console.Workers = 1,
    cluster: console.Cluster = None,
    array_task: console.ArrayTask = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="One JSON line a finished table, to go on from. [default: FIGURE.jsonl]"),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Image file (.png, .svg, .pdf).")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv, .md, .tex or .html.")
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Repeat an experiment of a paper on instances of your own: a table, a plot, and what matches the paper."""
    from carbonopt.papers.campaign import table_runs
    from carbonopt.papers.figure import FIGURES, TIME_LIMIT, figure_of

    if figure is None:
        _print_list(FIGURES, json_output)
        return
    found = figure_of(figure)
    console.require_target(output, [*(files or []), results], console.TABLE)
    console.require_target(plot, [*(files or []), results], console.FIGURE)
    if time_limit is not None and not found.solves:
        raise UnsupportedError(f"--time-limit: {figure} simulates policies, which have none")
    instances = [instance for path in files or [] for instance in _read(found, path)]
    runs = table_runs(figure, instances, campaigns.numbers(seeds))
    limit = TIME_LIMIT if time_limit is None else time_limit
    settings: dict[str, Any] = {"mode": mode, "time_limit": None if limit == inf or not found.solves else limit}
    if len(runs) == 1 and workers == 1 and cluster is None and array_task is None and results is None:
        made = figures.Made(_one(runs[0], settings, output))
    else:
        if plot is not None and len({run.group for run in runs}) > 1:
            raise UnsupportedError(f"--plot: {figure} draws one table: give the instances of one")
        where = figures.Where(results or Path(f"{figure}.jsonl"), workers, cluster, array_task)
        made = figures.campaign(runs, settings, where, [*(files or []), output, plot])
    _write(found, f"{figure}: {found.title}", made, output, plot)
    if json_output:
        console.print_json({"figure": figure, "rows": console.records(made.whole), "note": found.note})
    else:
        mean = made.seeds > 1 and made.mean is not None
        told = f", mean of {made.seeds} seeds" if mean else ""
        console.print_frame(f"{figure}: {found.title}{told}", made.mean if mean else made.whole)
        print(found.note)
    raise typer.Exit(made.code)


def _write(figure: Figure, title: str, made: figures.Made, output: Path | None, plot: Path | None) -> None:
    """Write the table and draw it; of several seeds, all rows are written, and their mean is drawn."""
    from carbonopt.plotting.figure import save
    from carbonopt.plotting.style import style

    if output is not None:
        write_shown(output, made.whole, *display.frame_cells(made.whole), [title, figure.note])
    table = made.whole if made.seeds == 1 else made.mean
    if plot is not None and (table is None or table.empty):
        console.say(f"{plot} is not drawn: the tables of the seeds have unlike rows")
    elif plot is not None:
        with style():
            save(figure.draw(table), plot)


def _one(run: TableRun, settings: dict[str, Any], output: Path | None) -> pd.DataFrame:
    """Make one table here; if it is stopped, keep what has ended."""
    from carbonopt.papers.figure import Run, figure_of

    told = Run(run.instances, {"seed": run.seed, "mode": settings["mode"]}, progress.saying(), settings["time_limit"])
    try:
        return figure_of(run.figure).table(told)
    except KeyboardInterrupt:
        _keep_finished(told.finished, run.figure, output or Path(f"{run.figure}.csv"))
        raise


def _read(figure: Figure, path: Path) -> Sequence[Instance]:
    """Return the instances in a file; in a folder, those that the figure knows to read."""
    import carbonopt as co

    if figure.read is not None and path.is_dir():
        return figure.read(path)
    return [co.read(path)]


def _keep_finished(rows: list[dict[str, Any]], figure: str, output: Path) -> None:
    """Print and write what had ended before the run was stopped, one row each, beside where the table would be."""
    import pandas as pd

    if rows:
        console.print_frame(f"{figure}: what had ended", pd.DataFrame(rows))
        path = output.with_name(f"{output.name.removesuffix('.gz').removesuffix('.csv')}.partial.csv")
        write_table(path, pd.DataFrame(rows))
        console.say(f"{len(rows)} simulations had ended: their totals are in {path}")


def _print_list(figures: dict[str, str], json_output: bool) -> None:
    from carbonopt.papers.figure import figure_of

    titles = {name: figure_of(name).title for name in figures}
    if json_output:
        console.print_json(titles)
        return
    tables.print_table("figures", ["figure", "what it shows"], [[name, title] for name, title in titles.items()])
