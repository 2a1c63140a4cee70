"""Options that may be repeated, and may hold several names or numbers separated by commas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_names, problem_of

Zones = Annotated[list[str] | None, typer.Option("--zones", help="Zones to use, separated by commas or one by one.")]
Zone = Annotated[list[str] | None, typer.Option("--zone", "--zones", help="Zone of the cluster.")]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weights",
        help="Three numbers, separated by commas or one by one: kg, late slots, completion (or omega 1-3).",
    ),
]
PurchasingWeights = Annotated[
    list[str] | None,
    typer.Option(
        "--weights",
        help="Weights of a kg, a $ and an hour of wait, separated by commas or one by one. By default carbon and cost"
        " of all jobs at once on demand count 1, and an hour of mean wait 0.005.",
    ),
]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        "--profiles",
        help="How jobs scale: mix, gpu-mix, cpu-table-3, gpu-table-3, no-scaling, classes or measured CSV files with"
        " shares, e.g."
        ' "cpu-high:3,a.csv:1", separated by commas or one by one.',
        show_default="mix",
    ),
]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--profiles",
        help="mix, or families and CSV files with shares, separated by commas or one by one: resnet50:3,mine.csv.",
        show_default="mix",
    ),
]
Queues = Annotated[
    list[str] | None,
    typer.Option(
        "--queues",
        help="Name, longest job and longest wait of each queue, in hours; inf for any. Separated by commas or one by"
        " one.",
        show_default="short:2:6,long:inf:24",
    ),
]


def listed(given: Sequence[str]) -> list[str]:
    """Return the names that the texts of an option hold, each once.

    A comma between the options of one policy is its own.

    Examples
    --------
    >>> listed(["no-wait, carbon-time", "green:mu=1,theta=0.5", "no-wait"])
    ['no-wait', 'carbon-time', 'green:mu=1,theta=0.5']
    """
    names: list[str] = []
    for text in given:
        own: list[str] = []
        for part in text.split(","):
            if own and ":" in own[-1] and "=" in part and ":" not in part:
                own[-1] += f",{part.strip()}"
            else:
                own.append(part.strip())
        names += own
    return list(dict.fromkeys(names))


def joined(given: Sequence[str] | None) -> str | None:
    """Return the texts of an option as one, as if they had been separated by commas; None where it is not given.

    Examples
    --------
    >>> joined(["short:2:6", "long:inf:24"])
    'short:2:6,long:inf:24'
    """
    return None if given is None else ",".join(given)


def policies_named(instance: Instance, given: Sequence[str]) -> list[str]:
    """Return the policies that an option names; ``all`` stands for those that the instance has what they need for."""
    from carbonopt.simulate import policies_of

    names = (policies_of(instance) if name == "all" else (name,) for name in listed(given))
    return list(dict.fromkeys(name for some in names for name in some))


def complete_methods(incomplete: str) -> list[str]:
    """Return the methods of all problems that begin so, for the completion of shells."""
    known = (name for problem in problem_names() for name in problem_of(problem).methods)
    return _beginning(incomplete, ["auto", *known])


def complete_policies(incomplete: str) -> list[str]:
    """Return the policies of all problems that begin so, for the completion of shells."""
    known = (name for problem in problem_names() for name in problem_of(problem).policies)
    return _beginning(incomplete, ["all", *known])


def _beginning(incomplete: str, known: Sequence[str]) -> list[str]:
    """Return the names that end a list separated by commas, each with what stands before it.

    Examples
    --------
    >>> _beginning("milp,lp", ["milp", "lp", "lp-rounding"])
    ['milp,lp', 'milp,lp-rounding']
    """
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in dict.fromkeys(known) if name.startswith(last)]
