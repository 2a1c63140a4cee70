"""`carbonopt simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, progress, tables
from carbonopt.cli.names import policies_named
from carbonopt.core import display
from carbonopt.core.errors import PolicyError, UnsupportedError, one_line
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.core.tablefile import write_table


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, simulate)


def simulate(
    files: console.Files,
    policies: console.Policies = None,
    mode: Annotated[
        str, typer.Option("--mode", help="paper: as its text says; artifact: as its authors' code does.")
    ] = "paper",
    lengths: console.Lengths = "mean",
    arrivals: Annotated[
        str, typer.Option("--arrivals", help="online, or known: policies that can use it know the jobs to come.")
    ] = "online",
    forecast: console.Forecast = None,
    reserved: Annotated[
        int | None, typer.Option("--reserved", min=0, help="Reserved CPUs, instead of the file's.")
    ] = None,
    past: console.Past = None,
    knowledge: console.Knowledge = None,
    seed: console.Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Schedules: a file (.json), with several a folder; or the table of policies: .csv, .md, .tex, .html.",
        ),
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Run online policies: decisions made without knowing what comes, and checked like every schedule."""
    import carbonopt as co

    table = output if output is not None and console.is_table(output) and not output.is_dir() else None
    if table is not None and len(files) > 1:
        raise UnsupportedError(f"--output {table}: is a table of one instance: give one file, or name a folder")
    console.require_target(table, files, console.TABLE)
    before = None if past is None else co.read(past)
    known = {"lengths": lengths, "arrivals": arrivals, "past": before, "knowledge": knowledge}
    settings: dict[str, Any] = {"mode": mode, "seed": seed, **known}
    names = policies or ["all"]
    console.each_file(
        files,
        lambda path: _simulate_file(path, names, settings, forecast, reserved, table or output, files, json_output),
    )


def _simulate_file(
    path: Path,
    policies: list[str],
    settings: dict[str, Any],
    forecast: str | None,
    reserved: int | None,
    output: Path | None,
    files: list[Path],
    json_output: bool,
) -> int:
    import carbonopt as co

    instance = co.read(path)
    names = policies_named(instance, policies)
    changes: dict[str, Any] = {} if reserved is None else {"reserved_cpus": reserved}
    known = console.forecast(forecast)
    is_table = output is not None and console.is_table(output) and not output.is_dir()
    solutions: list[Solution] = []
    failed = stopped = False
    for name in names:
        target = None if is_table else _target(output, files, path, name, len(names))
        meter = progress.Meter(f"{instance.name} {name}", None)
        try:
            found = co.simulate(instance, name, forecast=known, callback=meter, **settings, **changes)
        except PolicyError as error:
            if error.log is None:  # it could not be loaded
                raise
            _keep_partial(error, instance, path)
            failed = True
            continue
        except KeyboardInterrupt:  # before the policy began, or after it ended; or its file raises it itself
            if not solutions:
                raise
            stopped = True
            break
        finally:
            meter.close()
        solutions.append(found)
        if target is not None and found.has_solution:
            found.write(target)
        if found.status is Status.INTERRUPTED:
            break
    if is_table and output is not None:
        write_table(output, _frame(solutions))
    if json_output:
        for found in solutions:
            console.print_json(found.summary())
    elif solutions:
        _print(instance.name, solutions)
    if stopped or any(found.status is Status.INTERRUPTED for found in solutions):
        return INTERRUPTED
    return 1 if failed or not all(found.has_solution for found in solutions) else 0


def _keep_partial(error: PolicyError, instance: Any, path: Path) -> None:
    """Tell a policy's fault with its traceback, and write what was simulated until then."""
    console.say(f"error: {path}: {one_line(error.summary)}")
    if error.details:
        console.say(error.details.rstrip())
    if len(error.log):
        target = Path(f"{console.stem(path)}.partial.csv")
        write_table(target, error.log.to_frame(instance.jobs.name))
        console.say(f"what was simulated until then is in {target}")


def _target(output: Path | None, files: list[Path], path: Path, policy: str, policies: int) -> Path | None:
    """Return where the schedule of one policy goes: a file of its own where there are several."""
    if output is None:
        return None
    if policies > 1 and not output.exists():
        output.mkdir(parents=True)
    label = Path(policy.replace(":", "-")).name
    ending = f"{label}.solution.json" if policies > 1 or output.is_dir() else "solution.json"
    return console.output_for(output, files if policies == 1 else [path, path], path, ending, console.JSON)


def _frame(solutions: list[Solution]) -> Any:
    """Return one row a policy."""
    import pandas as pd

    rows = [
        {"policy": s.method.partition(":")[2], **s.metrics, "objective": s.objective, "wall_seconds": s.wall_seconds}
        for s in solutions
    ]
    return pd.DataFrame(rows)


def _print(name: str, solutions: list[Solution]) -> None:
    shown = console.filled(problem_of(solutions[0].problem).shown, solutions)
    if len(solutions) == 1:
        rows = [[display.head(key), display.metric(key, value)] for key, value in solutions[0].metrics.items()]
        rows.insert(0, ["objective", display.number(solutions[0].objective, 9)])
        tables.print_table(f"{name}: {solutions[0].method}", ["quantity", "value"], rows)
    else:
        columns = ["policy", *shown.values(), "objective", "seconds"]
        rows = [
            [
                s.method.partition(":")[2],
                *(display.metric(key, s.metrics.get(key)) for key in shown),
                display.number(s.objective, 7),
                f"{s.wall_seconds:.2f}",
            ]
            for s in solutions
        ]
        tables.print_table(f"{name}: online policies", columns, rows)
    for solution in solutions:
        for line in solution.info.get("violations", [])[: console.SHOWN]:
            console.say(f"{solution.method}: the checker refused the schedule: {line}")
