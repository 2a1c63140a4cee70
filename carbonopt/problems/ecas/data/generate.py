"""Seeded instances of ecas: machines of the ICON challenge with jobs of two spreads, and data centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.memory import require_bytes
from carbonopt.core.ranges import require_one_of
from carbonopt.core.time import TimeGrid
from carbonopt.problems.ecas.data.data_centre import RESOURCES, day_jobs, hosts
from carbonopt.problems.ecas.data.heavy_tails import heavy_jobs
from carbonopt.problems.ecas.data.instance import EcasInstance, EcasJobs, Machines

MACHINE_KINDS = 5
"""Kinds of machines by power and cost: the challenge's instances have at most five."""
SIZE = 2500
"""Mean units of a machine's resource."""
SHARES = (0.1, 0.3)
"""Least and largest share of a machine that a job uses."""

FAMILIES = ("challenge", "heavy-tails", "data-centre")
MEAN_PRICE = 0.08
"""About that of a day [money/kWh]."""

BYTES_PER_NUMBER = 64
"""Memory that a number of a machine or job takes on its way into a file, rounded up [bytes]."""
COLUMNS = 6
"""Of a machine or job, beside its resources."""


def generate(
    jobs: int = 200,
    machines: int = 10,
    resources: int = 2,
    slots: int = 288,
    load: float = 0.5,
    negative_slots: int = 0,
    seed: int = 1,
    price_seed: int | None = None,
    family: str = "challenge",
) -> EcasInstance:
    """Jobs with windows within one day, machines of a few kinds, and a price with two peaks.

    Parameters
    ----------
    jobs
        Number of jobs.
    machines
        Number of machines.
    resources
        Number of resources; a data centre has 2, cores and memory.
    slots
        Number of slots of the day, at most 1440.
    load
        Work of the jobs over the capacity of the machines, from 0.01 to 0.9.
    negative_slots
        Slots at midday whose price is negative.
    seed
        Of every draw.
    price_seed
        Of the prices alone, where they are drawn apart: for the same jobs at other prices.
    family
        challenge: machines alike in size, powers and costs of the ICON challenge, jobs anywhere in the day that use
        10 to 30 % of a machine.
        heavy-tails: the same machines, and jobs whose sizes and lengths have the spread of the challenge's.
        data-centre: hosts of three types in kilowatts, urgent and patient jobs that mostly arrive in the afternoon.
    """
    require_one_of("family", family, FAMILIES)
    if family == "data-centre" and resources != len(RESOURCES):
        raise InputError(Fault("resources", f"must be {len(RESOURCES)} in a data centre", shown(resources)))
    _require_sizes(jobs=jobs, machines=machines, resources=resources, slots=slots)
    if not 0.01 <= load <= 0.9:
        raise InputError(Fault("load", "must be a number from 0.01 to 0.9", shown(load)))
    size = f"an instance of {machines} machines and {jobs} jobs"
    require_bytes(size, BYTES_PER_NUMBER * (machines + float(jobs)) * (resources + COLUMNS))
    rng = np.random.default_rng(seed)
    if family == "data-centre":
        names: tuple[str, ...] = RESOURCES
        park = hosts(rng, machines, MEAN_PRICE)
        table = day_jobs(rng, jobs, park, slots, load)
        kind = "datacentre"
        provenance: dict[str, Any] = {"source": "ecas generator, data centre with types of hosts", "seed": seed}
    else:
        names = tuple(f"r{r}" for r in range(resources))
        park = _machines(rng, machines, resources)
        if family == "heavy-tails":
            table = heavy_jobs(rng, jobs, park, slots, load)
            kind = "heavytails"
            provenance = {"source": "ecas generator, jobs with the spread of the ICON challenge 2014", "seed": seed}
        else:
            table = _jobs(rng, jobs, park, slots, load)
            kind = "synthetic"
            provenance = {"source": "ecas generator, in the shape of the ICON challenge 2014", "seed": seed}
    kind = f"{kind}{100 * load:03.0f}"
    if price_seed is not None:
        kind = f"{kind}p{price_seed:03d}"
        provenance["price_seed"] = price_seed
        rng = np.random.default_rng(price_seed)
    return EcasInstance(
        name=f"ecas-{kind}-m{machines:03d}r{resources}-j{jobs:04d}-t{slots:03d}-none-s{seed:02d}",
        carbon=CarbonSignal((), np.zeros((0, slots)), TimeGrid(slots, 24 / slots)),
        price_per_kwh=_prices(rng, slots, negative_slots),
        resources=names,
        machines=park,
        jobs=table,
        provenance=provenance,
    )


def _require_sizes(**sizes: int) -> None:
    wrong = [Fault(name, "must be at least 1", shown(size)) for name, size in sizes.items() if size < 1]
    if sizes["slots"] > 1440:
        wrong.append(Fault("slots", "must be at most 1440", shown(sizes["slots"])))
    if wrong:
        raise InputError(wrong)


def _machines(rng: np.random.Generator, count: int, resources: int) -> Machines:
    kind = rng.integers(0, MACHINE_KINDS, count)
    idle = np.round(rng.uniform(60, 160, MACHINE_KINDS), 1)[kind]
    change = np.round(rng.uniform(0.02, 0.2, (2, MACHINE_KINDS)), 2)[:, kind]
    capacity = np.round(SIZE * rng.uniform(0.98, 1.02, (count, resources))).astype(np.int64)
    return Machines(tuple(f"m{m}" for m in range(count)), capacity, idle, change[0], change[1])


def _jobs(rng: np.random.Generator, count: int, machines: Machines, slots: int, load: float) -> EcasJobs:
    """Return jobs whose work is about `load` of the machines, each with a window somewhere in the day."""
    share = rng.uniform(*SHARES, (count, machines.capacity.shape[1]))
    mean = load * slots * len(machines) / (count * float(np.mean(SHARES)))
    duration = np.clip(np.round(mean * rng.uniform(0.2, 1.8, count)), 1, max(1, slots // 2)).astype(np.int64)
    slack = np.floor(rng.uniform(0, 1, count) * (slots - duration)).astype(np.int64)
    arrival = np.floor(rng.uniform(0, 1, count) * (slots - duration - slack + 1)).astype(np.int64)
    use = np.round(share * machines.capacity.min(axis=0)).astype(np.int64)
    power = np.round(1000 * share.mean(axis=1) * rng.uniform(0.9, 1.1, count), 2)
    names = tuple(f"j{j}" for j in range(count))
    return EcasJobs(names, arrival, duration, arrival + duration + slack, power, use)


def _prices(rng: np.random.Generator, slots: int, negative: int) -> FloatArray:
    """Return a price per kWh with a morning and an evening peak, equal within half an hour."""
    hour = np.floor(np.arange(slots) * 48 / slots) / 2
    price: Any = 0.05 + 0.03 * np.exp(-((hour - 9) ** 2) / 6) + 0.08 * np.exp(-((hour - 18) ** 2) / 4)
    price = price * rng.uniform(0.9, 1.1, 48)[np.floor(2 * hour).astype(np.int64)]
    middle = slots // 2
    price[middle : middle + negative] = -0.02
    return np.asarray(np.round(price, 5))
