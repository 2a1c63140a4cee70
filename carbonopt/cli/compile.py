"""`carbonopt compile`."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import Annotated

import typer

from carbonopt.algorithms.kernel import loops
from carbonopt.cli import console
from carbonopt.core.registry import problem_names, problem_of


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, compile_loops, "compile")


def compile_loops(
    problems: Annotated[list[str] | None, typer.Argument(metavar="PROBLEM", help="All if none is given.")] = None,
) -> None:
    """Compile the loops of methods and policies, once for a machine: later runs have their whole time for solving.

    Without this command each loop is compiled where it first runs. The machine code is kept on disk.
    """
    import carbonopt as co

    chosen = [problem_of(name) for name in problems or problem_names()]
    for problem in chosen:
        console.say(f"{problem.name}: compiling")
        begun = perf_counter()
        with loops(steps=inf):
            for warmup in problem.warmups:
                instance = co.generate(problem.name, seed=1, **warmup.parameters)
                for method in warmup.methods:
                    co.solve(instance, method, time_limit=None, mip_rel_gap=warmup.mip_rel_gap)
                for policy in warmup.policies:
                    co.simulate(instance, policy)
        print(f"{problem.name}: ready after {perf_counter() - begun:.0f} s", flush=True)
