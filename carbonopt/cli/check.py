"""`carbonopt check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, check)


def check(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    solution_files: Annotated[list[Path], typer.Argument(metavar="SOLUTIONS...", help="Solution files.")],
    json_output: console.Json = False,
) -> None:
    """Check solutions without a solver: every constraint, the objective, the metrics and the bound."""
    import carbonopt as co

    instance = co.read(instance_file)

    def work(path: Path) -> int:
        solution = co.read_solution(path)
        report = co.check(instance, solution)
        if json_output:
            console.print_json(
                {
                    "file": str(path),
                    "instance": instance.name,
                    "problem": instance.problem,
                    "has_solution": solution.has_solution,
                    "feasible": report.feasible and solution.has_solution,
                    "objective": report.objective,
                    "bound": solution.bound,
                    "metrics": report.metrics,
                    "violations": [vars(violation) for violation in report.violations],
                }
            )
        elif not solution.has_solution:
            print(f"{path}: holds no schedule (status {solution.status})")
        elif report.feasible:
            print(f"{path}: feasible, objective {report.objective:.9g}")
        else:
            print(f"{path}: {len(report.violations)} violations")
            for violation in report.violations:
                print(f"  {violation}")
        return 0 if report.feasible and (solution.has_solution or solution.bound is not None) else 1

    console.each_file(solution_files, work)
