"""`carbonopt convert`: a subcommand for each problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, groups, make, names
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.registry import problem_of

Jobs = Annotated[
    list[Path],
    typer.Option("--trace", help="Job trace, told by its content; repeatable, for one of two files."),
]
SampleSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw of --sample.")]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    text = "Make an instance from carbon files and a job trace, all its jobs as they are; or of ecas from other files."
    make.group(app, "convert", text, mosp, elastic, purchasing, mlcluster, ecas)


@groups.takes(groups.window, groups.reading, groups.target)
def mosp(
    jobs: Jobs,
    carbon: make.CarbonFiles = None,
    time_unit: make.TimeUnit = None,
    trace_format: make.TraceFormat = None,
    zones: names.Zones = None,
    start: make.Start = None,
    slots: make.Horizon = None,
    slot_hours: make.SlotHours = 1.0,
    wrap: make.Wrap = False,
    capacity: Annotated[
        float | None, typer.Option("--capacity", help="CPUs of each cluster; by default from --load.")
    ] = None,
    load: Annotated[float, typer.Option("--load", help="Work over capacity while jobs arrive.")] = 0.7,
    watts: Annotated[float, typer.Option("--watts", min=0.0, max=make.HIGHEST, help="Power of a used CPU.")] = 10.0,
    gpus: Annotated[
        float | None, typer.Option("--gpus", help="GPUs of each cluster, if jobs hold some; by default from --load.")
    ] = None,
    gpu_watts: Annotated[
        float, typer.Option("--gpu-watts", min=0.0, max=make.HIGHEST, help="Power of a used GPU.")
    ] = 300.0,
    short_hours: make.ShortHours = 2.0,
    short_wait_hours: Annotated[float, make.hours("--short-wait-hours", "Wait of short jobs.")] = 6.0,
    long_wait_hours: Annotated[float, make.hours("--long-wait-hours", "Wait of long jobs.")] = 24.0,
    objective: make.Objective = "carbon",
    weights: names.Weights = None,
    price: make.Price = None,
    energy_weight: make.EnergyWeight = 0.0,
    seed: SampleSeed = 1,
    **options: Any,
) -> None:
    """One cluster in each zone.

    Run times are rounded up to slots, arrivals to the next slot; deadlines are the trace's, or arrival +
    run time + wait.
    """
    arguments = locals() | options
    del arguments["options"]
    arguments["zones"] = names.joined(zones and names.listed(zones))
    arguments["weights"] = make.numbers("--weights", names.joined(weights))
    _convert("mosp", arguments)


@groups.takes(groups.trace, groups.window, groups.signal, groups.reading, groups.elastic_queues, groups.target)
def elastic(
    jobs: Jobs,
    capacity: Annotated[
        float | None, typer.Option("--capacity", help="Servers of the cluster; by default from --load.")
    ] = None,
    load: Annotated[
        float, typer.Option("--load", help="Work on the least servers over capacity while jobs arrive.")
    ] = 0.5,
    profiles: names.Profiles = None,
    k_max: make.KMax = None,
    watts: make.ServerWatts = None,
    model: make.Model = "integer",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw of profiles.")] = 1,
    min_length_hours: Annotated[float, make.hours("--min-length-hours", "Leave out jobs shorter than this.")] = 0.0,
    **options: Any,
) -> None:
    """One cluster, jobs that scale.

    Arrivals are rounded up to the next slot, lengths are not rounded. Each job draws a profile; the
    trace's CPUs are not used.
    """
    _convert("elastic", groups.together(locals()))


@groups.takes(groups.trace, groups.window, groups.signal, groups.reading, groups.purchasing_terms, groups.target)
def purchasing(
    jobs: Jobs,
    seed: SampleSeed = 1,
    **options: Any,
) -> None:
    """Start times and purchase options in one zone.

    Arrivals and lengths are not rounded. The horizon is as long as the jobs need, and what policies
    look ahead; without reserved CPUs unless asked for.
    """
    arguments = groups.together(locals())
    arguments["weights"] = make.numbers("--weights", arguments.get("weights"))
    _convert("purchasing", arguments)


@groups.takes(groups.trace, groups.window, groups.signal, groups.reading, groups.gpu_cluster, groups.target)
def mlcluster(
    jobs: Jobs,
    gpus: Annotated[
        int | None, typer.Option("--gpus", min=1, help="GPUs of the cluster; by default from --load.")
    ] = None,
    load: Annotated[float, typer.Option("--load", help="Work over GPU time while jobs arrive.")] = 1.0,
    min_length_hours: Annotated[float, make.hours("--min-length-hours", "Leave out jobs shorter than this.")] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw of profiles.")] = 1,
    **options: Any,
) -> None:
    """Training jobs on a fixed cluster of GPUs; each job draws a profile."""
    _convert("mlcluster", groups.together(locals()))


def ecas(
    icon: Annotated[
        Path | None, typer.Option("--icon", help="Folder of an instance of the ICON challenge 2014.", readable=False)
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Instance file of mosp or purchasing.", readable=False)
    ] = None,
    prices: Annotated[str, typer.Option("--prices", help="With --icon: forecast or actual.")] = "forecast",
    reading: Annotated[str, typer.Option("--reading", help="With --icon: powers, literal or watts.")] = "literal",
    idle_watts: Annotated[float, typer.Option("--idle-watts", help="Watts of a machine that is on.")] = 0.0,
    on_kg: Annotated[float, typer.Option("--on-kg", help="Kilograms of carbon of each start.")] = 0.0,
    units_per_machine: Annotated[
        int | None, typer.Option("--units-per-machine", help="By default a cluster is one machine.")
    ] = None,
    zone: Annotated[str | None, typer.Option("--zone", help="Of mosp: whose clusters are taken.")] = None,
    windows: Annotated[
        str, typer.Option("--windows", help="Jobs end by their deadline, or by the horizon.")
    ] = "deadline",
    slot_minutes: Annotated[float | None, typer.Option("--slot-minutes", help="Of purchasing: of a slot.")] = None,
    name: make.Name = None,
    output: make.Output = None,
    json_output: console.Json = False,
) -> None:
    """Read an instance of the ICON challenge, or give machines with idle power to one of mosp or purchasing."""
    import carbonopt as co
    from carbonopt.idle_power import with_idle_power

    if (icon is None) == (source is None):
        raise UnsupportedError("convert ecas: needs either --icon FOLDER or --from FILE, and not both")
    if icon is not None:
        bridge = {"--zone": zone, "--slot-minutes": slot_minutes, "--units-per-machine": units_per_machine}
        used = {option: value is not None for option, value in bridge.items()}
        used |= {"--idle-watts": bool(idle_watts), "--on-kg": bool(on_kg), "--windows": windows != "deadline"}
        make.require_unused("--from FILE", used, "machines")
        instance = problem_of("ecas").role("convert")(icon, prices, reading, name)
    else:
        assert source is not None
        used = {"--prices": prices != "forecast", "--reading": reading != "literal"}
        make.require_unused("--icon FOLDER", used, "the challenge")
        instance = with_idle_power(
            co.read(source), idle_watts, on_kg, units_per_machine, zone, windows, slot_minutes, name
        )
    target = make.write(instance, output, [] if source is None else [source])
    make.warn_of_stuck(instance, target)
    told = {"instance": instance.name, "sha256": instance.sha256}
    console.print_written(target, json_output, **told)


def _convert(problem: str, arguments: dict[str, Any]) -> None:
    output = arguments.pop("output")
    json_output = arguments.pop("json_output")
    seed = arguments["seed"] if problem in ("elastic", "mlcluster") else arguments.pop("seed")
    arguments["window"] = groups.window_of(arguments, seed)
    arguments["states"] = groups.states_of(arguments)
    inputs = [*arguments["jobs"], *(arguments["carbon"] or ()), *(arguments.get("price") or ())]
    if output is not None:
        console.require_new(output, inputs)
    instance = problem_of(problem).role("convert")(reading=groups.reading_of(arguments), **arguments)
    target = make.write(instance, output, inputs)
    make.warn_of_stuck(instance, target)
    counts = {key: instance.provenance.get(key, 0) for key in ("dropped_jobs", "short_jobs_left_out")}
    note = f"{len(instance.jobs)} jobs"
    for count, what in zip(counts.values(), ("past the horizon", "too short"), strict=True):
        note += f", {count} {what} left out" if count else ""
    facts = {key: count for key, count in counts.items() if key in instance.provenance}
    names = {"instance": instance.name, "sha256": instance.sha256}
    console.print_written(target, json_output, note, **names, jobs=len(instance.jobs), **facts)
