"""benchmarks/peers/mosp_online.py: rows are kept as they come, and a second run goes on where the first one stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "peers" / "mosp_online.py"
SMALL = ["--jobs", "6", "--seeds", "1", "2", "--policies", "caspian"]


def run(*options: str) -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *SMALL, *options], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout


def test_rows_are_appended_and_never_made_twice(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    first = run("--omegas", "0.5", "-o", str(file))
    assert first.count("saved") == 2 * 4  # two baselines, one omega_1 and the carbon objective
    begun = file.read_text()
    second = run("--omegas", "0.5", "1", "--expecting", "caspian-lp", "-o", str(file))
    assert second.count("saved") == 2 * 2
    assert file.read_text().startswith(begun)
    table = pd.read_csv(file)
    assert len(table) == 2 * 6
    assert not table.duplicated(["seed", "policy", "objective", "omega_1"]).any()
    punctual = table[table["deadlines_met_share"] == 1]
    assert (punctual["saving"] <= punctual["most_saving"] + 1e-9).all()
    assert "saving_least" in second
