"""`python -m tests.hostile --minutes N`: attempts until the time is over; what they find is written as files."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile import campaign


def main() -> int:
    """Run the campaign, and return 1 if it found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="of the first attempt; the others follow it")
    parser.add_argument("--kinds", default=",".join(campaign.KINDS), help="separated by commas")
    parser.add_argument("--output", type=Path, default=Path("hostile-found"), help="folder of what is found")
    parser.add_argument("--replay", type=Path, nargs="*", help="files of an earlier run: make those attempts again")
    asked = parser.parse_args()
    if asked.replay:
        found = {path: campaign.replay(path) for path in asked.replay}
        for path, what in found.items():
            print(f"{path}: {'nothing is wrong any more' if what is None else what.words}")
        return int(any(found.values()))
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    print(f"seeds from {asked.seed} on, {asked.minutes:g} minutes", flush=True)
    end = time.monotonic() + 60 * asked.minutes
    for kind, seed in campaign.attempts(asked.seed, tuple(asked.kinds.split(","))):
        if time.monotonic() > end:
            break
        what = campaign.attempt(kind, seed)
        made[kind] += 1
        if what is not None:
            failed[kind] += 1
            path = campaign.keep(what, kind, seed, asked.output)
            print(f"{kind} {seed}: {what.words} ({path})", flush=True)
    print(campaign.table(made, failed))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
