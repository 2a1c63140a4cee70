"""Runs in processes of this machine, several at a time, each with limits of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

import carbonopt
from carbonopt.bench.runs import Answer, Task
from carbonopt.core.threads import THREADS

SECONDS_TO_END = 5.0
"""That a process has to end by itself [s]."""


class Isolated:
    """Makes runs one after the other, each in a process of its own that cannot harm this one."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def __call__(self, task: Task) -> Answer:
        """Make one run."""
        start = time.monotonic()
        if self._server is not None and self._server.poll() is not None:
            self.close()  # it was killed; its pipes are still open
        if self._server is None:
            self._server = _server()
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        line = b""
        with suppress(OSError):
            self._server.stdin.write(json.dumps(task).encode() + b"\n")
            self._server.stdin.flush()
            line = self._server.stdout.readline()
        if line.endswith(b"\n"):
            answer: Answer = json.loads(line)
            return answer
        self.close()
        message = "the process that watched it was killed"
        return Answer(failed="crashed", message=message, seconds=time.monotonic() - start)

    def close(self) -> None:
        """End the process and its run."""
        server, self._server = self._server, None
        if server is None or server.stdin is None or server.stdout is None:
            return
        with suppress(OSError):
            server.stdin.close()
        try:
            server.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()


def _server() -> subprocess.Popen[bytes]:
    """Start the process that forks runs; a Ctrl-C of the terminal does not reach it, for this one ends it."""
    home = str(Path(carbonopt.__file__).parents[1])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "carbonopt.bench.forks"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, start_new_session=True)


def on_processes(tasks: Iterable[Task], workers: int) -> Iterator[tuple[int, Answer]]:
    """Make the runs in processes, at most `workers` at a time, and yield each with its number as it ends."""
    free: SimpleQueue[Isolated] = SimpleQueue()
    everyone = [Isolated() for _ in range(workers)]
    for one in everyone:
        free.put(one)

    def made(task: Task) -> Answer:
        one = free.get()
        try:
            return one(task)
        finally:
            free.put(one)

    numbered = enumerate(tasks)
    running: dict[Future[Answer], int] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        while True:
            for number, task in islice(numbered, workers - len(running)):
                running[pool.submit(made, task)] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        for one in everyone:
            one.close()
        pool.shutdown(cancel_futures=True)
