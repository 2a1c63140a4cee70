"""`carbonopt regret`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import console, progress, tables
from carbonopt.cli.names import policies_named
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.tablefile import write_table

if TYPE_CHECKING:
    import pandas as pd

SECONDS = 20.0
"""Default time of one optimum [s]."""
LABELS = {
    "errors": "forecast errors",
    "window": "forecast's end",
    "arrivals": "unknown arrivals",
    "lengths": "unknown lengths",
    "heuristic": "the policy itself",
    "whole": "in all",
}
"""What a policy loses to, in the table."""
HEADS = {"carbon": "carbon kg", "objective": "objective"}
"""How titles call the measures."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, regret)


def regret(
    files: console.Files,
    policies: console.Policies = None,
    forecast: console.Forecast = None,
    evaluate_under: Annotated[
        Path | None,
        typer.Option("--evaluate-under", help="Carbon file: instead, what plans for one signal emit under the other."),
    ] = None,
    lengths: console.Lengths = "mean",
    past: console.Past = None,
    knowledge: console.Knowledge = None,
    time_limit: console.TimeLimit = SECONDS,
    mip_rel_gap: console.RelGap = 1e-4,
    seed: console.Seed = 0,
    threads: console.Threads = None,
    output: console.Output = None,
    json_output: console.Json = False,
) -> None:
    """Say what policies lose: to forecast errors, the forecast's end, unknown arrivals and lengths, and by themselves.

    Each part is a difference of values that the checker computed, or that a bound proves; where the optimum is known
    between two numbers, so is the part.
    """
    import carbonopt as co

    if evaluate_under is not None and (forecast, past, knowledge) != (None, None, None):
        raise UnsupportedError(
            "--evaluate-under: policies see the signals themselves: --forecast and --past say nothing"
        )
    before = None if past is None else co.read(past)
    settings = {"mode": "paper", "lengths": lengths, "seed": seed, "past": before, "knowledge": knowledge}
    options = {"time_limit": time_limit, "mip_rel_gap": mip_rel_gap, "threads": threads}
    names = policies or ["all"]

    def work(path: Path) -> int:
        target = console.output_for(output, files, path, "regret.csv", console.TABLE)
        if evaluate_under is not None:
            return _cross(path, evaluate_under, policies or [], settings, options, target, json_output)
        return _split(path, names, settings, {**options, "seed": seed}, forecast, target, json_output)

    console.each_file(files, work)


def _split(
    path: Path,
    policies: list[str],
    settings: dict[str, Any],
    options: dict[str, Any],
    forecast: str | None,
    output: Path | None,
    json_output: bool,
) -> int:
    """Print the table of each policy as soon as it is made, and write all of them to `output` each time."""
    import carbonopt as co
    from carbonopt.regret.table import Study

    instance = co.read(path)
    say = progress.saying()
    given = [console.forecast(forecast)]
    study = Study(instance, given, settings, options, lambda what: say(f"{path}: {what}"))
    rows: list[dict[str, Any]] = []

    def one(policy: str) -> int:
        try:
            found = study.rows(policy)
        except KeyboardInterrupt:
            return INTERRUPTED
        rows.extend(found)
        if output is not None:  # after each, so that nothing that was done is lost
            write_table(output, _frame(rows))
        if not json_output:
            _print(instance.name, found)
        return 0

    worst = 0
    for name in policies_named(instance, policies):
        worst = max(worst, console.guard(partial(one, name), path))
        if worst == INTERRUPTED:
            break
    if json_output and rows:
        facts = {"instance": instance.name, "problem": instance.problem}
        console.print_json({**facts, "rows": console.records(_frame(rows))})
    return worst


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)


def _print(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print one table for each measure, and below them why parts are 0 by construction."""
    orders = list(dict.fromkeys(row["order"] for row in rows))
    cells = {(row["measure"], row["order"], row["part"]): _interval(row["least"], row["most"]) for row in rows}
    for measure, head in HEADS.items():
        table = [[label, *(cells[measure, order, part] for order in orders)] for part, label in LABELS.items()]
        tables.print_table(f"{name}: {head} that {rows[0]['policy']} loses", ["lost to", *orders], table)
    for part, label in LABELS.items():
        reason = next((row["reason"] for row in rows if row["part"] == part), "")
        if reason:
            print(f"{label}: 0, {reason}")


def _interval(least: float | None, most: float | None) -> str:
    """Return what is known of a number, in words where one side is not proven.

    Examples
    --------
    >>> _interval(1.0, 1.0), _interval(1.0, 2.5), _interval(1.0, None)
    ('1', '1 to 2.5', 'at least 1')
    """
    if least is None:
        return "not proven"
    low = display.number(least, 4)
    if most is None:
        return f"at least {low}"
    high = display.number(most, 4)
    return low if low == high else f"{low} to {high}"


def _cross(
    path: Path,
    other: Path,
    policies: list[str],
    settings: dict[str, Any],
    options: dict[str, Any],
    output: Path | None,
    json_output: bool,
) -> int:
    import carbonopt as co
    from carbonopt.io.carbon import read_carbon

    instance = co.read(path)
    grid = instance.time
    signal = read_carbon(other, start=grid.start, slots=grid.slots, slot_hours=grid.slot_hours)
    names = policies_named(instance, policies) if policies else []
    say = progress.saying()
    table = co.cross_regret(
        instance,
        signal,
        names,
        lengths=settings["lengths"],
        seed=settings["seed"],
        before=lambda what: say(f"{path}: {what}"),
        **options,
    )
    if output is not None:
        write_table(output, table)
    if json_output:
        rows = console.records(table)
        console.print_json({"instance": instance.name, "problem": instance.problem, "rows": rows})
    else:
        _print_cross(instance.name, table)
    return 0


def _print_cross(name: str, table: pd.DataFrame) -> None:
    rows = [
        [
            row["plan"],
            row["planned_for"],
            row["under"],
            display.number(row["carbon_kg"], 5),
            _interval(row["lost_least_kg"], row["lost_most_kg"]),
        ]
        for row in table.astype(object).where(table.notna(), None).to_dict("records")
    ]
    heads = ["plan", "planned for", "emits under", "carbon kg", "above the least kg"]
    tables.print_table(f"{name}: plans for its own signal and for another, under both", heads, rows)
