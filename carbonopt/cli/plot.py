"""`carbonopt plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, plot)


def plot(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    solution_file: Annotated[Path, typer.Argument(metavar="SOLUTION", help="Solution file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Image file (.png, .svg, .pdf).")],
) -> None:
    """Draw a schedule: load of each cluster over time, against its capacity and carbon intensity."""
    import carbonopt as co
    from carbonopt.plotting.figure import save

    solution = co.read_solution(solution_file)
    save(solution.plot(co.read(instance_file)), output)
    print(output)
