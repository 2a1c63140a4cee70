"""What makes elastic data wrong, told by field and row. Each check needs only the parts it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, one_of, shown
from carbonopt.core.jobs import duplicate_faults
from carbonopt.core.validate import Axes, outside, wrong_shapes

if TYPE_CHECKING:
    from carbonopt.problems.elastic.data.instance import Cluster, ElasticJobs, Profile

JOB_AXES: Axes = {"arrival": ("job",), "length": ("job",), "slack": ("job",)}
LONGEST = 2**53 - 1
"""Slots that a length may have: beyond it, ends of windows are no exact numbers."""
SHORTEST = 1e-10
"""Slots that a length must have: shares of a slot of 1e-12 are rounding, and a job of no more could never end."""
PROFILE_COLUMNS = ("marginal_throughput", "marginal_watts", "marginal_gbps")


def profile_faults(profile: Profile) -> list[Fault]:
    """Return what is wrong with one profile."""
    place = f"profiles.{profile.name}"
    faults = list(wrong_shapes(place, profile, dict.fromkeys(PROFILE_COLUMNS, ("unit",))))
    if faults:
        return faults
    if profile.k_min < 1 or profile.k_min != int(profile.k_min):
        faults.append(Fault(f"{place}.k_min", "must be a whole number of servers, at least 1", shown(profile.k_min)))
    gain = profile.marginal_throughput
    faults += throughput_faults(f"{place}.marginal_throughput", gain.tolist())
    for column in PROFILE_COLUMNS[1:]:
        values = getattr(profile, column)
        field = f"{place}.{column}"
        if values is None:
            continue
        if len(values) != len(gain):
            words = f"must have one entry for each of the {len(gain)} units of marginal_throughput"
            faults.append(Fault(field, words, f"{len(values)} entries"))
        bad = ~(values >= 0) | np.isposinf(values)
        faults += outside(field, values, bad, "must be finite and at least 0")
    return faults


def throughput_faults(field: str, gain: list[float]) -> Iterator[Fault]:
    """Yield what is wrong with marginal throughputs: empty, not above 0, first not 1, or increasing."""
    if not gain:
        yield Fault(field, "must have at least one entry, that of k_min", "[]")
        return
    for row, value in enumerate(gain):
        if not 0 < value < np.inf:
            yield Fault(field, "must be finite and above 0", shown(value), row)
        elif row == 0 and value != 1:
            yield Fault(field, "must be 1: throughput is in units of that at k_min", shown(value), row)
        elif row and value > gain[row - 1] > 0:
            words = f"must not increase: the entry before is {shown(gain[row - 1])}"
            yield Fault(field, words, shown(value), row)


def cluster_faults(cluster: Cluster) -> list[Fault]:
    """Return what is wrong with the cluster alone."""
    capacity = np.atleast_1d(cluster.capacity)
    price = cluster.network_watts_per_gbps
    if cluster.capacity.ndim > 1:
        words = "must be one number, or one a slot"
        return [Fault("cluster.capacity", words, f"shape {cluster.capacity.shape}")]
    bad = ~(capacity >= 0) | np.isposinf(capacity)
    faults = list(outside("cluster.capacity", capacity, bad, "must be finite and at least 0"))
    if not 0 <= price < np.inf:
        faults.append(Fault("cluster.network_watts_per_gbps", "must be finite and at least 0", shown(price)))
    return faults


def job_faults(jobs: ElasticJobs) -> list[Fault]:
    """Return what is wrong with the job table alone."""
    faults = list(wrong_shapes("jobs", jobs, JOB_AXES))
    if faults:
        return faults
    faults = [*jobs.length_faults(), *duplicate_faults("jobs.name", jobs.name)]
    faults += outside("jobs.arrival", jobs.arrival, jobs.arrival < 0, "must be at least 0")
    bad = ~((jobs.length > 0) & (jobs.length <= LONGEST))
    faults += outside("jobs.length", jobs.length, bad, f"must be above 0 and at most {LONGEST} slots")
    short = (jobs.length > 0) & (jobs.length < SHORTEST)
    faults += outside("jobs.length", jobs.length, short, f"must be at least {SHORTEST:g} slots")
    faults += outside("jobs.slack", jobs.slack, jobs.slack < 0, "must be at least 0 slots")
    return faults


def model_faults(model: str, switching: float) -> list[Fault]:
    """Return what is wrong with the model and its switching cost."""
    faults = []
    if model not in ("integer", "fluid"):
        faults.append(Fault("model", "must be 'integer' or 'fluid'", shown(model)))
    if not 0 <= switching < np.inf:
        words = "must be finite and at least 0"
        faults.append(Fault("objective.switching_g_per_server", words, shown(switching)))
    elif switching > 0 and model == "fluid":
        words = "must be 0: the fluid model has no whole servers to switch (or use model 'integer')"
        faults.append(Fault("objective.switching_g_per_server", words, shown(switching)))
    return faults


def cross_faults(
    carbon: CarbonSignal | None, cluster: Cluster | None, profiles: tuple[Profile, ...], jobs: ElasticJobs | None
) -> list[Fault]:
    """Return what does not fit together; None stands for a part that was found wrong before."""
    names = tuple(profile.name for profile in profiles)
    faults = duplicate_faults("profiles", names)
    if not profiles:
        faults.append(Fault("profiles", "must hold at least one profile", "{}"))
    if cluster is not None and carbon is not None:
        faults += _cluster_fit(carbon, cluster)
    if jobs is not None:
        faults += [
            Fault("jobs.profile", f"is unknown: profiles has {one_of(names)}", shown(name), row)
            for row, name in enumerate(jobs.profile)
            if name not in names and names
        ]
        if carbon is not None:
            faults += window_faults(jobs, carbon.time.slots)
    return faults


def window_faults(jobs: ElasticJobs, slots: int) -> Iterator[Fault]:
    """Yield each job whose window ends after the horizon."""
    end = jobs.window_end
    for row in np.flatnonzero(end > slots):
        words = (
            f"gives job {jobs.name[row]!r} a window [{jobs.arrival[row]}, {end[row]}) past the horizon of {slots} "
            f"slots: arrival + ceil(length) + slack must be at most {slots}"
        )
        yield Fault("jobs.slack", words, shown(int(jobs.slack[row])), int(row))


def _cluster_fit(carbon: CarbonSignal, cluster: Cluster) -> Iterator[Fault]:
    if cluster.zone not in carbon.zones:
        yield Fault("cluster.zone", f"is an unknown zone: carbon.zones has {one_of(carbon.zones)}", shown(cluster.zone))
    slots = carbon.time.slots
    if cluster.capacity.ndim == 1 and len(cluster.capacity) != slots:
        yield Fault("cluster.capacity", f"must have {slots} slots", f"{len(cluster.capacity)} slots")
