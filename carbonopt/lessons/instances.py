"""The small instances that the exercises are about: each fits on one screen, and on paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.problems.mosp.data.instance import CarbonObjective, Clusters, MospInstance, MospJobs

WATTS = 1000.0
"""Power of a GPU [W], so that a GPU-hour is a kWh."""


def small(name: str, g_per_kwh: Sequence[float], gpus: int, jobs: dict[str, tuple[int, int, int]]) -> MospInstance:
    """Return jobs on one cluster, of which only the carbon counts.

    Parameters
    ----------
    name
        Of the instance.
    g_per_kwh
        Carbon intensity of each hour.
    gpus
        Of the cluster.
    jobs
        First slot, hours and GPUs of each job, by name.
    """
    slots = len(g_per_kwh)
    arrival, duration, demand = (np.array(column) for column in zip(*jobs.values(), strict=True))
    return MospInstance(
        name=name,
        carbon=CarbonSignal(("DE",), np.array([g_per_kwh], dtype=float), TimeGrid(slots)),
        resources=("gpu",),
        clusters=Clusters(("berlin",), ("DE",), np.array([[float(gpus)]]), np.array([[WATTS]])),
        jobs=MospJobs(tuple(jobs), arrival, duration, np.full(len(jobs), float(slots)), demand[:, None].astype(float)),
        objective=CarbonObjective(1.0, 0.0, 0.0),
    )


def one_job() -> MospInstance:
    """Return one job of three hours on two GPUs."""
    signal = [420, 390, 350, 300, 260, 180, 240, 150, 160, 310, 380, 430]
    return small("one-job", signal, 2, {"a": (1, 3, 2)})


def crowd() -> MospInstance:
    """Return four jobs that all want the same clean hours of two GPUs."""
    signal = [410, 60, 380, 340, 130, 160, 60, 450]
    return small("crowd", signal, 2, {"a": (0, 3, 1), "b": (0, 2, 2), "c": (0, 3, 1), "d": (0, 2, 1)})


def cooling() -> MospInstance:
    """Return one job of an hour, in a grid that becomes cleaner and then dirty again."""
    return small("cooling", [350, 260, 210, 190, 120, 400], 1, {"a": (0, 1, 1)})


def windy_night() -> MospInstance:
    """Return one job of two hours, in a grid whose average is lowest at night."""
    return small("windy-night", [320, 360, 400, 340, 240, 180, 160, 220], 1, {"a": (0, 2, 1)})
