"""`python -m tests.hostile --minutes N`: attempts until the time is over; what they find is written as files."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile import campaign


def main() -> int:
    """Run the campaign, and return 1 if it found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="of the first attempt; the others follow it")
    parser.add_argument("--kinds", default=",".join(campaign.KINDS), help="separated by commas")
    parser.add_argument("--workers", type=int, default=1, help="processes, each with seeds of its own")
    parser.add_argument("--output", type=Path, default=Path("hostile-found"), help="folder of what is found")
    parser.add_argument("--replay", type=Path, nargs="*", help="files of an earlier run: make those attempts again")
    asked = parser.parse_args()
    if asked.replay:
        found = {path: campaign.replay(path) for path in asked.replay}
        for path, what in found.items():
            print(f"{path}: {'nothing is wrong any more' if what is None else what.words}")
        return int(any(found.values()))
    kinds = tuple(asked.kinds.split(","))
    if unknown := [kind for kind in kinds if kind not in campaign.KINDS]:
        parser.error(f"unknown kind {unknown[0]!r}: must be one of {', '.join(campaign.KINDS)}")
    print(f"seeds from {asked.seed} on, {asked.minutes:g} minutes, {asked.workers} processes", flush=True)
    end = time.time() + 60 * asked.minutes
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    with ProcessPoolExecutor(asked.workers, get_context("spawn")) as pool:
        runs = [
            pool.submit(campaign.attempts_until, end, asked.seed + worker, asked.workers, kinds, asked.output)
            for worker in range(asked.workers)
        ]
        with suppress(KeyboardInterrupt):
            [run.exception() for run in runs]  # a Ctrl-C reaches the workers too: each ends with its counts
        for run in runs:
            made_there, failed_there = run.result()
            made += made_there
            failed += failed_there
    print(campaign.table(made, failed))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
