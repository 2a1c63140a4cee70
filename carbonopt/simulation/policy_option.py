"""Options of policies in a text: their names and types are those of what they are given to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import isfinite
from types import NoneType
from typing import Any, get_args

from carbonopt.core.errors import UnsupportedError, one_of, shown

WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", NoneType: "none"}
"""What must be written for each type."""


def read_option(function: Callable[..., Any], name: str, text: str) -> dict[str, Any]:
    """Return the parameter `name` of `function` with the value that `text` stands for.

    Raises
    ------
    UnsupportedError
        If there is no such parameter, or `text` is not of its type.

    Examples
    --------
    >>> def policy(gpus: int | None = 1, gamma: float = 0.9) -> None: ...
    >>> read_option(policy, "gpus", "none"), read_option(policy, "gamma", "1")
    ({'gpus': None}, {'gamma': 1.0})
    """
    parameters = inspect.signature(function, eval_str=True).parameters
    known = {key: kinds for key, parameter in parameters.items() if (kinds := _kinds(parameter.annotation))}
    if name not in known:
        raise UnsupportedError(f"unknown option {name!r}: must be {one_of(tuple(known), limit=len(known))}")
    kinds = known[name]
    for kind in kinds:
        try:
            return {name: _read(kind, text)}
        except ValueError:
            continue
    raise UnsupportedError(f"{name} = {shown(text)}: must be {' or '.join(WORDS[kind] for kind in kinds)}")


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return the types of a parameter that a text can stand for, a word last: any text is one."""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind in WORDS]
    return () if kinds == [NoneType] else tuple(sorted(kinds, key=lambda kind: kind is str))


def _read(kind: type, text: str) -> Any:
    words: dict[type, dict[str, Any]] = {NoneType: {"none": None}, bool: {"true": True, "false": False}}
    if kind in words:
        if text.lower() not in words[kind]:
            raise ValueError(text)
        return words[kind][text.lower()]
    value = kind(text)
    if kind is float and not isfinite(value):
        raise ValueError(text)
    return value
