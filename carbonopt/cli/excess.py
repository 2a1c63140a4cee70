"""The policies' side of `carbonopt compare`: each against the certified optimum at its own cost and wait."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carbonopt.cli import console, progress, tables
from carbonopt.cli.names import listed, policies_named
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interrupt import is_asked
from carbonopt.core.solution import shown_method
from carbonopt.core.tablefile import write_shown

if TYPE_CHECKING:
    import pandas as pd

HEADS = {
    "policy": "policy",
    "reserved_cpus": "reserved",
    "carbon_kg": "carbon kg",
    "cost_usd": "cost $",
    "mean_wait_hours": "mean wait h",
    "least_carbon_kg": "least carbon kg",
    "excess_carbon_kg": "excess carbon",
    "least_cost_usd": "least cost $",
    "excess_cost_usd": "excess cost",
    "excess_over_loosest": "over loosest",
    "startup_hours": "start-up h",
    "due_to_forecast_errors": "forecast errors",
    "due_to_forecast_window": "window",
    "due_to_lengths": "lengths",
    "due_to_heuristic": "heuristic",
    "due_to_splitting": "no splitting",
    "due_to_preemption": "no preemption",
}
PARTS = ("due_to", "excess_over")
"""How the names of columns begin that split the excess; they have a table of their own."""
HIDDEN = ("model", "reached_", "without_loops")
"""How the names of columns begin that --json and --output alone hold."""
PROVEN = ("least_", "excess_", "due_to_")
"""How the names of columns begin that are shown even where no row has anything: nothing was proven."""
SHARES = ("saving", "excess", "due_to")
"""How the names of columns begin that are shares."""
STARTED = (
    "policies with a start-up time emit and pay while instances start; the proven least counts no such time, so it is"
    " part of their excess"
)


def compare_policies(
    path: Path,
    policies: list[str],
    reserved: list[str] | None,
    options: dict[str, Any],
    output: Path | None,
    json_output: bool,
) -> int:
    """Print one table for each number of reserved CPUs, and write all of them to `output`."""
    import pandas as pd

    import carbonopt as co
    from carbonopt.excess import excess_table

    instance = co.read(path)
    names = policies_named(instance, policies)
    if reserved:
        cases = [_with_reserved(instance, number) for number in listed(reserved)]
    else:
        cases = [instance]
    say = progress.saying()
    found: list[pd.DataFrame] = []
    for case in cases:
        table = excess_table(case, names, before=lambda what: say(f"{path}: {what}"), **options)
        if hasattr(case, "reserved_cpus"):
            table.insert(1, "reserved_cpus", case.reserved_cpus)
        found.append(table)
        if output is not None:  # after each, so that nothing that was done is lost
            whole = pd.concat(found, ignore_index=True)
            write_shown(output, whole, *_cells(whole, [*map(str, whole)]))
        if not json_output:
            _print(case.name, table)
        if "startup_hours" in table:
            console.say(f"{path}: {STARTED}")
        if is_asked():
            break
    if json_output:
        rows = console.records(pd.concat(found, ignore_index=True))
        console.print_json({"instance": instance.name, "problem": instance.problem, "rows": rows})
    return 0


def _with_reserved(instance: Any, reserved_cpus: str) -> Any:
    """Return the instance with other reserved CPUs."""
    if not hasattr(instance, "reserved_cpus"):
        raise UnsupportedError(f"--reserved: problem {instance.problem!r} has no reserved CPUs")
    try:
        return replace(instance, reserved_cpus=int(reserved_cpus))
    except ValueError:
        raise UnsupportedError(f"--reserved {reserved_cpus!r}: must be whole numbers separated by commas") from None


def _print(name: str, table: pd.DataFrame) -> None:
    title = f"{name}: policies against the proven least at their own cost and wait"
    parts = [column for column in map(str, table) if column.startswith(PARTS)]
    tables.print_table(title, *_cells(table, [column for column in map(str, table) if column not in parts]))
    if parts:
        tables.print_table("what the excess carbon is due to", *_cells(table, ["policy", *parts]))


def _cells(table: pd.DataFrame, columns: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of some columns, without those that hold nothing."""
    shown = (column for column in columns if not column.startswith(HIDDEN))
    heads = {name: _head(name) for name in shown if name.startswith(PROVEN) or table[name].notna().any()}
    told = table.assign(policy=list(map(shown_method, table["policy"], table["without_loops"])))
    rows = [[_cell(column, row[column]) for column in heads] for row in told.to_dict("records")]
    return list(heads.values()), rows


def _head(column: str) -> str:
    """Return the head of a column; that of savings names what they are over."""
    if column.startswith("saving_vs_"):
        return f"saves over {column.removeprefix('saving_vs_').replace('_', '-')}"
    return HEADS.get(column, column.replace("_", " "))


def _cell(column: str, value: Any) -> str:
    if not column.startswith(SHARES):
        return display.number(value, 5)
    return display.percent(value)
