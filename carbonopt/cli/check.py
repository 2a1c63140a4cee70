"""`carbonopt check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console
from carbonopt.core import display
from carbonopt.core.errors import one_line
from carbonopt.core.report import Report
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, check)


def check(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    solution_files: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOLUTIONS...",
            help="Solution files, schedules as CSV, or (.txt) in the challenge's format.",
            readable=False,
        ),
    ],
    json_output: console.Json = False,
) -> None:
    """Check solutions without a solver: every constraint, the objective, the metrics and the bound."""
    import carbonopt as co
    from carbonopt.io.schedule import is_bare, solution_of

    instance = co.read(instance_file)

    def work(path: Path) -> int:
        solution = solution_of(instance, path) if is_bare(instance, path) else co.read_solution(path)
        report = co.check(instance, solution)
        if json_output:
            console.print_json({"file": str(path), "instance": instance.name, **_summary(solution, report)})
        else:
            _print(path, solution, report)
        proof = report.proven_bound is not None or report.proven_infeasible
        return 0 if report.feasible and (solution.has_solution or proof) else 1

    console.each_file(solution_files, work)


def _summary(solution: Solution, report: Report) -> dict[str, Any]:
    return {
        "problem": solution.problem,
        "has_solution": solution.has_solution,
        "feasible": report.feasible and solution.has_solution,
        "objective": report.objective,
        "bound": solution.bound,
        "proven_bound": report.proven_bound,
        "proven_infeasible": report.proven_infeasible,
        "assumes": list(report.assumes),
        "metrics": report.metrics,
        "violations": [vars(violation) for violation in report.violations],
    }


def _print(path: Path, solution: Solution, report: Report) -> None:
    count = len(report.violations)
    others = [violation.message for violation in report.violations if violation.constraint == "instance"]
    if others:
        print(one_line(f"{path}: {others[0]}: check it with the file of its own instance"))
        if count > 1:
            print(f"  against this one: {display.counted(count - 1, 'other violation')} (--json lists all)")
        return
    if count:
        print(f"{path}: {count} violation{'s' if count > 1 else ''}")
        shown = report.violations[: console.SHOWN]
        for violation in shown:
            print(f"  {one_line(str(violation))}")
        if count > len(shown):
            print(f"  and {count - len(shown)} more (--json lists all)")
        return
    value = f"feasible, objective {display.number(report.objective, 9)}"
    text = f"{path}: {value if solution.has_solution else 'holds no schedule'} (status {solution.status})"
    if report.proven_infeasible:
        text += ": none exists (recomputed from its certificate)"
    elif solution.status is Status.INFEASIBLE:
        text += ": that none exists is claimed without certificate"
    if solution.bound is not None:
        proof = _proof(solution, report)
        proof += "".join(f", given the file's {name}" for name in report.assumes)
        text += f", bound {display.number(solution.bound, 9)} ({proof})"
    print(text)


def _proof(solution: Solution, report: Report) -> str:
    """Return what is known of a solution's bound."""
    from carbonopt.check import is_of_a_tree

    if report.proven_bound is None:
        return "claimed, without certificate"
    if is_of_a_tree(solution):
        return f"claimed from a search tree; {display.number(report.proven_bound, 9)} recomputed from its certificate"
    return "recomputed from its certificate"
