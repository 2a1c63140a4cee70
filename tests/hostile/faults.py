"""Faults: commands that are killed or run out of disk at a random moment leave whole files, and no row twice."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil

from carbonopt.forecasts import write_archive
from carbonopt.forecasts.archive import ForecastArchive
from hostile.found import Found
from hostile.sound import day, plan_text

TINY = Path(__file__).parents[2] / "instances" / "tiny"
TONIGHT = TINY.parent / "tonight"
BENCH = ["bench", "i.json", "j.json", "-m", "milp,greedy-clean,lp", "-t", "5", "-o", "r.jsonl", "--bks", "bks.json"]
PLAN = [
    "plan", "squeue.json", "--carbon", "night.csv", "--now", "2026-11-24T22:00", "--tz", "Europe/Berlin",
    "--cluster", "hpc=DE:192:4", "-t", "5", "-m", "milp", "-o", "plan.json",
]  # fmt: skip
REPLAN = ["replan", "plan.json", "--now", "2026-11-25T00:00", "--carbon", "later.csv", "-t", "5"]
COMMANDS = (
    BENCH,
    ["solve", "i.json", "-m", "milp", "-o", "s.json"],
    ["solve", "e.json", "-m", "price", "-o", "s.json"],
    ["compare", "i.json", "-o", "c.json"],
    ["simulate", "i.json", "-p", "caspian", "-o", "m.json"],
    ["export", "i.json", "-o", "p.lp"],
    ["generate", "ecas", "--jobs", "20", "--machines", "2", "-o", "g.json"],
    ["reproduce", "gaia-2", "-o", "f.csv", "--plot", "f.svg"],
    PLAN,
    [*REPLAN, "-o", "newer.json"],
    [*REPLAN, "-o", "newer.json", "--gantt", "g.svg"],
    ["pareto", "i.json", "--quantities", "carbon_kg,tardiness_slots", "-o", "p.csv"],
    ["regret", "c.json", "-p", "carbon-time", "-t", "5", "-o", "t.csv"],
    ["risk", "j.json", "--forecast", "forecast.csv", "--schedule", "k.csv", "-o", "t.csv"],
    ["report", "rows.jsonl", "-o", "page.html"],
)
WHOLE = {".csv": "\n", ".lp": "end\n", ".svg": "</svg>\n", ".html": "</html>\n"}
"""What a whole file ends in."""
INSTANCES = {
    "i.json": "mosp-tiny_crowd-j0003-t002-z2-s00",
    "j.json": "mosp-tiny_tradeoff-j0001-t004-DE-s00",
    "e.json": "ecas-tiny_stayson-j0002-t003-none-s00",
    "c.json": "purchasing-tiny_reservedpulls_3-j0002-t002-A-s00",
}
BESIDE = {"squeue.json": "squeue.json", "night.csv": "forecast_21h.csv", "later.csv": "forecast_23h.csv"}


def attempt(rng: random.Random) -> None:
    """Run a command, stop it by a signal or a full disk, run it again, and look at its files.

    Raises
    ------
    Found
        If there is a traceback, half a file, or a run that is missing or there twice.
    """
    command = rng.choice(COMMANDS)
    with TemporaryDirectory() as folder:
        for name, source in INSTANCES.items():
            Path(folder, name).write_bytes((TINY / f"{source}.json").read_bytes())
        for name, source in BESIDE.items():
            Path(folder, name).write_bytes((TONIGHT / source).read_bytes())
        _prepare(command, Path(folder))
        err = _stopped(rng, command, Path(folder))
        if "Traceback" in err and "KeyboardInterrupt" not in err:
            raise Found(f"{command[0]}: a traceback", stderr=err)
        _require_whole(Path(folder), command)
        again = _run(command, Path(folder)).communicate()[1]
        if "Traceback" in again:
            raise Found(f"{command[0]}: a traceback in the second run", stderr=again)
        _require_whole(Path(folder), command)
        if command is BENCH:
            _require_all_runs(Path(folder, "r.jsonl"))


def _prepare(command: list[str], folder: Path) -> None:
    """Write what a command reads and no file of the project holds."""
    if command[0] == "replan":
        (folder / "plan.json").write_text(plan_text())
    if command[0] == "risk":
        archive = ForecastArchive("DE", day(4), np.array([0]), np.array([[[300.0, 100, 90, 80], [200, 450, 90, 80]]]))
        write_archive(archive, folder / "forecast.csv")
    if command[0] == "report":
        _run(["bench", "i.json", "-m", "milp,lp", "-o", "rows.jsonl"], folder).communicate()


def _run(command: list[str], folder: Path, most_bytes: int | None = None) -> subprocess.Popen[str]:
    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    whole = [sys.executable, "-m", "carbonopt", *command]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(whole, cwd=folder, preexec_fn=limit, **pipes)  # type: ignore[call-overload,no-any-return]


def _stopped(rng: random.Random, command: list[str], folder: Path) -> str:
    """Return what a run that is stopped somewhere says on stderr."""
    if rng.random() < 0.4:
        return str(_run(command, folder, most_bytes=rng.randrange(1, 4000)).communicate()[1])
    running = _run(command, folder)
    number = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    if _has_worked(running, rng.uniform(0.05, 3.0)):
        running.send_signal(number)
    return str(running.communicate()[1])


def _has_worked(running: subprocess.Popen[str], seconds: float) -> bool:
    """Wait until a process has taken so much time of a processor; return False if it ends before."""
    process = psutil.Process(running.pid)
    while running.poll() is None:
        with suppress(psutil.Error):
            times = process.cpu_times()
            if times.user + times.system >= seconds:
                return True
        time.sleep(0.005)
    return False


def _require_whole(folder: Path, command: list[str]) -> None:
    for path in folder.glob("*.*"):
        if path.suffix in WHOLE and not path.name.startswith(".") and not path.read_text().endswith(WHOLE[path.suffix]):
            raise Found(f"{command[0]}: {path.name} is half a file", content=path.read_text())
    for path in folder.rglob("*.json"):
        if path.name.startswith("."):
            continue
        try:
            json.loads(path.read_text())
        except ValueError:
            raise Found(f"{command[0]}: {path.name} is half a file", content=path.read_text()) from None


def _require_all_runs(results: Path) -> None:
    rows: Counter[tuple[str, str]] = Counter()
    for line in results.read_text().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # what the kill cut short
        rows[(record["instance"], record["method_asked"])] += 1
    if len(rows) != 6 or set(rows.values()) != {1}:
        raise Found("bench: a run is missing or there twice", rows={str(key): n for key, n in rows.items()})
