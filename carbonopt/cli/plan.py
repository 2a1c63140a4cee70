"""`carbonopt plan`, `carbonopt replan` and `carbonopt apply`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import console, groups, make, names, tables
from carbonopt.core import display
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interrupt import INTERRUPTED, is_asked
from carbonopt.core.status import Status
from carbonopt.core.tablefile import csv_text, write_shown

if TYPE_CHECKING:
    from carbonopt.planning.result import Plan

Carbon = Annotated[
    list[Path] | None, typer.Option("--carbon", help="File of the carbon forecast; repeatable.", show_default=False)
]
Now = Annotated[
    str | None,
    typer.Option("--now", help="When the first job may start, in --tz where it has no zone.", show_default="the clock"),
]
PlanOutput = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Plan file (.json), for replan and apply; or its table: .csv, .md, .tex, .html."
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")]
Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        help="NAME=ZONE:CPUS:GPUS of a cluster, the amounts may be left out; repeatable.",
        show_default="one in each zone, with room for all jobs",
    ),
]
Gantt = Annotated[
    Path | None, typer.Option("--gantt", help="Picture of the plan (.png, .svg, .pdf): each job as a bar.")
]
PlanMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help="Method; without it one that counts --move-price.",
        autocompletion=names.complete_methods,
        show_default=False,
    ),
]
LeaveOut = Annotated[
    list[str] | None, typer.Option("--leave-out", help="Jobs not to read, by id, separated by commas or one by one.")
]
DefaultHours = Annotated[
    float | None, typer.Option("--default-hours", min=0.0, help="Run time of jobs without a time limit.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    for function in (plan, replan, apply):
        console.command(app, function)


@groups.takes(groups.reading)
def plan(
    queue: Annotated[Path, typer.Argument(help="Jobs: squeue --json, sacct --parsable2, kubectl get jobs -o json.")],
    carbon: Carbon = None,
    now: Now = None,
    tz: Annotated[str, typer.Option("--tz", help="Your time zone, e.g. Europe/Berlin.")] = "UTC",
    clusters: Clusters = None,
    slot_minutes: Annotated[int, typer.Option("--slot-minutes", help="5, 10, 15, 20, 30 or 60.")] = 30,
    wait_hours: Annotated[float, typer.Option("--wait-hours", help="Latest start of a job, from now.")] = 24.0,
    watts_per_cpu: Annotated[float, typer.Option("--watts-per-cpu", help="Power of a CPU that a job holds.")] = 10.0,
    watts_per_gpu: Annotated[float, typer.Option("--watts-per-gpu", help="Power of a GPU that a job holds.")] = 300.0,
    energy_weight: Annotated[
        float, typer.Option("--energy-weight", min=0.0, help="kg of carbon that a unit of money of energy counts.")
    ] = 0.0,
    default_hours: DefaultHours = None,
    leave_out: LeaveOut = None,
    method: console.Method = "auto",
    time_limit: console.TimeLimit = 60.0,
    mip_rel_gap: console.RelGap = 1e-4,
    seed: console.Seed = 0,
    output: PlanOutput = None,
    gantt: Gantt = None,
    csv: Csv = False,
    json_output: console.Json = False,
    price: make.Price = None,
    **options: Any,
) -> None:
    """Plan tonight's jobs: when and on which cluster each one starts."""
    from carbonopt.planning.plan import plan as make_plan
    from carbonopt.planning.site import Terms

    console.require_target(output, [queue, *(carbon or ()), *(price or ())], console.JSON + console.TABLE)
    console.require_one_format(csv, json_output)
    made = make_plan(
        queue,
        files(carbon),
        now=now,
        tz=tz,
        clusters=clusters or (),
        terms=Terms(slot_minutes, wait_hours, watts_per_cpu, watts_per_gpu, energy_weight),
        default_hours=default_hours,
        leave_out=names.listed(leave_out or ()),
        method=method,
        time_limit=time_limit,
        mip_rel_gap=mip_rel_gap,
        seed=seed,
        reading=groups.reading_of(options),
        price=price or (),
    )
    _finish(made, output, gantt, csv, json_output)
    for site in made.sites if not clusters else ():
        console.say(f"cluster {site.name}: zone {site.zone}, room for all jobs (--cluster says otherwise)")


@groups.takes(groups.reading)
def replan(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="File that plan -o or replan -o wrote.")],
    carbon: Carbon = None,
    now: Now = None,
    queue: Annotated[
        Path | None,
        typer.Option("--queue", help="Jobs as they are now; by default they ran as planned, up to their time limits."),
    ] = None,
    move_price: Annotated[
        float, typer.Option("--move-price", min=0.0, help="kg of carbon that a moved start must save.")
    ] = 0.0,
    method: PlanMethod = None,
    default_hours: DefaultHours = None,
    leave_out: LeaveOut = None,
    time_limit: console.TimeLimit = 60.0,
    mip_rel_gap: console.RelGap = 1e-4,
    seed: console.Seed = 0,
    output: PlanOutput = None,
    gantt: Gantt = None,
    csv: Csv = False,
    json_output: console.Json = False,
    price: make.Price = None,
    **options: Any,
) -> None:
    """Plan again with a newer forecast; starts that were announced move only where it pays."""
    from carbonopt.planning.plan import read_plan
    from carbonopt.planning.replan import replan as make_plan

    console.require_target(output, [plan_file, queue, *(carbon or ()), *(price or ())], console.JSON + console.TABLE)
    console.require_one_format(csv, json_output)
    made = make_plan(
        read_plan(plan_file),
        files(carbon),
        now=now,
        queue=queue,
        move_price=move_price,
        method=method,
        default_hours=default_hours,
        leave_out=names.listed(leave_out or ()),
        time_limit=time_limit,
        mip_rel_gap=mip_rel_gap,
        seed=seed,
        reading=groups.reading_of(options),
        price=price or (),
    )
    _finish(made, output, gantt, csv, json_output)


def apply(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="File that plan -o or replan -o wrote.")],
    to: Annotated[str, typer.Option("--to", help="slurm, kubernetes, kueue or appwrapper.")],
    dry_run: Annotated[  # noqa: ARG001
        bool, typer.Option("--dry-run", help="Print what would be run: so it is without the option, too.")
    ] = True,
    reserve: Annotated[
        bool, typer.Option("--reserve", help="For Slurm: a reservation for the slots of each job, too.")
    ] = False,
    json_output: console.Json = False,
) -> None:
    """Print the commands that make a scheduler keep a plan. Nothing is sent."""
    from carbonopt.planning.apply import commands, script
    from carbonopt.planning.plan import read_plan

    made = read_plan(plan_file)
    if json_output:
        for command in commands(made, to, reserve):
            console.print_json(command.to_dict())
    else:
        print(script(made, to, reserve), end="")


def files(carbon: list[Path] | None) -> list[Path]:
    """Return the files of a forecast, one at least."""
    if not carbon:
        raise UnsupportedError("--carbon is missing: name at least one file of the forecast")
    return carbon


def _finish(made: Plan, output: Path | None, gantt: Path | None, csv: bool, json_output: bool) -> None:
    """Write, draw and print a plan."""
    frame = made.to_frame()
    if output is not None and console.is_table(output):
        write_shown(output, frame, *_cells(made), [_title(made)])
    elif output is not None:
        made.write(output)
    if gantt is not None:
        _draw(made, gantt)
    if json_output:
        console.print_json({**made.summary(), "rows": console.records(frame)})
    elif csv:
        typer.echo(csv_text(frame), nl=False)
    else:
        _print(made)
    for file in (output, gantt):
        if file is not None:
            console.say(f"{file}: written")
    if is_asked() or made.solution.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def _draw(made: Plan, file: Path) -> None:
    """Draw each job as a bar over the carbon of its cluster."""
    from carbonopt.plotting.figure import save
    from carbonopt.plotting.style import style

    with style(tz=made.tz):
        save(made.solution.plot(made.instance, "gantt"), file)


def _cells(made: Plan) -> tuple[Sequence[str], list[list[str]]]:
    """Return heads and rows of the table."""
    heads = ("job", "cluster", "begin", "end", "carbon kg", "saved kg")
    offsets = {moment.utcoffset() for row in made.rows for moment in (row.begin, row.end)}
    form = "%a %d %b %H:%M" if len(offsets) == 1 else "%d %b %H:%M %Z"  # clocks change: the hour alone does not tell
    rows = []
    for row in made.rows:
        begin = "runs" if row.state == "RUNNING" else format(row.begin, form)
        rows.append([row.id, row.cluster, begin, format(row.end, form), f"{row.kg:.4g}", _saved(row.saving_kg)])
    return heads, rows


def _title(made: Plan) -> str:
    zone = "" if format(_local(made), "%Z") == made.tz else f" ({made.tz})"
    return f"{display.counted(len(made.rows), 'job')} from {_time(_local(made))}{zone}"


def _print(made: Plan) -> None:
    tables.print_table(_title(made), *_cells(made))
    saved = made.saving_kg
    gap = display.percent(made.replanned["gap"] if made.replanned else made.solution.gap)
    told = "not all jobs fit where each starts at once"
    if saved is not None:
        share = f" ({100 * saved / (made.kg + saved):.1f} %)" if made.kg + saved > 0 else ""
        told = f"{saved:.4g} kg{share} saved over starting at once"
    print(f"{made.kg:.4g} kg from now on, proven gap {gap}\n{told}")
    if made.energy_cost is not None:
        print(f"{made.energy_cost:.4g} {made.currency} for the energy")
    if made.replanned:
        print(_told(made.replanned))


def _told(facts: Any) -> str:
    """Return what a replanning did, in lines that fit into 80 columns."""
    moves, price = f"{facts['moves']} of {facts['announced']}", f"{facts['move_price_kg']:g} kg"
    change, back = f"{facts['forecast_change_kg']:+.4g} kg", f"{facts['taken_back_kg']:.4g} kg"
    return (
        f"{moves} announced starts moved at {price} each, which the gap counts\n"
        f"new forecast: {change} at the announced starts; moving takes back {back}"
    )


def _local(made: Plan) -> datetime:
    from carbonopt.core.time import zone_of_time

    return made.now.astimezone(zone_of_time(made.tz))


def _time(moment: datetime) -> str:
    return f"{moment:%a %d %b %H:%M %Z}"


def _saved(kg: float | None) -> str:
    return "-" if kg is None else f"{kg:.4g}"
