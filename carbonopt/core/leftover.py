"""Threads that were left behind: they are in code of others that cannot be stopped, and end by themselves later.

A solver looks at its time limit between its steps, and one step may take a minute. Whoever waits for the limit gets
what is known by then, and the step is left to end on its own.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from threading import Thread
from typing import NoReturn

from carbonopt.core.interrupt import INTERRUPTED

_threads: list[Thread] = []


def leave(thread: Thread) -> None:
    """Leave a thread behind; the interpreter does not end before it, as it may still call into Python."""
    if not _threads:
        atexit.register(wait_at_exit)
    _threads.append(thread)


def wait() -> None:
    """Wait until all that was left behind has ended: who begins next has the processors to itself."""
    for thread in _threads:
        thread.join()
    _threads.clear()
    atexit.unregister(wait_at_exit)


def wait_at_exit() -> None:
    """Wait; a Ctrl-C ends the process at once."""
    try:
        wait()
    except KeyboardInterrupt:
        end_process(INTERRUPTED)


def exit_with(code: int) -> NoReturn:
    """Exit; with threads left behind at once, for nothing of theirs is wanted any more."""
    if any(thread.is_alive() for thread in _threads):
        end_process(code)
    sys.exit(code)


def end_process(code: int) -> NoReturn:
    """End the process without waiting for any thread, what was printed flushed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # whoever read it is gone
            stream.flush()
    os._exit(code)
