"""An ML cluster instance from measured carbon intensity and a real job trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.time import format_utc
from carbonopt.io.convert import content_hashes, read_zone, require_sources, slot_zero, source_of
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.trace import TraceFiles, trace_files
from carbonopt.io.window import WHOLE, Window, read_part, warn_of_deadlines, warn_of_power
from carbonopt.io.workload import require_horizon, require_seed
from carbonopt.problems.mlcluster.data.catalogue import Mix, profile_mix
from carbonopt.problems.mlcluster.data.generate import mix_provenance
from carbonopt.problems.mlcluster.data.instance import Cluster, MlClusterInstance, MlJobs, Profile
from carbonopt.problems.mlcluster.data.settings import Limits, Weights
from carbonopt.problems.mlcluster.data.workload import draw_profiles, slots_needed


def convert(
    jobs: TraceFiles,
    carbon: Sequence[Path] | None,
    time_unit: str | None = None,
    zone: str | None = None,
    start: str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    wrap: bool = False,
    gpus: int | None = None,
    load: float = 1.0,
    profiles: Mix = "mix",
    min_gpus: int = 1,
    max_gpus: int = 8,
    restart_minutes: float = 2.0,
    gpus_per_host: int = 2,
    idle_watts: float = 50.0,
    host_watts: float = 200.0,
    min_length_hours: float = 0.0,
    jct_weight: float = 0.0,
    mean_jct_hours: float | None = None,
    seed: int = 1,
    name: str | None = None,
    trace_format: str | None = None,
    reading: Reading = AS_THEY_ARE,
    states: Collection[str] | None = None,
    window: Window = WHOLE,
) -> MlClusterInstance:
    """Make an instance of all jobs of a trace, as they are.

    A trace says nothing of how its jobs scale: each draws a profile. Where the trace tells GPUs, a job's work is
    its length times its profile's throughput on as many; jobs without one are left out, and counted. Else its
    length is its work on one GPU. The trace's CPUs are not used.

    Parameters
    ----------
    jobs, time_unit, trace_format, states
        Trace, its unit and its format, and states of jobs: see `carbonopt.io.trace.read_trace`.
    window
        Part of the trace.
    carbon, zone, start
        Carbon files; the cluster's zone (None for their only one); beginning of slot 0 (None for the
        first submission of a trace with dates, else the first moment of the files).
    slots, slot_hours
        Horizon; None for as many slots as a queue surely needs to drain. Jobs that arrive later, or could
        not end in time alone, are left out, and counted.
    wrap
        Repeat the carbon files where they end.
    gpus, load
        GPUs of the cluster; None: such that work over GPU time, while jobs arrive, is `load`.
    profiles
        See `carbonopt.problems.mlcluster.data.catalogue.profile_mix`.
    min_gpus, max_gpus, restart_minutes, gpus_per_host, idle_watts, host_watts
        As in `carbonopt.problems.mlcluster.data.generate.generate`.
    min_length_hours
        Leave out jobs that are shorter, and count them.
    jct_weight, mean_jct_hours
        Price of an hour of completion time [kg], and the JCT budget, of the objective.
    seed
        Of the draw of profiles. A job's profile depends on its row in the trace.
    reading
        What to take where the carbon files leave a choice.
    name
        Of the instance; None to make one of the sources.

    Raises
    ------
    InputError
        For every fault of the files, and if no job fits into the horizon.
    UnsupportedError
        For options out of range.
    """
    require_seed(seed)
    require_sources(carbon, slot_hours=slot_hours, load=load, gpus=gpus)
    if slots is not None and slots < 1:
        raise UnsupportedError(f"slots = {shown(slots)}: must be at least 1")
    assert carbon is not None
    model = {"max_gpus": max_gpus, "gpus_per_host": gpus_per_host, "idle_watts": idle_watts}
    parts, shares = profile_mix(profiles, restart_minutes=restart_minutes, **model)
    part = read_part(jobs, time_unit, trace_format, states, window)
    warn_of_power(part, "mlcluster")
    warn_of_deadlines(part, "mlcluster")
    trace = part.trace
    arrival = trace.arrival_hours * 60
    profile = draw_profiles(part.whole, shares, seed)[part.rows]
    held = np.ones(len(trace)) if trace.gpus is None else np.nan_to_num(trace.gpus)
    work = trace.length_hours * 60 * _speeds(parts, profile, held, max_gpus)
    long_enough = (trace.length_hours >= min_length_hours) & (held > 0)
    if not long_enough.any():
        raise InputError(
            Fault("jobs", f"no job on a GPU lasts at least {min_length_hours:g} h", file=str(trace_files(jobs)[0]))
        )
    span = max(float(np.ptp(arrival[long_enough])), 60.0)
    if gpus is not None:
        count = gpus
    else:
        count = max(min_gpus, int(np.ceil(work[long_enough].sum() / (load * span))))
    fastest = np.array([part.throughput[: min(max_gpus, count)].max() for part in parts])[profile]
    if slots is None:
        horizon = slots_needed(arrival[long_enough], work[long_enough], count, None, slot_hours)
    else:
        horizon = require_horizon(slots, slot_hours)
    keep = long_enough & (arrival + work / fastest <= horizon * slot_hours * 60)
    if not keep.any():
        raise InputError(Fault("jobs", f"no job can end within {horizon} slots", file=str(trace_files(jobs)[0])))
    signal = read_zone(carbon, zone, slot_zero(start, trace, part.begin_hours), horizon, slot_hours, wrap, reading)
    rows = np.flatnonzero(keep)
    zone_name = signal.zones[0]
    return MlClusterInstance(
        name=name or f"mlcluster-{source_of(jobs)}-j{len(rows):04d}-t{horizon:03d}-{zone_name}-s{seed:02d}",
        provenance={
            "converter": "carbonopt convert mlcluster",
            "files": content_hashes([*carbon, *trace_files(jobs)]),
            "dropped_jobs": int((long_enough & ~keep).sum()),
            "short_jobs_left_out": int((~long_enough & (held > 0)).sum()),
            **({"jobs_without_gpus_left_out": int((held == 0).sum())} if (held == 0).any() else {}),
            "trace_cpus_ignored": True,
            **trace.provenance(),
            **part.provenance,
            **signal.provenance(),
            "job_hours": float(trace.length_hours[rows].sum()),
            "seed": seed,
            **mix_provenance(parts, shares.tolist()),
            "carbon_start": format_utc(signal.time.start),
        },
        carbon=signal,
        cluster=Cluster(count, zone_name, gpus_per_host, idle_watts, host_watts),
        profiles=parts,
        jobs=MlJobs(
            trace.names(rows),
            arrival[rows],
            work[rows],
            tuple(parts[number].name for number in profile[rows]),
            np.full(len(rows), min_gpus),
            np.array([min(len(part), max_gpus) for part in parts])[profile[rows]],
        ),
        weights=Weights(jct_hours=jct_weight),
        limits=Limits(mean_jct_hours),
    )


def _speeds(parts: Sequence[Profile], profile: IntArray, held: FloatArray, max_gpus: int) -> FloatArray:
    """Return the throughput of each job on the GPUs that it held, at most `max_gpus`, in those of one."""
    count = np.clip(np.ceil(held), 1, max_gpus).astype(int)
    return np.array(
        [parts[own].throughput[min(gpus, len(parts[own])) - 1] for own, gpus in zip(profile, count, strict=True)]
    )
