"""The solution file, as it is read; `Solution.write` writes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.io.schema import Faults, Name, NonNegative, SchemaVersion, Section, free_form_faults

Finite = Annotated[float, Field(allow_inf_nan=False)]


class SolutionFile(Section):
    """A solution of any problem."""

    schema_version: SchemaVersion
    problem: Name
    instance: Name
    instance_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    method: Name
    options: dict[str, Any] = Field(default_factory=dict)
    status: Literal["optimal", "feasible", "time_limit", "infeasible", "interrupted", "unknown", "error"]
    sense: Literal["min", "max"]
    objective: Finite | None = None
    bound: Finite | None = None
    gap: Annotated[Finite, Field(ge=0)] | None = Field(
        default=None, description="|objective - bound| / |objective|; readers recompute it"
    )
    certificate: dict[str, Any] | None = Field(default=None, description="what proves the bound")
    metrics: dict[Name, Finite | None] = Field(default_factory=dict)
    info: dict[str, Any] = Field(default_factory=dict)
    schedule: dict[str, list[Any]] | None = Field(default=None, description="columns, one row a decision")
    versions: dict[str, str] = Field(default_factory=dict)
    wall_seconds: NonNegative = 0.0
    work: NonNegative | None = Field(default=None, description="work units that the run counted")


def solution_from_dict(raw: dict[str, Any]) -> Solution:
    """Return the solution that a file's content stands for.

    Raises
    ------
    InputError
        With every fault of the file. Whether the schedule is feasible is the checker's business.
    """
    faults = Faults()
    file = faults.whole(SolutionFile, raw)
    faults.found += free_form_faults(raw, "options", "certificate", "info", "schedule")
    faults.raise_if_any()
    assert file is not None
    values = {name: getattr(file, name) for name in SolutionFile.model_fields}
    for name in ("schema_version", "gap", "schedule"):
        del values[name]
    return Solution(**{**values, "status": Status(file.status), "columns": file.schedule})
