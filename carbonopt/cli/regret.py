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
from carbonopt.core.solution import shown_method
from carbonopt.core.tablefile import write_shown

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
"""What tables call the measures."""


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
    from carbonopt.simulate import forecasts_of

    instance = co.read(path)
    say = progress.saying()
    given = console.forecast(forecast)
    if given is not None and given.file is not None:  # read once: what is wrong with it is told once
        given = forecasts_of(instance, given, seed=0)
    study = Study(instance, [given], settings, options, lambda what: say(f"{path}: {what}"))
    rows: list[dict[str, Any]] = []

    def one(policy: str) -> int:
        try:
            found = study.rows(policy)
        except KeyboardInterrupt:
            return INTERRUPTED
        rows.extend(found)
        if output is not None:  # after each, so that nothing that was done is lost
            notes = [f"{instance.name}: what policies lose", *map(": ".join, _reasons(rows))]
            write_shown(output, _frame(rows), *_cells(rows), notes)
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
    """Print one table for each measure of a policy, and below them why parts are 0 by construction."""
    heads, cells = _cells(rows)
    for head in HEADS.values():
        own = [row for row in cells if row[1] == head]
        tables.print_table(f"{name}: {head} that {own[0][0]} loses", heads[2:], [row[2:] for row in own])
    for _, line in _reasons(rows):
        print(line)


def _cells(rows: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the tables of all policies and measures, one below the other."""
    orders = list(dict.fromkeys(row["order"] for row in rows))
    lost: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        policy = shown_method(row["policy"], row["without_loops"])
        place = (policy, HEADS[row["measure"]], LABELS[row["part"]])
        lost.setdefault(place, {})[row["order"]] = _interval(row["least"], row["most"])
    cells = [[*place, *(known[order] for order in orders)] for place, known in lost.items()]
    return ["policy", "measure", "lost to", *orders], cells


def _reasons(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return policies, and why parts of their losses are 0 by construction."""
    told = {(row["policy"], row["part"]): row["reason"] for row in reversed(rows) if row["reason"]}
    ordered = sorted(told.items(), key=lambda one: list(LABELS).index(one[0][1]))
    return [(policy, f"{LABELS[part]}: 0, {reason}") for (policy, part), reason in ordered]


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
    title = f"{instance.name}: plans for its own signal and for another, under both"
    if output is not None:
        write_shown(output, table, *_cross_cells(table), [title])
    if json_output:
        rows = console.records(table)
        console.print_json({"instance": instance.name, "problem": instance.problem, "rows": rows})
    else:
        tables.print_table(title, *_cross_cells(table))
    return 0


def _cross_cells(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table of two signals."""
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
    return ["plan", "planned for", "emits under", "carbon kg", "above the least kg"], rows
