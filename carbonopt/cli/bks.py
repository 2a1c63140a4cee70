"""`carbonopt bks verify` and `carbonopt bks submit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console, tables
from carbonopt.core.tablefile import write_table

BksFile = Annotated[Path, typer.Argument(metavar="BKS", help="File of best-known values.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    group = typer.Typer(help="Best-known values and bounds, with the files that show them.", no_args_is_help=True)
    console.command(group, verify)
    console.command(group, submit)
    app.add_typer(group, name="bks")


def verify(bks: BksFile = Path("instances/bks.json"), output: tables.TableFile = None) -> None:
    """Recheck every schedule and every certificate, without a solver."""
    import pandas as pd

    from carbonopt.bench import bks_verify

    console.require_target(output, [bks], console.TABLE)
    rows: list[dict[str, str | int]] = []
    for name, faults in bks_verify.verify(bks):
        rows.append({"instance": name, "faults": len(faults), "first fault": faults[0] if faults else ""})
        for fault in faults:
            console.say(f"error: {name}: {fault}")
    if output is not None:
        write_table(output, pd.DataFrame(rows, columns=["instance", "faults", "first fault"]))
    wrong = sum(bool(row["faults"]) for row in rows)
    print(f"{bks}: {len(rows)} instances rechecked, {wrong} wrong")
    raise typer.Exit(1 if wrong else 0)


def submit(
    solution_files: Annotated[list[Path], typer.Argument(metavar="SOLUTIONS...", help="Solution files.")],
    bks: Annotated[Path, typer.Option("--bks", help="File of best-known values.")] = Path("instances/bks.json"),
) -> None:
    """Enter solutions that the checker proves better than the best known."""
    from carbonopt.bench.bks import read_bks, update
    from carbonopt.bench.bks_verify import instance_named
    from carbonopt.io.read import read_solution

    def work(path: Path) -> int:
        solution = read_solution(path)
        before = read_bks(bks).get(solution.instance, {})
        improved = update(bks, instance_named(bks.parent, solution.instance), solution)
        after = read_bks(bks).get(solution.instance, {})
        for field in improved:
            old = before.get(field)
            was = f"was {old['value']:.9g} by {old['method']}" if old else "none was known"
            print(f"{path}: {field} {after[field]['value']:.9g} is entered: {was}")
        for field in ("objective", "bound"):
            known = after.get(field)
            if field not in improved and known is not None:
                print(f"{path}: {field} is not better: {known['value']:.9g} by {known['method']} is known")
        return 0 if improved else 1

    console.each_file(solution_files, work)
