"""`carbonopt plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console
from carbonopt.core.errors import UnsupportedError, one_line
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution

UNDRAWABLE = ("instance", "format", "horizon", "release", "scale")
"""Violations with which a schedule is not one of this instance, or is off the axes."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, plot)


def plot(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    solution_file: Annotated[Path, typer.Argument(metavar="SOLUTION", help="Solution file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Image file (.png, .svg, .pdf).")],
    kind: Annotated[str, typer.Option("--kind", help="load, gantt or prices.")] = "load",
    theme: Annotated[str, typer.Option("--theme", help="light or dark.")] = "light",
    size: Annotated[str, typer.Option("--size", help="column, page or slide.")] = "page",
    tz: Annotated[str, typer.Option("--tz", help="Time zone of the clock, e.g. Europe/Berlin.")] = "UTC",
    json_output: console.Json = False,
) -> None:
    """Draw a schedule: load over time, every run as a bar, or the prices that prove the bound."""
    from carbonopt.plotting.figure import save
    from carbonopt.plotting.style import style

    console.require_target(output, [instance_file, solution_file], console.FIGURE)
    instance, solution = read_pair(instance_file, solution_file)
    with style(theme=theme, size=size, tz=tz):
        save(solution.plot(instance, kind), output)
    console.print_written(output, json_output, instance=instance.name)


def read_pair(instance_file: Path, solution_file: Path) -> tuple[Instance, Solution]:
    """Return an instance and a solution of it, with a warning for each violation.

    Raises
    ------
    UnsupportedError
        If the solution has no schedule, or one that cannot be shown on the instance's clock.
    """
    import carbonopt as co

    instance = co.read(instance_file)
    solution = co.read_solution(solution_file)
    if not solution.has_solution:
        raise UnsupportedError(f"{solution_file}: holds no schedule (status {solution.status})")
    for violation in console.telling(co.check(instance, solution).violations):
        if violation.constraint in UNDRAWABLE:
            raise UnsupportedError(f"{solution_file}: {violation}")
        console.say(f"warning: {solution_file}: {one_line(str(violation))}")
    return instance, solution
