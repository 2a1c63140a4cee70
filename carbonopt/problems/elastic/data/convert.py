"""An elastic instance from measured carbon intensity and a real job trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.time import format_utc
from carbonopt.io.convert import (
    arrival_slots,
    content_hashes,
    early_deadlines,
    read_zone,
    require_sources,
    slot_zero,
    slots_to_wait,
    source_of,
)
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.trace import TraceFiles, trace_files
from carbonopt.io.window import WHOLE, Window, read_part, warn_of_power
from carbonopt.io.workload import require_horizon, require_seed
from carbonopt.problems.elastic.data.catalogue import Mix, network_price, profile_mix
from carbonopt.problems.elastic.data.instance import Cluster, ElasticInstance, ElasticJobs
from carbonopt.problems.elastic.data.workload import (
    Queues,
    draw_profiles,
    mix_provenance,
    require_model,
    window_ends,
)


def convert(
    jobs: TraceFiles,
    carbon: Sequence[Path] | None,
    time_unit: str | None = None,
    zone: str | None = None,
    start: str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    wrap: bool = False,
    capacity: float | None = None,
    load: float = 0.5,
    profiles: Mix = "mix",
    k_max: int | None = None,
    watts: float | None = None,
    model: str = "integer",
    seed: int = 1,
    min_length_hours: float = 0.0,
    short_hours: float = 2.0,
    medium_hours: float = 12.0,
    short_slack_hours: float = 6.0,
    medium_slack_hours: float = 24.0,
    long_slack_hours: float = 48.0,
    slack_hours: float | None = None,
    name: str | None = None,
    trace_format: str | None = None,
    reading: Reading = AS_THEY_ARE,
    states: Collection[str] | None = None,
    window: Window = WHOLE,
) -> ElasticInstance:
    """Make an instance of all jobs of a trace, as they are.

    Arrivals are rounded up to the next slot; lengths are not rounded. A trace says nothing of how its
    jobs scale: each draws a profile. The trace's CPUs are not used, since a job's base unit is the
    k_min servers of its profile.

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
        Horizon; None for as many slots as the last window needs. Jobs whose windows end later are left
        out, and counted.
    wrap
        Repeat the carbon files where they end.
    capacity, load
        Servers of the cluster; None: such that work at k_min over capacity, while jobs arrive, is `load`.
    profiles, k_max, watts
        See `carbonopt.problems.elastic.data.catalogue.profile_mix`.
    model
        ``integer`` or ``fluid``.
    seed
        Of the draw of profiles. A job's profile depends on its row in the trace, not on the horizon.
    min_length_hours
        Leave out jobs that are shorter, and count them.
    short_hours, medium_hours, short_slack_hours, medium_slack_hours, long_slack_hours, slack_hours
        Slack by length, or one for all jobs (see `carbonopt.problems.elastic.data.workload.Queues`). Of a job with
        a deadline in the trace the slack is what is left until it, rounded down to slots.
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
    TooLargeError
        If the slots would not fit into memory.
    """
    queues = Queues(short_hours, medium_hours, short_slack_hours, medium_slack_hours, long_slack_hours, slack_hours)
    require_model(model)
    require_seed(seed)
    require_sources(carbon, slot_hours=slot_hours, load=load, capacity=capacity)
    assert carbon is not None
    parts, shares = profile_mix(profiles, k_max, watts)
    part = read_part(jobs, time_unit, trace_format, states, window)
    warn_of_power(part, "elastic")
    trace = part.trace
    arrival = arrival_slots(trace, slot_hours)
    length = trace.length_hours / slot_hours
    earliest = window_ends(arrival, length, np.zeros(len(trace)))
    slack = slots_to_wait(trace, slot_hours, earliest, queues.slack_slots(trace.length_hours, slot_hours))
    ends = earliest + slack
    long_enough = trace.length_hours >= min_length_hours
    if (short := long_enough & (slack < 0)).any():
        raise InputError(early_deadlines(trace, trace_files(jobs)[0], slot_hours, earliest, short))
    if not long_enough.any():
        raise InputError(Fault("jobs", f"no job lasts at least {min_length_hours:g} h", file=str(trace_files(jobs)[0])))
    horizon = require_horizon(float(ends[long_enough].max()) if slots is None else slots, slot_hours)
    keep = long_enough & (ends <= horizon)
    if not keep.any():
        raise InputError(Fault("jobs", f"no job's window ends within {horizon} slots", file=str(trace_files(jobs)[0])))
    signal = read_zone(carbon, zone, slot_zero(start, trace, part.begin_hours), horizon, slot_hours, wrap, reading)
    rows = np.flatnonzero(keep)
    profile = draw_profiles(part.whole, shares, seed)[part.rows[rows]]
    k_min = np.array([part.k_min for part in parts], dtype=float)[profile]
    if capacity is not None:
        servers = capacity
    else:
        servers = _servers(arrival[rows], length[rows], k_min, load)
    zone_name = signal.zones[0]
    return ElasticInstance(
        name=name or f"elastic-{source_of(jobs)}-j{len(rows):04d}-t{horizon:03d}-{zone_name}-s{seed:02d}",
        provenance={
            "converter": "carbonopt convert elastic",
            "files": content_hashes([*carbon, *trace_files(jobs)]),
            "dropped_jobs": int((long_enough & ~keep).sum()),
            "short_jobs_left_out": int((~long_enough).sum()),
            "trace_cpus_ignored": True,
            **trace.provenance(),
            **part.provenance,
            **signal.provenance(),
            "job_hours": float(trace.length_hours[rows].sum()),
            "seed": seed,
            "queues": queues.to_dict(),
            **mix_provenance(parts, shares.tolist()),
            "carbon_start": format_utc(signal.time.start),
        },
        carbon=signal,
        cluster=Cluster(np.array(servers), zone_name, network_price(parts)),
        profiles=parts,
        jobs=ElasticJobs(
            trace.names(rows),
            arrival[rows].astype(np.int64),
            length[rows],
            slack[rows].astype(np.int64),
            tuple(parts[number].name for number in profile),
        ),
        model=model,
    )


def _servers(arrival: FloatArray, length: FloatArray, k_min: FloatArray, load: float) -> float:
    """Return the servers at which work at k_min over capacity, while jobs arrive, is `load`."""
    span = float(arrival.max() - arrival.min()) + 1
    return float(max(np.ceil(float(length @ k_min) / (load * span)), k_min.max()))
