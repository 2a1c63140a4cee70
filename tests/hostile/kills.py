"""A campaign that is killed again and again, alone or on a Dask cluster whose workers are killed too.

Usage: python -m hostile.kills FOLDER [--instances 40] [--seeds 3] [--kills 3] [--cluster]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

import carbonopt as co
from carbonopt.bench.results import key_of, read_results

METHODS = ("milp", "lp", "greedy-clean", "greedy-random")
ROOT = Path(__file__).parents[2]


def start(*arguments: object) -> subprocess.Popen[bytes]:
    """Start Python with arguments, on this checkout and in silence."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    quiet = subprocess.DEVNULL
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, stdout=quiet, stderr=quiet)


@contextmanager
def local_cluster(folder: Path) -> Iterator[Path]:
    """Yield the scheduler file of a cluster of two workers, each with a nanny that starts it again."""
    path = folder / "scheduler.json"
    where = ("--scheduler-file", path)
    local = ("--host", "127.0.0.1", "--no-dashboard")
    begun = [start("-m", "distributed.cli.dask_scheduler", *where, *local, "--port", "0")]
    for name in ("worker-a", "worker-b"):
        own = ("--nthreads", "1", "--local-directory", folder / name)
        begun.append(start("-m", "distributed.cli.dask_worker", *where, *local, *own))
    try:
        while not path.exists():
            assert begun[0].poll() is None
            time.sleep(0.05)
        yield path
    finally:
        for process in reversed(begun):
            process.terminate()
            process.wait()


def kill_worker(folder: Path) -> bool:
    """Kill a worker of the cluster in `folder` that makes runs, and not its nanny; return whether there is one."""
    for process in psutil.process_iter(["cmdline"]):
        if "carbonopt.bench.forks" not in (process.info["cmdline"] or []):
            continue
        worker = process.parent()
        nanny = None if worker is None else worker.parent()
        if worker is not None and nanny is not None and str(folder) in " ".join(nanny.cmdline()):
            os.kill(worker.pid, signal.SIGKILL)
            return True
    return False


def make_instances(folder: Path, count: int) -> list[Path]:
    """Write as many small instances."""
    paths = [folder / f"i{number}.json" for number in range(count)]
    for number, path in enumerate(paths):
        co.generate("mosp", preset="bench", jobs=3, clusters=1, slots=12, seed=number).write(path)
    return paths


def killed_campaign(
    folder: Path, instances: int, seeds: int, kills: int, cluster: Path | None
) -> Counter[tuple[str, str, int]]:
    """Run a campaign, kill it `kills` times and begin again; return how often each run is in the results."""
    paths = make_instances(folder, instances)
    results = folder / ("cluster.jsonl" if cluster else "processes.jsonl")
    where = ("--cluster", cluster) if cluster else ("--workers", 2)
    arguments = ("-m", "carbonopt", "bench", *paths, "-m", ",".join(METHODS), "--seeds", f"1-{seeds}")
    total = instances * seeds * len(METHODS)
    moments = sorted(random.Random(0).sample(range(1, total), kills))
    for moment in moments:
        running = start(*arguments, "-t", "60", *where, "-o", results)
        while len(read_results(results)) < moment and running.poll() is None:
            time.sleep(0.02)
        if cluster is not None:
            print(f"worker killed: {kill_worker(folder)}", flush=True)
        running.kill()
        running.wait()
        print(f"killed with {len(read_results(results))} of {total} rows", flush=True)
    running = start(*arguments, "-t", "60", *where, "-o", results)
    if cluster is not None:
        time.sleep(2.0)
        print(f"worker killed: {kill_worker(folder)}", flush=True)
    assert running.wait() == 0
    return Counter(map(key_of, read_results(results)))


def main() -> None:
    """Run the campaign on processes or on a cluster, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, count in (("--instances", 40), ("--seeds", 3), ("--kills", 3)):
        parser.add_argument(name, type=int, default=count)
    parser.add_argument("--cluster", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    numbers = (given.instances, given.seeds, given.kills)
    if given.cluster:
        with local_cluster(given.folder) as scheduler:
            counts = killed_campaign(given.folder, *numbers, scheduler)
    else:
        counts = killed_campaign(given.folder, *numbers, None)
    wanted = given.instances * given.seeds * len(METHODS)
    print(f"{len(counts)} of {wanted} runs, {sum(counts.values())} rows, most of one run {max(counts.values())}")


if __name__ == "__main__":
    main()
