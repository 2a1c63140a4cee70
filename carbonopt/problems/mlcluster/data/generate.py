"""Seeded workloads: a day of training jobs on 32 hosts with 2 GPUs each, or any other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import format_utc, parse_utc
from carbonopt.io.supercomputer import SUPERCOMPUTER, label_of, require_workload, supercomputer_jobs
from carbonopt.io.workload import (
    Signal,
    job_names,
    require_above_zero,
    require_seed,
    signal_over,
    slot_hours_of,
    stream,
)
from carbonopt.problems.mlcluster.data.catalogue import ASSUMED, FAMILIES, Mix, profile_mix
from carbonopt.problems.mlcluster.data.instance import Cluster, MlClusterInstance, MlJobs, Profile
from carbonopt.problems.mlcluster.data.settings import Limits, Weights
from carbonopt.problems.mlcluster.data.workload import (
    ARRIVALS,
    SIZES_MIX,
    SizeClass,
    draw_profiles,
    draw_work,
    slots_needed,
)

ZONE = "GB"
"""Of the synthetic signal."""


def generate(
    jobs: int = 791,
    gpus: int = 64,
    arrival_hours: float = 24.0,
    profiles: Mix = "mix",
    sizes: Mapping[str, SizeClass] = SIZES_MIX,
    load: float | None = None,
    workload: str = "paper",
    min_gpus: int = 1,
    max_gpus: int = 8,
    restart_minutes: float = 2.0,
    gpus_per_host: int = 2,
    idle_watts: float = 50.0,
    host_watts: float = 200.0,
    drain_hours: float | None = None,
    jct_weight: float = 0.0,
    mean_jct_hours: float | None = None,
    seed: int = 1,
    carbon: Signal | None = None,
    zone: str | None = None,
    start: str = "2022-08-01T00:00:00Z",
    slot_hours: float | None = None,
    name: str | None = None,
) -> MlClusterInstance:
    """Generate an instance; the same arguments always give the same one.

    Parameters
    ----------
    jobs, gpus
        Number of jobs, and of GPUs.
    arrival_hours
        Hours in which jobs arrive, at uniform moments.
    profiles
        See `carbonopt.problems.mlcluster.data.catalogue.profile_mix`; each job draws its profile by the shares.
    sizes
        Classes of job sizes, for the workload ``paper``.
    load
        Scale all work such that it is this share of the GPU time while jobs arrive; None leaves it as drawn.
    workload
        ``paper``, or ``supercomputer``: heavy-tailed work, that of jobs of up to `gpus` processors, and arrivals in
        bursts and by the hour (see `carbonopt.io.supercomputer`).
    min_gpus, max_gpus
        Of every job, as far as its profile goes.
    restart_minutes
        Of every modelled profile.
    gpus_per_host, idle_watts, host_watts
        Of the cluster; the power of a GPU and of a host without jobs [W].
    drain_hours
        Time from the last arrival to the end of the signal; None for enough.
    jct_weight, mean_jct_hours
        Price of an hour of completion time [kg], and the JCT budget, of the objective.
    seed
        Of every draw, the synthetic carbon signal included.
    carbon, zone
        A signal at least as long as the horizon, or a function of the number of slots that returns one,
        and the cluster's zone in it (None for its only one). None: the bundled synthetic signal of GB.
    start
        Beginning of slot 0 where `carbon` is None.
    slot_hours
        Length of a slot; None for that of `carbon`, or 1 h.
    name
        Of the instance; None to make one of the parameters.

    Raises
    ------
    InputError
        For a signal that is too short, and for every fault of a profile file.
    UnsupportedError
        For parameters out of range.
    """
    require_above_zero(jobs=jobs, gpus=gpus, arrival_hours=arrival_hours, load=load)
    require_seed(seed)
    slot = slot_hours_of(carbon, slot_hours)
    model = {"max_gpus": max_gpus, "gpus_per_host": gpus_per_host, "idle_watts": idle_watts}
    parts, shares = profile_mix(profiles, restart_minutes=restart_minutes, **model)
    require_workload(workload)
    if workload == "supercomputer":
        begin = carbon.time.start if isinstance(carbon, CarbonSignal) else parse_utc(start)
        drawn = supercomputer_jobs(jobs, arrival_hours, max(2, gpus), seed, begin.hour + begin.minute / 60)
        arrival = np.round(drawn.arrival_hours * 60, 3)
        work = np.round(drawn.length_hours * drawn.cpus * 60, 2)
    else:
        arrival = np.sort(np.round(stream(seed, ARRIVALS).random(jobs) * arrival_hours * 60, 3))
        work = draw_work(jobs, sizes, seed)
    if load is not None:
        work = np.maximum(0.01, np.round(work * (load * gpus * arrival_hours * 60 / work.sum()), 2))
    profile = draw_profiles(jobs, shares, seed)
    slots = slots_needed(arrival, work, gpus, drain_hours, slot)
    signal = signal_over(carbon, zone or (ZONE if carbon is None else None), slots, slot, start, seed)
    most = np.array([min(len(part), max_gpus) for part in parts])[profile]
    zone_name = signal.zones[0]
    return MlClusterInstance(
        name=name or f"mlcluster-{label_of(workload, None, None)}-j{jobs:04d}-t{slots:03d}-{zone_name}-s{seed:02d}",
        provenance={
            "generator": "carbonopt generate mlcluster",
            **_told(workload, sizes),
            "seed": seed,
            "arrival_hours": arrival_hours,
            "load": float(work.sum()) / (gpus * arrival_hours * 60),
            **mix_provenance(parts, shares.tolist()),
            "carbon_signal": "synthetic, calibrated to published statistics" if carbon is None else "read from files",
            "carbon_start": format_utc(signal.time.start),
        },
        carbon=signal,
        cluster=Cluster(gpus, zone_name, gpus_per_host, idle_watts, host_watts),
        profiles=parts,
        jobs=MlJobs(
            job_names(jobs),
            arrival,
            work,
            tuple(parts[number].name for number in profile),
            np.full(jobs, min_gpus),
            most,
        ),
        weights=Weights(jct_hours=jct_weight),
        limits=Limits(mean_jct_hours),
    )


def mix_provenance(parts: tuple[Profile, ...], shares: list[float]) -> dict[str, object]:
    """Return where the profiles came from, and each one's share of the jobs."""
    return {
        "profiles": {
            part.name: "modelled: data-parallel training with a ring all-reduce" if part.name in FAMILIES else "given"
            for part in parts
        },
        "profile_shares": dict(zip((part.name for part in parts), shares, strict=True)),
        "profile_assumptions": dict(ASSUMED),
    }


def _told(workload: str, sizes: Mapping[str, SizeClass]) -> dict[str, object]:
    """Return where the jobs came from."""
    if workload == "supercomputer":
        return {"workload": SUPERCOMPUTER}
    made = "made up: uniform arrivals, log-uniform work in classes, by default of GREEN's Table 2"
    return {"workload": made, "sizes": {key: vars(size) for key, size in sizes.items()}}
