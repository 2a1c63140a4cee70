"""What makes mosp data wrong, told by field and row. Each check needs only the parts it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, one_of, shown
from carbonopt.core.jobs import duplicate_faults
from carbonopt.core.validate import Axes, outside, wrong_shapes

if TYPE_CHECKING:
    from carbonopt.problems.mosp.data.instance import Clusters, MospJobs
    from carbonopt.problems.mosp.data.objectives import Objective

JOB_AXES: Axes = {
    "arrival": ("job",),
    "duration": ("job",),
    "deadline": ("job",),
    "demand": ("job, resource",),
    "eligible": ("job, cluster",),
}
CLUSTER_AXES: Axes = {
    "capacity": ("cluster, resource", "cluster, resource, slot"),
    "watts_per_unit": ("cluster, resource",),
}


def job_faults(jobs: MospJobs) -> list[Fault]:
    """Return what is wrong with the job table alone."""
    faults = list(wrong_shapes("jobs", jobs, JOB_AXES))
    if faults:
        return faults
    faults = [*jobs.length_faults(), *duplicate_faults("jobs.name", jobs.name)]
    faults += outside("jobs.arrival", jobs.arrival, jobs.arrival < 0, "must be at least 0")
    faults += outside("jobs.duration", jobs.duration, jobs.duration < 1, "must be at least 1 slot")
    faults += outside("jobs.deadline", jobs.deadline, ~(jobs.deadline >= 0), "must be at least 0")
    faults += outside("jobs.demand", jobs.demand, ~(jobs.demand >= 0), "must be at least 0")
    for field, values in (("jobs.deadline", jobs.deadline), ("jobs.demand", jobs.demand)):
        faults += outside(field, values, np.isposinf(values), "must be finite")
    return faults


def cluster_faults(clusters: Clusters) -> list[Fault]:
    """Return what is wrong with the clusters alone."""
    faults = list(wrong_shapes("clusters", clusters, CLUSTER_AXES))
    if faults:
        return faults
    count = len(clusters.name)
    faults = duplicate_faults("clusters.name", clusters.name)
    if count == 0:
        faults.append(Fault("clusters.name", "must name at least one cluster"))
    starts = clusters.max_starts_per_slot
    for field in ("zone", *CLUSTER_AXES, *(() if starts is None else ("max_starts_per_slot",))):
        length = len(getattr(clusters, field))
        if length != count:
            faults.append(
                Fault(f"clusters.{field}", f"must have one entry for each of the {count} clusters", f"{length} entries")
            )
    for field in ("capacity", "watts_per_unit"):
        values = getattr(clusters, field)
        bad = ~(values >= 0) | np.isposinf(values)
        faults += outside(f"clusters.{field}", values, bad, "must be finite and at least 0")
    if starts is not None:
        faults += outside("clusters.max_starts_per_slot", starts, starts < 0, "must be at least 0")
    return faults


def cross_faults(
    carbon: CarbonSignal | None,
    resources: tuple[str, ...],
    clusters: Clusters | None,
    jobs: MospJobs | None,
    objective: Objective | None,
) -> list[Fault]:
    """Return what does not fit together; None stands for a part that was found wrong before."""
    faults = duplicate_faults("resources", resources)
    if not resources:
        faults.append(Fault("clusters.capacity", "must name at least one resource"))
    if clusters is not None:
        faults += _resource_axis(resources, "clusters.capacity", clusters.capacity)
        faults += _resource_axis(resources, "clusters.watts_per_unit", clusters.watts_per_unit)
    if jobs is not None:
        faults += _resource_axis(resources, "jobs.demand", jobs.demand)
    if clusters is not None and carbon is not None:
        faults += _zone_faults(clusters, carbon)
    if clusters is not None and jobs is not None and jobs.eligible is not None:
        shape = (len(jobs), len(clusters))
        if jobs.eligible.shape != shape:
            faults.append(Fault("jobs.eligible", f"must have shape {shape}", f"shape {jobs.eligible.shape}"))
    if objective is not None:
        faults += _weight_faults(objective)
        if objective.kind == "caspian" and clusters is not None and carbon is not None:
            faults += _caspian_faults(carbon, clusters, resources)
    return faults


def _resource_axis(resources: tuple[str, ...], field: str, values: npt.NDArray[np.float64]) -> list[Fault]:
    if values.ndim >= 2 and values.shape[1] == len(resources):
        return []
    return [Fault(field, f"must have one column for each of {len(resources)} resources", f"shape {values.shape}")]


def _zone_faults(clusters: Clusters, carbon: CarbonSignal) -> list[Fault]:
    faults = [
        Fault("clusters.zone", f"is an unknown zone: carbon.zones has {one_of(carbon.zones)}", shown(zone), row)
        for row, zone in enumerate(clusters.zone)
        if zone not in carbon.zones
    ]
    slots = carbon.time.slots
    if clusters.capacity.ndim == 3 and clusters.capacity.shape[2] != slots:
        faults.append(Fault("clusters.capacity", f"must have {slots} slots", f"{clusters.capacity.shape[2]} slots"))
    return faults


def _weight_faults(objective: Objective) -> list[Fault]:
    weights = objective.to_dict()["weights"]
    faults = [
        Fault(f"objective.weights.{name}", "must be finite and at least 0", shown(weight))
        for name, weight in weights.items()
        if not (0 <= weight < float("inf"))
    ]
    price = getattr(objective, "rejection_price", None)
    if price is not None and not (0 <= price < float("inf")):
        faults.append(Fault("objective.rejection_price", "must be null or finite and at least 0", shown(price)))
    for name, bar in zip(weights, getattr(objective, "normalizers", None) or (), strict=False):
        if not (0 <= bar < float("inf")):
            faults.append(Fault(f"objective.normalizers.{name}", "must be finite and at least 0", shown(bar)))
    return faults


def _caspian_faults(carbon: CarbonSignal, clusters: Clusters, resources: tuple[str, ...]) -> Iterator[Fault]:
    """Z1 divides by intensity and by power: both must be positive where work may run."""
    why = "the caspian objective divides by it: must be above 0 (or use objective.kind 'carbon')"
    for zone, slot in np.argwhere(carbon.g_per_kwh == 0):
        if carbon.zones[zone] in clusters.zone:
            yield Fault(f"carbon.g_per_kwh[{zone}]", why, "0", int(slot))
    for j, r in np.argwhere(clusters.watts_per_unit == 0):
        if clusters.watts_per_unit.shape[1] == len(resources):
            yield Fault(f"clusters.watts_per_unit.{resources[r]}", why, "0", int(j))
