"""benchmarks/peers/mosp_online.py: rows are kept as they come, and a second run goes on where the first one stopped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import mosp_online
import pandas as pd
import pytest

Run = Callable[..., str]
SMALL = ["--jobs", "6", "--seeds", "1", "2", "--policies", "caspian"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what a call with options prints."""

    def called(*options: str) -> str:
        monkeypatch.setattr("sys.argv", ["mosp_online.py", *SMALL, *options])
        with warnings.catch_warnings():
            mosp_online.main()
        return capsys.readouterr().out

    return called


@pytest.mark.slow
def test_rows_are_appended_and_never_made_twice(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "rows.csv"
    first = run("--omegas", "0.5", "-o", str(file))
    assert (
        first.count("saved") == 2 * 5
    )  # two baselines, one omega_1 with both kinds of deadlines, the carbon objective
    begun = file.read_text()
    second = run("--omegas", "0.5", "1", "--expecting", "caspian-lp", "-o", str(file))
    assert second.count("saved") == 2 * 3
    assert file.read_text().startswith(begun)
    table = pd.read_csv(file)
    assert len(table) == 2 * 8
    assert not table.duplicated(["seed", "policy", "objective", "omega_1"]).any()
    punctual = table[table["deadlines_met_share"] == 1]
    assert (punctual["saving"] <= punctual["most_saving"] + 1e-9).all()
    assert "saving_least" in second


@pytest.mark.slow
def test_experiments_with_other_options_share_a_file_and_no_rows(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "rows.csv"
    few = ["--seeds", "1", "--policies", "--printed", "--omegas", "-o", str(file)]  # the baselines alone
    for other in ([], ["--draw", "1"], ["--slots", "40"], ["--jobs", "5"]):
        assert run(*few, *other).count("saved") == 2
        assert run(*few, *other).count("saved") == 0
    table = pd.read_csv(file)
    assert len(table) == 4 * 2
    assert set(table["carbon"]) == {"synthetic"}
    assert not table.duplicated(["carbon", "slots", "jobs", "draw", "policy"]).any()


def test_a_file_that_does_not_say_of_which_experiment_it_is_is_refused(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("seed,policy,objective,omega_1\n1,caspian,caspian,0.5\n")
    with pytest.raises(SystemExit, match="do not say of which experiment"):
        run("-o", str(file))
    assert len(file.read_text().splitlines()) == 2
