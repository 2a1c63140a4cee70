"""Instances of the ICON challenge 2014 (CSPLib problem 059) as ecas instances."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.ranges import require_one_of
from carbonopt.core.time import TimeGrid
from carbonopt.problems.ecas.data.instance import EcasInstance, EcasJobs, Machines
from carbonopt.problems.ecas.data.numbers import Numbers

READINGS = {"literal": 1.0, "watts": 1000.0}
"""What the challenge's powers are divided by: it multiplies them by a price per kWh, yet they look like watts."""


def convert(icon: Path, prices: str = "forecast", reading: str = "literal", name: str | None = None) -> EcasInstance:
    """Read an instance of the ICON challenge 2014: a folder with instance.txt and prices.

    Parameters
    ----------
    icon
        The folder.
    prices
        Which to plan with: forecast or actual.
    reading
        Unit of powers: literal takes them times the price per kWh, as the challenge's formula does, so that its
        costs are reproduced; watts divides them by 1000.
    name
        Of the instance.
    """
    require_one_of("prices", prices, ("forecast", "actual"))
    require_one_of("reading", reading, tuple(READINGS))
    if not icon.is_dir():
        raise UnsupportedError(f"--icon {icon}: must be a folder with instance.txt and {prices}.txt")
    minutes, machines, jobs = _instance(Numbers(icon / "instance.txt"), READINGS[reading])
    price = _prices(Numbers(icon / f"{prices}.txt"))
    slots = len(price)
    made = f"ecas-icon{icon.name}{prices}{reading}-j{len(jobs):04d}-t{slots:03d}-none-s00"
    try:
        return EcasInstance(
            name=made if name is None else name,
            carbon=CarbonSignal((), np.zeros((0, slots)), TimeGrid(slots, minutes / 60)),
            price_per_kwh=price,
            resources=tuple(f"r{r}" for r in range(jobs.use.shape[1])),
            machines=machines,
            jobs=jobs,
            provenance={
                "source": "ICON challenge 2014, CSPLib problem 059",
                "folder": icon.name,
                "prices": prices,
                "power_reading": reading,
            },
        )
    except InputError as error:
        raise error.in_file(icon / "instance.txt") from None


def _instance(numbers: Numbers, divisor: float) -> tuple[int, Machines, EcasJobs]:
    minutes = numbers.whole("minutes of a slot", 1)
    resources = numbers.whole("number of resources", 1)
    names: list[str] = []
    machine: list[list[float]] = []
    capacity: list[list[int]] = []
    for _ in range(numbers.whole("number of machines", 1)):
        names.append(str(numbers.whole("id of a machine")))
        machine.append([numbers.real(f"{what} of a machine") for what in ("idle power", "up cost", "down cost")])
        capacity.append([numbers.whole("capacity of a machine") for _ in range(resources)])
    window: list[list[int]] = []
    power: list[float] = []
    use: list[list[int]] = []
    for _ in range(numbers.whole("number of tasks")):
        window.append(
            [numbers.whole(f"{what} of a task") for what in ("id", "duration", "earliest start", "latest end")]
        )
        power.append(numbers.real("power of a task"))
        use.append([numbers.whole("use of a task") for _ in range(resources)])
    numbers.end()
    columns = np.array(machine)
    table = np.array(window, dtype=np.int64).reshape(-1, 4)
    machines = Machines(tuple(names), np.array(capacity), columns[:, 0] / divisor, *columns[:, 1:].T)
    jobs = EcasJobs(
        tuple(str(row[0]) for row in window),
        table[:, 2],
        table[:, 1],
        table[:, 3],
        np.array(power) / divisor,
        np.array(use, dtype=np.int64).reshape(-1, resources),
    )
    return minutes, machines, jobs


def _prices(numbers: Numbers) -> FloatArray:
    count = numbers.whole("number of periods", 1)
    price = []
    for period in range(count):
        if numbers.whole("period") != period:
            raise numbers.error(f"must be {period}: the periods follow each other", None)
        price.append(numbers.real("price"))
    numbers.end()
    return np.array(price)
