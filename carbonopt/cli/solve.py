"""`carbonopt solve`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, make, progress, tables
from carbonopt.core import clock, display
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.instance import Instance
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, solve)


def solve(
    files: console.Files,
    method: console.Method = "auto",
    time_limit: console.WholeTimeLimit = 60.0,
    work_limit: console.WorkLimit = None,
    mip_rel_gap: console.RelGap = 1e-4,
    seed: console.Seed = 0,
    threads: console.Threads = None,
    output: console.Output = None,
    start: Annotated[Path | None, typer.Option("--start", help="Solution file to start from.")] = None,
    params: console.Params = None,
    log_file: Annotated[Path | None, typer.Option("--log-file", help="Keep the solver's log.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the solver's log.")] = False,
    solver_option: Annotated[
        list[str] | None, typer.Option("--solver-option", help="Option of HiGHS, e.g. presolve=off; may be repeated.")
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Solve instances and report objective, proven bound and gap."""
    options: dict[str, Any] = {
        "time_limit": time_limit,
        "work_limit": work_limit,
        "mip_rel_gap": mip_rel_gap,
        "seed": seed,
        "threads": threads,
        "log_file": log_file,
        "verbose": verbose,
        "params": params,
        "solver_options": _solver_options(solver_option or []),
    }

    console.require_target(log_file, [*files, start, params, output], ())
    if verbose and json_output:
        raise UnsupportedError("--verbose and --json both print to stdout: keep the log with --log-file instead")

    begun = clock.began()

    def work(path: Path) -> int:
        nonlocal begun
        try:
            return _solve_file(path, method, options, output, files, start, json_output, begun)
        finally:
            begun = time.perf_counter()

    console.each_file(files, work)


def _solver_options(given: list[str]) -> dict[str, object]:
    """Return ``name=value`` as HiGHS takes it: numbers, true and false, and words."""
    found: dict[str, object] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise UnsupportedError(f"--solver-option {shown(text)}: must be name=value, e.g. presolve=off")
        if name in found:
            raise UnsupportedError(f"--solver-option: {shown(name)} is given twice")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _solve_file(
    path: Path,
    method: str,
    options: dict[str, Any],
    output: Path | None,
    files: list[Path],
    start: Path | None,
    json_output: bool,
    begun: float,
) -> int:
    import carbonopt as co

    instance = co.read(path)
    target = console.output_for(output, files, path, "solution.json", console.JSON)
    if target is not None:
        console.require_new(target, [start, options["params"]])
    if start is not None:
        options = options | {"initial_solution": co.read_solution(start)}
    meter = progress.Meter(f"{instance.name} {method}", options["time_limit"], options["work_limit"])
    save = None if target is None else lambda interim: interim.write(target)
    with clock.counting_from(begun):
        solution = co.solve(instance, method, **options, callback=meter, checkpoint=save)
    meter.close()
    kept = solution.status is Status.INTERRUPTED and solution.has_solution
    if target is None and kept:
        target = Path(f"{console.stem(path)}.interrupted.json")
    if target is not None:
        solution.write(target)
    if kept:
        console.say(f"interrupted: the incumbent is in {target}")
    if json_output:
        console.print_json(solution.summary())
    else:
        _print(instance, solution)
    return _code(solution)


def _code(solution: Solution) -> int:
    if solution.status is Status.INTERRUPTED:
        return INTERRUPTED
    method = problem_of(solution.problem).method(solution.method)
    bound_only = method.bound_only and solution.bound is not None
    return 0 if solution.has_solution or bound_only else 1


def _print(instance: Instance, solution: Solution) -> None:
    rows = [
        ["status", str(solution.status)],
        [f"objective ({solution.sense})", display.number(solution.objective, 9)],
        ["proven bound", display.number(solution.bound, 9)],
        ["gap", display.percent(solution.gap)],
        *solution.certificate_rows(),
        ["wall seconds", display.seconds(solution.wall_seconds)],
        ["work units", display.number(solution.work)],
        *display.metric_rows(solution.shown_metrics),
    ]
    tables.print_table(f"{solution.instance}: {solution.shown_method}", ["quantity", "value"], rows)
    for line in solution.info.get("violations", [])[:5]:
        console.say(f"the checker refused the schedule: {line}")
    if solution.status is Status.ERROR and solution.has_solution:
        console.say(f"the solver failed ({_why_failed(solution)}); the schedule is sound")
    if solution.status is Status.TIME_LIMIT and not solution.has_solution:
        quick = problem_of(solution.problem).quick
        console.say(f"no schedule within the time limit: raise --time-limit, or try --method {quick}")
    if solution.status is Status.INFEASIBLE:
        by = solution.info.get("infeasible_by")
        proof = "its certificate proves it" if by is None else f"the word of {by}"
        console.say(f"no schedule exists ({proof}){_told(make.stuck(instance), '; `carbonopt diagnose` says why')}")
    elif not solution.has_solution and solution.status is Status.INTERRUPTED:
        console.say("no schedule was found before the interruption")
    elif not solution.has_solution and solution.status is Status.UNKNOWN:
        otherwise = ", which proves nothing; `carbonopt diagnose` looks for a reason"
        console.say(f"no schedule was found{_told(make.stuck(instance), otherwise)}")


def _told(why: str, otherwise: str) -> str:
    """Return a reason that inspection found at once, or else what is said without one."""
    return f": {why}; `carbonopt diagnose` says all" if why else otherwise


def _why_failed(solution: Solution) -> str:
    """Return what a solver says of itself, or that the schedule contradicts its bound."""
    if "refuted_bound" in solution.info:
        return f"its bound of {solution.info['refuted_bound']:.9g} is beyond the schedule's objective, and left out"
    return str(solution.info.get("highs_status", "no reason given"))
