"""`carbonopt params`."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from carbonopt.cli import console
from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.parameters import described
from carbonopt.core.registry import problem_of

WIDTH = 78
"""Columns of a comment."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, params)


def params(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="E.g. mosp.")],
    method: Annotated[str, typer.Argument(metavar="METHOD", help="E.g. price.")] = "price",
) -> None:
    """Print the parameters of a method with their defaults: a file to change, for `carbonopt solve --params`."""
    card = problem_of(problem)
    reference = card.method(method).parameters
    if not reference:
        having = [name for name, entry in card.methods.items() if entry.parameters]
        raise UnsupportedError(f"method {method!r} of problem {problem!r} has no parameters: {one_of(having)} has")
    group: tuple[str, ...] = ()
    for part in described(card.load(reference)):
        if part.path[:-1] != group:
            group = part.path[:-1]
            print(f"\n[{'.'.join(group)}]")
        print(textwrap.fill(part.text, WIDTH, initial_indent="# ", subsequent_indent="# "))
        print(f"{part.path[-1]} = {part.default}" if part.default else f"# {part.path[-1]} =")
