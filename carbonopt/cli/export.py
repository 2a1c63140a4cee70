"""`carbonopt export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console
from carbonopt.core.errors import Fault, InputError, UnsupportedError
from carbonopt.core.files import write_bytes
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, export)


def export(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File ending in .lp or .mps; with --solution, in .txt.")
    ],
    form: Annotated[str, typer.Option("--form", help="milp, or lp for the relaxation.")] = "milp",
    solution_file: Annotated[
        Path | None,
        typer.Option("--solution", help="Write this solution instead, in the format of the problem's challenge."),
    ] = None,
    json_output: console.Json = False,
) -> None:
    """Write the mathematical program of an instance as an LP or MPS file for any solver."""
    import carbonopt as co

    endings = (".lp", ".mps") if solution_file is None else (".txt",)
    if output.suffix not in endings:
        raise UnsupportedError(f"{output}: the name must end in {' or '.join(endings)}")
    console.require_target(output, [instance_file, solution_file], ())
    instance = co.read(instance_file)
    if solution_file is not None:
        _write_solution(instance, solution_file, output, json_output)
        return
    program = co.formulate(instance, form)
    (program.to_lp if output.suffix == ".lp" else program.to_mps)(output)
    size = {"columns": program.columns, "rows": program.rows, "entries": program.nonzeros}
    note = ", ".join(f"{count} {name}" for name, count in size.items())
    console.print_written(output, json_output, note, instance=program.name, **size)


def _write_solution(instance: Instance, path: Path, output: Path, json_output: bool) -> None:
    """Write a solution that the checker passes; any other is refused with what is wrong."""
    import carbonopt as co

    write = problem_of(instance.problem).role("write_schedule")
    solution = co.read_solution(path)
    faults = [Fault("", str(violation), file=str(path)) for violation in co.check(instance, solution).violations]
    if not solution.has_solution:
        faults.append(Fault("schedule", "holds none", file=str(path)))
    if faults:
        raise InputError(faults)
    write_bytes(output, write(instance, solution.columns).encode())
    console.print_written(output, json_output, "", instance=instance.name, objective=solution.objective)
