"""`carbonopt info`, `carbonopt generate` and `carbonopt convert`: what instances are and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console
from carbonopt.core.errors import TooLargeError
from carbonopt.core.registry import problem_of

Problem = Annotated[str, typer.Argument(help="Problem, e.g. mosp.")]
CarbonFiles = Annotated[
    list[Path] | None,
    typer.Option("--carbon", help="Carbon-intensity CSV (Electricity Maps, datetime/zone, or Caspian's); repeatable."),
]
Zones = Annotated[str | None, typer.Option("--zones", help="Zones to use, separated by commas.")]
Start = Annotated[str | None, typer.Option("--start", help="Beginning of slot 0, e.g. 2022-06-01T00:00Z.")]
Objective = Annotated[str, typer.Option("--objective", help="carbon or caspian.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    console.command(app, info)
    console.command(app, generate)
    console.command(app, convert)


def info(files: console.Files, json_output: console.Json = False) -> None:
    """Show what is in instances: size, load, tightness, size of the program, and jobs that cannot run."""
    import carbonopt as co

    def work(path: Path) -> int:
        instance = co.read(path)
        problem = problem_of(instance.problem)
        content: dict[str, Any] = {
            "instance": instance.name,
            "problem": instance.problem,
            "sense": instance.sense,
            "sha256": instance.sha256,
            **instance.features(),
        }
        try:
            content |= problem.function("inspect")(instance)
        except TooLargeError as error:
            content["warnings"] = [str(error)]
        if json_output:
            console.print_json(content)
        else:
            warnings = content.pop("warnings", [])
            rows = [[key, _shown(value)] for key, value in content.items()]
            console.print_table(str(path), ["feature", "value"], rows)
            for line in warnings:
                console.say(f"warning: {line}")
        return 0

    console.each_file(files, work)


def generate(
    problem: Problem,
    preset: Annotated[str, typer.Option("--preset", help="caspian (the paper's experiment) or bench.")] = "caspian",
    jobs: Annotated[int, typer.Option("--jobs", help="Number of jobs.")] = 200,
    clusters: Annotated[int | None, typer.Option("--clusters", help="Number of clusters (bench).")] = None,
    slots: Annotated[int, typer.Option("--slots", help="Number of slots.")] = 48,
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 1,
    load: Annotated[float, typer.Option("--load", help="Work over capacity (bench).")] = 0.7,
    objective: Objective = "carbon",
    carbon: CarbonFiles = None,
    zones: Zones = None,
    start: Start = None,
    slot_hours: Annotated[float, typer.Option("--slot-hours", help="Length of a slot.")] = 1.0,
    wrap: Annotated[bool, typer.Option("--wrap", help="Repeat the carbon files where they end.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; by default <name>.json.")] = None,
) -> None:
    """Generate a seeded instance; the same options always give the same one.

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
    }
    if carbon:
        from carbonopt.core.time import parse_utc
        from carbonopt.io.carbon import read_carbon

        parameters["carbon"] = read_carbon(
            *carbon,
            zones=None if zones is None else zones.split(","),
            start=None if start is None else parse_utc(start),
            slots=slots,
            slot_hours=slot_hours,
            wrap=wrap,
        )
    elif start is not None:
        parameters["start"] = start
    instance = co.generate(problem, **parameters)
    target = output or Path(f"{instance.name}.json")
    instance.write(target)
    print(target)


def convert(
    problem: Problem,
    jobs: Annotated[Path, typer.Option("--jobs", help="Job trace: CSV with arrival_time, length, cpus.")],
    carbon: CarbonFiles = None,
    time_unit: Annotated[
        str | None, typer.Option("--time-unit", help="Of the trace: seconds, minutes or hours.")
    ] = None,
    zones: Zones = None,
    start: Start = None,
    slots: Annotated[int | None, typer.Option("--slots", help="Horizon; by default as long as the jobs need.")] = None,
    slot_hours: Annotated[float, typer.Option("--slot-hours", help="Length of a slot.")] = 1.0,
    wrap: Annotated[bool, typer.Option("--wrap", help="Repeat the carbon files where they end.")] = False,
    capacity: Annotated[
        float | None, typer.Option("--capacity", help="CPUs of each cluster; by default from --load.")
    ] = None,
    load: Annotated[float, typer.Option("--load", help="Work over capacity while jobs arrive.")] = 0.7,
    watts: Annotated[float, typer.Option("--watts", help="Power of a used CPU.")] = 10.0,
    short_hours: Annotated[float, typer.Option("--short-hours", help="Longest short job.")] = 2.0,
    short_wait_hours: Annotated[float, typer.Option("--short-wait-hours", help="Wait of short jobs.")] = 6.0,
    long_wait_hours: Annotated[float, typer.Option("--long-wait-hours", help="Wait of long jobs.")] = 24.0,
    objective: Objective = "carbon",
    name: Annotated[str | None, typer.Option("--name", help="Of the instance.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; by default <name>.json.")] = None,
) -> None:
    """Make an instance from carbon files and a job trace: one cluster in each zone.

    Run times are rounded up to slots, arrivals to the next slot; deadlines are arrival + run time +
    wait.
    """
    arguments = dict(locals())
    problem_of(arguments.pop("problem"))
    output = arguments.pop("output")
    instance = problem_of(problem).function("convert")(**arguments)
    target = output or Path(f"{instance.name}.json")
    instance.write(target)
    dropped = instance.provenance.get("dropped_jobs", 0)
    print(f"{target}: {len(instance.jobs)} jobs" + (f", {dropped} past the horizon left out" if dropped else ""))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return console.number(value, 4)
