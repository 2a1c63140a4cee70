"""`convert` of every problem and `plan` fill gaps where they are told to, and keep that in mind."""

import json

import pytest
from carbon_support import PLAIN, hours, write
from conftest import ROOT
from typer.testing import CliRunner

from carbonopt.cli.main import app

JOBS = "JobID|Submit|Start|End|NCPUS|State\n1|2022-01-01T00:00:00|2022-01-01T01:00:00|2022-01-01T02:00:00|1|COMPLETED\n"


def signal(folder):
    days = "".join(hours(*range(24), day=f"2022-01-{day:02d}") for day in range(1, 12))
    lines = days.splitlines(keepends=True)
    return write(folder / "DE.csv", PLAIN + "".join(lines[:3] + lines[5:]))


@pytest.mark.parametrize("problem", ["mosp", "elastic", "purchasing", "mlcluster"])
def test_convert_fills_a_gap_by_name_alone(problem, tmp_path):
    jobs = write(tmp_path / "jobs.txt", JOBS)
    target = tmp_path / "instance.json"
    given = ["convert", problem, "--trace", str(jobs), "--carbon", str(signal(tmp_path)), "-o", str(target)]
    refused = CliRunner().invoke(app, given)
    assert refused.exit_code == 2
    assert "missing 2 times from 2022-01-01T03:00:00Z to 2022-01-01T04:00:00Z" in " ".join(refused.output.split())
    assert CliRunner().invoke(app, [*given, "--fill", "previous"]).exit_code == 0
    raw = json.loads(target.read_text())
    assert raw["carbon"]["g_per_kwh"][0][:6] == [0, 1, 2, 2, 2, 5]
    told = raw["provenance"]["signals"]["DE"]["filled"]
    assert told == "previous: 2 times from 2022-01-01T03:00:00Z to 2022-01-01T04:00:00Z"


def test_plan_fills_a_gap_by_name_alone(tmp_path):
    tonight = ROOT / "instances/tonight"
    lines = (tonight / "forecast_21h.csv").read_text().splitlines(keepends=True)
    carbon = write(tmp_path / "DE.csv", "".join(lines[:6] + lines[7:]))
    call = ["plan", str(tonight / "squeue.json"), "--carbon", str(carbon), "--now", "2026-11-24T22:00"]
    call += ["--tz", "Europe/Berlin", "--cluster", "hpc=DE:192:4", "-o", str(tmp_path / "plan.json")]
    refused = CliRunner().invoke(app, call)
    assert refused.exit_code == 2
    assert "must leave no gap" in refused.output
    assert CliRunner().invoke(app, [*call, "--fill", "interpolate"]).exit_code == 0
    raw = json.loads((tmp_path / "plan.json").read_text())
    assert raw["instance"]["provenance"]["signals"]["DE"]["filled"].startswith("interpolate: ")
