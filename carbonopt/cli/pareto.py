"""`carbonopt pareto`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, progress, tables
from carbonopt.cli.names import listed
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.solution import shown_method
from carbonopt.core.status import Status
from carbonopt.core.tablefile import write_shown

SECONDS = 10.0
"""Default time of one point: a front has many."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, pareto)


def pareto(
    files: console.Files,
    quantities: Annotated[
        list[str] | None, typer.Option("--quantities", help="Metrics: the one to minimise, then those to limit.")
    ] = None,
    levels: Annotated[int, typer.Option("--levels", min=2, help="Limits on each.")] = 5,
    method: console.Method = "auto",
    time_limit: console.TimeLimit = SECONDS,
    work_limit: console.WorkLimit = None,
    mip_rel_gap: console.RelGap = 1e-3,
    seed: console.Seed = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Image file (.png, .svg, .pdf).")] = None,
    output: console.Output = None,
    json_output: console.Json = False,
) -> None:
    """Minimise one quantity under limits on the others: a front of schedules, each with a proven bound."""
    options: dict[str, Any] = {
        "method": method,
        "time_limit": time_limit,
        "work_limit": work_limit,
        "mip_rel_gap": mip_rel_gap,
        "seed": seed,
    }
    if plot is not None and len(files) > 1:
        raise UnsupportedError("--plot draws one front: give one file")
    names = tuple(listed(quantities)) if quantities else None
    console.each_file(
        files, lambda path: _front_of_file(path, names, levels, options, plot, output, files, json_output)
    )


def _front_of_file(
    path: Path,
    quantities: tuple[str, ...] | None,
    levels: int,
    options: dict[str, Any],
    plot: Path | None,
    output: Path | None,
    files: list[Path],
    json_output: bool,
) -> int:
    import carbonopt as co
    from carbonopt.pareto import pareto as front_of

    instance = co.read(path)
    target = console.output_for(output, files, path, "pareto.csv", console.TABLE)
    console.require_target(plot, files, console.FIGURE)
    meter: list[progress.Meter] = []

    def before(what: str) -> None:
        for old in meter:
            old.close()
        meter[:] = [progress.Meter(f"{instance.name} {what}", options["time_limit"], options["work_limit"])]

    front = front_of(
        instance, quantities, levels=levels, before=before, callback=lambda progress: meter[0](progress), **options
    )
    for old in meter:
        old.close()
    if target is not None:
        write_shown(target, front.table, *_cells(front), [_title(instance.name, front)])
    if plot is not None and len(front.table):
        from carbonopt.plotting.figure import save
        from carbonopt.plotting.front import plot_front

        save(plot_front(front), plot)
    if json_output:
        rows = [s.summary() for s in front.solutions]
        console.print_json({"instance": instance.name, "quantities": list(front.quantities), "rows": rows})
    else:
        tables.print_table(_title(instance.name, front), *_cells(front))
    if any(s.status is Status.INTERRUPTED for s in front.solutions):
        return INTERRUPTED
    return 0 if len(front.table) else 1


def _title(name: str, front: Any) -> str:
    return f"{name}: least {display.head(front.quantities[0])} under limits"


def _cells(front: Any) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table; methods are named where one did without its compiled loops."""
    first, *others = front.quantities
    bound = "proven bound" if front.bounded == first else f"proven bound, {display.head(front.bounded)}"
    heads = [*(f"limit {display.head(other)}" for other in others), display.head(first), bound, "gap"]
    heads += [*map(display.head, others), "dominated"]
    methods = ["method"] if any(solution.without_loops for solution in front.solutions) else []
    rows = [
        [
            *(display.number(row.get(f"limit_{other}")) for other in others),
            display.number(row[first]),
            display.number(row["bound"]),
            display.percent(row["gap"]),
            *(display.number(row[other]) for other in others),
            "yes" if row["dominated"] else "",
            *(shown_method(row[method], row["without_loops"]) for method in methods),
        ]
        for row in front.table.to_dict("records")
    ]
    return [*heads, *methods], rows
