"""`carbonopt generate`: a subcommand for each problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, groups, make, names
from carbonopt.core.instance import Instance


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    text = "Generate a seeded instance; the same options always give the same one."
    make.group(app, "generate", text, mosp, elastic, purchasing, mlcluster)


def mosp(
    preset: Annotated[
        str, typer.Option("--preset", help="caspian (the paper's experiment), bench or supercomputer.")
    ] = "caspian",
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs.")] = 200,
    clusters: Annotated[int | None, typer.Option("--clusters", help="Number of clusters; not with caspian.")] = None,
    slots: Annotated[int, typer.Option("--slots", help="Number of slots.")] = 48,
    seed: make.DrawSeed = 1,
    load: Annotated[float, typer.Option("--load", help="Work over capacity; not with caspian.")] = 0.7,
    max_demand: Annotated[
        int | None, typer.Option("--max-demand", help="Nodes of the largest job (supercomputer); by default 128.")
    ] = None,
    memory: Annotated[
        bool | None, typer.Option("--memory", help="Memory is a second resource (supercomputer).")
    ] = None,
    restricted_share: Annotated[
        float | None,
        typer.Option("--restricted-share", help="Jobs that may not run on every cluster (supercomputer)."),
    ] = None,
    day_capacity: Annotated[
        float | None,
        typer.Option("--day-capacity", help="Share of the nodes that jobs have from 8 to 20 o'clock (supercomputer)."),
    ] = None,
    array_tail: Annotated[
        float | None,
        typer.Option("--array-tail", help="Job arrays: s^-tail of them have s jobs or more (supercomputer)."),
    ] = None,
    objective: make.Objective = "carbon",
    weights: names.Weights = None,
    carbon: make.CarbonFiles = None,
    zones: names.Zones = None,
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
        "weights": make.numbers("--weights", names.joined(weights)),
    }
    shape = {
        "max_demand": max_demand,
        "memory": memory,
        "restricted_share": restricted_share,
        "day_capacity": day_capacity,
        "array_tail": array_tail,
    }
    parameters |= {key: value for key, value in shape.items() if value is not None}
    if carbon:
        from carbonopt.io.carbon import read_carbon

        parameters["carbon"] = read_carbon(
            *carbon,
            zones=zones and names.listed(zones),
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


@groups.takes(groups.elastic_queues, groups.signal, groups.target)
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
        float, typer.Option("--arrival-hours", max=make.HIGHEST, help="Hours in which jobs arrive.")
    ] = 168.0,
    profiles: names.Profiles = None,
    k_max: make.KMax = None,
    watts: make.ServerWatts = None,
    model: make.Model = "integer",
    workload: make.Workload = "paper",
    seed: make.DrawSeed = 1,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Draw lengths from this job trace, of any format that convert takes.")
    ] = None,
    time_unit: make.TimeUnit = None,
    trace_format: make.TraceFormat = None,
    min_length_hours: Annotated[
        float | None, typer.Option("--min-length-hours", help="Shortest job of the trace to draw; by default 1.")
    ] = None,
    **options: Any,
) -> None:
    """Elastic jobs on one cluster: by default those that arrive in a week.

    Without --carbon the signal is synthetic, without --trace the lengths are:
    calibrated to published statistics, and labelled so.
    """
    parameters = groups.together(locals())
    if min_length_hours is None:
        del parameters["min_length_hours"]
    elif trace is None:
        make.require_unused("--trace", {"--min-length-hours": True}, "a job trace")
    _generate("elastic", parameters)


@groups.takes(groups.purchasing_terms, groups.signal, groups.target)
def purchasing(
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs.")] = 1000,
    arrival_hours: Annotated[
        float, typer.Option("--arrival-hours", max=make.HIGHEST, help="Hours in which jobs arrive.")
    ] = 168.0,
    daily_swing: Annotated[
        float, typer.Option("--daily-swing", help="How much the rate of arrivals swings in a day: 0 to 1.")
    ] = 0.0,
    daily_peak_hour: Annotated[float, typer.Option("--daily-peak-hour", help="Its highest hour, in UTC.")] = 14.0,
    max_cpus: Annotated[int, typer.Option("--max-cpus", help="Most CPUs of a job; not with --trace.")] = 4,
    workload: make.Workload = "paper",
    seed: make.DrawSeed = 1,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", help="Draw lengths and CPUs from this job trace, of any format that convert takes."),
    ] = None,
    time_unit: make.TimeUnit = None,
    trace_format: make.TraceFormat = None,
    **options: Any,
) -> None:
    """Batch jobs of a cloud: by default those that arrive in a week, and CPUs reserved for half of them.

    Without --carbon the signal is synthetic, without --trace the lengths are:
    calibrated to published statistics, and labelled so.
    """
    parameters = groups.together(locals())
    parameters["weights"] = make.numbers("--weights", parameters.get("weights"))
    _generate("purchasing", parameters)


@groups.takes(groups.gpu_cluster, groups.signal, groups.target)
def mlcluster(
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs.")] = 791,
    gpus: Annotated[int, typer.Option("--gpus", min=1, help="GPUs of the cluster.")] = 64,
    arrival_hours: Annotated[
        float, typer.Option("--arrival-hours", max=make.HIGHEST, help="Hours in which jobs arrive.")
    ] = 24.0,
    load: Annotated[
        float | None, typer.Option("--load", help="Work over GPU time while jobs arrive; by default that of the sizes.")
    ] = None,
    workload: make.Workload = "paper",
    drain_hours: Annotated[
        float | None, typer.Option("--drain-hours", help="From the last arrival to the end; by default enough.")
    ] = None,
    seed: make.DrawSeed = 1,
    **options: Any,
) -> None:
    """Training jobs on a fixed cluster: by default GREEN's 791 jobs on 32 hosts with 2 GPUs each.

    Profiles are modelled, and say so; without --carbon the signal is synthetic.
    """
    parameters = groups.together(locals())
    output = parameters.pop("output")
    json_output = parameters.pop("json_output")
    import carbonopt as co

    _write(co.generate("mlcluster", **_signal(parameters)), output, json_output)


def _generate(problem: str, parameters: dict[str, Any]) -> None:
    """Generate and write an instance of a problem whose jobs make the horizon."""
    import carbonopt as co

    output = parameters.pop("output")
    json_output = parameters.pop("json_output")
    parameters = _signal(_trace(parameters))
    _write(co.generate(problem, **parameters), output, json_output)


def _trace(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the job trace instead of what says how to read it."""
    from carbonopt.io.convert import source_of
    from carbonopt.io.trace import read_trace

    path = parameters.pop("trace")
    reading = [parameters.pop(key) for key in ("time_unit", "trace_format")]
    if path is not None:
        return parameters | {"trace": read_trace(path, *reading), "source": source_of(path)}
    used = dict(zip(("--time-unit", "--trace-format"), (value is not None for value in reading), strict=True))
    make.require_unused("--trace", used, "a job trace")
    return parameters


def _signal(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the carbon signal instead of what says how to read it."""
    carbon, start, wrap = (parameters.pop(key) for key in ("carbon", "start", "wrap"))
    if start is not None:
        parameters["start"] = start
    if not carbon:
        make.require_unused("--carbon", {"--wrap": wrap})
        return parameters
    from carbonopt.io.carbon import read_carbon

    zones = [parameters["zone"]] if "zone" in parameters else None
    slot_hours = parameters["slot_hours"]
    parameters["carbon"] = lambda slots: read_carbon(
        *carbon, zones=zones, start=start, slots=slots, slot_hours=slot_hours, wrap=wrap
    )
    return parameters


def _write(instance: Instance, output: Path | None, json_output: bool) -> None:
    console.print_written(make.write(instance, output), json_output, instance=instance.name, sha256=instance.sha256)
