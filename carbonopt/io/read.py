"""`read` an instance or a solution from a file, whatever its problem."""

from __future__ import annotations

import os
from typing import Any

from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.instance import Instance
from carbonopt.core.jsonfile import read_json
from carbonopt.core.registry import PROBLEMS, problem_of
from carbonopt.core.solution import Solution


def read(path: str | os.PathLike[str]) -> Instance:
    """Read an instance file (``.json`` or ``.json.gz``).

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Instance
        Of the class of its problem, e.g. `MospInstance`.

    Raises
    ------
    InputError
        With every fault: file, field, row, value and what would be right.
    """
    raw = read_json(path)
    try:
        instance: Instance = _problem(raw).function("read")(raw)
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
        _problem(raw)
        return solution_from_dict(raw)
    except InputError as error:
        raise error.in_file(path) from None


def _problem(raw: dict[str, Any]) -> Any:
    name = raw.get("problem")
    if name is None:
        raise InputError(Fault("problem", f"is missing: must be {one_of(tuple(PROBLEMS))}"))
    if name not in PROBLEMS:
        raise InputError(Fault("problem", f"is unknown: must be {one_of(tuple(PROBLEMS))}", shown(name)))
    return problem_of(name)
