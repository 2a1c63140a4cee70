"""Options of HiGHS that a user sets under HiGHS's own names."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

import highspy

from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.milp.first import new_highs

OWN = {
    **dict.fromkeys(("time_limit", "mip_rel_gap", "mip_abs_gap", "threads", "log_file"), "an option of solve"),
    "random_seed": "solve calls it seed",
    "output_flag": "solve calls it verbose",
    "log_to_console": "solve calls it verbose",
    **dict.fromkeys(
        (
            "primal_feasibility_tolerance",
            "dual_feasibility_tolerance",
            "mip_feasibility_tolerance",
            "kkt_tolerance",
            "small_matrix_value",
            "large_matrix_value",
            "infinite_cost",
            "infinite_bound",
        ),
        "proven bounds rely on it",
    ),
    **dict.fromkeys(
        ("objective_bound", "objective_target", "user_objective_scale", "user_bound_scale"),
        "HiGHS sees costs times a factor",
    ),
}
"""What is not handed on, and why not."""


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that HiGHS takes.

    Raises
    ------
    UnsupportedError
        If HiGHS knows no option of that name, refuses the value, or carbonopt sets the option itself.
    """
    if not isinstance(given, Mapping):
        raise UnsupportedError(
            f"solver_options = {shown(given)}: must be names with values, e.g. {{'presolve': 'off'}}"
        )
    highs = new_highs()
    highs.setOptionValue("output_flag", False)
    for name, value in given.items():
        if name in OWN:
            raise UnsupportedError(f"solver_options: {shown(name)} cannot be set here: {OWN[name]}")
        kind = _kind(highs, name)
        is_bad_number = isinstance(value, float) and math.isnan(value)
        if is_bad_number or highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            raise UnsupportedError(f"solver_options: {name} = {shown(value)}: HiGHS refuses it; must be {kind}")
    return dict(given)


def _kind(highs: Any, name: Any) -> str:
    """Return what HiGHS takes for an option, in words."""
    words = {"kBool": "True or False", "kInt": "a whole number in its range", "kDouble": "a number in its range"}
    status = highspy.HighsStatus.kError
    if isinstance(name, str):
        status, kind = highs.getOptionType(name)
    if status == highspy.HighsStatus.kError:
        known = [option for option in dir(highs.getOptions()) if not option.startswith("_")]
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise UnsupportedError(f"solver_options: HiGHS has no option {shown(name)}{hint}")
    return words.get(kind.name, "one of the words that HiGHS documents")
