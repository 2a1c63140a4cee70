"""A mosp instance from measured carbon intensity and a real job trace."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.memory import require_bytes
from carbonopt.io.carbon import read_carbon
from carbonopt.io.convert import (
    ROUNDING_SLOTS,
    arrival_slots,
    content_hashes,
    early_deadlines,
    require_sources,
    slot_zero,
    slots_to_wait,
    source_of,
)
from carbonopt.io.jobs import JobTrace
from carbonopt.io.prices import price_provenance, read_prices
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.trace import TraceFiles, trace_files
from carbonopt.io.window import WHOLE, Window, read_part
from carbonopt.problems.mosp.data.demands import POWER, demands_of
from carbonopt.problems.mosp.data.generate import BYTES_PER_SLOT
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective, make_objective

DEFAULT_WEIGHTS = (1.0, 0.1, 0.0)


def convert(
    jobs: TraceFiles,
    carbon: Sequence[Path] | None,
    time_unit: str | None = None,
    zones: str | None = None,
    start: str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    wrap: bool = False,
    capacity: float | None = None,
    load: float = 0.7,
    watts: float = 10.0,
    short_hours: float = 2.0,
    short_wait_hours: float = 6.0,
    long_wait_hours: float = 24.0,
    objective: str = "carbon",
    weights: Sequence[float] | None = None,
    name: str | None = None,
    trace_format: str | None = None,
    reading: Reading = AS_THEY_ARE,
    states: Collection[str] | None = None,
    window: Window = WHOLE,
    price: Sequence[Path] | None = None,
    energy_weight: float = 0.0,
    gpu_watts: float = 300.0,
    gpus: float | None = None,
) -> MospInstance:
    """Make an instance with one cluster in each zone.

    Parameters
    ----------
    jobs, time_unit, trace_format, states
        Trace, its unit and its format, and states of jobs: see `carbonopt.io.trace.read_trace`.
    window
        Part of the trace.
    carbon, zones, start
        Carbon files; the zones to use (separated by commas, None for all); beginning of slot 0
        (None for the first submission of a trace with dates, else the first
        moment that all files have).
    slots, slot_hours
        Horizon; None for as many slots as the last job's deadline needs.
    wrap
        Repeat the carbon files where they end.
    capacity, load
        CPUs of each cluster; None: such that work over capacity, while jobs arrive, is `load`.
    watts, gpu_watts
        Power of a used CPU and of a used GPU [W]; of jobs whose power was measured, that is taken instead.
    gpus
        GPUs of each cluster, if jobs of the trace hold some; None: as many as `load` asks for.
    short_hours, short_wait_hours, long_wait_hours
        Waiting limits by length (GAIA, section 3): deadline = arrival + run time + wait. A job with a deadline in
        the trace has that, rounded down to slots.
    objective, weights
        ``carbon`` or ``caspian``, and its three weights; by default carbon counts in kg, a slot of
        tardiness as much as 0.1 kg, and completion time not at all: the waiting limit bounds it.
    reading
        What to take where the carbon files leave a choice.
    price, energy_weight
        Files of electricity prices (see `carbonopt.io.prices`), and the weight of energy cost in the carbon objective.
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
    require_sources(carbon, slot_hours=slot_hours, load=load, capacity=capacity, gpus=gpus)
    assert carbon is not None
    if energy_weight and (not price or objective != "carbon"):
        raise UnsupportedError(f"energy_weight = {shown(energy_weight)}: needs --price FILE and objective carbon")
    part = read_part(jobs, time_unit, trace_format, states, window)
    trace = part.trace
    arrival, duration, wait = _slotted(trace, slot_hours, short_hours, short_wait_hours, long_wait_hours)
    if (wait < 0).any():
        faults = early_deadlines(trace, trace_files(jobs)[0], slot_hours, (arrival + duration).astype(float), wait < 0)
        for line in InputError(faults).lines():
            warnings.warn(line, stacklevel=2)
    horizon = slots if slots is not None else int((arrival + duration + np.maximum(wait, 0)).max())
    keep = arrival + duration <= horizon
    if not keep.any():
        raise InputError(Fault("jobs", f"no job ends within {horizon} slots", file=str(trace_files(jobs)[0])))
    require_bytes(f"{horizon} slots of {slot_hours:g} h", BYTES_PER_SLOT * float(horizon) * len(carbon))
    signal = read_carbon(
        *carbon,
        zones=None if zones is None else zones.split(","),
        start=slot_zero(start, trace, part.begin_hours),
        slots=horizon,
        slot_hours=slot_hours,
        wrap=wrap,
        **reading.choices(),
    )
    arrival = arrival[keep]
    duration = duration[keep]
    wait = wait[keep]
    demands = demands_of(trace.part(np.flatnonzero(keep)), watts, gpu_watts)
    given = {"cpu": capacity, "gpu": gpus, POWER: float(demands.units[:, -1].sum())}
    units = [
        _units(arrival, duration, column, load, len(signal.zones)) if (held := given[name]) is None else held
        for name, column in zip(demands.resources, demands.units.T, strict=True)
    ]
    tariff = read_prices(price, signal.time, signal.zones, reading) if price else None
    made = make_objective(objective, weights or (DEFAULT_WEIGHTS if objective == "carbon" else None))
    if isinstance(made, CarbonObjective):
        made = replace(made, energy_cost=energy_weight)
    files = [*carbon, *(price or ()), *trace_files(jobs)]
    provenance = _provenance(files, int((~keep).sum()), trace, slot_hours, signal)
    provenance |= part.provenance | demands.provenance
    if tariff is not None:
        provenance |= price_provenance(tariff, price or ())
    return MospInstance(
        name=name or _name(jobs, len(arrival), horizon, signal),
        provenance=provenance,
        energy_price=tariff,
        carbon=signal,
        resources=demands.resources,
        clusters=Clusters(
            signal.zones,
            signal.zones,
            np.tile(units, (len(signal.zones), 1)),
            np.tile(demands.watts, (len(signal.zones), 1)),
        ),
        jobs=MospJobs(
            trace.names(np.flatnonzero(keep)),
            arrival,
            duration,
            (arrival + duration + wait).astype(float),
            demands.units,
        ),
        objective=made,
    )


def _slotted(
    trace: JobTrace, slot_hours: float, short_hours: float, short_wait: float, long_wait: float
) -> tuple[IntArray, IntArray, IntArray]:
    """Return arrival, duration and longest wait in slots: the first two rounded up, the last down.

    The wait of a job with a deadline is what that leaves; below 0 where it cannot be met.
    """
    arrival = arrival_slots(trace, slot_hours).astype(np.int64)
    duration = np.maximum(1, np.ceil(trace.length_hours / slot_hours - ROUNDING_SLOTS)).astype(np.int64)
    hours = np.where(trace.length_hours <= short_hours, short_wait, long_wait)
    wait = slots_to_wait(trace, slot_hours, (arrival + duration).astype(float), np.floor(hours / slot_hours))
    return arrival, duration, wait.astype(np.int64)


def _units(arrival: IntArray, duration: IntArray, cpus: FloatArray, load: float, zones: int) -> float:
    """Return the units of each cluster at which work over capacity while jobs arrive is `load`."""
    work = float(duration @ cpus)
    span = max(1, int(arrival.max() - arrival.min()) + 1)
    return float(max(np.ceil(work / (load * span * zones)), cpus.max()))


def _name(jobs: TraceFiles, count: int, slots: int, signal: CarbonSignal) -> str:
    zone = signal.zones[0] if len(signal.zones) == 1 else f"z{len(signal.zones)}"
    return f"mosp-{source_of(jobs)}-j{count:04d}-t{slots:03d}-{zone}-s00"


def _provenance(
    files: list[Path], dropped: int, trace: JobTrace, slot_hours: float, signal: CarbonSignal
) -> dict[str, Any]:
    rounded = np.maximum(1, np.ceil(trace.length_hours / slot_hours - ROUNDING_SLOTS)) * slot_hours
    return {
        "converter": "carbonopt convert mosp",
        "files": content_hashes(files),
        "dropped_jobs": dropped,
        **trace.provenance(),
        **signal.provenance(),
        "trace_cpu_hours": float(trace.length_hours @ trace.cpus),
        "rounded_cpu_hours": float(rounded @ trace.cpus),
    }
