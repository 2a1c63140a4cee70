"""Files of the ICON challenge become instances, in both readings of their powers."""

from __future__ import annotations

from pathlib import Path

import pytest

import carbonopt as co
from carbonopt.problems.ecas.data.convert import convert

INSTANCE = """5
2
2
0 100 1.5 0.5
10 20
1 80 1 0.25
11 21
1
7 2 1 4 600
3 4
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "instance.txt").write_text(INSTANCE)
    (tmp_path / "forecast.txt").write_text("4\n0 0.1\n1 0.2\n2 -0.1\n3 0.3\n")
    (tmp_path / "actual.txt").write_text("4\n0 0.4\n1 0.2\n2 0.1\n3 0.3\n")
    return tmp_path


def test_every_number_is_where_it_belongs(folder: Path) -> None:
    instance = convert(folder)
    assert instance.time.slots == 4
    assert instance.time.slot_hours == 5 / 60
    assert instance.carbon.zones == ()
    assert instance.price_per_kwh.tolist() == [0.1, 0.2, -0.1, 0.3]
    machines, jobs = instance.machines, instance.jobs
    assert (machines.name, machines.capacity.tolist()) == (("0", "1"), [[10, 20], [11, 21]])
    assert (machines.up_cost.tolist(), machines.down_cost.tolist()) == ([1.5, 1], [0.5, 0.25])
    assert (jobs.name, jobs.arrival[0], jobs.duration[0], jobs.deadline[0]) == (("7",), 1, 2, 4)
    assert jobs.use.tolist() == [[3, 4]]


def test_the_two_readings_of_powers(folder: Path) -> None:
    """Literal: 600 times price times 5/60, as the challenge's formula has it. Watts: a thousandth of the energy."""
    literal, watts = convert(folder), convert(folder, reading="watts")
    assert (literal.jobs.power_kw[0], literal.machines.idle_kw[0]) == (600, 100)
    assert (watts.jobs.power_kw[0], watts.machines.idle_kw[0]) == (0.6, 0.1)
    assert watts.machines.up_cost.tolist() == literal.machines.up_cost.tolist()
    assert literal.name != watts.name
    costs = [co.solve(instance, "milp", mip_rel_gap=0).metrics["energy_cost"] for instance in (literal, watts)]
    assert costs[0] == pytest.approx((600 + 80) * 5 / 60 * (0.2 - 0.1))
    assert costs[1] == pytest.approx(costs[0] / 1000)


def test_the_actual_prices(folder: Path) -> None:
    assert convert(folder, prices="actual").price_per_kwh.tolist() == [0.4, 0.2, 0.1, 0.3]
    with pytest.raises(co.UnsupportedError, match="prices"):
        convert(folder, prices="real")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("600", "much", "number 21 = 'much': must be a number: power of a task"),
        ("3 4\n", "3", "ends where use of a task is expected"),
        ("3 4\n", "3 4 5\n", "stands behind the last expected number"),
        ("10 20", "10.5 20", "must be a whole number, at least 0: capacity of a machine"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(folder: Path, old: str, new: str, words: str) -> None:
    (folder / "instance.txt").write_text(INSTANCE.replace(old, new))
    with pytest.raises(co.InputError, match=r"instance\.txt") as caught:
        convert(folder)
    [line] = caught.value.lines()
    assert words in line


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(co.UnsupportedError, match=r"must be a folder with instance\.txt and forecast\.txt"):
        convert(tmp_path / "none")


def test_a_real_one(data_folder: Path) -> None:
    folder = data_folder / "icon2014/instance00"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    instance = convert(folder)
    assert instance.features()["slots"] == 288
    assert co.solve(instance, "greedy", time_limit=None).has_solution
