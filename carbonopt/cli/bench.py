"""`carbonopt bench`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, progress, tables
from carbonopt.cli.names import listed
from carbonopt.core import display
from carbonopt.core.errors import CarbonoptError, InputError
from carbonopt.core.files import locked
from carbonopt.core.instance import Instance
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.solution import Solution


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, bench)


def bench(
    files: console.Files,
    methods: console.Methods = None,
    time_limit: console.TimeLimit = 20.0,
    seed: console.Seed = 0,
    threads: console.Threads = 1,
    results: Annotated[Path, typer.Option("--results", "-o", help="One JSON line a finished run.")] = Path(
        "results.jsonl"
    ),
    bks: Annotated[Path | None, typer.Option("--bks", help="Best-known values to improve.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Performance profile as an image file (.png, .svg, .pdf).")
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Run a campaign and print its gaps; one that was stopped goes on where it was."""
    from carbonopt.bench.bks import read_bks
    from carbonopt.bench.campaign import count_runs, run_campaign
    from carbonopt.bench.gaps import by_method, with_best_bounds

    names = listed(methods) if methods else None
    results.parent.mkdir(parents=True, exist_ok=True)
    console.require_target(results, [*files, bks], ())
    console.require_target(bks, files, console.JSON)
    console.require_target(plot, [*files, results], console.FIGURE)
    if bks is not None:
        read_bks(bks)
    sound, worst = _readable(files)
    if not sound:
        raise typer.Exit(worst)
    options: dict[str, Any] = {"time_limit": time_limit, "seed": seed, "threads": threads}
    with locked(results, wait=False):
        total, new = count_runs(sound, names, results, **options)
        with progress.counted("bench", new) as step:

            def enter(instance: Instance, solution: Solution) -> None:
                nonlocal worst
                if bks is not None:
                    worst = max(worst, _enter(bks, instance, solution))
                step()

            records = list(run_campaign(sound, names, results, enter, **options))
    table = with_best_bounds(records)
    if plot is not None and table["gap_to_best_bound"].notna().any():
        from carbonopt.plotting.figure import save
        from carbonopt.plotting.profile import plot_profile

        save(plot_profile(table), plot)
    if json_output:
        for row in table.to_dict(orient="records"):
            console.print_json({str(key): None if value != value else value for key, value in row.items()})
    else:
        progress_columns = ["root_gap", "primal_integral", "seconds_to_1_percent", "seconds_to_0.1_percent"]
        closing = table[["instance", "method", *progress_columns]]
        runs = table.drop(columns=progress_columns)
        for title, frame in (("runs", runs), ("how gaps closed", closing), ("by method", by_method(table))):
            columns = [column.replace("_", " ") for column in frame.columns]
            rows = [
                [display.percent(value) if "gap" in str(key) else display.number(value) for key, value in row.items()]
                for row in frame.to_dict(orient="records")
            ]
            tables.print_table(title, columns, rows)
    raise typer.Exit(worst if len(records) == total else INTERRUPTED)


def _enter(bks: Path, instance: Instance, solution: Solution) -> int:
    """Enter a solution among the best-known values; one that is refused is told, and the campaign goes on."""
    from carbonopt.bench.bks import update

    try:
        improved = update(bks, instance, solution)
    except InputError:  # the file cannot be written: no run is recorded whose solution would be lost
        raise
    except CarbonoptError as error:
        console.say(f"error: {error}")
        return 1
    if "message" in solution.info:
        console.say(f"warning: {instance.name}: {solution.method}: {solution.info['message']}")
    if improved:
        console.say(f"{instance.name}: {solution.method} improves {' and '.join(improved)}")
    return 0


def _readable(files: list[Path]) -> tuple[list[Path], int]:
    """Return the files that are instances, and the exit code for those that are not."""
    from carbonopt.io.read import read

    def work(path: Path) -> int:
        read(path)
        return 0

    codes = {path: console.guard(partial(work, path), path) for path in files}
    return [path for path, code in codes.items() if code == 0], max(codes.values())
