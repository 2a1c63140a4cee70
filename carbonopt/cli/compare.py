"""`carbonopt compare`."""

from __future__ import annotations

import shlex
import sys
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, excess, progress, tables
from carbonopt.cli.names import complete_policies, listed
from carbonopt.core import display
from carbonopt.core.instance import Instance
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.jsonfile import write_json
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.core.tablefile import write_shown

DIGITS = 7
METRIC_DIGITS = 6
"""Most significant digits of objectives and bounds, and of metrics."""
SECONDS = 20.0
"""Default time of one method: a comparison runs several."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, compare)


def compare(
    files: console.Files,
    methods: console.Methods = None,
    time_limit: console.TimeLimit = SECONDS,
    work_limit: console.WorkLimit = None,
    mip_rel_gap: console.RelGap = 1e-4,
    seed: console.Seed = 0,
    threads: console.Threads = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            "--policies",
            "-p",
            help="Online policies instead of methods, separated by commas or one by one; or all.",
            autocompletion=complete_policies,
        ),
    ] = None,
    split: Annotated[bool, typer.Option("--split", help="Say what the excess of each policy is due to.")] = False,
    reserved: Annotated[
        list[str] | None, typer.Option("--reserved", help="Numbers of reserved CPUs for the policies, e.g. 0,9,18.")
    ] = None,
    lengths: console.Lengths = "mean",
    forecast: console.Forecast = None,
    output: console.Output = None,
    json_output: console.Json = False,
) -> None:
    """Run several methods and measure each against the best proven bound.

    With --policies: run online policies, and measure each against the proven optimum at its own cost and wait.
    """
    options: dict[str, Any] = {
        "time_limit": time_limit,
        "work_limit": work_limit,
        "mip_rel_gap": mip_rel_gap,
        "seed": seed,
        "threads": threads,
    }
    if policies:
        simulation = {"split": split, "lengths": lengths, "forecast": console.forecast(forecast)}
        console.each_file(
            files,
            lambda path: excess.compare_policies(
                path,
                policies,
                reserved,
                options | simulation,
                console.output_for(output, files, path, "policies.csv", console.TABLE),
                json_output,
            ),
        )
    names = listed(methods) if methods else None
    console.each_file(files, lambda path: _compare_file(path, names, options, output, files, json_output))


def _compare_file(
    path: Path,
    names: list[str] | None,
    options: dict[str, Any],
    output: Path | None,
    files: list[Path],
    json_output: bool,
) -> int:
    import carbonopt as co
    from carbonopt.cli.compile import warm_up
    from carbonopt.compare import CONDITIONS, best_bound, gap_table, run

    instance = co.read(path)
    target = console.output_for(output, files, path, "compare.json", console.JSON + console.TABLE)
    meter: list[progress.Meter] = []

    def before(name: str) -> None:
        for old in meter:
            old.close()
        meter[:] = [progress.Meter(f"{instance.name} {name}", options["time_limit"], options["work_limit"])]

    def compile_first(problem: str) -> None:
        console.say(f"compiling the loops of {problem} first: the time of a method begins after it")
        warm_up(problem)

    solutions = run(instance, names, before, compile_first, callback=lambda progress: meter[0](progress), **options)
    for old in meter:
        old.close()
    for solution in solutions:
        if "message" in solution.info:
            console.say(f"warning: {path}: {solution.method}: {solution.info['message']}")
    bound = best_bound(solutions)
    content = {
        "instance": instance.name,
        "problem": instance.problem,
        "best_bound": bound,
        "rows": [s.summary() | {"gap_to_best_bound": relative_gap(s.objective, bound)} for s in solutions],
        **{name: options[name] for name in CONDITIONS},
        "version": co.__version__,
    }
    if target is not None:
        if console.is_table(target):
            notes = _notes(instance, options, target)
            write_shown(target, gap_table(solutions), *_cells(solutions, bound), notes)
        else:
            write_json(target, content)
    if json_output:
        console.print_json(content)
    else:
        _print(instance.name, solutions, bound)
    if any(s.status is Status.INTERRUPTED for s in solutions):
        return INTERRUPTED
    return 0 if any(s.has_solution or s.bound is not None for s in solutions) else 1


def _cells(solutions: list[Solution], bound: float | None) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table."""
    shown = console.filled(problem_of(solutions[0].problem).shown, solutions)
    digits = display.digits_of([value for s in solutions for value in (s.objective, s.bound)], DIGITS)
    proofs = any(s.certificate_proves_less for s in solutions)
    heads = ["certificate proves", "its gap"] if proofs else []
    columns = ["method", "status", "objective", "own bound", "gap", *heads, "seconds", *shown.values()]

    def proof(s: Solution) -> list[str]:
        return [display.figure(s.certificate_bound, digits), display.percent(s.certificate_gap)] if proofs else []

    metrics = zip(*(_metric(name, solutions) for name in shown), strict=True) if shown else repeat(())
    rows = [
        [
            s.shown_method,
            str(s.status),
            display.figure(s.objective, digits),
            display.figure(s.bound, digits),
            display.percent(relative_gap(s.objective, bound)),
            *proof(s),
            display.seconds(s.wall_seconds),
            *cells,
        ]
        for s, cells in zip(solutions, metrics, strict=False)
    ]
    return columns, rows


def _metric(name: str, solutions: list[Solution]) -> list[str]:
    """Return the cells of a metric: numbers with equally many significant digits."""
    values = [s.metrics.get(name) for s in solutions]
    if name.endswith("_share") or not all(value is None or isinstance(value, float) for value in values):
        return [display.metric(name, value) for value in values]
    digits = display.digits_of(values, METRIC_DIGITS)
    return [display.figure(value, digits) for value in values]


def _notes(instance: Instance, options: dict[str, Any], target: Path) -> list[str]:
    """Return what the reader of a LaTeX file wants to know of its numbers."""
    from carbonopt import __version__

    limits = "time limit none" if options["time_limit"] is None else f"time limit {options['time_limit']:g} s a method"
    if options["work_limit"] is not None:
        limits += f", work limit {options['work_limit']:g} a method"
    return [
        f"instance {instance.name} ({instance.problem}, {instance.sense}imise), sha256 {instance.sha256}",
        f"{limits}, relative gap asked {options['mip_rel_gap']:g}, seed {options['seed']}",
        "gap: of the objective to the best bound that any method of the table proved, relative to the objective",
        f"carbonopt {__version__}: {shlex.join(['carbonopt', *sys.argv[1:]])}",
        rf"\usepackage{{booktabs}} in the preamble, and \input{{{target.name}}} in a table",
    ]


def _print(name: str, solutions: list[Solution], bound: float | None) -> None:
    sense = solutions[0].sense
    side = "above" if sense == "min" else "below"
    if bound is None:
        proven = "no bound is proven"
    else:
        proven = f"gap {side} the best proven bound {display.number(bound, 7)}"
    tables.print_table(f"{name}: {sense}imise; {proven}", *_cells(solutions, bound))
