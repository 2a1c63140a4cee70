"""The small instances that the exercises are about: each fits on one screen, and on paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.problems.elastic.data.instance import Cluster, ElasticInstance, ElasticJobs, Profile
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, PurchasingJobs
from carbonopt.problems.purchasing.data.settings import Queue

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


def one_server(g_per_kwh: Sequence[float] = (300, 100, 500)) -> ElasticInstance:
    """Return two jobs of an hour on one server; the second one arrives an hour later, and each may wait an hour."""
    return ElasticInstance(
        name="one-server",
        carbon=CarbonSignal(("DE",), np.array([g_per_kwh], dtype=float), TimeGrid(len(g_per_kwh))),
        cluster=Cluster(np.array(1.0), "DE"),
        profiles=(Profile("one", 1, np.array([1.0]), np.array([WATTS])),),
        jobs=ElasticJobs(("a", "b"), np.array([0, 1]), np.array([1.0, 1.0]), np.array([1, 1]), ("one", "one")),
    )


def calm_evening() -> MospInstance:
    """Return one job of two hours, in a grid with two clean times of nearly the same carbon."""
    return small("calm-evening", [340, 210, 190, 330, 380, 250, 280, 400], 1, {"a": (0, 2, 1)})


def two_waits() -> PurchasingInstance:
    """Return two jobs of an hour: each emits less if it waits, and the second one arrives late."""
    g_per_kwh = [700, 720, 710, 100, 300, 200, 310, 320, 330]
    return PurchasingInstance(
        name="two-waits",
        carbon=CarbonSignal(("DE",), np.array([g_per_kwh], dtype=float), TimeGrid(len(g_per_kwh))),
        jobs=PurchasingJobs(("a", "b"), np.array([0.0, 4.0]), np.array([1.0, 1.0]), np.array([1.0, 1.0])),
        queues=(Queue("all", float("inf"), 4.0),),
        watts_per_cpu=WATTS,
    )
