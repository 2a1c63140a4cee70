"""Options that several commands take together, each written once as the signature of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from carbonopt.cli import console, make, names
from carbonopt.io.reading import Reading
from carbonopt.io.window import Window

REPEATED = ("zone", "weights", "profiles", "queues")
"""Options that may be repeated."""

F = TypeVar("F", bound=Callable[..., None])


def takes(*groups: Callable[..., None]) -> Callable[[F], F]:
    """Give a command the options of `groups` in place of its last parameter, ``**options``."""

    def decorated(function: F) -> F:
        *own, _ = inspect.signature(function, eval_str=True).parameters.values()
        more = [part for group in groups for part in inspect.signature(group, eval_str=True).parameters.values()]
        function.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        return function

    return decorated


def signal(
    carbon: make.CarbonFiles = None,
    zone: names.Zone = None,
    start: make.Start = None,
    slot_hours: make.SlotHours = 1.0,
    wrap: make.Wrap = False,
) -> None:
    """Carbon files, and the part of them to take."""


def reading(
    intensity: make.Intensity = "lca",
    kind: make.Kind = None,
    fill: make.Fill = "none",
    signal_tz: make.SignalTz = None,
    mixed: make.Mixed = None,
) -> None:
    """Tell what to take where carbon files leave a choice."""


def reading_of(options: dict[str, Any]) -> Reading:
    """Return the choices among a command's options, taking them out."""
    intensity, kind, fill, tz, mixed = (options.pop(name) for name in inspect.signature(reading).parameters)
    return Reading(intensity, kind, None if fill == "none" else fill, tz, tuple(names.listed(mixed or ())))


def trace(time_unit: make.TimeUnit = None, trace_format: make.TraceFormat = None, slots: make.Horizon = None) -> None:
    """How to read a job trace, and how much of it."""


def window(
    begin: make.Begin = None,
    end: make.End = None,
    first: make.First = None,
    sample: make.Sample = None,
    states: make.States = None,
) -> None:
    """Which jobs of a trace to take."""


def window_of(options: dict[str, Any], seed: int) -> Window:
    """Return the part of a trace among a command's options, taking them out."""
    begin, end, first, sample = (options.pop(name) for name in ("begin", "end", "first", "sample"))
    return Window(begin, end, first, sample, seed)


def states_of(options: dict[str, Any]) -> list[str] | None:
    """Return the states among a command's options, taking them out."""
    states = options.pop("states")
    return None if states is None else names.listed(states)


def elastic_queues(
    short_hours: make.ShortHours = 2.0,
    medium_hours: make.MediumHours = 12.0,
    short_slack_hours: make.ShortSlack = 6.0,
    medium_slack_hours: make.MediumSlack = 24.0,
    long_slack_hours: make.LongSlack = 48.0,
    slack_hours: make.Slack = None,
) -> None:
    """Slack by length."""


def purchasing_terms(
    reserved: make.Reserved = None,
    reserved_share: make.ReservedShare = None,
    decide_reserved: make.DecideReserved = False,
    queues: names.Queues = None,
    spot_max_length_hours: make.SpotLength = None,
    evictions_per_hour: make.Evictions = None,
    model: make.PurchasingModel = "splitting",
    weights: names.PurchasingWeights = None,
    watts_per_cpu: make.CpuWatts = 1.0,
    on_demand_usd_per_cpu_hour: make.OnDemand = 0.0624,
    reserved_fraction: make.ReservedFraction = 0.4,
    spot_fraction: make.SpotFraction = 0.2,
) -> None:
    """Prices, purchase options, queues and objective."""


def gpu_cluster(
    profiles: names.Families = None,
    min_gpus: Annotated[int, typer.Option("--min-gpus", min=1, help="Fewest GPUs of a job.")] = 1,
    max_gpus: Annotated[int, typer.Option("--max-gpus", min=1, help="Most GPUs of a job.")] = 8,
    restart_minutes: Annotated[float, typer.Option("--restart-minutes", min=0.0, help="What a restart takes.")] = 2.0,
    gpus_per_host: Annotated[int, typer.Option("--gpus-per-host", min=1, help="GPUs of each host.")] = 2,
    idle_watts: Annotated[float, typer.Option("--idle-watts", min=0.0, help="Power of a GPU without a job.")] = 50.0,
    host_watts: Annotated[
        float, typer.Option("--host-watts", min=0.0, help="Power of a host without its GPUs.")
    ] = 200.0,
    jct_weight: Annotated[
        float, typer.Option("--jct-weight", min=0.0, help="Price of an hour of mean completion time.")
    ] = 0.0,
    mean_jct_hours: Annotated[
        float | None, typer.Option("--mean-jct-hours", help="Limit on the mean completion time.")
    ] = None,
) -> None:
    """Describe the GPUs, how jobs scale, and the objective."""


def target(name: make.Name = None, output: make.Output = None, json_output: console.Json = False) -> None:
    """Name and file of an instance, and how it is told."""


def together(own: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command, `own` being its ``locals()``, with those of its groups.

    Those of `REPEATED` are one text each, and are left out where they are not given.
    """
    options: dict[str, Any] = own.pop("options")
    given = own | options
    texts = {key: names.joined(given.pop(key)) for key in REPEATED if key in given}
    return given | {key: text for key, text in texts.items() if text is not None}
