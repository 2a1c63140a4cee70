"""What a method returns, and what becomes of it after the checker."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from carbonopt.core.arrays import plain
from carbonopt.core.display import NAMES, card, metric_rows, number, percent, seconds
from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.instance import SCHEMA_VERSION
from carbonopt.core.jsonfile import write_json
from carbonopt.core.options import Schedule
from carbonopt.core.status import Status

if TYPE_CHECKING:
    import pandas as pd


PLOTS = {
    "load": "",
    "gantt": "carbonopt.plotting.gantt:plot_gantt",
    "prices": "carbonopt.plotting.prices:plot_prices",
}
"""What draws each kind of picture of a solution; empty where each problem has its own."""


WITHOUT_LOOPS = "without_loops"
"""Name in `Solution.info` of why a method did without its compiled loops; absent where it did not."""


@dataclass(frozen=True)
class Outcome:
    """What a method claims, before the checker has seen it.

    Parameters
    ----------
    status
        Why the method stopped.
    schedule
        Its best schedule; None if it found none.
    bound
        A proven bound on the objective; None if it has none.
    certificate
        What proves the bound without a solver; None if nothing does.
    info
        Anything worth keeping in the solution file, e.g. nodes or the LP's own optimum.
    """

    status: Status
    schedule: Schedule | None = None
    bound: float | None = None
    certificate: dict[str, Any] | None = None
    info: dict[str, Any] = field(default_factory=dict)


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """Return ``|objective - bound| / |objective|``; None where it is not defined.

    Examples
    --------
    >>> relative_gap(4.0, 3.0)
    0.25
    >>> relative_gap(4.0, None) is None
    True
    >>> relative_gap(0.0, -1.0) is None
    True
    """
    if objective is None or bound is None:
        return None
    difference = abs(objective - bound)
    if difference == 0:
        return 0.0
    return difference / abs(objective) if objective else None


def shown_method(name: str, without_loops: bool) -> str:
    """Return how tables name a method: with a note where it did without its compiled loops.

    Examples
    --------
    >>> shown_method("price", False), shown_method("price", True)
    ('price', 'price (loops not compiled)')
    """
    return f"{name} (loops not compiled)" if without_loops else name


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Solution:
    """A checked schedule, its value, and the best proven bound.

    `objective` and `metrics` are the checker's, never the solver's. `bound` is proven or None;
    `gap` exists only against a proven bound.
    """

    problem: str
    instance: str
    instance_sha256: str
    method: str
    status: Status
    sense: str
    objective: float | None = None
    bound: float | None = None
    certificate: dict[str, Any] | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    columns: Schedule | None = None
    info: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    wall_seconds: float = 0.0
    work: float | None = None

    @property
    def has_solution(self) -> bool:
        """Whether there is a schedule."""
        return self.columns is not None

    @property
    def gap(self) -> float | None:
        """``|objective - bound| / |objective|``, or None without a proven bound."""
        return relative_gap(self.objective, self.bound)

    @property
    def certificate_bound(self) -> float | None:
        """The bound that the certificate proves without a solver; None without one.

        It may be weaker than `bound`, which can be that of a solver's search tree.
        """
        if self.certificate is None or self.status is Status.INFEASIBLE:
            return None
        found = self.certificate.get("bound")
        if not isinstance(found, (int, float)) or isinstance(found, bool) or not isfinite(found):
            return None
        return found

    @property
    def certificate_gap(self) -> float | None:
        """The gap to `certificate_bound`, or None."""
        return relative_gap(self.objective, self.certificate_bound)

    @property
    def certificate_proves_less(self) -> bool:
        """Whether there is a certificate, and `bound` goes beyond what it proves."""
        return "tree_bound" in self.info and self.certificate_bound is not None

    @property
    def shown_method(self) -> str:
        """The method's name, with a note where it did without its compiled loops."""
        return shown_method(self.method, self.without_loops)

    @property
    def without_loops(self) -> bool:
        """Whether the method did without its compiled loops."""
        return WITHOUT_LOOPS in self.info

    @property
    def shown_metrics(self) -> dict[str, Any]:
        """The metrics; Caspian's terms only where they are the objective, which alone of its problem is maximised."""
        return {name: value for name, value in self.metrics.items() if self.sense == "max" or name not in NAMES}

    @property
    def schedule(self) -> pd.DataFrame:
        """The schedule, one row a decision.

        Raises
        ------
        ValueError
            If there is none.
        """
        import pandas as pd

        if self.columns is None:
            raise ValueError(f"{self.method} on {self.instance} ended {self.status} without a schedule")
        return pd.DataFrame(self.columns)

    def __repr__(self) -> str:
        parts = [f"{self.shown_method} on {self.instance!r}: {self.status}"]
        if self.objective is not None:
            parts.append(f"objective {number(self.objective)}")
        if self.bound is not None:
            parts.append(f"bound {number(self.bound)}")
        if self.gap is not None:
            parts.append(f"gap {percent(self.gap)}")
        return f"Solution({', '.join(parts)})"

    def _repr_html_(self) -> str:
        facts = {
            "status": str(self.status),
            f"objective ({self.sense})": number(self.objective),
            "proven bound": number(self.bound),
            "gap": percent(self.gap),
            **dict(self.certificate_rows()),
            "seconds": seconds(self.wall_seconds),
            "work units": number(self.work),
        }
        facts |= dict(metric_rows(self.shown_metrics))
        return card(f"{self.shown_method} on {self.instance}", facts)

    def certificate_rows(self) -> list[list[str]]:
        """Return name and value of what the certificate proves, where the bound goes beyond it."""
        if not self.certificate_proves_less:
            return []
        return [
            ["certificate proves", number(self.certificate_bound, 9)],
            ["its gap", percent(self.certificate_gap)],
        ]

    def summary(self) -> dict[str, Any]:
        """Return the solution without its schedule: what ``--json`` prints."""
        return {
            "instance": self.instance,
            "problem": self.problem,
            "method": self.method,
            "status": str(self.status),
            "sense": self.sense,
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "certificate_bound": self.certificate_bound,
            "certificate_gap": self.certificate_gap,
            "without_loops": self.without_loops,
            "wall_seconds": self.wall_seconds,
            "work": self.work,
            "metrics": plain(self.metrics),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the solution as its file holds it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "problem": self.problem,
            "instance": self.instance,
            "instance_sha256": self.instance_sha256,
            "method": self.method,
            "options": plain(self.options),
            "status": str(self.status),
            "sense": self.sense,
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "certificate": plain(self.certificate),
            "metrics": plain(self.metrics),
            "info": plain(self.info),
            "schedule": plain(self.columns),
            "versions": self.versions,
            "wall_seconds": self.wall_seconds,
            "work": self.work,
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to `path` (``.json`` or ``.json.gz``), whole or not at all."""
        write_json(path, self.to_dict())

    def timetable(self, instance: Any, tz: str = "UTC") -> pd.DataFrame:
        """Return the runs with begin and end on the clock of a time zone: see `carbonopt.timetable`.

        Parameters
        ----------
        instance
            That the solution is of.
        tz
            Name of the time zone, e.g. ``Europe/Berlin``.
        """
        from carbonopt.core.registry import load

        table: pd.DataFrame = load("carbonopt.timetable:timetable", "carbonopt")(instance, self, tz)
        return table

    def plot(self, instance: Any, kind: str = "load", ax: Any = None) -> Any:
        """Draw the schedule on `instance` and return the matplotlib axes.

        Parameters
        ----------
        instance
            That the solution is of.
        kind
            ``load``: load over time against capacity and carbon intensity; ``gantt``: every run as a bar;
            ``prices``: the prices of capacity that prove the bound.
        ax
            Axes to draw on, as many as the kind needs; None for a new figure.

        Raises
        ------
        UnsupportedError
            If there is no such kind, or it needs what the solution does not have.
        """
        from carbonopt.core.registry import load, problem_of

        if kind not in PLOTS:
            raise UnsupportedError(f"unknown plot {kind!r}: must be {one_of(tuple(PLOTS))}")
        draw = load(PLOTS[kind], "carbonopt") if PLOTS[kind] else problem_of(self.problem).role("plot")
        return draw(instance, self, ax=ax)
