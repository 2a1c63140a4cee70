"""What a checker finds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from carbonopt.core.display import card, metric, number

HTML_LINES = 25
"""Violations or findings that a notebook shows."""


@dataclass(frozen=True)
class Violation:
    """One violated constraint.

    Parameters
    ----------
    constraint
        Its name in the mathematics of the problem's page, e.g. ``capacity`` or ``release``.
    message
        One line that names job, cluster, slot and amount.
    amount
        By how much, in the constraint's own unit.
    job, cluster, slot, resource
        Where; None where it does not apply.
    """

    constraint: str
    message: str
    amount: float = 1.0
    job: str | None = None
    cluster: str | None = None
    slot: int | None = None
    resource: str | None = None

    def __str__(self) -> str:
        return f"{self.constraint}: {self.message}"


@dataclass(frozen=True, repr=False)
class Report:
    """The checker's own evaluation of a schedule.

    Parameters
    ----------
    violations
        Every violated constraint; empty for a feasible schedule.
    objective
        Value of the schedule; None if it can't be evaluated.
    metrics
        Named quantities with units in their names.
    proven_bound
        The bound that the solution's certificate proves, recomputed; None without one.
    proven_infeasible
        Whether the certificate proves that there is no schedule.
    assumes
        What the objective and the proof take from the solution file without checking it, e.g. ``normalizers``.
    incomparable
        Why no bound of the instance's applies to this schedule, e.g. other rules than the instance's; empty
        where one does.
    """

    violations: tuple[Violation, ...]
    objective: float | None
    metrics: dict[str, Any] = field(default_factory=dict)
    proven_bound: float | None = None
    proven_infeasible: bool = False
    assumes: tuple[str, ...] = ()
    incomparable: str = ""

    @property
    def feasible(self) -> bool:
        """Whether no constraint is violated."""
        return not self.violations

    @property
    def cost(self) -> float:
        """The objective of a minimisation; infinite where a constraint is violated or there is no value."""
        return math.inf if self.violations or self.objective is None else self.objective

    def __repr__(self) -> str:
        return (
            f"Report({self._verdict()}, objective {number(self.objective)}, proven bound {number(self.proven_bound)})"
        )

    def _verdict(self) -> str:
        if self.feasible:
            return "feasible"
        return f"{len(self.violations)} violation{'' if len(self.violations) == 1 else 's'}"

    def _repr_html_(self) -> str:
        facts = {"objective": number(self.objective), "proven bound": number(self.proven_bound)}
        facts |= {name: metric(name, value) for name, value in self.metrics.items()}
        return card(self._verdict(), facts, map(str, self.violations[:HTML_LINES]))


@dataclass(frozen=True)
class Finding:
    """One reason why there is no schedule, in terms of the problem.

    Parameters
    ----------
    message
        One line, e.g. ``jobs 'a', 'b' need 96 gpu on average in slots 4-6 of CA-ON, 32 are there``.
    jobs, clusters
        Names of those involved.
    slots
        First and last slot of each stretch involved, in the order of `clusters`.
    resource
        The scarce resource, None where the reason is another one.
    needed, available
        Units times slots.
    """

    message: str
    jobs: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    slots: tuple[tuple[int, int], ...] = ()
    resource: str | None = None
    needed: float | None = None
    available: float | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Whether an instance has a schedule, and why not.

    Parameters
    ----------
    feasible
        True or False where proven, None where time ran out first.
    proof
        What proves it, in a few words.
    findings
        Reasons, most telling first; also jobs that can never run where the rest is feasible.
    """

    feasible: bool | None
    proof: str
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        return f"Diagnosis({self._verdict()}: {self.proof}, {len(self.findings)} findings)"

    def _verdict(self) -> str:
        return {True: "feasible", False: "infeasible", None: "unknown"}[self.feasible]

    def _repr_html_(self) -> str:
        return card(self._verdict(), {"proof": self.proof}, map(str, self.findings[:HTML_LINES]))
