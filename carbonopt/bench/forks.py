"""Makes one run after the other, each in a process of its own: ``python -m carbonopt.bench.forks``.

This process imports what runs need, once. For each line on standard input, which is a task, it forks a process that
makes the run, watches its memory and time, and answers with a line. It ends, and ends what it watches, when its
standard input is closed: so nothing is left of a campaign that was killed.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import NoReturn

import psutil

from carbonopt.bench.runs import Answer, Task
from carbonopt.core.errors import InputError, one_line
from carbonopt.core.registry import packages

POLL_SECONDS = 0.05
"""Between two looks at the memory of a run [s]."""
DEATH_OF_PARENT = 1
"""Linux's PR_SET_PDEATHSIG: which signal to get when the process that forked this one ends."""
CHUNK = 2**20
UNITS = 2**20 if sys.platform == "darwin" else 2**10
"""What the system counts the largest memory of a process in, in a MiB."""


def serve() -> None:
    """Answer tasks until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a method may print
    while line := sys.stdin.buffer.readline():
        task = json.loads(line)
        _load(task["problem"], task["made_by"])
        print(json.dumps(supervised(task)), file=answers, flush=True)


@cache
def _load(problem: str, made_by: str) -> None:
    """Import what runs of a problem need: here once, and not in each of their processes."""
    _maker(made_by)
    package = import_module(packages()[problem])
    for found in walk_packages(getattr(package, "__path__", []), f"{package.__name__}."):
        import_module(found.name)


def _maker(made_by: str) -> Callable[[Task], Answer]:
    """Return the function that makes tasks."""
    module, _, name = made_by.partition(":")
    function: Callable[[Task], Answer] = getattr(import_module(module), name)
    return function


def supervised(task: Task) -> Answer:
    """Make a run in a new process, and end that if it takes more than it may."""
    start = time.monotonic()
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        os.close(reading)
        _work(task, writing)
    os.close(writing)
    content = bytearray()
    failed = _watched(task, number, reading, content)
    os.close(reading)
    _, status, used = os.wait4(number, 0)
    seconds = time.monotonic() - start
    if failed is None and _exceeds(task, used.ru_maxrss / UNITS):
        failed = _too_large(task)
    if failed is None:
        with suppress(ValueError):
            answer: Answer = json.loads(content)
            answer.setdefault("seconds", seconds)
            return answer
        code = os.waitstatus_to_exitcode(status)
        told = f"signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"exit code {code}"
        failed = Answer(failed="crashed", message=f"the process ended with {told}")
    return failed | Answer(seconds=seconds)


def _watched(task: Task, number: int, reading: int, content: bytearray) -> Answer | None:
    """Collect what a process writes until it ends; end it, and return why, if it takes more than it may."""
    process = psutil.Process(number)
    end = None if task["kill_seconds"] is None else time.monotonic() + task["kill_seconds"]
    while True:
        ready, _, _ = select.select([reading, 0], [], [], POLL_SECONDS)
        if 0 in ready:  # nothing comes before the answer: whoever asked is gone
            os.kill(number, signal.SIGKILL)
            os._exit(1)
        if reading in ready:
            chunk = os.read(reading, CHUNK)
            if not chunk:
                return None
            content += chunk
        failed = None
        if end is not None and time.monotonic() > end:
            failed = Answer(failed="killed", message=f"took more than {task['kill_seconds']:g} s")
        if _exceeds(task, _mebibytes(process)):
            failed = _too_large(task)
        if failed is not None:
            os.kill(number, signal.SIGKILL)
            return failed


def _exceeds(task: Task, mebibytes: float) -> bool:
    return task["memory_mib"] is not None and mebibytes > task["memory_mib"]


def _too_large(task: Task) -> Answer:
    return Answer(failed="memory_limit", message=f"took more than {task['memory_mib']:g} MiB of memory")


def _mebibytes(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 2**20
    except psutil.Error:  # it has just ended
        return 0.0


def _work(task: Task, writing: int) -> NoReturn:
    """Make the run, write the answer and end, whatever happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH_OF_PARENT, signal.SIGKILL)
    try:
        answer = _maker(task["made_by"])(task)
    except InputError as error:
        answer = Answer(refused=str(error))
    except MemoryError:
        answer = Answer(failed="memory_limit", message="did not fit into memory")
    except BaseException as error:
        answer = Answer(failed="crashed", message=one_line(f"{type(error).__name__}: {error}"))
    content = memoryview(json.dumps(answer).encode())
    while content:
        content = content[os.write(writing, content) :]
    os._exit(0)


if __name__ == "__main__":
    serve()
