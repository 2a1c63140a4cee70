"""Generated and converted clusters: same seed, same instance; load, sizes and profiles as asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from carbonopt.core.errors import InputError, TooLargeError, UnsupportedError
from carbonopt.problems.mlcluster.data.catalogue import FAMILIES, measured, modelled, profile_mix
from carbonopt.problems.mlcluster.data.convert import convert
from carbonopt.problems.mlcluster.data.generate import generate
from carbonopt.problems.mlcluster.data.instance import Profile
from carbonopt.problems.mlcluster.data.workload import SizeClass


def test_the_paper_s_size_by_default() -> None:
    instance = generate()
    assert (len(instance.jobs), instance.cluster.gpus, instance.cluster.hosts) == (791, 64, 32)
    assert instance.zone == "GB"
    assert 2.55 < instance.provenance["load"] < 2.65  # 3,988 of 1,536 GPU-hours
    assert set(instance.provenance["profiles"].values()) == {"modelled: data-parallel training with a ring all-reduce"}


def test_seeds() -> None:
    first, again, other = (generate(jobs=30, seed=seed) for seed in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256


def test_every_seed_has_the_same_mix_of_sizes() -> None:
    edges = 60 * np.array([1 / 6, 1.0, 10.0])
    for seed in (1, 2, 3):
        work = generate(jobs=200, seed=seed).jobs.work_gpu_minutes
        assert np.bincount(np.searchsorted(edges, work, side="right")).tolist() == [
            44,
            60,
            60,
            36,
        ]  # Table 2: 22, 30, 30 and 18 %
        assert 1 <= work.min() < work.max() <= 37 * 60
    assert work.tolist() != sorted(work)


def test_own_sizes() -> None:
    work = generate(jobs=10, sizes={"none": SizeClass(0, 1, 2), "one": SizeClass(3, 5, 5)}).jobs.work_gpu_minutes
    assert work.tolist() == [300.0] * 10


def test_load_scales_the_work() -> None:
    assert generate(jobs=100, gpus=8, load=0.5).provenance["load"] == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("name", FAMILIES)
def test_modelled_profiles_lose_efficiency_and_never_power(name: str) -> None:
    profile = modelled(name)
    assert profile.throughput[0] == 1
    assert (np.diff(profile.throughput) > 0).all()
    assert (np.diff(profile.throughput / np.arange(1, 9)) <= 1e-12).all()
    assert (np.diff(profile.watts) > 0).all()
    assert (profile.watts >= 50 * np.arange(1, 9)).all()


def test_measured_profiles(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("nodes,throughput,power\n1,50,100\n2,90,180\n3,120,250\n")
    profile = measured(path, max_gpus=2)
    assert (profile.name, profile.throughput.tolist(), profile.watts.tolist()) == ("mine", [1, 1.8], [100, 180])
    instance = generate(jobs=10, profiles=f"resnet50:1,{path}:3", idle_watts=50.0)
    assert [part.name for part in instance.profiles] == ["resnet50", "mine"]
    path.write_text("nodes,throughput,power\n2,90,180\n3,120,250\n")
    with pytest.raises(InputError, match="must begin at 1"):
        measured(path, max_gpus=2)


@pytest.mark.parametrize("mix", ["alexnet", "resnet50:x", "resnet50:-1", {}])
def test_wrong_mixes_are_refused(mix: str) -> None:
    with pytest.raises(UnsupportedError):
        profile_mix(mix)


def test_own_profiles() -> None:
    parts, shares = profile_mix({Profile("own", np.ones(1), np.full(1, 100.0)): 1.0})
    assert (parts[0].name, shares.tolist()) == ("own", [1.0])


@pytest.mark.parametrize("parameters", [{"jobs": 0}, {"gpus": -1}, {"seed": -1}, {"load": 0.0}, {"arrival_hours": 0}])
def test_parameters_out_of_range(parameters: dict[str, float]) -> None:
    with pytest.raises(UnsupportedError):
        generate(**parameters)


def test_a_signal_that_is_too_short(tmp_path: Path) -> None:
    short = generate(jobs=5, arrival_hours=1, drain_hours=40.0).carbon
    with pytest.raises(InputError, match="must cover"):
        generate(jobs=50, carbon=short)


def test_convert(tmp_path: Path) -> None:
    jobs, carbon = tmp_path / "trace.csv", tmp_path / "GB_2022_hourly.csv"
    jobs.write_text("arrival_time,length,cpus\n0,90,2\n30,600,1\n45,2,1\n100,9000,1\n")
    hours = np.datetime64("2022-08-01T00", "h") + np.arange(48)
    lines = [f"{hour}:00:00Z,GB,{200 + i}" for i, hour in enumerate(hours)]
    carbon.write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *lines]))
    instance = convert(jobs, [carbon], "minutes", slots=24, gpus=4, min_length_hours=0.1)
    assert instance.jobs.name == ("row0", "row1")
    assert instance.jobs.work_gpu_minutes.tolist() == pytest.approx([90, 600])
    assert instance.jobs.arrival_minutes.tolist() == pytest.approx([0, 30])
    assert (instance.provenance["dropped_jobs"], instance.provenance["short_jobs_left_out"]) == (1, 1)
    with pytest.raises(TooLargeError, match=r"1e\+13 slots of 1 h"):
        convert(jobs, [carbon], "minutes", slots=10**13)
