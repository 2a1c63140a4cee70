"""`carbonopt bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import campaigns, console, progress
from carbonopt.cli.names import listed
from carbonopt.core.files import locked
from carbonopt.core.interrupt import INTERRUPTED

if TYPE_CHECKING:
    from carbonopt.bench.runs import Answer, Run


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, bench)


def bench(
    files: console.Files,
    methods: console.Methods = None,
    time_limit: console.TimeLimit = 20.0,
    work_limit: console.WorkLimit = None,
    seeds: console.Seeds = "0",
    threads: console.Threads = 1,
    workers: console.Workers = 1,
    memory_limit: Annotated[
        float | None,
        typer.Option(
            "--memory-limit", min=1.0, help="Most memory of a run's process [MiB].", callback=console.unlimited
        ),
    ] = None,
    kill_after: Annotated[
        float | None,
        typer.Option(
            "--kill-after", min=0.0, help="Wall seconds of a run's process; inf for none. [default: 2 t + 30]"
        ),
    ] = None,
    cluster: console.Cluster = None,
    array_task: console.ArrayTask = None,
    results: Annotated[Path, typer.Option("--results", "-o", help="One JSON line a finished run.")] = Path(
        "results.jsonl"
    ),
    solutions: Annotated[Path | None, typer.Option("--solutions", help="Folder for the solution of each run.")] = None,
    bks: Annotated[Path | None, typer.Option("--bks", help="Best-known values to improve.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Performance profile as an image file (.png, .svg, .pdf).")
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Run a campaign and print its gaps; one that was stopped goes on where it was."""
    from carbonopt.bench.bks import read_bks
    from carbonopt.bench.campaign import missing, run_campaign
    from carbonopt.bench.gaps import with_best_bounds
    from carbonopt.bench.results import key_of

    names = listed(methods) if methods else None
    numbers = campaigns.numbers(seeds)
    part = campaigns.part(array_task)
    if part is not None:
        results = campaigns.part_file(results, *part)
    results.parent.mkdir(parents=True, exist_ok=True)
    campaigns.require_file(results)
    console.require_target(results, [*files, bks], ())
    console.require_target(bks, files, console.JSON)
    console.require_target(plot, [*files, results], console.FIGURE)
    if solutions is not None:
        solutions.mkdir(parents=True, exist_ok=True)
    if bks is not None:
        read_bks(bks)
    runs, worst = campaigns.runs(files, names, numbers)
    if not runs:
        raise typer.Exit(worst)
    if part is not None:
        runs = runs[part[0] - 1 :: part[1]]
    options: dict[str, Any] = {
        "time_limit": time_limit,
        "work_limit": work_limit,
        "threads": threads,
        "memory_mib": memory_limit,
    }
    options["kill_seconds"] = campaigns.kill_seconds(time_limit, kill_after)
    execute = campaigns.execute(workers, cluster)
    with locked(results, wait=False):
        left, old = missing(runs, results, options)
        with progress.counted("bench", len(left)) as step:

            def enter(run: Run, answer: Answer) -> None:
                nonlocal worst
                worst = max(worst, campaigns.enter(run, answer, bks, solutions, results))

            rows = {}
            try:
                for row in run_campaign(runs, results, enter if bks or solutions else None, execute, **options):
                    rows[key_of(row)] = row
                    if len(rows) > len(old):
                        worst = max(worst, campaigns.told(row))
                        step()
            except KeyboardInterrupt:
                # the last one may be on disk and not told yet
                rows = {key_of(row): row for row in missing(runs, results, options)[1]}
                if not rows:
                    raise
                console.say(f"interrupted: {len(rows)} of {len(runs)} runs are in {results}; the same command goes on")
                worst = INTERRUPTED
    table = with_best_bounds([rows[run.key] for run in runs if run.key in rows])
    if plot is not None and table["gap_to_best_bound"].notna().any():
        from carbonopt.plotting.figure import save
        from carbonopt.plotting.profile import plot_profile

        save(plot_profile(table), plot)
    campaigns.show(table, json_output)
    raise typer.Exit(worst)
