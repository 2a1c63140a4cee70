"""A controller that is killed again and again; it is run by a test, as a process of its own.

The process imports what is needed and makes a child for each life. A child kills itself at the n-th call of a function
of the controller, of its files or of its client: so a count ends it and not the clock.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.request
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import highspy  # noqa: F401

import carbonopt.io.carbon
import carbonopt.milp.highs
import carbonopt.planning.file
import carbonopt.problems.mosp.methods.churn
import carbonopt.problems.mosp.methods.milp
import carbonopt.problems.mosp.verify.check  # noqa: F401
from carbonopt.io.queues.entry import Settings
from carbonopt.planning.controller.api import Api
from carbonopt.planning.controller.journal import Journal, held
from carbonopt.planning.controller.kubernetes import Kubernetes
from carbonopt.planning.controller.loop import Choices, Controller
from carbonopt.planning.controller.targets import TARGETS
from carbonopt.planning.site import Terms

WATCHED = ("planning/controller/", "core/files.py", "core/jsonfile.py", "kubernetes/client/rest.py")


class ServerClock:
    """The clock of the fake server; it ends the life when all jobs were started."""

    def __init__(self, address: str) -> None:
        self.address = address

    def _ask(self, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.address}/clock", data) as answer:
            return json.load(answer)

    def now(self) -> datetime:
        return datetime.fromisoformat(self._ask()["now"])

    def sleep(self, seconds: float) -> None:
        if self._ask({"seconds": seconds})["left"] == 0:
            os._exit(0)


def die_after(calls: int) -> None:
    """Let this process kill itself at a call."""
    left = calls

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal left
        if event == "call" and any(part in frame.f_code.co_filename for part in WATCHED):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def live(to: str, config: str, folder: Path, carbon: str, calls: int) -> None:
    """Be a controller."""
    clock = ServerClock(json.loads(Path(config).read_text())["clusters"][0]["cluster"]["server"])
    terms = Terms(slot_minutes=60, wait_hours=12, watts_per_cpu=1000.0)
    choices = Choices((carbon,), ("night=DE:2",), terms=terms, every=timedelta(hours=1), move_price=0.01)
    if calls:
        die_after(calls)
    with held(folder):
        journal = Journal(folder, to)
        scheduler = Kubernetes(TARGETS[to], Api(TARGETS[to], clock, config), journal, Settings(), send=True)
        Controller(scheduler, choices, journal, clock, lambda _: None, lambda _: None).run()


def main() -> None:
    """Live as often as counts are given, and once more without one; print how each life ended."""
    import_module("kubernetes.client")  # an extra
    import_module("kubernetes.config")
    to, config, folder, carbon, *counts = sys.argv[1:]
    ends = []
    for calls in [*map(int, counts), 0]:
        child = os.fork()
        if child == 0:
            try:
                live(to, config, Path(folder), carbon, calls)
            finally:
                os._exit(1)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        if ends[-1] >= 0:
            break
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
