"""A controller of Slurm that is killed at counted calls of scontrol and of the journal; a test runs it."""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from pathlib import Path

from controller_lives import die_after

from carbonopt.io.queues.entry import Settings
from carbonopt.planning.controller.clock import WallClock
from carbonopt.planning.controller.journal import Journal, held
from carbonopt.planning.controller.loop import Choices, Controller
from carbonopt.planning.controller.slurm import Slurm
from carbonopt.planning.site import Terms


def live(carbon: str, folder: Path, calls: int) -> None:
    """Make passes until one finds nothing to do."""
    clock = WallClock()
    terms = Terms(slot_minutes=60, wait_hours=12, watts_per_cpu=1000.0)
    choices = Choices((carbon,), ("night=DE",), terms=terms, every=timedelta(hours=1))
    said: list[str] = []
    if calls:
        die_after(calls)
    with held(folder):
        journal = Journal(folder, "slurm")
        scheduler = Slurm(journal, Settings(), send=True)
        controller = Controller(scheduler, choices, journal, clock, said.append, said.append)
        controller.once()
        while any(line.startswith("start ") for line in said):
            said.clear()
            controller.once()
    if calls:
        os._exit(3)  # nothing was left to kill


def main() -> None:
    """Live as often as counts are given, and once more without one; print how each life ended."""
    carbon, folder, *counts = sys.argv[1:]
    ends = []
    for calls in [*map(int, counts), 0]:
        child = os.fork()
        if child == 0:
            try:
                live(carbon, Path(folder), calls)
                os._exit(0)
            finally:
                os._exit(1)
        end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if end != 3:
            ends.append(end)
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
