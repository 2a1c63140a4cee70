"""GREEN and its baselines: small cases by hand, and what each decision does."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ROOT, load_module

from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.online.base import FixedScale
from carbonopt.problems.mlcluster.online.green import Green
from carbonopt.problems.mlcluster.online.green_options import GreenOptions
from carbonopt.problems.mlcluster.online.run import simulate, workload_of
from carbonopt.problems.mlcluster.verify.check import check
from carbonopt.simulation import ForecastModel, Pool, State, make_policy
from carbonopt.simulation.options import SimulationOptions

tiny = load_module(ROOT / "instances/tiny_mlcluster.py")
LINEAR = {"p": tiny.profile(1, 2, 3, 4, watts=[100.0, 200.0, 300.0, 400.0])}
FLAT = {"p": tiny.profile(1, 1.1, watts=[100.0, 200.0])}
"""A second GPU adds a tenth of throughput: DEGRADATION(2) = 0.55."""

Row = tuple[str, float, float, int]


def options(instance: MlClusterInstance, **changes: Any) -> SimulationOptions:
    return SimulationOptions(ForecastModel().of(instance.intensity, instance.time.slot_hours), **changes)


def rows(policy: str, gpus: int, grams: list[float], jobs: dict[str, Any], profiles: dict[str, Any]) -> list[Row]:
    instance = from_dict(tiny.tiny("policy", "", gpus, grams, jobs, profiles))
    schedule = simulate(instance, make_policy(PROBLEM, policy), options(instance, lengths="true")).schedule
    assert schedule is not None
    assert check(instance, schedule).violations == ()
    return sorted(zip(*schedule.values(), strict=True), key=lambda row: (row[1], row[0]))


class TestGreen:
    def test_a_job_grows_while_it_stays_efficient(self) -> None:
        found = rows("green:theta=1", 4, [100] * 3, {"a": (0.0, 120.0, "p", 1, 4)}, LINEAR)
        assert found == [("a", 0, 5, 1), ("a", 5, 10, 2), ("a", 10, 15, 3), ("a", 15, 37.5, 4)]

    def test_a_scale_out_that_fails_gives_the_gpu_back(self) -> None:
        job = {"a": (0.0, 60.0, "p", 1, 2)}
        assert rows("green:theta=1", 2, [100] * 3, job, FLAT) == [
            ("a", 0, 5, 1), ("a", 5, 10, 2), ("a", 10, pytest.approx(59.5), 1),
        ]  # fmt: skip
        kept = rows("green:theta=1,failed=keep", 2, [100] * 3, job, FLAT)
        assert kept == [("a", 0, 5, 1), ("a", 5, pytest.approx(55), 2)]

    def test_theta_is_not_exceeded_but_by_gpus_that_would_idle(self) -> None:
        job = {"a": (0.0, 120.0, "p", 1, 4)}
        assert rows("green:theta=0.5,spare=false", 4, [100] * 3, job, LINEAR) == [("a", 0, 5, 1), ("a", 5, 62.5, 2)]
        assert max(row[3] for row in rows("green:theta=0.5", 4, [100] * 3, job, LINEAR)) == 4

    def test_shifting_lets_high_power_jobs_go_first_in_green_hours(self) -> None:
        profiles = {"low": tiny.profile(1, watts=[100.0]), "high": tiny.profile(1, watts=[200.0])}
        jobs = {"h": (0.0, 60.0, "high", 1, 1), "l": (0.0, 60.0, "low", 1, 1)}
        for grams, shifting, order in (
            ([100, 300, 300], "figure-5a", [0, 1]),  # green: high-power 1 / 2 and low-power 1, times equal footprints
            ([300, 100, 100], "figure-5a", [1, 0]),  # brown: 2 and 1
            ([100, 300, 300], "reversed", [1, 0]),
        ):
            instance = from_dict(tiny.tiny("rank", "", 1, grams, jobs, profiles))
            state = State(workload_of(instance), (Pool("gpus", 1),), "green", instance=instance)
            policy = Green(shifting=shifting)
            policy.on_begin(state)
            policy.lower, policy.carbon = {0: None, 1: None}, [1.0, 1.0]
            assert policy._ranked(state) == order
            policy.options = GreenOptions(mu=1, order="descending")
            policy.carbon = [1.0, 2.0]
            assert policy._ranked(state) == [1, 0]

    def test_no_shifting_is_mu_1(self) -> None:
        assert make_policy(PROBLEM, "green-no-shifting").options.mu == 1
        assert make_policy(PROBLEM, "green-gpu-hours").options.footprint == "gpu-hours"

    def test_every_decision_is_an_option(self) -> None:
        instance = generate(jobs=200, gpus=24, arrival_hours=8, load=0.9, seed=3)
        changes = [
            "mu=4", "theta=1", "gamma=0.9", "gamma_idle=0.5",
            "gamma_rise=0.3", "gamma_most=0.8", "cap=2", "scale_minutes=30", "rerank_minutes=60", "footprint=gpu-hours",
            "shifting=reversed", "order=descending", "upper=degradation", "failed=keep", "full=wait", "mean=past-day",
            "backfill=false", "spare=false", "ageing_hours=1",
        ]  # fmt: skip
        assert {change.partition("=")[0] for change in changes} == set(GreenOptions.__dataclass_fields__)
        base = simulate(instance, Green(), options(instance)).schedule
        for change in changes:
            schedule = simulate(instance, make_policy(PROBLEM, f"green:{change}"), options(instance)).schedule
            assert schedule is not None
            assert {v.constraint for v in check(instance, schedule).violations} <= {"horizon"}, change
            assert schedule != base or change == "mean=past-day", change  # the same hours may be green by both

    def test_an_hour_is_green_by_the_mean_of_the_signal_or_of_the_day_before(self) -> None:
        jobs = {"a": (0.0, 60.0, "p", 1, 1)}
        instance = from_dict(tiny.tiny("mean", "", 1, [300] * 24 + [200] * 24 + [210] + [500] * 23, jobs, LINEAR))
        for mean, green in (("signal", True), ("past-day", False)):
            state = State(workload_of(instance), (Pool("gpus", 1),), "green", instance=instance)
            state.now = 48 * 60.0  # 210 g/kWh, after a day of 200
            policy = Green(mean=mean)
            policy.on_begin(state)
            assert policy._is_green(state) is green


class TestBaselines:
    def test_first_come(self) -> None:
        jobs = {"a": (0.0, 60.0, "p", 1, 1), "b": (1.0, 60.0, "p", 2, 2), "c": (2.0, 30.0, "p", 1, 1)}
        assert rows("fcfs", 2, [100] * 4, jobs, LINEAR) == [("a", 0, 60, 1), ("b", 60, 90, 2), ("c", 90, 120, 1)]
        filled = [("a", 0, 60, 1), ("c", 2, 32, 1), ("b", 60, 90, 2)]
        assert rows("fcfs:backfill=true", 2, [100] * 4, jobs, LINEAR) == filled

    def test_fixed_scales(self) -> None:
        job = {"a": (0.0, 60.0, "p", 1, 4)}
        assert rows("fixed-1", 4, [100] * 2, job, LINEAR) == [("a", 0, 60, 1)]
        assert rows("fixed-2", 4, [100] * 2, job, LINEAR) == [("a", 0, 30, 2)]

    def test_tiresias_runs_jobs_on_the_most_gpus_that_keep_their_efficiency(self) -> None:
        job = {"a": (0.0, 60.0, "p", 1, 4)}
        assert rows("tiresias", 4, [100] * 2, job, LINEAR) == [("a", 0, 15, 4)]
        assert rows("tiresias", 4, [100] * 2, {"a": (0.0, 60.0, "p", 1, 2)}, FLAT) == [("a", 0, 60, 1)]
        slack = rows("tiresias:gamma=0.5", 4, [100] * 2, {"a": (0.0, 66.0, "p", 1, 2)}, FLAT)
        assert slack == [("a", 0, pytest.approx(60), 2)]
        assert rows("tiresias", 4, [100] * 2, {"a": (0.0, 66.0, "p", 2, 2)}, FLAT)[0][3] == 2  # its least

    def test_tiresias_preempts_whoever_had_most(self) -> None:
        jobs = {"a": (0.0, 60.0, "p", 1, 1), "b": (7.0, 10.0, "p", 1, 1)}
        found = rows("tiresias:gpus=1,round_minutes=5", 1, [100] * 2, jobs, LINEAR)
        assert found == [("a", 0, 10, 1), ("b", 10, 20, 1), ("a", 20, 70, 1)]

    def test_tiresias_with_two_queues_does_so_beyond_the_threshold_alone(self) -> None:
        jobs = {"a": (0.0, 60.0, "p", 1, 1), "b": (7.0, 10.0, "p", 1, 1)}
        found = rows("tiresias-2:gpus=1,threshold_gpu_hours=0.5", 1, [100] * 2, jobs, LINEAR)
        assert found == [("a", 0, 30, 1), ("b", 30, 40, 1), ("a", 40, 70, 1)]

    def test_rounds_shorter_than_restarts_do_not_stop_the_cluster(self) -> None:
        profiles = {"p": tiny.profile(1, restart_minutes=12.0)}
        jobs = dict.fromkeys("abc", (0.0, 30.0, "p", 1, 1))
        found = rows("tiresias:gpus=1,round_minutes=5", 1, [100] * 12, jobs, profiles)
        assert max(row[2] for row in found) < 720

    def test_carbon_time_waits_for_what_it_saves_by_the_hour(self) -> None:
        job = {"a": (0.0, 60.0, "p", 1, 1)}
        assert rows("carbon-time", 1, [400, 390, 100, 90, 80], job, LINEAR) == [("a", 120, 180, 1)]
        assert rows("carbon-time:wait_hours=1", 1, [400, 390, 100, 90, 80], job, LINEAR)[0][1] < 60

    def test_ecovisor_runs_below_the_quantile_and_after_its_wait(self) -> None:
        job = {"a": (0.0, 90.0, "p", 1, 1)}
        grams = [400, 100, 400, 400, 100, 100, *[400] * 18]
        assert rows("ecovisor", 1, grams, job, LINEAR) == [("a", 60, 120, 1), ("a", 240, 270, 1)]
        assert rows("ecovisor:wait_hours=2", 1, grams, job, LINEAR) == [("a", 60, 150, 1)]


class TestNames:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("pollux", "unknown policy 'pollux' for problem 'mlcluster': must be 'green'"),
            ("green:mu", "'mu' must be option=value"),
            ("green:nu=1", "policy 'green:nu=1': unknown option 'nu': must be 'mu', 'theta', 'gamma'"),
            ("tiresias:gama=2", "unknown option 'gama': must be 'gpus', 'gamma', 'round_minutes' or 'threshold_gpu"),
            ("green:mu=abc", "policy 'green:mu=abc': mu = 'abc': must be a number"),
            ("green:mu=inf", "mu = 'inf': must be a number"),
            ("green:cap=2.5", "cap = '2.5': must be a whole number"),
            ("green:spare=1", "spare = '1': must be true or false"),
            ("green:gamma=x", "gamma = 'x': must be a number or none"),
            ("tiresias:gpus=x", "gpus = 'x': must be a whole number or none"),
            ("tiresias:gamma=-2", "gamma = -2.0: must be above 0, at most 1"),
            ("tiresias:gamma=1.5", "gamma = 1.5: must be above 0, at most 1"),
            ("tiresias:gpus=0", "gpus = 0: must be a whole number, at least 1, or none"),
            ("carbon-time:gpus=1,gamma=0.5", "gamma = 0.5: says nothing of a fixed number; must come with gpus=none"),
            ("green:mu=0.5", "mu = 0.5: must be at least 1"),
            ("green:order=up", "order = 'up': must be 'ascending' or 'descending'"),
        ],
    )
    def test_what_is_none_is_refused(self, text: str, message: str) -> None:
        with pytest.raises(UnsupportedError, match=message.replace("(", r"\(")):
            make_policy(PROBLEM, text)

    def test_a_scale_by_efficiency_is_asked_for_by_gpus_none(self) -> None:
        policy = make_policy(PROBLEM, "carbon-time:gpus=none,gamma=0.5")
        assert isinstance(policy, FixedScale)
        assert (policy.gpus, policy.gamma) == (None, 0.5)
        assert FixedScale(None).gamma == pytest.approx(1.0)

    def test_there_is_no_artifact(self) -> None:
        instance = generate(jobs=3, gpus=2, arrival_hours=1)
        with pytest.raises(UnsupportedError, match="mode 'paper' alone"):
            simulate(instance, Green(), options(instance, mode="artifact"))


def test_the_same_seed_gives_the_same_schedule() -> None:
    instance = generate(jobs=60, gpus=8, arrival_hours=6, seed=1)
    for policy in PROBLEM.policies:
        first, second = (simulate(instance, make_policy(PROBLEM, policy), options(instance)).schedule for _ in range(2))
        assert first == second
