"""`carbonopt risk`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import console, progress, tables
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interrupt import INTERRUPTED
from carbonopt.core.solution import shown_method
from carbonopt.core.status import Status
from carbonopt.core.tablefile import write_shown, write_table

if TYPE_CHECKING:
    from carbonopt.core.instance import Instance
    from carbonopt.uncertainty.costs import Linear
    from carbonopt.uncertainty.measures import Risk
    from carbonopt.uncertainty.scenarios import Scenarios
    from carbonopt.uncertainty.solve import RiskSolution

LEVEL = 0.9
"""Of the column of tail means."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, risk)


def risk(
    files: console.Files,
    forecast: Annotated[
        list[str],
        typer.Option(
            "--forecast", help="File of forecasts with several members, or ZONE=FILE for one zone; repeatable."
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", help="expectation, cvar:0.9 or budget:6; repeatable.", show_default="expectation and cvar:0.9"
        ),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Level of the column of tail means.")] = LEVEL,
    schedule: Annotated[
        Path | None, typer.Option("--schedule", help="Write the plan of the last measure as CSV.")
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof",
            help="Write the instance of one signal that proves the bound of the last measure, and beside it its "
            "solution: NAME.json and NAME.solution.json, for `carbonopt check`.",
        ),
    ] = None,
    time_limit: console.TimeLimit = 60.0,
    work_limit: console.WorkLimit = None,
    mip_rel_gap: console.RelGap = 1e-4,
    seed: console.Seed = 0,
    threads: console.Threads = None,
    output: console.Output = None,
    json_output: console.Json = False,
) -> None:
    """Plan for a forecast of several members, by a measure of risk, with a proven bound on it.

    All starts are decided at the beginning. A member of the forecast is a scenario.
    """
    from carbonopt.uncertainty.measures import risk_of

    risks = [risk_of(text) for text in measure or ["expectation", f"cvar:{LEVEL:g}"]]
    if not 0 <= level < 1:
        raise UnsupportedError(f"--level {level:g}: must be at least 0 and below 1")
    options = {
        "time_limit": time_limit,
        "work_limit": work_limit,
        "mip_rel_gap": mip_rel_gap,
        "seed": seed,
        "threads": threads,
    }
    used = [Path(text.rpartition("=")[2]) for text in forecast]

    def work(path: Path) -> int:
        target = console.output_for(output, files, path, "risk.csv", console.TABLE)
        console.require_target(schedule, [*files, *used], (".csv",))
        console.require_target(proof, [*files, *used], (".json",))
        return _one(path, forecast, risks, level, options, target, schedule, proof, json_output)

    console.each_file(files, work)


def _one(
    path: Path,
    forecast: list[str],
    risks: Sequence[Risk],
    level: float,
    options: dict[str, Any],
    output: Path | None,
    schedule: Path | None,
    proof: Path | None,
    json_output: bool,
) -> int:
    """Print a row for each measure; the table is written after each, so that nothing that was done is lost."""
    import pandas as pd

    import carbonopt as co
    from carbonopt.uncertainty.costs import require_linear
    from carbonopt.uncertainty.solve import solve_under_risk
    from carbonopt.uncertainty.value import plan_row

    instance = require_linear(co.read(path))
    scenarios = _scenarios(instance, forecast)
    say = progress.saying()
    rows: list[dict[str, Any]] = []
    worst = 0
    for risk in risks:
        say(f"{path}: {risk}")
        try:
            found = solve_under_risk(instance, scenarios, risk, **options)
        except KeyboardInterrupt:
            worst = INTERRUPTED
            break
        rows.append(plan_row(instance, scenarios, found, level))
        if output is not None:
            write_shown(output, pd.DataFrame(rows), *_cells(rows, level))
        if schedule is not None and found.solution is not None:
            write_table(schedule, found.solution.schedule)
        if proof is not None:
            _write_proof(proof, instance, scenarios, found)
        if found.status is Status.INTERRUPTED:
            worst = INTERRUPTED
            break
        worst = max(worst, int(found.solution is None))
    if not rows:
        return worst
    if json_output:
        facts = {"instance": instance.name, "scenarios": len(scenarios)}
        console.print_json({**facts, "rows": console.records(pd.DataFrame(rows))})
    else:
        tables.print_table(f"{instance.name}: plans for {len(scenarios)} scenarios", *_cells(rows, level))
    return worst


def _write_proof(path: Path, instance: Linear, scenarios: Scenarios, found: RiskSolution) -> None:
    """Write the instance of the signal that proves the bound, and its solution with the certificate."""
    if found.proof is None or found.signal is None:
        raise UnsupportedError(f"--proof: no single signal proves the bound of {found.risk}: a program does")
    scenarios.under(instance, found.signal).write(path)
    found.proof.write(path.with_suffix(".solution.json"))


def _scenarios(instance: Instance, forecast: list[str]) -> Scenarios:
    """Return the scenarios that the files tell of: one file for all zones, or one for each."""
    from carbonopt.forecasts import read_archive
    from carbonopt.simulation.forecast import SETTINGS
    from carbonopt.uncertainty.scenarios import Scenarios

    zones = instance.carbon.zones
    told = {zone: file for zone, is_named, file in (text.rpartition("=") for text in forecast) if is_named}
    common = [text for text in forecast if "=" not in text]
    unknown = [zone for zone in told if zone not in zones]
    drawn = [text for text in forecast if text.partition("=")[0] in {"perfect", *SETTINGS} - {*zones}]
    if drawn:
        words = "must be a file, an archive of forecasts with members: a plan for scenarios needs several"
        raise UnsupportedError(f"--forecast {drawn[0]}: {words}")
    if unknown:
        raise UnsupportedError(f"--forecast {unknown[0]}=...: must be of a zone of the instance: {', '.join(zones)}")
    if len(common) > 1:
        raise UnsupportedError("--forecast: name one file for all zones, or ZONE=FILE for each")
    archives = []
    for zone in zones:
        if zone not in told and not common:
            raise UnsupportedError(f"--forecast: zone {zone} has none: must be {zone}=FILE, or one file for all zones")
        own = told.get(zone, common[0] if common else "")
        archive = read_archive(own, time=instance.time, zone=None if len(zones) == 1 or zone in told else zone)
        archives.append(replace(archive, zone=zone))
    return Scenarios.of_archives(instance, archives)


def _cells(rows: Sequence[dict[str, Any]], level: float) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table."""
    heads = ["plan for", "mean", f"mean of worst {100 * (1 - level):.3g} %", "worst", "its measure", "bound", "gap"]
    names = ("mean", "cvar", "worst", "value", "bound")
    cells = [
        [
            shown_method(row["plan"], row["without_loops"]),
            *(display.number(row.get(name), 6) for name in names),
            display.percent(row["gap"]),
        ]
        for row in rows
    ]
    return heads, cells
