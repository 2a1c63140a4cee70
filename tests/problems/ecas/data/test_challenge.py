"""Solutions in the format of the ICON challenge: by hand, there and back, and by its rules."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_support import errors, run
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.problems.ecas.data.challenge import read_schedule, to_text
from carbonopt.problems.ecas.data.convert import convert
from carbonopt.problems.ecas.data.instance import EcasInstance

rules = load_module(ROOT / "tests/reference/icon_rules.py")
INSTANCE = """360
1
2
4 2 1 0.5
3
9 2 1 0.5
3
2
7 1 0 1 1
2
3 1 2 4 1
2
"""
"""A day of four slots of six hours; one kilowatt over a slot at price 1 costs 6."""
BY_HAND = "2\n4\n2\n1 0\n0 3\n9\n0\n2\n7 4 0\n3 4 3\n"
"""Machine 4 is on from slot 0 until the end of slot 3, in which task 3 runs; machine 9 never is."""
COST_BY_HAND = 6 * (2 * 4 + 2) + 1.5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "instance.txt").write_text(INSTANCE)
    for name in ("forecast", "actual"):
        (tmp_path / f"{name}.txt").write_text("4\n0 1\n1 1\n2 1\n3 1\n")
    return tmp_path


def read(folder: Path, text: str) -> co.Solution:
    (folder / "solution.txt").write_text(text)
    return co.evaluate(convert(folder), folder / "solution.txt")


def test_by_hand(folder: Path) -> None:
    """Off in slot 3 means: behind slot 3, so on for four slots."""
    instance = convert(folder)
    solution = read(folder, BY_HAND)
    assert solution.schedule.to_dict("list")["end"] == [1, 4, 4]
    assert solution.objective == pytest.approx(COST_BY_HAND)
    assert rules.cost(folder) == pytest.approx(COST_BY_HAND)
    assert to_text(instance, solution.columns) == BY_HAND


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "number 0: ends where number of machines is expected"),
        ("3\n", "number 1 = 3: must be 2: the instance has so many machines"),
        (BY_HAND.replace("2\n4\n", "2\n9\n", 1), "must be 4: machines stand in the order of the instance"),
        (BY_HAND.replace("1 0\n", "2 0\n"), "must be 1 (on) or 0 (off): event of machine 4"),
        (BY_HAND.replace("1 0\n0 3\n", "0 0\n1 3\n"), "machine 4 must be switched on and off in turn"),
        (BY_HAND.replace("4\n2\n1 0\n0 3\n", "4\n1\n1 0\n"), "machine 4 must be switched on and off in turn"),
        (BY_HAND.replace("4\n2\n1 0\n0 3\n", "4\n4\n1 0\n0 1\n1 2\n0 3\n"), "on in slot 2, but was on in slot 1"),
        (BY_HAND.replace("7 4 0", "7 4 x"), "must be a number: start of task 7"),
        (BY_HAND.replace("7 4 0", "7 4 nan"), "must be a whole number, at least 0: start of task 7"),
        (BY_HAND.replace("7 4 0", "8 4 0"), "must be 7: tasks stand in the order of the instance"),
        (BY_HAND + "1\n", "stands behind the last expected number"),
        (BY_HAND.replace("7 4 0", "7 5 0"), "machine '5' is unknown"),
        (BY_HAND.replace("0 3\n", "0 2\n"), "runs on machine '4', which is off in slot 3"),
        (BY_HAND.replace("0 3\n", "0 4\n"), "must be whole, from 0 to 4"),
        (BY_HAND.replace("3 4 3", "3 4 1"), "its window is 2..4"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(folder: Path, text: str, words: str) -> None:
    with pytest.raises(co.InputError) as caught:
        read(folder, text)
    assert any(words in line for line in caught.value.lines()), caught.value.lines()


@for_each(seed=range(1, 11))
def test_there_and_back_and_by_the_rules(seed: int, tmp_path: Path) -> None:
    """Drawn files; the cost of the package's checker is that of the rules, which read the files by themselves."""
    rng = np.random.default_rng(seed)
    lines = ["60", "2", "3"]
    for m in rng.permutation(3):
        lines += [f"{m} {rng.integers(0, 9)} {rng.integers(0, 3)} {rng.integers(0, 3)}", "5 6"]
    lines.append("8")
    for j in rng.permutation(8):
        duration, slack = rng.integers(1, 6), rng.integers(0, 8)
        first = rng.integers(0, 24 - duration - slack + 1)
        lines += [f"{j} {duration} {first} {first + duration + slack} {rng.integers(1, 9)}.5"]
        lines += [f"{rng.integers(1, 4)} {rng.integers(0, 4)}"]
    (tmp_path / "instance.txt").write_text("\n".join(lines))
    price = "".join(f"{t} {rng.uniform(-0.1, 0.3):.3f}\n" for t in range(24))
    (tmp_path / "forecast.txt").write_text(f"24\n{price}")
    instance = convert(tmp_path)
    solution = co.solve(instance, "greedy", time_limit=None)
    text = to_text(instance, solution.columns)
    (tmp_path / "solution.txt").write_text(text)
    assert rules.cost(tmp_path) == pytest.approx(solution.objective)
    back = read_schedule(instance, tmp_path / "solution.txt")
    assert co.evaluate(instance, back).objective == pytest.approx(solution.objective)
    assert to_text(instance, back) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("7 4 0", "7 4 2"),  # behind its window
        ("3 4 3", "3 9 3"),  # on a machine that is off
        ("0 3\n", "0 2\n"),  # the same, in the last slot
        ("1 0\n0 3\n", "0 3\n1 0\n"),
        ("4\n2\n1 0\n0 3\n", "4\n4\n1 0\n0 1\n1 2\n0 3\n"),  # on in the slot behind the one in which it is off
    ],
)
def test_the_rules_refuse(folder: Path, old: str, new: str) -> None:
    (folder / "solution.txt").write_text(BY_HAND.replace(old, new))
    with pytest.raises(ValueError, match=r"window|off|on"):
        rules.cost(folder)


def test_no_such_thing_in_the_format(folder: Path) -> None:
    """The package's schedules may switch off and on between two slots; names may be words. The challenge's may not."""
    instance = convert(folder)
    columns = dict(read(folder, BY_HAND).columns)
    apart = {"job": [None, None], "machine": ["4", "4"], "start": [0, 2], "end": [2, 4]}
    runs = {name: column[:2] for name, column in columns.items()}
    with pytest.raises(co.InputError, match="off and on again before slot 2"):
        to_text(instance, {name: runs[name] + apart[name] for name in runs})
    words = co.generate("ecas", jobs=2, machines=1, slots=4, load=0.1, seed=1)
    assert isinstance(words, EcasInstance)
    with pytest.raises(co.InputError, match=r"machines\.name\[0\] = 'm0': must be a whole number") as caught:
        to_text(words, co.solve(words, "greedy").columns)
    assert len(caught.value.lines()) == 2


def test_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    run("convert", "ecas", "--icon", ".", "-o", "i.json")
    run("solve", "i.json", "-m", "milp", "-o", "s.json")
    done = run("export", "i.json", "--solution", "s.json", "-o", "solution.txt")
    assert (done.exit_code, "solution.txt" in done.stdout) == (0, True)
    objective = co.read_solution("s.json").objective
    assert rules.cost(folder) == pytest.approx(objective)
    checked = run("check", "i.json", "solution.txt")
    assert (checked.exit_code, "feasible" in checked.stdout) == (0, True)
    assert "must end in .txt" in errors("export", "i.json", "--solution", "s.json", "-o", "s.mps")[0]
    broken = co.read_solution("s.json").to_dict()
    broken["schedule"]["start"][0] = 3
    Path("b.json").write_text(json.dumps(broken))
    assert all("b.json" in line for line in errors("export", "i.json", "--solution", "b.json", "-o", "n.txt"))
    assert not Path("n.txt").exists()
    co.generate("mosp", jobs=2, seed=1).write("m.json")
    assert "has no 'write_schedule'" in errors("export", "m.json", "--solution", "s.json", "-o", "n.txt")[0]
    assert errors("check", "m.json", "solution.txt")


@pytest.mark.parametrize("name", ["sample01", "instance00", "instance05"])
def test_real_ones(name: str, data_folder: Path, tmp_path: Path) -> None:
    source = data_folder / "icon2014" / name
    if not source.is_dir():
        pytest.skip(f"no {source}")
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    instance = convert(source)
    solution = co.solve(instance, "greedy", time_limit=None)
    (tmp_path / "solution.txt").write_text(to_text(instance, solution.columns))
    assert rules.cost(tmp_path) == pytest.approx(solution.objective)
