"""A night on a real Slurm: queue, plan, apply, a newer forecast, replan, apply."""

from __future__ import annotations

import json
import signal as signal_module
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli_support import run
from conftest import ROOT
from slurm_support import Slurm, why_not

from carbonopt.io.queues.read import read_queue

HOUR = timedelta(hours=1)
TEXT = "--format=%i|%j|%u|%T|%C|%l|%V|%S|%Q|%E|%b|%m|%P"
SHAPES = [cpus for cpus in range(1, 9) for _ in range(3)]  # CPUs of 24 jobs of one hour
ARRAY_TASKS = 4  # of 2 CPUs
PLAN = ("--tz", "UTC", "--cluster", "night=DE", "--slot-minutes", 60, "--watts-per-cpu", 1000)
TOMORROW = "--begin=now+1day"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(why_not()), reason=why_not())]


@pytest.fixture
def slurm(tmp_path):
    with Slurm(tmp_path / "slurm") as started:
        yield started


def forecast(file: Path, begin: datetime, clean: dict[int, int]) -> Path:
    """Write 30 hours of 400 g/kWh, but for those of `clean`."""
    rows = [f"{begin + hour * HOUR:%Y-%m-%dT%H:%M:%SZ},DE,{clean.get(hour, 400)}" for hour in range(30)]
    file.write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *rows]) + "\n")
    return file


def submitted(slurm: Slurm) -> tuple[str, dict[str, int]]:
    """Submit a job that runs, one that is held and 28 that wait; return the first one, and the CPUs of the last."""
    runs = slurm.submit("--time=600", script="exec sleep 600")
    slurm.submit("--time=60", "--hold", script="exit")
    hostile = "--job-name=$(touch taken);touch taken"
    waiting = {}
    for cpus in SHAPES:
        job = slurm.submit("--time=60", f"--cpus-per-task={cpus}", TOMORROW, hostile, script="exit")
        waiting[job] = cpus
    tasks = (f"--array=0-{ARRAY_TASKS - 1}", "--cpus-per-task=2")
    array = slurm.submit("--time=60", TOMORROW, *tasks, script="exit")
    slurm.wait_for(lambda: slurm.show(runs)["JobState"] == "RUNNING")
    return runs, waiting | {f"{array}_{task}": 2 for task in range(ARRAY_TASKS)}


def apply(slurm: Slurm, plan: Path, *options: str) -> str:
    """Pipe what `apply` prints to a shell, as the page says."""
    done = run("apply", plan, "--to", "slurm", *options)
    assert done.exit_code == 0, done.output
    subprocess.run(["sh", "-e"], input=done.stdout, env=slurm.environment, cwd=slurm.folder, check=True, text=True)
    return done.stdout


def starts(slurm: Slurm, jobs: dict[str, int]) -> dict[str, str]:
    return {job: slurm.show(job)["StartTime"] for job in jobs}


def test_a_night(slurm, tmp_path):
    now = datetime.now(UTC).replace(microsecond=0)
    runs, waiting = submitted(slurm)
    first, newer = tmp_path / "first.json", tmp_path / "newer.json"

    signal = forecast(tmp_path / "first.csv", now, {5: 100})
    done = run("plan", slurm.queue("q1.json"), "--carbon", signal, "--now", now.isoformat(), *PLAN, "-o", first)
    assert done.exit_code == 0, done.output
    assert apply(slurm, first).count("scontrol update") == len(waiting) == 28
    announced = f"{now + 5 * HOUR:%Y-%m-%dT%H:%M:%S}"
    assert starts(slurm, waiting) == dict.fromkeys(waiting, announced)

    # The clean hour comes three hours later. A job of c CPUs saves c x 0.05 kg by moving, at 0.225 kg a move.
    later = now + HOUR
    signal = forecast(tmp_path / "newer.csv", now, {5: 150, 8: 100})
    done = run("replan", first, "--queue", slurm.queue("q2.json"), "--carbon", signal, "--now", later.isoformat(),
               "--move-price", 0.225, "-o", newer)  # fmt: skip
    assert done.exit_code == 0, done.output
    moved = {job for job, cpus in waiting.items() if 0.05 * cpus > 0.225}
    assert apply(slurm, newer).count("scontrol update") == len(moved) == 12
    new = f"{now + 8 * HOUR:%Y-%m-%dT%H:%M:%S}"
    assert starts(slurm, waiting) == {job: new if job in moved else announced for job in waiting}

    text = tmp_path / "q.txt"
    text.write_text(slurm.call("squeue", TEXT))
    by_text, by_json = read_queue(text, UTC), read_queue(slurm.queue("q3.json"), UTC)
    assert {job.id for job in by_text.jobs} == {job.id for job in by_json.jobs} == {runs, *waiting}
    assert by_text.left_out == by_json.left_out == {"held": 1}

    assert slurm.show(runs)["JobState"] == "RUNNING"
    assert not list(slurm.folder.rglob("taken"))


def test_reservations_hold_the_slots(slurm, tmp_path):
    now = datetime.now(UTC).replace(microsecond=0)
    jobs = {slurm.submit("--time=90", f"--cpus-per-task={cpus}", TOMORROW, script="exit"): cpus for cpus in (1, 3)}
    first, newer = tmp_path / "first.json", tmp_path / "newer.json"
    signal = forecast(tmp_path / "first.csv", now, {5: 100, 6: 100})
    done = run("plan", slurm.queue("q1.json"), "--carbon", signal, "--now", now.isoformat(), *PLAN, "-o", first)
    assert done.exit_code == 0, done.output
    assert apply(slurm, first, "--reserve").count("scontrol create reservation") == 2

    def reserved(job: str) -> dict[str, str]:
        text = slurm.call("scontrol", "--oneliner", "show", "reservation", f"carbonopt-{job}")
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    begin = f"{now + 5 * HOUR:%Y-%m-%dT%H:%M:%S}"
    for job, cpus in jobs.items():
        found = reserved(job)
        assert (found["StartTime"], found["Duration"], found["CoreCnt"]) == (begin, "01:30:00", str(cpus))
        assert slurm.show(job)["Reservation"] == f"carbonopt-{job}"

    signal = forecast(tmp_path / "newer.csv", now, {8: 100, 9: 100})
    done = run("replan", first, "--queue", slurm.queue("q2.json"), "--carbon", signal, "--now", now.isoformat(),
               "-o", newer)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "create" not in apply(slurm, newer, "--reserve")
    assert {reserved(job)["StartTime"] for job in jobs} == {f"{now + 8 * HOUR:%Y-%m-%dT%H:%M:%S}"}


def test_a_controller_that_is_killed_loses_nothing_and_starts_nothing_twice(slurm, tmp_path):
    """Jobs write a line when they start. The controller is killed at counted calls, and started again."""
    now = datetime.now(UTC).replace(microsecond=0)
    log = slurm.folder / "started"
    script = f"echo $SLURM_JOB_ID >> {log}"
    jobs = {slurm.submit("--time=60", TOMORROW, "--job-name=$(touch taken)", script=script) for _ in range(6)}
    signal = forecast(tmp_path / "carbon.csv", now - 2 * HOUR, {7: 100})
    words = [str(signal), str(tmp_path / "state"), *map(str, range(3, 90, 7))]
    call = [sys.executable, str(ROOT / "tests/slurm_lives.py"), *words]
    done = subprocess.run(call, env=slurm.environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert ends.count(-signal_module.SIGKILL) == len(ends) - 1 >= 5
    assert ends[-1] == 0, done.stderr
    begin = starts(slurm, dict.fromkeys(jobs, 1))
    clean = now - 2 * HOUR + 7 * HOUR
    for text in begin.values():
        assert clean - HOUR <= datetime.fromisoformat(text).replace(tzinfo=UTC) <= clean + HOUR
    for job in jobs:
        slurm.call("scontrol", "update", f"JobId={job}", "StartTime=now")
    slurm.wait_for(lambda: log.exists() and len(log.read_text().split()) >= len(jobs))
    slurm.wait_for(lambda: not slurm.call("squeue", "--noheader", "--user=root").strip())
    assert sorted(log.read_text().split()) == sorted(jobs)
    assert not list(slurm.folder.rglob("taken"))
