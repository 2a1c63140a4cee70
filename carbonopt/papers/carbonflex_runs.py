"""What CarbonFlex's figures have in common: a past to learn from, policies, and their references.

W. A. Hanafy, L. Wu, D. Irwin, P. Shenoy. CarbonFlex: Enabling Carbon-aware Provisioning and Scheduling for
Cloud Clusters. arXiv:2505.18357, 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution
from carbonopt.papers.figure import Run
from carbonopt.problems.elastic import PROBLEM
from carbonopt.problems.elastic.data.catalogue import kind_of
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.extend import extend
from carbonopt.problems.elastic.online.hourly import HourlyPolicy
from carbonopt.problems.elastic.online.learn import learned
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.verify.late_windows import extended, with_slots
from carbonopt.simulation import make_policy
from carbonopt.solve import solve

BASELINE = "carbon-agnostic"
PAPER = ("carbon-agnostic", "lowest-window", "wait-awhile", "carbon-scaler", "carbonflex")
EVERY = (
    "carbon-agnostic",
    "lowest-window",
    "wait-awhile",
    "carbon-scaler",
    "vcc",
    "vcc-scaling",
    "carbonflex",
    "replan",
)
REFERENCES = ("oracle", "optimum")
"""Algorithm 1, and the certified bound of the fluid model: both know everything."""
SPARE_SLOTS = 96
"""Slots after the last window in which Algorithm 1 may complete jobs that it leaves unfinished."""
START_MINUTES = {"cpu": 3.0, "gpu": 5.0}
"""Time that a server takes to start [min], by kind of cluster (section 6.8)."""
CHECKPOINT_SECONDS = 2.3
"""Checkpoint and restore of the paper's largest workload [s] (section 6.8)."""
COLUMNS = ("carbon_kg", "mean_wait_slots", "late_jobs", "suspensions", "rescalings")
PAIRS = (
    "Instances are given in pairs, a past and a week: carbonflex has learned from the past before the week begins,"
    " and every policy knows its queues' statistics from there. A single instance is a week without a past:"
    " carbonflex then starts with nothing and learns as it goes."
)
NOT_PUBLIC = (
    "The paper samples its week from a month of Azure's trace that is not public in this form: this shows the same"
    " quantities for the instances that are given, e.g. of a resampled trace; without any, of synthetic ones."
)

WEEK: dict[str, Any] = {"model": "fluid", "profiles": "cpu-table-3", "seed": 1, "start": "2022-07-04T00:00:00Z"}
PAST: dict[str, Any] = {**WEEK, "seed": 1001, "start": "2022-05-09T00:00:00Z", "arrival_hours": 1344.0}
DEFAULTS = (PAST, WEEK)
"""Eight weeks and the week after them, of synthetic lengths and carbon: 150 servers of which half are in use, and the
CPU workloads of Table 3."""

Pair = tuple[ElasticInstance | None, ElasticInstance]


def pairs(run: Run) -> list[Pair]:
    """Return (past, week) of each pair of instances, or a single week without a past.

    Raises
    ------
    UnsupportedError
        For an odd number of instances above 1.
    """
    found = [instance for instance in run.instances if isinstance(instance, ElasticInstance)]
    if len(found) == 1:
        return [(None, found[0])]
    if len(found) % 2:
        raise UnsupportedError(f"{len(found)} instances: must be one week, or pairs of a past and a week")
    return list(zip(found[::2], found[1::2], strict=True))


class Policies:
    """Policies with what they have learned from a past; each is made anew for each simulation.

    Parameters
    ----------
    past
        None for none.
    """

    def __init__(self, past: ElasticInstance | None) -> None:
        self.statistics = None if past is None else QueueStatistics.of(past)
        self.knowledge = None if past is None else learned(past)

    def make(self, name: str) -> HourlyPolicy:
        """Return a new policy, by its name and any settings."""
        known = {"knowledge": self.knowledge} if name.partition(":")[0] == "carbonflex" else {}
        policy = make_policy(PROBLEM, name, **known)
        assert isinstance(policy, HourlyPolicy)
        policy.statistics = self.statistics
        return policy


def compared(
    run: Run, week: ElasticInstance, policies: Policies, names: Sequence[str], references: Sequence[str] = REFERENCES
) -> list[dict[str, Any]]:
    """Return a row for each policy and reference: carbon, saving over `BASELINE`, delay, lateness and churn.

    ``bound_kg`` is the certified bound of what the row's schedule is feasible for: of the week itself, or,
    where jobs are late, of the week with their windows extended.
    """
    rows: list[dict[str, Any]] = []
    bound = _bound(week)
    for name in names:
        found = run.simulate(week, policies.make(name), name)
        if found.objective is None:
            raise UnsupportedError(f"{week.name}: {name} ended {found.status}: {found.info.get('unfinished_jobs')}")
        late = found.info["late_slots"]
        equal = _bound(extended(week, late)) if late else bound
        row = {column: found.metrics[column] for column in COLUMNS}
        rows.append({"policy": name, **row, "bound_kg": equal, "overhead": overhead(week, found)})
    for name in references:
        run.say(f"{week.name}: {name}")
        rows.append({"policy": name, **reference_row(week, name, bound)})
    reference = next((row["carbon_kg"] for row in rows if row["policy"] == BASELINE), None)
    if reference is None:
        found = run.simulate(week, policies.make(BASELINE), BASELINE)
        reference = found.metrics["carbon_kg"]
    for row in rows:
        row["saving"] = 1 - row["carbon_kg"] / reference if reference else 0.0
    return rows


def overhead(week: ElasticInstance, found: Solution) -> float:
    """Return the carbon of server starts and checkpoints over that of the schedule, which leaves both out.

    A server that starts draws the mean power of the profiles for `START_MINUTES` (profiles of one's own: those of a CPU
    cluster), a job that is suspended or scaled
    that of its mean servers for `CHECKPOINT_SECONDS`.
    """
    rows = found.schedule
    share = rows["share"].to_numpy() if "share" in rows else 1.0
    used = np.bincount(rows["slot"].to_numpy(), rows["servers"].to_numpy() * share, week.time.slots)
    grams_per_kwh = week.intensity[np.minimum(np.arange(len(used)), week.time.slots - 1)]
    kind = "gpu" if any(kind_of(profile.name) == "gpu" for profile in week.profiles) else "cpu"
    started = np.maximum(0.0, np.diff(used, prepend=0.0)) * START_MINUTES[kind] / 60
    changes = found.metrics["suspensions"] + found.metrics["rescalings"]
    busy = max(1, int((used > 0).sum()))
    checkpointed = changes * found.metrics["mean_servers"] * CHECKPOINT_SECONDS / 3600 / busy
    watts = float(np.mean([profile.marginal_watts[0] / profile.k_min for profile in week.profiles]))
    grams = watts / 1000 * float((started + checkpointed * (used > 0)) @ grams_per_kwh)
    kg = found.metrics["carbon_kg"]
    return grams / 1000 / kg if kg else 0.0


def _bound(week: ElasticInstance) -> float:
    found = solve(week.with_model("fluid"), "price", time_limit=None)
    if found.bound is None:
        raise UnsupportedError(f"{week.name}: no bound, {found.status}")
    return found.bound / 1000


def reference_row(week: ElasticInstance, name: str, bound: float) -> dict[str, Any]:
    """Return carbon, late jobs and the bound of what is comparable, of one of `REFERENCES`.

    Where Algorithm 1 leaves jobs unfinished their deadlines are extended, as in the paper, and it runs once more.

    Parameters
    ----------
    week
        The instance.
    name
        ``oracle`` or ``optimum``.
    bound
        Certified, of the week [kg].
    """
    if name == "optimum":
        return {"carbon_kg": bound, "bound_kg": bound}
    method = "carbonflex-greedy-fluid" if week.model == "fluid" else "carbonflex-greedy"
    found = solve(week, method)
    if found.objective is not None:
        return {"carbon_kg": found.metrics["carbon_kg"], "late_jobs": 0, "bound_kg": bound}
    longer = with_slots(week, week.time.slots + SPARE_SLOTS)  # as the paper: deadlines extended, and once more
    longer = extend(longer, Options(time_limit=0.0), 1, "fluid" if week.model == "fluid" else "corrected").instance
    late = int((longer.jobs.slack > week.jobs.slack).sum())
    metrics = solve(longer, method).metrics
    return {"carbon_kg": metrics["carbon_kg"], "late_jobs": late, "bound_kg": _bound(longer)}


def swept(
    run: Run,
    values: Sequence[Any],
    column: str,
    change: Callable[[ElasticInstance, Any], ElasticInstance],
    names: Sequence[str],
    change_past: bool = True,
) -> pd.DataFrame:
    """Return the rows of `compared` for each value of something that is changed, of the first pair."""
    past, week = pairs(run)[0]
    kept = None if change_past else Policies(past)
    rows = []
    for value in values:
        before = None if past is None else change(past, value)
        policies = Policies(before) if kept is None else kept
        rows += [{column: value, **row} for row in compared(run, change(week, value), policies, names)]
    return pd.DataFrame(rows)


def with_slack_hours(instance: ElasticInstance, hours: float) -> ElasticInstance:
    """Return the instance with the same slack for every job; the last day is repeated where windows need more."""
    slack = np.full(len(instance.jobs), int(hours / instance.time.slot_hours + 1e-9), dtype=np.int64)
    end = int((instance.jobs.arrival + instance.jobs.whole_slots + slack).max(initial=1))
    return with_slots(instance, end).with_slack(slack)


def beside_paper(table: pd.DataFrame, paper: Mapping[str, float]) -> pd.DataFrame:
    """Return the table with the paper's saving of each policy, where its text gives one."""
    return table.assign(paper_saving=table["policy"].map(lambda name: paper.get(name)))


def with_gains(table: pd.DataFrame, column: str, paper: Mapping[str, float]) -> pd.DataFrame:
    """Return the table with what each policy saves more than at its first value of a column.

    Parameters
    ----------
    table
        Of `swept`.
    column
        What is changed.
    paper
        The gain that the text prints, by policy: from the first value to the last.
    """
    first = table[table[column] == table[column].iloc[0]].set_index("policy")["saving"]
    last = table[column] == table[column].iloc[-1]
    return table.assign(
        gain=table["saving"] - table["policy"].map(first),
        paper_gain=table["policy"].map(lambda name: paper.get(name)).where(last),
    )


def legend_above(axis: Any, columns: int) -> None:
    """Put the legend above the axes in so many columns: one row of eight policies leaves no room for the axes."""
    axis.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False)
