"""Options of policies in a text: each is told where it is out of range, and does its work at the ends of it."""

from __future__ import annotations

import pytest

from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.online.gates import CarbonTime, Ecovisor
from carbonopt.problems.mlcluster.online.green_options import GreenOptions
from carbonopt.problems.mlcluster.online.run import simulate
from carbonopt.problems.mlcluster.online.tiresias import Tiresias
from carbonopt.problems.mlcluster.verify.check import check
from carbonopt.simulation import ForecastModel, make_policy
from carbonopt.simulation.options import SimulationOptions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("green:gamma=0", "gamma = 0.0: must be above 0, below 1, or none"),
        ("green:gamma=1", "gamma = 1.0: must be above 0, below 1, or none"),
        ("green:gamma_idle=0", "gamma_idle = 0.0: must be above 0, at most 1"),
        ("green:gamma_rise=-1", "gamma_rise = -1.0: must be at least 0"),
        ("green:gamma_most=2", "gamma_most = 2.0: must be above 0, at most 1"),
        ("green:mu=0.99", "mu = 0.99: must be at least 1"),
        ("green:theta=0", "theta = 0.0: must be above 0, at most 1"),
        ("green:theta=1.1", "theta = 1.1: must be above 0, at most 1"),
        ("green:cap=0", "cap = 0: must be a whole number, at least 1"),
        ("green:scale_minutes=0", "scale_minutes = 0.0: must be at least 0.01"),
        ("green:rerank_minutes=-30", "rerank_minutes = -30.0: must be above 0"),
        ("green:ageing_hours=-1", "ageing_hours = -1.0: must be at least 0, or none"),
        ("tiresias:round_minutes=0", "round_minutes = 0.0: must be at least 0.01"),
        ("tiresias:round_minutes=1e-9", "round_minutes = 1e-09: must be at least 0.01"),
        ("tiresias-2:threshold_gpu_hours=0", "threshold_gpu_hours = 0.0: must be above 0, or none"),
        ("carbon-time:wait_hours=-1", "wait_hours = -1.0: must be at least 0"),
        ("ecovisor:wait_hours=-0.5", "wait_hours = -0.5: must be at least 0"),
        ("ecovisor:quantile=-0.1", "quantile = -0.1: must be at least 0, at most 1"),
        ("ecovisor:quantile=30", "quantile = 30.0: must be at least 0, at most 1"),
        ("fixed-1:gpus=0", "gpus = 0: must be a whole number, at least 1, or none"),
        ("tiresias:gamma=0", "gamma = 0.0: must be above 0, at most 1, or none"),
    ],
)
def test_what_is_out_of_range_is_told_with_the_policy(text: str, words: str) -> None:
    with pytest.raises(UnsupportedError) as told:
        make_policy(PROBLEM, text)
    assert str(told.value) == f"policy {text!r}: {words}"


def test_objects_are_held_to_the_same_ranges() -> None:
    nan = float("nan")
    for make, option in (
        (lambda: GreenOptions(gamma=nan), "gamma"),
        (lambda: GreenOptions(mu=nan), "mu"),
        (lambda: GreenOptions(cap=2.5), "cap"),  # type: ignore[arg-type]
        (lambda: Tiresias(round_minutes=nan), "round_minutes"),
        (lambda: CarbonTime(wait_hours=nan), "wait_hours"),
        (lambda: Ecovisor(quantile=nan), "quantile"),
    ):
        with pytest.raises(UnsupportedError, match=f"^{option} = "):
            make()


@pytest.mark.parametrize(
    "text",
    [
        "green:gamma=0.001,mu=1,theta=1,cap=1,ageing_hours=0",
        "carbon-time:wait_hours=0",
        "ecovisor:quantile=0,wait_hours=1",
        "ecovisor:quantile=1,wait_hours=0",
    ],
)
def test_the_ends_of_the_ranges_work(text: str) -> None:
    instance = generate(jobs=8, gpus=4, arrival_hours=3, seed=1)
    forecast = ForecastModel().of(instance.intensity, instance.time.slot_hours)
    schedule = simulate(instance, make_policy(PROBLEM, text), SimulationOptions(forecast)).schedule
    assert schedule is not None
    assert check(instance, schedule).violations == ()
