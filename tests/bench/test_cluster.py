"""The same campaign on a Dask cluster: a scheduler and workers are started as a user would start them."""

import subprocess
import sys

import pytest
from conftest import ROOT, TINY
from hostile.kills import METHODS, killed_campaign, local_cluster

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'carbonopt[dask]'")


@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice_when_campaign_and_worker_are_killed(tmp_path):
    with local_cluster(tmp_path) as scheduler:
        counts = killed_campaign(tmp_path, instances=6, seeds=2, kills=1, cluster=scheduler)
    assert len(counts) == 6 * 2 * len(METHODS)
    assert set(counts.values()) == {1}


@pytest.mark.slow
def test_a_figure_on_the_cluster_is_that_of_this_machine(tmp_path):
    figure = ["-m", "carbonopt", "reproduce", "gaia-14", "--seeds", "0-2"]
    with local_cluster(tmp_path) as scheduler:
        for name, where in (("here", ["--workers", "2"]), ("there", ["--cluster", scheduler])):
            output = ["--results", tmp_path / f"{name}.jsonl", "-o", tmp_path / f"{name}.csv"]
            subprocess.run([sys.executable, *map(str, [*figure, *where, *output])], check=True, cwd=tmp_path)
    assert (tmp_path / "here.csv").read_text() == (tmp_path / "there.csv").read_text()


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_told_in_one_line(tmp_path):
    command = ["-m", "carbonopt", "bench", TINY["crowd"], "-m", "lp", "-o", tmp_path / "r.jsonl"]
    whole = [sys.executable, *map(str, command), "--cluster", "dask://127.0.0.1:9"]
    done = subprocess.run(whole, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no Dask scheduler answers at tcp://127.0.0.1:9")
    assert done.stderr.count("\n") == 1
