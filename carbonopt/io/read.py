"""`read` an instance or a solution from a file, whatever its problem."""

from __future__ import annotations

import os
from typing import Any, TypeVar, overload

from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.instance import Instance
from carbonopt.core.jsonfile import read_json
from carbonopt.core.registry import problem_names, problem_of
from carbonopt.core.solution import Solution

SomeInstance = TypeVar("SomeInstance", bound=Instance)
"""The class that the user says a file's instance is of."""


@overload
def read(path: str | os.PathLike[str]) -> Instance: ...
@overload
def read(path: str | os.PathLike[str], kind: type[SomeInstance]) -> SomeInstance: ...
def read(path: str | os.PathLike[str], kind: type[Instance] = Instance) -> Instance:
    """Read an instance file (``.json`` or ``.json.gz``).

    Parameters
    ----------
    path
        The file.
    kind
        Class that the instance must be of, e.g. `MospInstance`: then a type checker knows it as one.

    Returns
    -------
    Instance
        Of the class of its problem.

    Raises
    ------
    InputError
        With every fault: file, field, row, value and what would be right.
    """
    raw = read_json(path)
    try:
        _require_kind(raw, "an instance", "jobs", "a solution", "schedule")
        instance: Instance = _problem(raw).role("read")(raw)
        if not isinstance(instance, kind):
            raise InputError(Fault("problem", f"must be {kind.problem!r}", shown(instance.problem)))
    except InputError as error:
        raise error.in_file(path) from None
    return instance


def read_solution(path: str | os.PathLike[str]) -> Solution:
    """Read a solution file (``.json`` or ``.json.gz``).

    Raises
    ------
    InputError
        With every fault: file, field, row, value and what would be right.
    """
    from carbonopt.io.solution import solution_from_dict  # pydantic: not at `import carbonopt`

    raw = read_json(path)
    try:
        _require_kind(raw, "a solution", "schedule", "an instance", "jobs")
        _problem(raw)
        return solution_from_dict(raw)
    except InputError as error:
        raise error.in_file(path) from None


def _require_kind(raw: dict[str, Any], wanted: str, field: str, other: str, field_of_other: str) -> None:
    """Refuse a file of the other kind in one line, and not with a fault for each of its fields."""
    if field_of_other in raw and field not in raw:
        raise InputError(Fault("", f"is {other} file, must be {wanted} file"))


def _problem(raw: dict[str, Any]) -> Any:
    known = f"must be {one_of(problem_names())}"
    if "problem" not in raw:
        raise InputError(Fault("problem", f"is missing: {known}"))
    name = raw["problem"]
    if not isinstance(name, str) or name not in problem_names():
        raise InputError(Fault("problem", f"is unknown: {known}", shown(name)))
    return problem_of(name)
