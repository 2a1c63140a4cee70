"""`carbonopt export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console
from carbonopt.core.errors import UnsupportedError


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, export)


def export(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="Instance file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File ending in .lp or .mps.")],
    form: Annotated[str, typer.Option("--form", help="milp, or lp for the relaxation.")] = "milp",
    json_output: console.Json = False,
) -> None:
    """Write the mathematical program of an instance as an LP or MPS file for any solver."""
    import carbonopt as co

    if output.suffix not in (".lp", ".mps"):
        raise UnsupportedError(f"{output}: the name must end in .lp or .mps")
    console.require_target(output, [instance_file], ())
    program = co.formulate(co.read(instance_file), form)
    (program.to_lp if output.suffix == ".lp" else program.to_mps)(output)
    size = {"columns": program.columns, "rows": program.rows, "entries": program.nonzeros}
    note = ", ".join(f"{count} {name}" for name, count in size.items())
    console.print_written(output, json_output, note, instance=program.name, **size)
