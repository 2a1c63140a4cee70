"""Instances of models without idle power as `ecas` instances, whose machines draw power as soon as they are on.

`mosp` and `purchasing` count what a used unit draws. What a machine draws without doing anything is not in them. Here
their clusters or reserved CPUs become machines that are switched on and off, and their jobs run on one of these. With
no idle power and no carbon of a start, a schedule emits what it emits in the model that it comes from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.instance import Instance
from carbonopt.core.memory import require_bytes
from carbonopt.core.options import Schedule
from carbonopt.core.ranges import LARGEST_NUMBER, require_one_of
from carbonopt.core.time import TimeGrid
from carbonopt.problems.ecas.data.instance import EcasInstance, EcasJobs, Machines, Weights
from carbonopt.problems.ecas.methods.price.search import restored
from carbonopt.problems.ecas.methods.price.tables import schedule_of, tables_of
from carbonopt.problems.mosp.data.demands import POWER
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance

WINDOWS = ("deadline", "horizon")
"""Until when jobs may run: their deadline, or the last slot."""
SCALES = (1, 10, 100, 1000)
"""Parts of a unit that are tried until all demands are whole: `ecas` counts whole units."""
WHOLE = 1e-9
"""Distance to a whole number that counts as rounding, relative."""
BYTES_PER_SLOT = 64
"""Memory that a slot takes of a machine, rounded up [bytes]."""


class Work(NamedTuple):
    """What an instance is without its objective: jobs, and groups of units that become machines.

    Parameters
    ----------
    resources
        Names of the R resources.
    group, capacity
        Names and units of the G groups, shape (G, R).
    jobs
        With `use` in units, shape (N, R).
    signal
        Of the one zone.
    """

    resources: tuple[str, ...]
    group: tuple[str, ...]
    capacity: FloatArray
    jobs: tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]
    signal: CarbonSignal


def with_idle_power(
    instance: Instance,
    idle_watts: float = 0.0,
    on_kg: float = 0.0,
    units_per_machine: int | None = None,
    zone: str | None = None,
    windows: str = "deadline",
    slot_minutes: float | None = None,
    name: str | None = None,
) -> EcasInstance:
    """Return the jobs of an instance on machines that draw power as soon as they are on.

    The objective is carbon alone [kg].

    Parameters
    ----------
    instance
        Of ``mosp``: the clusters of one zone, which must be alike but for their size. Of ``purchasing``: the reserved
        CPUs, with jobs that run on these alone, without a break. Its times are rounded up to slots, and the energy
        of a job stays what it is.
    idle_watts
        Power of a machine that is on, without its jobs [W].
    on_kg
        Carbon of each start of a machine [kg].
    units_per_machine
        Units of the first resource that a machine has; the last machine of a cluster has what is left. By default a
        cluster is one machine.
    zone
        Of ``mosp``: whose clusters are taken; by default the only one.
    windows
        Until when a job may run: ``deadline``, which is hard, or ``horizon``, the end of the last slot.
    slot_minutes
        Of ``purchasing``: length of a slot; by default that of the carbon signal.
    name
        Of the new instance.

    Raises
    ------
    UnsupportedError
        If the instance has what `ecas` does not, or an argument is out of range.
    InputError
        Naming a job that cannot end by its deadline.
    """
    require_one_of("windows", windows, WINDOWS)
    for option, value in (("idle_watts", idle_watts), ("on_kg", on_kg)):
        if not 0 <= value <= LARGEST_NUMBER:
            raise UnsupportedError(f"{option} = {shown(value)}: must be a number from 0 to {LARGEST_NUMBER:g}")
    if units_per_machine is not None and units_per_machine < 1:
        raise UnsupportedError(f"units_per_machine = {shown(units_per_machine)}: must be at least 1")
    if isinstance(instance, MospInstance):
        work = _of_mosp(instance, zone, windows, slot_minutes)
    elif isinstance(instance, PurchasingInstance):
        work = _of_purchasing(instance, zone, windows, slot_minutes)
    else:
        raise UnsupportedError(f"{instance.name}: must be of mosp or purchasing, not of {instance.problem}")
    _require_windows(instance, work)
    arrival, duration, deadline, power, use = work.jobs
    scale = _scale(instance, use)
    names, capacity = _machines(work, units_per_machine)
    count = len(names)
    return EcasInstance(
        name=f"ecas-{instance.name}" if name is None else name,
        carbon=work.signal,
        price_per_kwh=np.zeros(work.signal.time.slots),
        resources=work.resources,
        machines=Machines(
            names,
            np.floor(capacity * scale * (1 + WHOLE)).astype(np.int64),
            np.full(count, idle_watts / 1000),
            np.full(count, float(on_kg)),
            np.zeros(count),
        ),
        jobs=EcasJobs(
            instance.jobs.name,
            arrival,
            duration,
            deadline,
            power,
            np.round(use * scale).astype(np.int64),
        ),
        weights=Weights(cost=0.0, carbon_kg=1.0),
        provenance={
            "source": instance.name,
            "source_sha256": instance.sha256,
            "idle_watts": idle_watts,
            "on_kg": on_kg,
            "windows": windows,
            "parts_of_a_unit": scale,
        },
    )


def with_starts(instance: EcasInstance, start: IntArray) -> EcasInstance:
    """Return the instance in which each job starts when it is told, shape (N,), on any machine."""
    jobs = replace(instance.jobs, arrival=start, deadline=start + instance.jobs.duration)
    return replace(instance, jobs=jobs, name=f"{instance.name}-timed")


def on_machines(instance: EcasInstance, machine: IntArray, start: IntArray) -> Schedule:
    """Return the schedule of given places, shapes (N,), with each machine on as is cheapest for its jobs."""
    return schedule_of(instance, restored(instance, tables_of(instance, 1.0), machine, start))


def _of_mosp(instance: MospInstance, zone: str | None, windows: str, slot_minutes: float | None) -> Work:
    if slot_minutes is not None:
        raise UnsupportedError("slot_minutes is for purchasing: jobs of mosp are counted in its slots")
    zones = tuple(dict.fromkeys(instance.clusters.zone))
    if zone is None and len(zones) != 1:
        raise UnsupportedError(f"{instance.name}: has clusters in {len(zones)} zones, name one: {one_of(zones)}")
    zone = zones[0] if zone is None else zone
    require_one_of("zone", zone, zones)
    rows = np.flatnonzero([own == zone for own in instance.clusters.zone])
    _require_plain(instance, rows)
    jobs, slots = instance.jobs, instance.time.slots
    if windows == "deadline":
        deadline = np.floor(np.minimum(jobs.deadline, slots) + ROUNDING_HOURS).astype(np.int64)
    else:
        deadline = np.full(len(jobs), slots)
    watts = instance.clusters.watts_per_unit[rows[0]]
    limiting = [at for at, resource in enumerate(instance.resources) if resource != POWER]  # power limits nothing
    return Work(
        tuple(instance.resources[at] for at in limiting),
        tuple(instance.clusters.name[row] for row in rows),
        instance.clusters.capacity[rows][:, limiting, 0],
        (jobs.arrival, jobs.duration, deadline, jobs.demand @ watts / 1000, jobs.demand[:, limiting]),
        CarbonSignal((zone,), instance.carbon.g_per_kwh[[instance.carbon.index(zone)]], instance.time),
    )


def _require_plain(instance: MospInstance, rows: IntArray) -> None:
    """Refuse what machines of `ecas` do not have."""
    clusters = instance.clusters
    capacity = clusters.capacity[rows]
    if instance.constraints:
        words = f"{', '.join(instance.constraints)} has no counterpart in ecas"
    elif getattr(instance.objective, "energy_cost", 0.0):
        words = "a weight of energy cost is not carried over to ecas"
    elif not instance.eligible[:, rows].all():
        words = "some job may not run on each of the clusters: in ecas it may run on every machine"
    elif (clusters.watts_per_unit[rows] != clusters.watts_per_unit[rows[0]]).any():
        words = "the clusters draw unlike power for a unit: in ecas a job draws the same on every machine"
    elif (capacity != capacity[:, :, :1]).any():
        words = "capacities change from slot to slot: those of ecas do not"
    else:
        return
    raise UnsupportedError(f"{instance.name}: {words}")


def _of_purchasing(instance: PurchasingInstance, zone: str | None, windows: str, slot_minutes: float | None) -> Work:
    if zone not in (None, instance.zone):
        raise UnsupportedError(f"zone {zone!r}: must be {instance.zone!r}, that of {instance.name}")
    if not instance.reserved_cpus:
        raise UnsupportedError(f"{instance.name}: must have reserved CPUs, they become machines")
    signal = _refined(instance, slot_minutes)
    jobs, hours, slots = instance.jobs, signal.time.slot_hours, signal.time.slots
    arrival = np.ceil((jobs.arrival_hours - ROUNDING_HOURS) / hours).astype(np.int64)
    duration = np.maximum(1, np.ceil((jobs.length_hours - ROUNDING_HOURS) / hours)).astype(np.int64)
    if windows == "deadline":
        latest = np.floor((instance.latest_end_hours + ROUNDING_HOURS) / hours)
        deadline = np.minimum(np.maximum(latest.astype(np.int64), arrival + duration), slots)
    else:
        deadline = np.full(len(jobs), slots)
    power = jobs.cpus * instance.watts_per_cpu / 1000 * jobs.length_hours / (duration * hours)
    capacity = np.array([[float(instance.reserved_cpus)]])
    return Work(("cpu",), ("reserved",), capacity, (arrival, duration, deadline, power, jobs.cpus[:, None]), signal)


def _refined(instance: PurchasingInstance, slot_minutes: float | None) -> CarbonSignal:
    """Return the zone's signal over slots of the given length, which must divide its own."""
    time = instance.time
    parts = 1.0 if slot_minutes is None else time.slot_hours * 60 / slot_minutes if slot_minutes > 0 else 0.0
    if not 1 - WHOLE <= parts <= time.slot_hours * 3600 or abs(parts - round(parts)) > WHOLE * parts:
        words = f"must divide the {time.slot_hours * 60:g} minutes of a slot of the carbon signal, at least a second"
        raise UnsupportedError(f"slot_minutes = {shown(slot_minutes)}: {words}")
    count = round(parts)
    require_bytes("the refined carbon signal", BYTES_PER_SLOT * float(count) * time.slots)
    assert instance.zone is not None
    grid = TimeGrid(time.slots * count, time.slot_hours / count, time.start)
    return CarbonSignal((instance.zone,), np.repeat(instance.intensity[None, :], count, axis=1), grid)


def _require_windows(instance: Instance, work: Work) -> None:
    arrival, duration, deadline, *_ = work.jobs
    short = np.flatnonzero(arrival + duration > deadline)
    for row in short[:1]:
        words = f"cannot end by slot {deadline[row]}, its deadline or the end: deadlines are hard (see windows)"
        name = shown(instance.jobs.name[row])
        raise InputError(Fault("jobs", words, name, int(row)))


def _scale(instance: Instance, use: FloatArray) -> int:
    """Return the parts of a unit in which all demands are whole."""
    for scale in SCALES:
        rest = np.abs(use * scale - np.round(use * scale))
        if (rest <= WHOLE * np.maximum(1, use * scale)).all():
            return scale
    row = int(np.argmax(rest.max(axis=1)))
    words = f"must be a multiple of 1/{SCALES[-1]}: ecas counts whole parts of a unit"
    raise UnsupportedError(f"{instance.name}: use of job {row} = {shown(use[row].tolist())} {words}")


def _machines(work: Work, units: int | None) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and capacities of the machines of all groups, shape (M, R)."""
    names: list[str] = []
    rooms: list[FloatArray] = []
    for group, capacity in zip(work.group, work.capacity, strict=True):
        count = 1 if units is None else max(1, int(np.ceil(capacity[0] / units)))
        require_bytes(f"{count} machines", BYTES_PER_SLOT * float(count) * work.signal.time.slots)
        edges = np.minimum(np.arange(count + 1) * (capacity[0] if units is None else float(units)), capacity[0])
        share = edges / capacity[0] if capacity[0] > 0 else np.linspace(0, 1, count + 1)
        room = np.diff(np.floor(np.outer(share, capacity) * (1 + WHOLE)), axis=0)
        room[:, 0] = np.diff(edges)
        rooms.append(room if count > 1 else capacity[None, :])
        names += [group if count == 1 else f"{group}-{m}" for m in range(count)]
    return tuple(names), np.concatenate(rooms)
