"""Seeded workloads: a week of elastic jobs, with synthetic or resampled real lengths."""

from __future__ import annotations

from math import fsum

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.time import format_utc, parse_utc
from carbonopt.io.convert import ROUNDING_SLOTS
from carbonopt.io.jobs import JobTrace
from carbonopt.io.supercomputer import (
    SUPERCOMPUTER,
    SUPERCOMPUTER_MEAN_HOURS,
    label_of,
    require_workload,
    supercomputer_arrivals,
    supercomputer_lengths,
)
from carbonopt.io.workload import (
    Signal,
    job_names,
    require_above_zero,
    require_horizon,
    require_seed,
    signal_over,
    slot_hours_of,
    stream,
)
from carbonopt.problems.elastic.data.catalogue import Mix, network_price, profile_mix
from carbonopt.problems.elastic.data.instance import Cluster, ElasticInstance, ElasticJobs
from carbonopt.problems.elastic.data.workload import (
    ARRIVALS,
    MEAN_HOURS,
    Lengths,
    Queues,
    draw_jobs,
    mix_provenance,
    require_model,
    resampled_lengths,
    synthetic_lengths,
    window_ends,
)

CAPACITY = 150.0
"""Servers of CarbonFlex's CPU cluster."""
UTILISATION = 0.5
"""Work that arrives over what the cluster can do, as in CarbonFlex's experiments."""


def generate(
    jobs: int | None = None,
    capacity: float | None = None,
    utilisation: float | None = None,
    arrival_hours: float = 168.0,
    profiles: Mix = "mix",
    k_max: int | None = None,
    watts: float | None = None,
    model: str = "integer",
    workload: str = "paper",
    seed: int = 1,
    trace: JobTrace | None = None,
    min_length_hours: float = 1.0,
    source: str | None = None,
    short_hours: float = 2.0,
    medium_hours: float = 12.0,
    short_slack_hours: float = 6.0,
    medium_slack_hours: float = 24.0,
    long_slack_hours: float = 48.0,
    slack_hours: float | None = None,
    carbon: Signal | None = None,
    zone: str | None = None,
    start: str = "2022-06-01T00:00:00Z",
    slot_hours: float | None = None,
    name: str | None = None,
) -> ElasticInstance:
    """Generate an instance; the same arguments always give the same one.

    Arrivals are within the first `arrival_hours`, by default uniform; the horizon ends with the last window.

    Parameters
    ----------
    jobs, capacity, utilisation
        Number of jobs, servers of the cluster, and work at k_min over capacity while jobs arrive: any
        two give the third. By default 150 servers, unless `jobs` is given, at 0.5. From `utilisation`
        come as few jobs as reach it, or as few whole servers as do not exceed it.
    arrival_hours
        Hours in which jobs arrive.
    profiles, k_max, watts
        See `carbonopt.problems.elastic.data.catalogue.profile_mix`; each job draws its profile by the shares.
    model
        ``integer`` or ``fluid``.
    workload
        ``paper`` or ``supercomputer``: heavy-tailed lengths, and arrivals in bursts and by the hour (see
        `carbonopt.io.supercomputer`). Not used with `trace`.
    seed
        Of every draw, the synthetic carbon signal included.
    trace, min_length_hours, source
        Draw lengths of at least `min_length_hours` from this trace, with replacement, and what to call
        it in the name; None: synthetic lengths (see `synthetic_lengths`).
    short_hours, medium_hours, short_slack_hours, medium_slack_hours, long_slack_hours, slack_hours
        Slack by length, or one for all jobs (see `Queues`).
    carbon, zone
        A signal at least as long as the horizon, or a function of the number of slots that returns one,
        and the cluster's zone in it (None for its only one). None: the bundled synthetic signal (see
        `carbonopt.io.synthetic`), of AU-SA by default.
    start
        Beginning of slot 0 where `carbon` is None.
    slot_hours
        Length of a slot; None for that of `carbon`, or 1 h. Lengths in slots are not rounded, slack is
        rounded down.
    name
        Of the instance; None to make one of the parameters.

    Raises
    ------
    InputError
        For a signal that is too short or has no such zone, for a trace without jobs of that length, and
        for every fault of a profile file.
    UnsupportedError
        For parameters out of range.
    TooLargeError
        If the jobs or slots would not fit into memory.
    """
    queues = Queues(short_hours, medium_hours, short_slack_hours, medium_slack_hours, long_slack_hours, slack_hours)
    slot = slot_hours_of(carbon, slot_hours)
    require_workload(workload, trace)
    _require(jobs, capacity, utilisation, model, seed, arrival_hours=arrival_hours, slot_hours=slot)
    arrival_slots = max(1, require_horizon(arrival_hours / slot + ROUNDING_SLOTS, slot))
    parts, shares = profile_mix(profiles, k_max, watts)
    k_min = np.array([part.k_min for part in parts], dtype=np.int64)
    share = UTILISATION if utilisation is None else utilisation
    target = share * arrival_hours * (CAPACITY if capacity is None else capacity)
    hours, profile = draw_jobs(*_lengths(workload, trace, min_length_hours), k_min, shares, seed, jobs, target)
    count, work = len(hours), fsum(hours * k_min[profile])  # the same on every processor
    if capacity is None:
        if jobs is None:
            capacity = CAPACITY
        else:
            capacity = float(max(np.ceil(work / (share * arrival_hours)), k_min.max()))
    arrival = np.sort(stream(seed, ARRIVALS).integers(0, arrival_slots, count))
    if workload == "supercomputer":
        begin = carbon.time.start if isinstance(carbon, CarbonSignal) else parse_utc(start)
        moments = supercomputer_arrivals(count, arrival_hours, seed, begin.hour + begin.minute / 60)
        arrival = np.minimum(np.ceil(moments / slot), arrival_slots - 1).astype(np.int64)
    length = hours / slot
    slack = queues.slack_slots(hours, slot)
    slots = require_horizon(float(window_ends(arrival.astype(float), length, slack).max()), slot)
    signal = signal_over(carbon, zone, slots, slot, start, seed)
    label = label_of(workload, trace, source)
    return ElasticInstance(
        name=name or f"elastic-{label}-j{count:04d}-t{slots:03d}-{signal.zones[0]}-s{seed:02d}",
        provenance={
            "generator": "carbonopt generate elastic",
            "workload": (
                SUPERCOMPUTER if workload == "supercomputer" else _lengths_in_words(trace, label, min_length_hours)
            ),
            "seed": seed,
            "arrival_hours": arrival_hours,
            "utilisation": work / (arrival_hours * capacity),
            "queues": queues.to_dict(),
            **mix_provenance(parts, shares.tolist()),
            "carbon_signal": "synthetic, calibrated to published statistics" if carbon is None else "read from files",
            "carbon_start": format_utc(signal.time.start),
        },
        carbon=signal,
        cluster=Cluster(np.array(capacity), signal.zones[0], network_price(parts)),
        profiles=parts,
        jobs=ElasticJobs(
            job_names(count),
            arrival,
            length,
            slack.astype(np.int64),
            tuple(parts[number].name for number in profile),
        ),
        model=model,
    )


def _require(
    jobs: int | None,
    capacity: float | None,
    utilisation: float | None,
    model: str,
    seed: int,
    **positive: float,
) -> None:
    require_model(model)
    require_seed(seed)
    if jobs is not None and capacity is not None and utilisation is not None:
        raise UnsupportedError("jobs, capacity and utilisation are all given: any two of them give the third")
    if jobs is not None and jobs < 1:
        raise UnsupportedError(f"jobs = {shown(jobs)}: must be at least 1")
    require_above_zero(capacity=capacity, utilisation=utilisation, **positive)


def _lengths(workload: str, trace: JobTrace | None, min_length_hours: float) -> tuple[Lengths, float]:
    """Return what draws the lengths [h], and about what mean they have."""
    if workload == "supercomputer":
        return (supercomputer_lengths, SUPERCOMPUTER_MEAN_HOURS)
    if trace is None:
        return (synthetic_lengths, MEAN_HOURS)
    return resampled_lengths(trace, min_length_hours)


def _lengths_in_words(trace: JobTrace | None, label: str, min_length_hours: float) -> str:
    if trace is None:
        return "synthetic lengths, calibrated to summary statistics of a sample of Azure's trace"
    return f"lengths of at least {min_length_hours:g} h drawn from {label} with replacement, arrivals uniform"
