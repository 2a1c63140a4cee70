"""What GREEN's figures have in common: instances in the paper's zones, policies, and their certified distance.

K. Xu, D. Sun, H. Tian, J. Zhang, K. Chen. GREEN: Carbon-efficient Resource Scheduling for Machine Learning
Clusters. NSDI 2025. Its trace, its scaling profiles and its measured powers are private.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution
from carbonopt.io.synthetic import synthetic_carbon
from carbonopt.papers.figure import Run
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.data.workload import SIZES_YEAR
from carbonopt.problems.mlcluster.methods.limited import at_equal
from carbonopt.problems.mlcluster.methods.price.bound import ascend
from carbonopt.problems.mlcluster.verify.certificate import proven_bound
from carbonopt.problems.mlcluster.verify.metrics import carbon_between
from carbonopt.problems.mlcluster.verify.runs import level_after, parsed
from carbonopt.simulation import Policy

ZONES = ("GB", "US-CAL-CISO", "SE-SE3", "PL")
"""The paper's: the United Kingdom, California, Sweden and Poland."""
ZONES_YEAR = (*ZONES, "CA-ON")
"""Of the simulated year: Ontario beside them (section 8.3)."""
BASELINE = "tiresias"
POLICIES = (BASELINE, "carbon-time", "ecovisor", "green-no-shifting", "green")
METRICS = {
    "carbon_kg": "carbon_kg",
    "added_carbon_kg": "added_kg",
    "footprint_kg": "footprint_kg",
    "mean_jct_hours": "jct_hours",
    "p95_jct_hours": "tail_hours",
    "peak_kw": "peak_kw",
}
"""Columns of the tables."""
CHANGES = {
    "carbon_kg": "carbon",
    "added_kg": "added",
    "footprint_kg": "footprint",
    "jct_hours": "jct",
    "tail_hours": "tail",
}
"""Columns that are shown over those of the baseline, less 1, and what these are called."""
TAIL = 95
"""Percentile of completion times that stands for the tail, which the paper does not define."""
YEAR = {"jobs": 146_000, "arrival_hours": 8760.0, "sizes": SIZES_YEAR}
"""Parameters of `generate`: the simulated year of section 8.3 in the shares of Table 3, a load of 0.85."""
GREEN_OF_YEAR = "green:mean=day"
"""GREEN is given a new curve of 24 hours every 24 hours (section 8.1)."""
DIGITS = 4
BOUNDED = 1_000_000
"""Jobs times slots up to which a distance from the bound is told: seconds for each policy."""
SETTINGS = (
    "The paper's trace, scaling profiles and measured powers are private: this shows the same quantities on the"
    " instances that are given, by default 791 jobs on 64 GPUs in the shares of Table 2, with modelled profiles. A"
    " single instance with a synthetic signal stands for one in each of the paper's four zones. All schedulers preempt"
    " every 30 minutes (section 6.3), and those that do not scale run each job on the GPUs of its best energy"
    " efficiency (section 8.1); green-sensitivity changes both. Columns carbon, added, footprint, jct and"
    " tail (the 95th percentile of completion times: the paper names none) are changes over Tiresias."
)


def clusters(run: Run, zones: tuple[str, ...] | None = None) -> list[MlClusterInstance]:
    """Return the instances; a single one with a synthetic signal stands for one in each of `zones`, or `ZONES`."""
    found = [instance for instance in run.instances if isinstance(instance, MlClusterInstance)]
    if len(found) > 1 or not str(found[0].provenance.get("carbon_signal", "")).startswith("synthetic"):
        return found
    seed = int(found[0].provenance.get("seed", 0))
    return [in_zone(found[0], zone, seed) for zone in zones or ZONES]


def in_zone(instance: MlClusterInstance, zone: str, seed: int) -> MlClusterInstance:
    """Return the same jobs and cluster under the synthetic signal of a zone."""
    carbon = synthetic_carbon([zone], instance.time, seed)
    return replace(instance, carbon=carbon, cluster=replace(instance.cluster, zone=zone))


def simulated(run: Run, instance: MlClusterInstance, policy: str | Policy) -> Solution:
    """Return the checked schedule of a policy.

    Raises
    ------
    UnsupportedError
        If not all jobs end within the signal.
    """
    name = policy if isinstance(policy, str) else "green"
    found = run.simulate(instance, policy, f"{name} in {instance.zone}")
    if not found.has_solution:
        text = f"{instance.name}: {name} does not end within the {instance.time.hours:g} h of the signal"
        raise UnsupportedError(text)
    return found


def is_bounded(instance: MlClusterInstance) -> bool:
    """Return whether distances from the bound are told: not beyond `BOUNDED`."""
    return 0 < len(instance.jobs) * instance.time.slots <= BOUNDED


def certificate_at_equal(instance: MlClusterInstance, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return what proves the least added carbon at a policy's own mean completion time."""
    return ascend(at_equal(instance, metrics)[0], Options(time_limit=None)).certificate()


def bound_by(instance: MlClusterInstance, metrics: Mapping[str, Any], certificate: dict[str, Any]) -> float:
    """Return the least added carbon at a policy's mean completion time that a certificate proves [kg].

    A certificate of another mean completion time proves a bound here too, a weaker one.
    """
    value, _ = proven_bound(at_equal(instance, metrics)[0], certificate, {})
    return np.nan if value is None else max(0.0, value)


def bound_at_equal(instance: MlClusterInstance, metrics: Mapping[str, Any]) -> float:
    """Return the certified least added carbon at a policy's own mean completion time [kg]; NaN beyond `BOUNDED`."""
    if not is_bounded(instance):
        return np.nan
    return bound_by(instance, metrics, certificate_at_equal(instance, metrics))


def as_footprint(instance: MlClusterInstance) -> MlClusterInstance:
    """Return an instance of which the added carbon is the paper's footprint: GPUs and hosts without a job emit none."""
    share = instance.cluster.host_watts_per_gpu
    profiles = tuple(
        replace(profile, watts=profile.watts + share * np.arange(1, len(profile) + 1)) for profile in instance.profiles
    )
    cluster = replace(instance.cluster, idle_watts_per_gpu=0.0, host_watts=0.0)
    return replace(instance, profiles=profiles, cluster=cluster)


def least_end_minutes(instance: MlClusterInstance) -> float:
    """Return a moment before which no schedule has ended: of the job that ends last at full speed."""
    jobs = instance.jobs
    speed = np.array([float(profile.throughput.max()) for profile in instance.profiles])[instance.profile_of_job]
    return float((jobs.arrival_minutes + jobs.work_gpu_minutes / speed).max(initial=0.0))


def row_of(instance: MlClusterInstance, solution: Solution, bounded: bool = True) -> dict[str, float]:
    """Return the metrics of a schedule, its carbon until the last job ends, and its distance from the bound."""
    row = {name: float(solution.metrics[metric]) for metric, name in METRICS.items()}
    end = np.full(1, 60 * solution.metrics["makespan_hours"])
    idle = instance.cluster.idle_watts * float(carbon_between(instance, np.zeros(1), end)[0])
    bound = bound_at_equal(instance, solution.metrics) if bounded else np.nan
    above = row["added_kg"] / bound - 1 if bound > 0 else np.nan
    least = instance.cluster.idle_watts * float(
        carbon_between(instance, np.zeros(1), np.full(1, least_end_minutes(instance)))[0]
    )
    footprint = bound_at_equal(as_footprint(instance), solution.metrics) if bounded else np.nan
    bounds = {"bound_kg": bound, "bound_footprint_kg": footprint, "bound_until_end_kg": bound + least}
    return row | {"until_end_kg": row["added_kg"] + idle, "above_bound": above, **bounds}


def added_watts(instance: MlClusterInstance, solution: Solution) -> FloatArray:
    """Return the mean power that the jobs add in each slot [W], shape (T,)."""
    rows, _ = parsed(instance, {str(name): column.tolist() for name, column in solution.schedule.items()})
    watts = instance.scales.added_watts[instance.profile_of_job[rows.job], rows.gpus - 1]
    moment, level = level_after(rows.start, rows.end, watts)
    energy = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(moment))])
    edges = instance.slot_minutes * np.arange(instance.time.slots + 1)
    return np.asarray(np.diff(np.interp(edges, moment, energy)) / instance.slot_minutes)


def completion_hours(instance: MlClusterInstance, solution: Solution) -> FloatArray:
    """Return the time from arrival to completion of each job [h], shape (N,)."""
    end = solution.schedule.groupby("job", sort=False)["end_minutes"].max()
    return np.asarray((end.reindex(list(instance.jobs.name)).to_numpy() - instance.jobs.arrival_minutes) / 60)


def by_zone(run: Run, policies: tuple[str, ...]) -> pd.DataFrame:
    """Return a row for each zone and policy, means over the zone's instances, with what they are over the baseline."""
    rows = []
    for instance in clusters(run):
        for policy in policies:
            row = row_of(instance, simulated(run, instance, policy))
            rows.append({"zone": instance.zone, "policy": policy, **row})
    each = pd.DataFrame(rows)
    zone_and_policy = [each["zone"], each["policy"]]
    table = each.groupby(["zone", "policy"], sort=False).mean().reset_index()
    bounded = each[["added_kg", "bound_kg"]].where(each["bound_kg"].notna())  # else means of different instances
    sums = bounded.groupby(zone_and_policy, sort=False).sum(min_count=1).reset_index()
    table["above_bound"] = (sums["added_kg"] / sums["bound_kg"] - 1).round(DIGITS)
    base = table[table["policy"] == BASELINE].set_index("zone")
    for column, name in CHANGES.items():
        table[name] = (table[column] / table["zone"].map(base[column]) - 1).round(DIGITS)
    table["most_footprint"] = (1 - table["bound_footprint_kg"] / table["footprint_kg"]).round(DIGITS)
    return table.drop(columns=["footprint_kg", "until_end_kg", "bound_footprint_kg", "bound_until_end_kg"])
