"""What a figure is, and where each one is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.simulate import simulate

if TYPE_CHECKING:
    import pandas as pd

FIGURES: dict[str, str] = {
    "caspian-3": "carbonopt.papers.caspian:SIGNAL",
    "caspian-4": "carbonopt.papers.caspian:ALLOCATION",
    "caspian-5a": "carbonopt.papers.caspian:CUMULATIVE",
    "caspian-5bc": "carbonopt.papers.caspian:HISTOGRAM",
    "caspian-6": "carbonopt.papers.caspian:SWEEP_OF_OMEGA",
    "carbonflex-1": "carbonopt.papers.carbonflex_signals:SIGNALS",
    "carbonflex-2": "carbonopt.papers.carbonflex_signals:PROFILES",
    "carbonflex-4": "carbonopt.papers.carbonflex_signals:DECISIONS",
    "carbonflex-5": "carbonopt.papers.carbonflex_signals:DIVERSITY",
    "carbonflex-6": "carbonopt.papers.carbonflex_week:POLICIES",
    "carbonflex-7": "carbonopt.papers.carbonflex_week:GPU_POLICIES",
    "carbonflex-8": "carbonopt.papers.carbonflex_sweeps:CAPACITY",
    "carbonflex-9": "carbonopt.papers.carbonflex_sweeps:SLACK",
    "carbonflex-10": "carbonopt.papers.carbonflex_sweeps:ELASTICITY",
    "carbonflex-11": "carbonopt.papers.carbonflex_cases:TRACES",
    "carbonflex-12": "carbonopt.papers.carbonflex_cases:ZONES",
    "carbonflex-13": "carbonopt.papers.carbonflex_sweeps:SHIFT",
    "carbonflex-14": "carbonopt.papers.carbonflex_week:VCC",
    "gaia-1": "carbonopt.papers.gaia_inputs:THREE_DAYS",
    "gaia-2": "carbonopt.papers.gaia_example:EXAMPLE",
    "gaia-5": "carbonopt.papers.gaia_inputs:TRACE",
    "gaia-7": "carbonopt.papers.gaia_inputs:BY_MONTH",
    "gaia-8": "carbonopt.papers.gaia_week:CARBON_AND_WAIT",
    "gaia-9": "carbonopt.papers.gaia_week:BY_LENGTH",
    "gaia-10": "carbonopt.papers.gaia_week:WITH_RESERVED",
    "gaia-11": "carbonopt.papers.gaia_week:RESERVED_SWEEP",
    "gaia-12": "carbonopt.papers.gaia_week:WITH_SPOT",
    "gaia-13": "carbonopt.papers.gaia_year:ACROSS_TRACES",
    "gaia-14": "carbonopt.papers.gaia_waits:WAITS",
    "gaia-15": "carbonopt.papers.gaia_regions:BY_REGION",
    "gaia-16": "carbonopt.papers.gaia_regions:BY_REGION_KG",
    "gaia-17": "carbonopt.papers.gaia_regions:AT_MEAN_DEMAND",
    "gaia-reserved": "carbonopt.papers.gaia_year:ACROSS_RESERVED",
    "gaia-18": "carbonopt.papers.gaia_spot:LONGEST_SPOT_JOB",
    "gaia-19": "carbonopt.papers.gaia_spot:HYBRID_CLUSTER",
    "gaia-evictions": "carbonopt.papers.gaia_spot:EVICTIONS",
    "green-8": "carbonopt.papers.green_day:ZONES",
    "green-9a": "carbonopt.papers.green_day:ACCUMULATED",
    "green-9b": "carbonopt.papers.green_day:POWER",
    "green-10": "carbonopt.papers.green_day:QUEUES",
    "green-12": "carbonopt.papers.green_sweeps:OVER_YEAR",
    "green-13": "carbonopt.papers.green_sweeps:SWEEP",
    "green-jct": "carbonopt.papers.green_day:DISTRIBUTION",
    "green-load": "carbonopt.papers.green_sweeps:LOAD",
    "green-sensitivity": "carbonopt.papers.green_sensitivity:SENSITIVITY",
    "green-table-2": "carbonopt.papers.green_tables:OF_DAY",
    "green-table-3": "carbonopt.papers.green_tables:OF_YEAR",
    "green-table-4": "carbonopt.papers.green_tables:ABLATION",
    "icon-regret": "carbonopt.papers.icon_regret:REGRET",
    "regret-table": "carbonopt.papers.regret_table:REGRET",
    "robust-zones": "carbonopt.papers.robust_zones:ROBUST",
    "shift-or-consolidate": "carbonopt.papers.shift_or_consolidate:SAVINGS",
}
"""Where each figure is defined: ``<paper>-<number>``, or a question of ours."""

TIME_LIMIT = 60.0
"""Of each solve of a figure that solves instances, unless told otherwise [s]."""


@dataclass(frozen=True)
class Run:
    """What every figure is given.

    Parameters
    ----------
    instances
        What to run on; a figure that shows one takes the first.
    settings
        Of `carbonopt.simulate.simulate`: ``mode``, ``seed``, ``lengths``, ``forecast``.
    say
        Called with what is about to run.
    time_limit
        Of each solve of a figure that solves instances [s].
    """

    instances: Sequence[Instance]
    settings: Mapping[str, Any] = field(default_factory=dict)
    say: Callable[[str], None] = lambda _: None
    time_limit: float | None = TIME_LIMIT
    finished: list[dict[str, Any]] = field(default_factory=list)
    """Instance, policy and metrics of each simulation that has ended: what is left of a run that is stopped."""

    def simulate(self, instance: Instance, policy: Any, label: str, **changes: Any) -> Solution:
        """Simulate a policy, and keep what it gives.

        Parameters
        ----------
        instance, policy
            See `carbonopt.simulate.simulate`.
        label
            What is said and kept as the policy's name.
        **changes
            Of the settings.

        Raises
        ------
        KeyboardInterrupt
            If the user asked to stop.
        """
        self.say(f"{instance.name}: {label}")
        return self.keep(label, simulate(instance, policy, **{**self.settings, **changes}))

    def keep(self, label: str, found: Solution) -> Solution:
        """Keep what a simulation gives under this label; raise KeyboardInterrupt if it was stopped."""
        if found.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self.finished.append({"instance": found.instance, "policy": label, **found.metrics})
        return found


@dataclass(frozen=True)
class Figure:
    """One figure of a paper.

    Parameters
    ----------
    problem
        Whose instances it runs on.
    title
        One line.
    table
        Runs the experiment and returns what the figure shows, one row a point.
    draw
        ``(table, ax=None) -> axes``.
    note
        What matches the paper, and what cannot.
    defaults
        Parameters of ``generate``, of each instance that stands in where none is given.
    read
        Returns the instances in a file or folder, where these are not the package's own files.
    solves
        Whether it solves instances, each within a time limit, rather than simulating policies.
    shows
        How many instances one table shows: 1, or 2 for a past and a week. None: all that are given.
    """

    problem: str
    title: str
    table: Callable[[Run], pd.DataFrame]
    draw: Callable[..., Any]
    note: str
    defaults: tuple[Mapping[str, Any], ...] = ({},)
    read: Callable[[Path], Sequence[Instance]] | None = None
    solves: bool = False
    shows: int | None = None


def figure_of(name: str) -> Figure:
    """Return the figure of that name.

    Raises
    ------
    UnsupportedError
        If there is none; the message lists those there are.
    """
    if name not in FIGURES:
        raise UnsupportedError(f"unknown figure {name!r}: must be {one_of(tuple(FIGURES), limit=len(FIGURES))}")
    module, _, attribute = FIGURES[name].partition(":")
    figure: Figure = getattr(import_module(module), attribute)
    return figure
