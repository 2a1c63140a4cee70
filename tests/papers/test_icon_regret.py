"""`icon-regret`: what a plan on forecast prices costs at actual ones, between a bound and the best plan found."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_support import errors, run

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.papers.figure import Run, figure_of
from carbonopt.papers.icon_regret import _interval, _pairs, read_pairs
from carbonopt.problems.ecas.data.file import from_dict

INSTANCE = "360\n1\n1\n0 1 1 1\n1\n1\n0 1 0 4 1\n1\n"
"""One machine of 1 W, one task of 1 W and one slot of six hours in a day of four; a start and a stop cost 2."""


def write(folder: Path, **prices: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "instance.txt").write_text(INSTANCE)
    for name, values in prices.items():
        lines = [f"{t} {value}" for t, value in enumerate(values.split())]
        (folder / f"{name}.txt").write_text("\n".join(["4", *lines]))
    return folder


def test_by_hand(tmp_path: Path) -> None:
    """The forecast sends the task to slot 1, which costs 12 * 3 + 2; the best is slot 3, at 12 * 2 + 2."""
    write(tmp_path / "a", forecast="5 1 5 5", actual="4 3 4 2")
    [row] = figure_of("icon-regret").table(Run(read_pairs(tmp_path))).to_dict("records")
    assert row["instance"] == "a"
    assert (row["plan_cost"], row["best_cost"]) == (38, 26)
    assert row["bound"] <= 26 * (1 + 1e-9)
    assert row["regret_least"] == pytest.approx(12)
    assert row["regret_most"] >= 12 * (1 - 1e-9)
    assert row["regret_least_percent"] == pytest.approx(100 * 12 / 26)


def test_the_regret_encloses_the_true_one(tmp_path: Path) -> None:
    """Small ones, against the optimum of the whole program; the true plan never beats it."""
    figure = figure_of("icon-regret")
    sizes = {"jobs": 6, "machines": 2, "slots": 12, "load": 0.4}
    for seed in (1, 2, 3):
        pair = [co.generate("ecas", **sizes, seed=seed, price_seed=price) for price in (seed, 50 + seed)]
        [row] = figure.table(Run(pair)).to_dict("records")
        optimum = co.solve(pair[1], "milp", mip_rel_gap=0, time_limit=None).objective
        true = row["plan_cost"] - optimum
        assert row["regret_least"] - 1e-6 <= true <= row["regret_most"] + 1e-6


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((10.0, 8.0, 5.0), (2, 5, 25, 100)),
        ((8.0, 10.0, 5.0), (0, 3, 0, 60)),
        ((-1.0, -2.0, -4.0), (1, 3, None, None)),
        ((None, 8.0, 5.0), (None,) * 4),
        ((10.0, None, 5.0), (None, 5, None, 100)),
        ((10.0, 8.0, None), (2, None, None, None)),
    ],
)
def test_the_interval(given: tuple[float | None, ...], wanted: tuple[float | None, ...]) -> None:
    assert tuple(_interval(*given).values()) == wanted


def test_folders(tmp_path: Path) -> None:
    write(tmp_path / "all/b", forecast="1 1 1 1", actual="1 1 1 2")
    write(tmp_path / "all/a", forecast="1 1 1 1", actual="1 1 1 2")
    write(tmp_path / "all/sample", forecast="1 1 1 1")
    names = [instance.provenance["folder"] for instance in read_pairs(tmp_path / "all")]
    assert names == ["a", "a", "b", "b"]
    assert len(read_pairs(tmp_path / "all/a")) == 2
    for empty in (tmp_path, tmp_path / "all/sample"):
        with pytest.raises(co.InputError, match="or hold such folders"):
            read_pairs(empty)


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "all/a", forecast="5 1 5 5", actual="4 3 4 2")
    done = run("reproduce", "icon-regret", "all", "-t", "5", "-o", "r.csv", "--plot", "r.svg")
    assert done.exit_code == 0
    assert pd.read_csv("r.csv")["regret_least"].tolist() == pytest.approx([12])
    assert Path("r.svg").stat().st_size > 0
    assert "has none" not in done.output
    assert "--time-limit" in errors("reproduce", "caspian-3", "-t", "5")[0]
    co.generate("ecas", jobs=2, machines=1, slots=4, load=0.1, seed=1).write("i.json")
    co.generate("ecas", jobs=2, machines=1, slots=4, load=0.1, seed=2).write("k.json")
    assert "must be pairs" in errors("reproduce", "icon-regret", "i.json")[0]
    assert "must differ in the prices alone" in errors("reproduce", "icon-regret", "i.json", "k.json")[0]


def test_what_has_ended_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a", forecast="5 1 5 5", actual="4 3 4 2")
    keep = Run.keep

    def second_is_stopped(self: Run, label: str, found: co.Solution) -> co.Solution:
        if self.finished:
            raise KeyboardInterrupt
        return keep(self, label, found)

    monkeypatch.setattr(Run, "keep", second_is_stopped)
    assert run("reproduce", "icon-regret", "a").exit_code == 130
    assert pd.read_csv("icon-regret.partial.csv")["policy"].tolist() == ["forecast"]


def test_a_difference_in_the_middle_of_many_jobs_is_seen():
    """Arrays are compared as they are, not as they are printed, which leaves their middle out."""
    forecast = co.generate("ecas", jobs=1200, machines=40, slots=288, load=0.2, seed=1)
    raw = forecast.to_dict()
    raw["jobs"]["power_kw"][600] += 1
    other = from_dict(raw)
    assert list(_pairs([forecast, forecast])) == [(forecast, forecast)]
    with pytest.raises(UnsupportedError, match="must differ in the prices alone"):
        list(_pairs([forecast, other]))
