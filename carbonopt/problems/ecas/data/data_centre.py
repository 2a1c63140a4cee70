"""Drawn data centres: hosts of a few types, and services, batch jobs and analyses of many sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.data.instance import EcasJobs, Machines

RESOURCES = ("cores", "memory_gb")


class HostType(NamedTuple):
    """One type of hosts: room, power while it is on without a job, and power of each core in use."""

    name: str
    cores: int
    memory_gb: int
    idle_watts: float
    watts_per_core: float
    share: float


HOSTS = (
    HostType("old", 32, 128, 110.0, 5.5, 0.3),
    HostType("standard", 64, 256, 140.0, 3.5, 0.5),
    HostType("large", 128, 1024, 230.0, 3.0, 0.2),
)
"""Invented, of the size of servers with two sockets; `share` is that of all hosts. A full one draws two to three
times what an idle one does."""
CORES = (1, 2, 4, 8, 16)
CORES_SHARE = (0.3, 0.25, 0.25, 0.15, 0.05)
MEMORY_PER_CORE = (2, 4, 8)
"""Of jobs [GB]."""
UTILISATION = (0.5, 1.0)
"""Of a job's cores, on which its power depends: least and largest."""
URGENT = 0.3
"""Share of jobs that start within `URGENT_HOURS`; the others may wait until the end of the day."""
URGENT_HOURS = 1.0
BUSY_HOUR = 14.0
"""Around which most jobs arrive."""
BUSY_SPREAD = 5.0
"""Standard deviation of arrivals [h]."""
LENGTH_SPREAD = 0.8
"""Of the logarithm of lengths."""
LONGEST = 0.5
"""Length of the longest job, of the day."""
LENGTH_ROUNDS = 20
"""In which lengths grow until those that are cut at the longest are made up for."""
START_HOURS = 0.1
"""A start draws what this many hours of idling do [h]."""
STOP_HOURS = 0.02
START_WEAR = 0.005
"""What a start costs beside its energy [money]."""


def hosts(rng: np.random.Generator, count: int, mean_price: float) -> Machines:
    """Return hosts of the types in their shares; energy of starts and stops is paid at the mean price."""
    share = np.array([host.share for host in HOSTS])
    kind = rng.choice(len(HOSTS), count, p=share)
    room = np.array([(host.cores, host.memory_gb) for host in HOSTS], dtype=np.int64)
    idle_kw = np.array([host.idle_watts for host in HOSTS])[kind] / 1000
    return Machines(
        tuple(f"{HOSTS[k].name}{m:03d}" for m, k in enumerate(kind)),
        room[kind],
        idle_kw,
        np.round(START_WEAR + START_HOURS * idle_kw * mean_price, 6),
        np.round(STOP_HOURS * idle_kw * mean_price, 6),
    )


def day_jobs(rng: np.random.Generator, count: int, machines: Machines, slots: int, load: float) -> EcasJobs:
    """Return jobs whose work is about `load` of the scarcer resource, most of them in the afternoon."""
    cores = rng.choice(CORES, count, p=CORES_SHARE)
    memory = cores * rng.choice(MEMORY_PER_CORE, count)
    room = machines.capacity.sum(axis=0) * float(slots)
    length = _lengths(rng, np.stack([cores, memory], axis=1), room, slots, load)
    hour = np.clip(rng.normal(BUSY_HOUR, BUSY_SPREAD, count), 0, 24)
    arrival = np.minimum(np.floor(hour * slots / 24).astype(np.int64), slots - length)
    wait = np.where(rng.uniform(0, 1, count) < URGENT, np.ceil(URGENT_HOURS * slots / 24), slots).astype(np.int64)
    power = cores * _watts_per_core(machines) * rng.uniform(*UTILISATION, count) / 1000
    return EcasJobs(
        tuple(f"j{j}" for j in range(count)),
        arrival,
        length,
        np.minimum(arrival + length + wait, slots),
        np.round(power, 6),
        np.stack([cores, memory], axis=1),
    )


def _lengths(rng: np.random.Generator, use: IntArray, room: FloatArray, slots: int, load: float) -> IntArray:
    """Return durations, many short and few long, of the work that the load asks for, if the longest allow it."""
    shape = np.exp(rng.normal(0, LENGTH_SPREAD, len(use)))
    scale = load * float(np.min(room / (shape @ use)))
    longest = max(1, round(LONGEST * slots))
    for _ in range(LENGTH_ROUNDS):
        length = np.clip(np.round(shape * scale), 1, longest).astype(np.int64)
        scale *= load / float(np.max((length @ use) / room))
    return length


def _watts_per_core(machines: Machines) -> float:
    """Return the mean over the cores of the hosts: in `ecas` a job draws the same on every machine."""
    watts = {(host.cores, host.memory_gb): host.watts_per_core for host in HOSTS}
    of_host = np.array([watts[row[0], row[1]] for row in machines.capacity.tolist()])
    return float(np.average(of_host, weights=machines.capacity[:, 0]))
