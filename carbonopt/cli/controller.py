"""`carbonopt controller`: keeps Kubernetes or Slurm to a plan that is made anew every hour."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carbonopt.cli import console, groups, make, names, plan
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown

if TYPE_CHECKING:
    from carbonopt.planning.controller.clock import Clock
    from carbonopt.planning.controller.journal import Journal
    from carbonopt.planning.controller.loop import Scheduler

ENDLESS_HOURS = 8760.0


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, controller)


@groups.takes(groups.reading)
def controller(
    to: Annotated[str, typer.Option("--to", help="slurm, kubernetes, kueue, appwrapper or caspian.")],
    carbon: plan.Carbon = None,
    send: Annotated[
        bool, typer.Option("--send/--dry-run", help="Send patches and commands, or print what would be sent.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Make one pass and end, as for cron.")] = False,
    state: Annotated[
        Path | None, typer.Option("--state", help="Folder for the plan and the journal; with --send it must be named.")
    ] = None,
    every_minutes: Annotated[
        float, typer.Option("--every-minutes", min=1.0, max=60 * ENDLESS_HOURS, help="How often is planned.")
    ] = 60.0,
    queue: Annotated[
        Path | None, typer.Option("--queue", help="Jobs in a file instead of the scheduler's: for dry runs.")
    ] = None,
    now: plan.Now = None,
    tz: Annotated[str, typer.Option("--tz", help="Your time zone, e.g. Europe/Berlin.")] = "UTC",
    clusters: plan.Clusters = None,
    slot_minutes: Annotated[int, typer.Option("--slot-minutes", help="5, 10, 15, 20, 30 or 60.")] = 30,
    wait_hours: Annotated[float, typer.Option("--wait-hours", help="Latest start of a job, from its first plan.")] = 24,
    watts_per_cpu: Annotated[float, typer.Option("--watts-per-cpu", help="Power of a CPU that a job holds.")] = 10.0,
    watts_per_gpu: Annotated[float, typer.Option("--watts-per-gpu", help="Power of a GPU that a job holds.")] = 300.0,
    energy_weight: Annotated[
        float, typer.Option("--energy-weight", min=0.0, help="kg of carbon that a unit of money of energy counts.")
    ] = 0.0,
    move_price: Annotated[
        float, typer.Option("--move-price", min=0.0, help="kg of carbon that a moved start must save.")
    ] = 0.0,
    method: plan.PlanMethod = None,
    default_hours: plan.DefaultHours = None,
    leave_out: plan.LeaveOut = None,
    time_limit: console.TimeLimit = 60.0,
    seed: console.Seed = 0,
    kubeconfig: Annotated[Path | None, typer.Option("--kubeconfig", help="As kubectl takes it.")] = None,
    context: Annotated[str | None, typer.Option("--context", help="Of the kubeconfig.")] = None,
    json_output: console.Json = False,
    price: make.Price = None,
    **options: Any,
) -> None:
    """Open jobs when they are due, and plan again every hour; by default nothing is sent."""
    from carbonopt.planning.controller.clock import FixedClock, WallClock
    from carbonopt.planning.controller.journal import Journal, held
    from carbonopt.planning.controller.loop import Choices, Controller
    from carbonopt.planning.plan import moment_of
    from carbonopt.planning.site import Terms

    _require(send, once, state, queue, now)
    chosen = Choices(
        carbon=plan.files(carbon),
        clusters=tuple(clusters or ()),
        tz=tz,
        terms=Terms(slot_minutes, wait_hours, watts_per_cpu, watts_per_gpu, energy_weight),
        every=timedelta(minutes=every_minutes),
        method=method,
        move_price=move_price,
        time_limit=time_limit,
        seed=seed,
        reading=groups.reading_of(options),
        price=price or (),
    )
    clock: Clock = WallClock() if now is None else FixedClock(moment_of(now, tz))
    folder = state if send else None

    def tell(line: str) -> None:
        if json_output:
            console.print_json({"now": clock.now().isoformat(), "line": line})
        else:
            print(line, flush=True)

    with held(folder):
        journal = Journal(folder, to)
        reading = (default_hours, frozenset(names.listed(leave_out or ())))
        scheduler = _scheduler(to, journal, clock, send, queue, reading, kubeconfig, context, len(chosen.clusters))
        found = Controller(scheduler, chosen, journal, clock, tell, lambda line: console.say(f"warning: {line}"))
        if once:
            found.once()
        else:
            found.run()


def _require(send: bool, once: bool, state: Path | None, queue: Path | None, now: str | None) -> None:
    """Refuse options that do not go together."""
    if send and state is None:
        raise UnsupportedError("--state is missing: with --send, name a folder for the plan and the journal")
    if send and queue is not None:
        raise UnsupportedError("--queue is of a file that may be old: with --send, jobs are read from the scheduler")
    if now is not None and (send or not once):
        raise UnsupportedError("--now stops the clock: it goes with --once and without --send")


def _scheduler(
    to: str,
    journal: Journal,
    clock: Clock,
    send: bool,
    queue: Path | None,
    reading: tuple[float | None, frozenset[str]],
    kubeconfig: Path | None,
    context: str | None,
    clusters: int,
) -> Scheduler:
    """Return the scheduler that an option names."""
    from carbonopt.core.jsonfile import read_json
    from carbonopt.io.queues.entry import Settings
    from carbonopt.planning.controller.api import Api
    from carbonopt.planning.controller.kubernetes import Kubernetes
    from carbonopt.planning.controller.slurm import Slurm, require_one_cluster
    from carbonopt.planning.controller.targets import TARGETS

    content = None if queue is None else read_json(queue)
    if to == "slurm":
        require_one_cluster(clusters)
        if content is not None and not isinstance(content.get("jobs"), list):
            raise InputError(Fault("jobs", "must be a list of jobs, as squeue --json prints it", file=str(queue)))
        return Slurm(journal, Settings(*reading), send, content)
    if to not in TARGETS:
        raise UnsupportedError(f"--to {shown(to)}: must be {one_of(('slurm', *TARGETS))}")
    if content is None:
        server = Api(TARGETS[to], clock, None if kubeconfig is None else str(kubeconfig), context)
        return Kubernetes(TARGETS[to], server, journal, Settings(*reading), send)
    items = content.get("items", [content])
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        raise InputError(Fault("items", "must be a list of objects, as kubectl get -o json prints it", file=str(queue)))
    return Kubernetes(TARGETS[to], items, journal, Settings(*reading), send)
