"""`carbonopt compile`."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any

import typer

from carbonopt.cli import console
from carbonopt.core.errors import UnsupportedError, one_of

RUNS: dict[str, list[tuple[dict[str, Any], float]]] = {
    "mosp": [
        ({"preset": "bench", "jobs": 40, "clusters": 3, "slots": 24}, 1e-4),
        ({"preset": "bench", "jobs": 2_000, "clusters": 10, "slots": 48, "load": 1.3}, 0.005),
    ],
    "elastic": [({"model": "fluid"}, 0.05), ({"model": "integer", "jobs": 200, "capacity": 40}, 0.05)],
    "purchasing": [({"reserved_share": 0.5}, 0.05), ({"jobs": 300, "model": "suspend-resume"}, 0.05)],
    "mlcluster": [({}, 0.05)],
}
"""Instances of each problem that take few seconds but run the loops of its method `price`, and gaps to end at."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, compile_loops, "compile")


def compile_loops(
    problems: Annotated[list[str] | None, typer.Argument(metavar="PROBLEM", help="All if none is given.")] = None,
) -> None:
    """Compile the loops of method `price`, once for a machine: later runs have their whole time limit for solving.

    Without this command each loop is compiled where it first runs. The machine code is kept on disk.
    """
    import carbonopt as co

    for problem in problems or ():
        if problem not in RUNS:
            raise UnsupportedError(f"unknown problem {problem!r}: must be {one_of(tuple(RUNS))}")
    for problem in problems or RUNS:
        console.say(f"{problem}: compiling")
        begun = perf_counter()
        for parameters, gap in RUNS[problem]:
            co.solve(co.generate(problem, seed=1, **parameters), "price", time_limit=None, mip_rel_gap=gap)
        print(f"{problem}: ready after {perf_counter() - begun:.0f} s", flush=True)
