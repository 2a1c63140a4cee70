"""Seeded workloads: the paper's experiment, and benchmark instances of any size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.memory import require_bytes
from carbonopt.core.time import TimeGrid, format_utc, parse_utc
from carbonopt.io.supercomputer import SUPERCOMPUTER
from carbonopt.io.synthetic import published_zones, synthetic_carbon
from carbonopt.io.workload import job_names
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import make_objective
from carbonopt.problems.mosp.data.shapes import Shape, supercomputer_workload

PRESETS = ("caspian", "bench", "supercomputer")
CASPIAN_ZONES = ("CA-ON", "JP-KN", "DE")
CASPIAN_WATTS = (200.0, 100.0, 200.0)
CASPIAN_GPUS = 32.0
CASPIAN_ARRIVAL_HOURS = 24
FULL = 0.95
"""Load above which not every job can be expected to fit."""
REJECTION_PRICE = 10.0
BYTES_PER_JOB = 600
BYTES_PER_SLOT = 200
"""Of an instance in memory and on its way to a file, rounded up; a slot counts once a cluster."""
LARGEST_JOB = 5
"""r ~ U{1..5} GPUs and l ~ U{1..5} slots (Caspian, section V-A)."""


def generate(
    preset: str = "caspian",
    jobs: int = 200,
    clusters: int | None = None,
    slots: int = 48,
    seed: int = 1,
    load: float = 0.7,
    objective: str = "carbon",
    weights: Sequence[float] | None = None,
    carbon: CarbonSignal | None = None,
    start: str = "2023-11-14T00:00:00Z",
    **shape: Any,
) -> MospInstance:
    """Generate an instance; the same arguments always give the same one.

    Parameters
    ----------
    preset
        ``caspian``: the paper's experiment (section V-A): 32 GPUs each in CA-ON, JP-KN and DE at
        200/100/200 W, Poisson arrivals over 24 h, r ~ U{1..5}, l ~ U{1..5} h, d = a + l U(2, 4).
        ``bench``: any number of clusters, arrivals over the first three quarters of the horizon,
        capacity set by `load`.
        ``supercomputer``: the shape of real traces, heavy-tailed and in bursts, by the model of Lublin and Feitelson
        (see `carbonopt.io.supercomputer`).
    jobs, clusters, slots
        Sizes; `clusters` not for ``caspian`` (3 if None).
    seed
        Of every draw, the synthetic carbon signal included.
    load
        Work over capacity of the whole horizon, not for ``caspian``. Above about 0.95 not every job
        fits, and the instance gets a rejection price.
    objective, weights
        ``carbon`` or ``caspian``, and its three weights (see `make_objective`).
    carbon
        A signal over `slots`; None: the bundled synthetic one (see `carbonopt.io.synthetic`).
    start
        Beginning of slot 0 where `carbon` is None.
    **shape
        For ``supercomputer``: see `carbonopt.problems.mosp.data.shapes.Shape`.

    Raises
    ------
    UnsupportedError
        For a preset or objective that does not exist, or sizes out of range.
    TooLargeError
        If the jobs would not fit into memory.
    """
    _require(preset, jobs, clusters, slots, seed, load, objective, shape)
    rng = np.random.default_rng([seed, jobs, slots])
    grid = TimeGrid(slots, 1.0, parse_utc(start)) if carbon is None else carbon.time
    zones = _zones(preset, clusters, carbon)
    if carbon is not None:
        signal = carbon
    else:
        signal = synthetic_carbon(tuple(dict.fromkeys(zones)), grid, seed)
    if preset == "supercomputer":
        table, places = supercomputer_workload(Shape(**shape), jobs, zones, grid, load, seed)
    else:
        table, places = _uniform_workload(preset, jobs, zones, grid, load, rng)
    kind = "caspian" if objective == "carbon" else "caspianz"
    source = kind if preset == "caspian" else f"{preset}{round(load * 100):03d}"
    if shape.get("array_tail", np.inf) < np.inf:
        source += "arrays"
    return MospInstance(
        name=f"mosp-{source}-j{jobs:04d}-t{slots:03d}-z{len(zones)}-s{seed:02d}",
        provenance=_provenance(preset, seed, load, carbon, grid),
        carbon=signal,
        resources=("gpu",) if preset != "supercomputer" else ("node", "memory_gb")[: table.demand.shape[1]],
        clusters=places,
        jobs=table,
        objective=make_objective(objective, weights, REJECTION_PRICE if preset != "caspian" and load > FULL else None),
    )


def _uniform_workload(
    preset: str, jobs: int, zones: tuple[str, ...], grid: TimeGrid, load: float, rng: np.random.Generator
) -> tuple[MospJobs, Clusters]:
    duration = rng.integers(1, LARGEST_JOB + 1, jobs)
    demand = rng.integers(1, LARGEST_JOB + 1, jobs).astype(float)
    last = CASPIAN_ARRIVAL_HOURS / grid.slot_hours if preset == "caspian" else 0.75 * grid.slots
    arrival = np.sort(rng.uniform(0, min(last, grid.slots - LARGEST_JOB), jobs)).astype(np.int64)
    deadline = arrival + duration * rng.uniform(2, 4, jobs)
    table = MospJobs(job_names(jobs), arrival, duration, deadline, demand[:, None])
    return table, _clusters(preset, zones, duration, demand, grid.slots, load, rng)


def _require(
    preset: str,
    jobs: int,
    clusters: int | None,
    slots: int,
    seed: int,
    load: float,
    objective: str,
    shape: Mapping[str, Any],
) -> None:
    for name, value, known in (("preset", preset, PRESETS), ("objective", objective, ("carbon", "caspian"))):
        if value not in known:
            raise UnsupportedError(f"unknown {name} {value!r}: must be {one_of(known)}")
    if preset == "caspian" and clusters not in (None, len(CASPIAN_ZONES)):
        raise UnsupportedError(f"clusters = {clusters}: the caspian preset has 3; use the bench preset")
    known_shapes = [field.name for field in fields(Shape)] if preset == "supercomputer" else []
    for name in shape:
        if name not in known_shapes:
            raise UnsupportedError(f"the {preset} preset does not take {name!r}")
    for name, size, least in (
        ("jobs", jobs, 1),
        ("slots", slots, 2 * LARGEST_JOB),
        ("clusters", clusters or 1, 1),
        ("seed", seed, 0),
    ):
        if size < least:
            raise UnsupportedError(f"{name} = {shown(size)}: must be at least {least}")
    if not 0 < load <= 10:
        raise UnsupportedError(f"load = {shown(load)}: must be above 0 and at most 10")
    require_bytes(
        f"an instance of {jobs} jobs and {slots} slots", BYTES_PER_JOB * jobs + BYTES_PER_SLOT * (clusters or 3) * slots
    )


def _zones(preset: str, clusters: int | None, carbon: CarbonSignal | None) -> tuple[str, ...]:
    if preset == "caspian" and carbon is None:
        return CASPIAN_ZONES
    if preset == "caspian":
        assert carbon is not None
        if len(carbon.zones) != len(CASPIAN_ZONES):
            raise InputError(
                Fault("carbon", "the caspian preset needs a signal of 3 zones", f"{len(carbon.zones)} zones")
            )
        known = all(zone in carbon.zones for zone in CASPIAN_ZONES)
        return CASPIAN_ZONES if known else carbon.zones
    known_zones = published_zones() if carbon is None else carbon.zones
    return tuple(known_zones[j % len(known_zones)] for j in range(clusters or 3))


def _clusters(
    preset: str,
    zones: tuple[str, ...],
    duration: IntArray,
    demand: FloatArray,
    slots: int,
    load: float,
    rng: np.random.Generator,
) -> Clusters:
    if preset == "caspian":
        capacity = np.full((len(zones), 1), CASPIAN_GPUS)
        return Clusters(zones, zones, capacity, np.array(CASPIAN_WATTS)[:, None])
    units = np.ceil(float(duration @ demand) / (load * len(zones) * slots))
    watts: FloatArray = rng.integers(2, 7, (len(zones), 1)) * np.float64(50.0)
    names = tuple(f"c{j:0{len(str(len(zones)))}d}-{zone}" for j, zone in enumerate(zones))
    return Clusters(names, zones, np.full((len(zones), 1), max(units, LARGEST_JOB)), watts)


def _provenance(preset: str, seed: int, load: float, carbon: CarbonSignal | None, grid: TimeGrid) -> dict[str, Any]:
    source = "benchmark workload"
    if preset == "caspian":
        source = "Caspian, section V-A"
    if preset == "supercomputer":
        source = SUPERCOMPUTER
    signal = "read from files"
    if carbon is None:
        signal = "synthetic, calibrated to published statistics"
    return {
        "generator": f"carbonopt generate mosp --preset {preset}",
        "workload": source,
        "seed": seed,
        **({} if preset == "caspian" else {"load": load}),
        "carbon_signal": signal,
        "carbon_start": format_utc(grid.start),
    }
