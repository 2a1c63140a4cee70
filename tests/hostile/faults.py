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

import psutil

from hostile.found import Found

TINY = Path(__file__).parents[2] / "instances" / "tiny"
BENCH = ["bench", "i.json", "j.json", "-m", "milp,greedy-clean,lp", "-t", "5", "-o", "r.jsonl", "--bks", "bks.json"]
COMMANDS = (
    BENCH,
    ["solve", "i.json", "-m", "milp", "-o", "s.json"],
    ["solve", "e.json", "-m", "price", "-o", "s.json"],
    ["compare", "i.json", "-o", "c.json"],
    ["simulate", "i.json", "-p", "caspian", "-o", "m.json"],
    ["export", "i.json", "-o", "p.lp"],
    ["generate", "ecas", "--jobs", "20", "--machines", "2", "-o", "g.json"],
    ["reproduce", "gaia-2", "-o", "f.csv", "--plot", "f.svg"],
)
WHOLE = {".csv": "\n", ".lp": "end\n", ".svg": "</svg>\n"}
"""What a whole file ends in."""
INSTANCES = {
    "i.json": "mosp-tiny_crowd-j0003-t002-z2-s00",
    "j.json": "mosp-tiny_tradeoff-j0001-t004-DE-s00",
    "e.json": "ecas-tiny_stayson-j0002-t003-none-s00",
}


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
