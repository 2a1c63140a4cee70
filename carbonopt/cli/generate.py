"""`carbonopt generate mosp` and `carbonopt generate elastic`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, make
from carbonopt.core.instance import Instance


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    text = "Generate a seeded instance; the same options always give the same one."
    make.group(app, "generate", text, mosp, elastic)


def mosp(
    preset: Annotated[str, typer.Option("--preset", help="caspian (the paper's experiment) or bench.")] = "caspian",
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs.")] = 200,
    clusters: Annotated[int | None, typer.Option("--clusters", help="Number of clusters (bench).")] = None,
    slots: Annotated[int, typer.Option("--slots", help="Number of slots.")] = 48,
    seed: make.DrawSeed = 1,
    load: Annotated[float, typer.Option("--load", help="Work over capacity (bench).")] = 0.7,
    objective: make.Objective = "carbon",
    weights: make.Weights = None,
    carbon: make.CarbonFiles = None,
    zones: make.Zones = None,
    start: make.Start = None,
    slot_hours: make.SlotHours = 1.0,
    wrap: make.Wrap = False,
    output: make.Output = None,
    json_output: console.Json = False,
) -> None:
    """Jobs over several clusters: Caspian's experiment, or a benchmark of any size.

    Without --carbon the signal is synthetic, calibrated to published statistics, and labelled so.
    """
    import carbonopt as co

    parameters: dict[str, Any] = {
        "preset": preset,
        "jobs": jobs,
        "clusters": clusters,
        "slots": slots,
        "seed": seed,
        "load": load,
        "objective": objective,
        "weights": make.numbers("--weights", weights),
    }
    if carbon:
        from carbonopt.io.carbon import read_carbon

        parameters["carbon"] = read_carbon(
            *carbon,
            zones=None if zones is None else zones.split(","),
            start=start,
            slots=slots,
            slot_hours=slot_hours,
            wrap=wrap,
        )
    else:
        make.require_unused("--carbon", {"--zones": zones is not None, "--slot-hours": slot_hours != 1, "--wrap": wrap})
        if start is not None:
            parameters["start"] = start
    _write(co.generate("mosp", **parameters), output, json_output)


def elastic(
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="Number of jobs; by default as the utilisation asks.")
    ] = None,
    capacity: Annotated[
        float | None,
        typer.Option("--capacity", help="Servers; by default 150, or with --jobs as the utilisation asks."),
    ] = None,
    utilisation: Annotated[
        float | None, typer.Option("--utilisation", help="Work on the least servers over capacity; by default 0.5.")
    ] = None,
    arrival_hours: Annotated[
        float, typer.Option("--arrival-hours", max=make.LARGEST, help="Hours in which jobs arrive.")
    ] = 168.0,
    profiles: make.Profiles = "mix",
    k_max: make.KMax = None,
    watts: make.ServerWatts = None,
    model: make.Model = "integer",
    seed: make.DrawSeed = 1,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Draw lengths from this job trace (arrival_time, length, cpus).")
    ] = None,
    time_unit: make.TimeUnit = None,
    min_length_hours: Annotated[
        float | None, typer.Option("--min-length-hours", help="Shortest job of the trace to draw; by default 1.")
    ] = None,
    short_hours: make.ShortHours = 2.0,
    medium_hours: make.MediumHours = 12.0,
    short_slack_hours: make.ShortSlack = 6.0,
    medium_slack_hours: make.MediumSlack = 24.0,
    long_slack_hours: make.LongSlack = 48.0,
    slack_hours: make.Slack = None,
    carbon: make.CarbonFiles = None,
    zone: make.Zone = None,
    start: make.Start = None,
    slot_hours: make.SlotHours = 1.0,
    wrap: make.Wrap = False,
    name: make.Name = None,
    output: make.Output = None,
    json_output: console.Json = False,
) -> None:
    """Elastic jobs on one cluster: by default those that arrive in a week.

    Without --carbon the signal is synthetic, without --trace the lengths are:
    calibrated to published statistics, and labelled so.
    """
    parameters = dict(locals())
    import carbonopt as co

    for other in ("output", "json_output", "carbon", "wrap", "start", "trace", "time_unit", "min_length_hours"):
        del parameters[other]
    if trace is None:
        used = {"--time-unit": time_unit is not None, "--min-length-hours": min_length_hours is not None}
        make.require_unused("--trace", used, "a job trace")
    else:
        parameters |= _trace(trace, time_unit, min_length_hours)
    if carbon:
        from carbonopt.io.carbon import read_carbon

        zones = None if zone is None else [zone]
        parameters["carbon"] = lambda slots: read_carbon(
            *carbon, zones=zones, start=start, slots=slots, slot_hours=slot_hours, wrap=wrap
        )
    else:
        make.require_unused("--carbon", {"--wrap": wrap})
        if start is not None:
            parameters["start"] = start
    _write(co.generate("elastic", **parameters), output, json_output)


def _trace(path: Path, time_unit: str | None, min_length_hours: float | None) -> dict[str, Any]:
    """Return the parameters that take lengths from a job trace."""
    from carbonopt.io.convert import require_time_unit, source_of
    from carbonopt.io.jobs import read_jobs

    found: dict[str, Any] = {"trace": read_jobs(path, require_time_unit(time_unit)), "source": source_of(path)}
    return found if min_length_hours is None else found | {"min_length_hours": min_length_hours}


def _write(instance: Instance, output: Path | None, json_output: bool) -> None:
    console.print_written(make.write(instance, output), json_output, instance=instance.name, sha256=instance.sha256)
