"""`carbonopt info`, `carbonopt generate` and `carbonopt convert`: what instances are and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console
from carbonopt.core.errors import TooLargeError, UnsupportedError, one_line
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of
from carbonopt.core.time import parse_utc

LARGEST = 1e6
"""Hours and watts above which a number is a slip of the pen."""


def _moment(text: str | None) -> str | None:
    try:
        return text if text is None or parse_utc(text) else None
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is not an ISO 8601 moment, e.g. 2022-06-01T00:00Z") from None


Problem = Annotated[str, typer.Argument(help="Problem, e.g. mosp.")]
CarbonFiles = Annotated[
    list[Path] | None,
    typer.Option("--carbon", help="Carbon-intensity CSV (Electricity Maps, datetime/zone, or Caspian's); repeatable."),
]
Zones = Annotated[str | None, typer.Option("--zones", help="Zones to use, separated by commas.")]
Start = Annotated[
    str | None, typer.Option("--start", callback=_moment, help="Beginning of slot 0, e.g. 2022-06-01T00:00Z.")
]
Objective = Annotated[str, typer.Option("--objective", help="carbon or caspian.")]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="Three numbers separated by commas: kg, late slots, completion (or omega 1-3)."),
]


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
            for line in warnings[: console.SHOWN]:
                console.say(f"warning: {path}: {one_line(line)}")
            if len(warnings) > console.SHOWN:
                console.say(f"warning: {path}: and {len(warnings) - console.SHOWN} more (--json lists all)")
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
    weights: Weights = None,
    carbon: CarbonFiles = None,
    zones: Zones = None,
    start: Start = None,
    slot_hours: Annotated[float, typer.Option("--slot-hours", help="Length of a slot.")] = 1.0,
    wrap: Annotated[bool, typer.Option("--wrap", help="Repeat the carbon files where they end.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; by default <name>.json.")] = None,
    json_output: console.Json = False,
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
        "weights": _numbers("--weights", weights),
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
        _require_unused("--carbon", {"--zones": zones is not None, "--slot-hours": slot_hours != 1, "--wrap": wrap})
        if start is not None:
            parameters["start"] = start
    instance = co.generate(problem, **parameters)
    console.print_written(_write(instance, output), json_output, instance=instance.name, sha256=instance.sha256)


def convert(
    problem: Problem,
    jobs: Annotated[Path, typer.Option("--jobs", help="Job trace: CSV with arrival_time, length, cpus.")],
    carbon: CarbonFiles = None,
    time_unit: Annotated[
        str | None, typer.Option("--time-unit", help="Of the trace: seconds, minutes or hours.")
    ] = None,
    zones: Zones = None,
    start: Start = None,
    slots: Annotated[
        int | None, typer.Option("--slots", min=1, help="Horizon; by default as long as the jobs need.")
    ] = None,
    slot_hours: Annotated[float, typer.Option("--slot-hours", help="Length of a slot.")] = 1.0,
    wrap: Annotated[bool, typer.Option("--wrap", help="Repeat the carbon files where they end.")] = False,
    capacity: Annotated[
        float | None, typer.Option("--capacity", help="CPUs of each cluster; by default from --load.")
    ] = None,
    load: Annotated[float, typer.Option("--load", help="Work over capacity while jobs arrive.")] = 0.7,
    watts: Annotated[float, typer.Option("--watts", min=0.0, max=LARGEST, help="Power of a used CPU.")] = 10.0,
    short_hours: Annotated[float, typer.Option("--short-hours", min=0.0, max=LARGEST, help="Longest short job.")] = 2.0,
    short_wait_hours: Annotated[
        float, typer.Option("--short-wait-hours", min=0.0, max=LARGEST, help="Wait of short jobs.")
    ] = 6.0,
    long_wait_hours: Annotated[
        float, typer.Option("--long-wait-hours", min=0.0, max=LARGEST, help="Wait of long jobs.")
    ] = 24.0,
    objective: Objective = "carbon",
    weights: Weights = None,
    name: Annotated[str | None, typer.Option("--name", help="Of the instance.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; by default <name>.json.")] = None,
    json_output: console.Json = False,
) -> None:
    """Make an instance from carbon files and a job trace: one cluster in each zone.

    Run times are rounded up to slots, arrivals to the next slot; deadlines are arrival + run time +
    wait.
    """
    arguments = dict(locals())
    problem_of(arguments.pop("problem"))
    output, json_output = arguments.pop("output"), arguments.pop("json_output")
    arguments["weights"] = _numbers("--weights", weights)
    instance = problem_of(problem).function("convert")(**arguments)
    target, dropped = _write(instance, output), instance.provenance["dropped_jobs"]
    counts = {"jobs": len(instance.jobs), "dropped_jobs": dropped}
    note = f"{len(instance.jobs)} jobs" + (f", {dropped} past the horizon left out" if dropped else "")
    console.print_written(target, json_output, note, instance=instance.name, sha256=instance.sha256, **counts)


def _write(instance: Instance, output: Path | None) -> Path:
    """Write an instance to `output`, to a file in it if it is a folder, or by its name here."""
    name = Path(f"{instance.name}.json")
    target = console.output_for(output, [], name, "json") or name
    instance.write(target)
    return target


def _require_unused(needed: str, used: dict[str, bool]) -> None:
    for option, is_used in used.items():
        if is_used:
            raise UnsupportedError(f"{option} says how to read carbon files: it needs {needed}")


def _numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    try:
        return None if text is None else tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UnsupportedError(f"{option} {text!r}: must be numbers separated by commas") from None


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return console.number(value, 4)
