"""Options of `generate` and `convert` that hold several: separated by commas, or one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_support import errors, run

import carbonopt as co

CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-01-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,{zone},{100 + hour}\n"
    for zone in "ABC"
    for hour in range(240)
)
SIGNAL = ("--carbon", "carbon.csv")
TRACE = ("--jobs", "jobs.csv", "--time-unit", "hours", *SIGNAL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("carbon.csv").write_text(CARBON)
    Path("jobs.csv").write_text("arrival_time,length,cpus\n0,1.5,1\n1,3,2\n5,14.25,4\n")


def made(*arguments: object) -> co.Instance:
    done = run(*arguments, "-o", "made.json")
    assert done.exit_code == 0, done.output
    return co.read("made.json")


@pytest.mark.parametrize(
    ("command", "option", "parts"),
    [
        (("generate", "mosp", "--preset", "bench", "--jobs", 5, *SIGNAL), "--zones", ("A", "C")),
        (("generate", "mosp", "--jobs", 5), "--weights", (1, 1, 0.5)),
        (("generate", "elastic", "--jobs", 5), "--profiles", ("cpu-high:3", "no-scaling")),
        (("generate", "purchasing", "--jobs", 5), "--queues", ("short:2:6", "middle:8:12", "long:inf:24")),
        (("generate", "purchasing", "--jobs", 5), "--weights", (2, 2, 0)),
        (("generate", "mlcluster", "--jobs", 5, "--gpus", 4), "--profiles", ("resnet50:3", "vgg16")),
        (("convert", "mosp", *TRACE), "--zones", ("B", "A")),
        (("convert", "mosp", *TRACE), "--weights", (1, 1, 0.5)),
        (("convert", "elastic", *TRACE, "--zone", "A"), "--profiles", ("cpu-high:3", "no-scaling")),
        (("convert", "purchasing", *TRACE, "--zone", "A"), "--queues", ("short:2:6", "long:inf:24")),
        (("convert", "purchasing", *TRACE, "--zone", "A"), "--weights", (2, 2, 0)),
        (("convert", "mlcluster", *TRACE, "--zone", "A"), "--profiles", ("resnet50:3", "vgg16")),
    ],
)
def test_one_by_one_is_the_same_as_with_commas(command: tuple[Any, ...], option: str, parts: tuple[Any, ...]) -> None:
    together = made(*command, option, ",".join(map(str, parts)))
    by_one = made(*command, *(each for part in parts for each in (option, part)))
    assert by_one.sha256 == together.sha256
    [line] = _told(*command, option, parts[-1])
    assert line != by_one.sha256  # the last alone is another instance, or none


def _told(*command: object) -> list[str]:
    done = run(*command, "-o", "last.json")
    return [co.read("last.json").sha256] if done.exit_code == 0 else done.stderr.splitlines()


def test_both_ways_at_once_and_a_zone_named_twice() -> None:
    mixed = made("convert", "mosp", *TRACE, "--zones", "C, A", "--zones", "B", "--zones", "A")
    assert mixed.carbon.zones == ("C", "A", "B")


def test_a_job_on_one_cluster_is_in_one_zone() -> None:
    [line] = errors("convert", "elastic", *TRACE, "--zone", "A", "--zone", "B")
    assert line == "carbon.csv: zones[0] = 'A,B': is an unknown zone: the files have 'A', 'B' or 'C'"


def test_without_them_the_defaults_are_those_in_python() -> None:
    for problem, options in (("elastic", {}), ("purchasing", {}), ("mlcluster", {"gpus": 4})):
        words = [f"--{key}={value}" for key, value in options.items()]
        given = made("generate", problem, "--jobs", 5, *words)
        assert given.sha256 == co.generate(problem, jobs=5, **options).sha256
