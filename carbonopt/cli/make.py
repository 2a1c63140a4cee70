"""What `generate` and `convert` share: one subcommand a problem, options, and the file that is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from carbonopt.cli import console
from carbonopt.core.errors import TooLargeError, UnsupportedError, one_of
from carbonopt.core.files import file_name
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_names, problem_of
from carbonopt.core.time import parse_utc

HIGHEST = 1e6
"""Hours and watts above which a number is a slip of the pen."""


class Problems(TyperGroup):
    """Subcommands named after problems, each of a function of its own or made from the problem's role."""

    role = ""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the problems that have the role, in the order of their names."""
        return [name for name in problem_names() if name in self.commands or self.role in problem_of(name).roles]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a problem's subcommand; None if there is no such problem."""
        if cmd_name in self.commands or cmd_name not in self.list_commands(ctx):
            return super().get_command(ctx, cmd_name)
        from carbonopt.cli.signature import command_of

        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        console.command(alone, command_of(problem_of(cmd_name), self.role))
        made = typer.main.get_command(alone)
        made.name = cmd_name
        return made

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the subcommand that the first argument names."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"unknown problem {args[0]!r}: must be {one_of(self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def group(app: typer.Typer, role: str, text: str, *functions: Any) -> None:
    """Add the command `role` to `app`, with a subcommand for each problem: one of `functions`, or its role's own."""
    kind = type(role, (Problems,), {"role": role})
    problems = typer.Typer(cls=kind, help=text, no_args_is_help=True, subcommand_metavar="PROBLEM [OPTIONS]")
    for function in functions:
        console.command(problems, function)
    app.add_typer(problems, name=role)


def _moment(text: str | None) -> str | None:
    try:
        return text if text is None or parse_utc(text) else None
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"{text!r} is not an ISO 8601 moment, e.g. 2022-06-01T00:00Z") from None


CarbonFiles = Annotated[
    list[Path] | None,
    typer.Option("--carbon", help="Carbon-intensity CSV (Electricity Maps, datetime/zone, or Caspian's); repeatable."),
]
Start = Annotated[
    str | None, typer.Option("--start", callback=_moment, help="Beginning of slot 0, e.g. 2022-06-01T00:00Z.")
]
SlotHours = Annotated[float, typer.Option("--slot-hours", help="Length of a slot.")]
Wrap = Annotated[bool, typer.Option("--wrap", help="Repeat the carbon files where they end.")]
Intensity = Annotated[
    str, typer.Option("--intensity", help="lca (life cycle) or direct (combustion), of files that hold both.")
]
Kind = Annotated[
    str | None,
    typer.Option("--kind", help="average, 'short-run marginal' or 'long-run marginal', of files that hold several."),
]
Fill = Annotated[str, typer.Option("--fill", help="Missing values and times: interpolate, previous or none.")]
SignalTz = Annotated[
    str | None, typer.Option("--signal-tz", help="Time zone of times in the files that have no offset; by default UTC.")
]
Mixed = Annotated[
    list[str] | None, typer.Option("--mixed", help="Labels that may differ between zones and times: kind, scope.")
]
Price = Annotated[
    list[Path] | None,
    typer.Option("--price", help="File of electricity prices by zone, which may be negative; repeatable."),
]
EnergyWeight = Annotated[
    float, typer.Option("--energy-weight", min=0.0, help="Weight of energy cost in the objective, per unit of money.")
]
TimeUnit = Annotated[
    str | None,
    typer.Option("--time-unit", help="Unit of times in a CSV trace, which does not say: seconds, minutes or hours."),
]
TraceFormat = Annotated[
    str | None,
    typer.Option(
        "--trace-format",
        help="gaia, swf, sacct, or a public trace such as pai; by default by content.",
    ),
]
Begin = Annotated[
    str | None,
    typer.Option("--from", "--from-hours", help="Slot 0: a moment, or hours of the trace; leave out earlier jobs."),
]
End = Annotated[str | None, typer.Option("--until", "--until-hours", help="Leave out jobs that arrive then or later.")]
First = Annotated[int | None, typer.Option("--first", min=1, help="Take the first so many of those jobs.")]
Sample = Annotated[int | None, typer.Option("--sample", min=1, help="Draw so many of those jobs, by --seed.")]
States = Annotated[
    list[str] | None,
    typer.Option("--states", help="Of jobs in a public trace; by default those that ran to an end. Repeatable."),
]
Workload = Annotated[
    str,
    typer.Option(
        "--workload",
        help="paper, or supercomputer: heavy tails and bursts, by the model of Lublin and Feitelson (2003).",
    ),
]
DrawSeed = Annotated[int, typer.Option("--seed", help="Seed of every draw.")]
Horizon = Annotated[int | None, typer.Option("--slots", min=1, help="Horizon; by default as long as the jobs need.")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the instance.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File; by default <name>.json.")]

Objective = Annotated[str, typer.Option("--objective", help="carbon or caspian.")]

KMax = Annotated[int | None, typer.Option("--k-max", min=1, help="Most servers of a job; cuts the profiles.")]
ServerWatts = Annotated[
    float | None,
    typer.Option(
        "--watts",
        min=0.0,
        max=HIGHEST,
        help="Power of a server of the modelled classes; by default 100 (CPU), 300 (GPU).",
    ),
]
Model = Annotated[str, typer.Option("--model", help="integer or fluid.")]


def hours(option: str, text: str) -> Any:
    """Return an option that takes hours."""
    return typer.Option(option, min=0.0, max=HIGHEST, help=text)


ShortHours = Annotated[float, hours("--short-hours", "Longest short job.")]
MediumHours = Annotated[float, hours("--medium-hours", "Longest medium job.")]
ShortSlack = Annotated[float, hours("--short-slack-hours", "Slack of short jobs.")]
MediumSlack = Annotated[float, hours("--medium-slack-hours", "Slack of medium jobs.")]
LongSlack = Annotated[float, hours("--long-slack-hours", "Slack of longer jobs.")]
Slack = Annotated[float | None, hours("--slack-hours", "Slack of all jobs, whatever their length.")]


Reserved = Annotated[int | None, typer.Option("--reserved", help="Reserved CPUs.")]
ReservedShare = Annotated[
    float | None, typer.Option("--reserved-share", help="Reserved CPUs as a share of the mean demand.")
]
DecideReserved = Annotated[bool, typer.Option("--decide-reserved", help="Leave the reserved CPUs to be decided.")]
SpotLength = Annotated[
    float | None, hours("--spot-max-length-hours", "Longest job on spot CPUs, which this offers; by default 2.")
]
Evictions = Annotated[
    float | None, typer.Option("--evictions-per-hour", help="Hazard on spot CPUs, which this offers; by default 0.")
]
PurchasingModel = Annotated[str, typer.Option("--model", help="splitting, no-split or suspend-resume.")]
CpuWatts = Annotated[float, typer.Option("--watts-per-cpu", min=0.0, max=HIGHEST, help="Power of a running CPU.")]
OnDemand = Annotated[float, typer.Option("--on-demand-usd-per-cpu-hour", help="Price of a CPU on demand.")]
ReservedFraction = Annotated[
    float, typer.Option("--reserved-fraction", help="Share of that price for a reserved CPU, used or not.")
]
SpotFraction = Annotated[float, typer.Option("--spot-fraction", help="Share of that price for a spot CPU.")]


def write(instance: Instance, output: Path | None, inputs: Sequence[Path] = ()) -> Path:
    """Write an instance to `output`, to a file in it if it is a folder, or by its name here.

    Raises
    ------
    InputError
        If no command would read the file.
    """
    problem_of(instance.problem).role("read")(instance.to_dict())
    name = Path(f"{file_name(instance.name)}.json")
    target = console.output_for(output, [], name, "json", console.JSON) or name
    console.require_new(target, inputs)
    instance.write(target)
    return target


def warn_of_stuck(instance: Instance, target: Path) -> None:
    """Say in one line that jobs cannot run even alone, for whatever reason."""
    told = stuck(instance)
    if told:
        console.say(f"warning: {target}: {told}: `carbonopt diagnose` says all")


def stuck(instance: Instance) -> str:
    """Return why the first job that cannot run even alone cannot, and how many others there are; "" without one."""
    problem = problem_of(instance.problem)
    if "stuck" not in problem.roles:
        return ""
    try:
        found = [str(finding) for finding in problem.role("stuck")(instance)]
    except TooLargeError:
        return ""
    others = len(found) - 1
    more = f", and {others} other job{'s' * (others > 1)} cannot run either" if others > 0 else ""
    return f"{found[0]}{more}" if found else ""


def require_unused(needed: str, used: dict[str, bool], what: str = "carbon files") -> None:
    """Refuse options that say how to read files that are not given."""
    for option, is_used in used.items():
        if is_used:
            raise UnsupportedError(f"{option} says how to read {what}: it needs {needed}")


def numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    """Return the numbers of an option that takes several."""
    try:
        return None if text is None else tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UnsupportedError(f"{option} {text!r}: must be numbers separated by commas") from None
