"""`carbonopt compile`."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from math import inf
from multiprocessing import get_context
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

    Without this command each loop is compiled where it first runs. The machine code is kept on disk. Several problems
    are compiled at the same time, as many as the machine has processors.
    """
    names = [problem_of(name).name for name in problems or problem_names()]
    console.say(f"compiling: {', '.join(names)}")
    if len(names) == 1:
        _tell(names[0], warm_up(names[0]))
        return
    with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1), get_context("spawn")) as pool:
        runs = {pool.submit(warm_up, name): name for name in names}
        for run in as_completed(runs):
            _tell(runs[run], run.result())


def warm_up(problem: str) -> float:
    """Run what a problem's card names, with every loop compiled; return the seconds that this took."""
    import carbonopt as co

    begun = perf_counter()
    with loops(steps=inf):
        for warmup in problem_of(problem).warmups:
            instance = co.generate(problem, seed=1, **warmup.parameters)
            for method in warmup.methods:
                gap = warmup.mip_rel_gap
                co.solve(instance, method, time_limit=None, mip_rel_gap=gap, params=warmup.params)
            for policy in warmup.policies:
                co.simulate(instance, policy)
    return perf_counter() - begun


def _tell(problem: str, seconds: float) -> None:
    print(f"{problem}: ready after {seconds:.0f} s", flush=True)
