"""`carbonopt reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import console, progress, tables
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.tablefile import write_shown, write_table

if TYPE_CHECKING:
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
    seed: console.Seed = 0,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", "-t", min=0.0, help="Wall seconds of each solve, if there are any; inf: none."),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Image file (.png, .svg, .pdf).")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv, .md, .tex or .html.")
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Repeat an experiment of a paper on instances of your own: a table, a plot, and what matches the paper."""
    import carbonopt as co
    from carbonopt.papers.figure import FIGURES, TIME_LIMIT, Run, figure_of
    from carbonopt.plotting.figure import save
    from carbonopt.plotting.style import style

    if figure is None:
        _print_list(FIGURES, json_output)
        return
    found = figure_of(figure)
    console.require_target(output, files or [], console.TABLE)
    console.require_target(plot, files or [], console.FIGURE)
    if time_limit is not None and not found.solves:
        raise UnsupportedError(f"--time-limit: {figure} simulates policies, which have none")
    instances = [instance for path in files or [] for instance in _read(found, path)] or [
        co.generate(found.problem, **parameters) for parameters in found.defaults
    ]
    for instance in instances:
        if instance.problem != found.problem:
            raise UnsupportedError(f"{instance.name}: {figure} runs on {found.problem}, not on {instance.problem}")
    settings: dict[str, Any] = {"seed": seed, "mode": mode}
    limit = TIME_LIMIT if time_limit is None else time_limit
    run = Run(instances, settings, progress.saying(), None if limit == inf else limit)
    try:
        table = found.table(run)
    except KeyboardInterrupt:
        _keep_finished(run.finished, figure, output or Path(f"{figure}.csv"))
        raise
    if output is not None:
        write_shown(output, table, *display.frame_cells(table), [f"{figure}: {found.title}", found.note])
    if plot is not None:
        with style():
            save(found.draw(table), plot)
    if json_output:
        console.print_json({"figure": figure, "rows": console.records(table), "note": found.note})
        return
    console.print_frame(f"{figure}: {found.title}", table)
    print(found.note)


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
