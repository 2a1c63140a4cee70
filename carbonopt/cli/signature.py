"""A command made from the signature and the docstring of a role: what a problem needs no command of its own for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args

import typer

from carbonopt.cli import console, make
from carbonopt.core.registry import Problem

KINDS = (bool, int, float, str, Path)
"""Types of parameters that become options."""


def command_of(problem: Problem, role: str) -> Callable[..., None]:
    """Return a command that calls a role with its options and writes the instance that it returns.

    Each parameter of the role that is a bool, int, float, str or Path, or one of these or None, becomes an option.
    Its help is what the docstring's section "Parameters" says of it. The other parameters keep their defaults.
    """
    function = problem.role(role)
    text = inspect.getdoc(function) or problem.title
    helps = parameter_texts(text)

    def command(**given: Any) -> None:
        output = given.pop("output")
        json_output = given.pop("json_output")
        instance = function(**given)
        told = {"instance": instance.name, "sha256": instance.sha256}
        console.print_written(make.write(instance, output), json_output, **told)

    own = [_option(part, helps.get(part.name, "")) for part in _parameters(function)]
    kind = inspect.Parameter.KEYWORD_ONLY
    last = [
        inspect.Parameter("output", kind, default=None, annotation=make.Output),
        inspect.Parameter("json_output", kind, default=False, annotation=console.Json),
    ]
    command.__signature__ = inspect.Signature([*own, *last])  # type: ignore[attr-defined]
    command.__doc__ = text.partition("\nParameters\n")[0].strip()
    command.__name__ = problem.name
    return command


def parameter_texts(docstring: str) -> dict[str, str]:
    r"""Return what a numpydoc docstring says of each parameter.

    Examples
    --------
    >>> parameter_texts("Draw.\n\nParameters\n----------\njobs, slots\n    How many.\nseed\n    Of every draw.")
    {'jobs': 'How many.', 'slots': 'How many.', 'seed': 'Of every draw.'}
    """
    texts: dict[str, str] = {}
    names: list[str] = []
    _, _, section = docstring.partition("Parameters\n----------\n")
    for line in section.splitlines():
        if line.startswith("---"):  # the head of the next section was taken for a name
            break
        if line.strip() and not line[0].isspace():
            names = [name.strip().lstrip("*") for name in line.partition(":")[0].split(",")]
        for name in names if line[:1].isspace() else ():
            texts[name] = f"{texts.get(name, '')} {line.strip()}".strip()
    return texts


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that can be options, each with its plain type."""
    found = []
    for part in inspect.signature(function, eval_str=True).parameters.values():
        named = part.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        kinds = [kind for kind in get_args(part.annotation) or (part.annotation,) if kind is not NoneType]
        if named and len(kinds) == 1 and kinds[0] in KINDS:
            found.append(part)
    return found


def _option(part: inspect.Parameter, text: str) -> inspect.Parameter:
    """Return a parameter as typer takes it."""
    name = part.name.replace("_", "-")
    words = f"--{name}/--no-{name}" if part.default is True else f"--{name}"
    kind: Any = Annotated[part.annotation, typer.Option(words, help=text)]
    return part.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
