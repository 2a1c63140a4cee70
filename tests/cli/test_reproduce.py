"""`carbonopt reproduce` that is stopped: what has ended is kept."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.cli.main import app
from carbonopt.papers import figure


@pytest.mark.parametrize("name", ["gaia-8", "green-8", "caspian-6", "carbonflex-6"])
def test_a_stopped_run_keeps_its_finished_rows_and_exits_with_130(tmp_path, monkeypatch, name):
    ended = []

    def second_is_stopped(self, label, found):
        if ended:
            raise KeyboardInterrupt
        ended.append(label)
        self.finished.append({"instance": found.instance, "policy": label, **found.metrics})
        return found

    monkeypatch.setattr(figure.Run, "keep", second_is_stopped)
    sizes = {"gaia": {"jobs": 20}, "green": {"jobs": 4}, "caspian": {"jobs": 6}, "carbonflex": {"jobs": 6}}
    problem = figure.figure_of(name).problem
    instance = co.generate(problem, seed=1, **sizes[name.partition("-")[0]])
    instance.write(tmp_path / "i.json")
    done = CliRunner().invoke(app, ["reproduce", name, str(tmp_path / "i.json"), "-o", str(tmp_path / "t.csv")])
    assert done.exit_code == 130
    rows = pd.read_csv(tmp_path / "t.partial.csv")
    assert len(rows) == 1
    assert rows["policy"].tolist() == ended
    assert not (tmp_path / "t.csv").exists()
