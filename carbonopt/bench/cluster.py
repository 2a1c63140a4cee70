"""Runs on the workers of a Dask cluster, each in a process of its own that its worker watches."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carbonopt.bench.processes import Isolated
from carbonopt.bench.runs import Answer, Task
from carbonopt.core.errors import CarbonoptError, UnsupportedError, shown
from carbonopt.core.jsonfile import read_json

if TYPE_CHECKING:
    from carbonopt.bench.campaign import Execute

SCHEME = "dask://"
AHEAD = 2
"""Runs that wait at the scheduler for each thread of the workers, so that none of them waits for the next run."""
SECONDS_TO_CONNECT = 10
LOOK_SECONDS = 2.0
"""Between two looks at how many workers there are [s]."""
GONE = "the Dask scheduler is gone: start the same command again once it is back"
_here = threading.local()


def on_cluster(address: str, say: Callable[[str], None]) -> Execute:
    """Return what makes runs on a cluster.

    Parameters
    ----------
    address
        ``dask://HOST:PORT`` of a scheduler, or the path of its scheduler file.
    say
        Tells a person what is waited for.

    Raises
    ------
    UnsupportedError
        If it is neither, or Dask is not installed.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise UnsupportedError("--cluster needs Dask: pip install 'carbonopt[dask]'") from None
    if address.startswith(SCHEME) and address != SCHEME:
        return lambda tasks: _made(tasks, {"address": f"tcp://{address.removeprefix(SCHEME)}"}, say)
    if Path(address).is_file():
        return lambda tasks: _made(tasks, {"scheduler_file": address}, say)
    raise UnsupportedError(f"--cluster {shown(address)}: must be dask://HOST:PORT, or a scheduler file that exists")


def perform_there(task: Task) -> Answer:
    """Make one run on a worker."""
    isolated = getattr(_here, "isolated", None)
    if isolated is None:
        isolated = _here.isolated = Isolated()
    answer: Answer = isolated(task)
    return answer


def _made(tasks: Iterable[Task], where: dict[str, str], say: Callable[[str], None]) -> Iterator[tuple[int, Answer]]:
    from distributed import Client

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it tells is told below, in one line
    try:
        client = Client(**where, timeout=SECONDS_TO_CONNECT)
    except (OSError, TimeoutError, ValueError) as error:
        raise CarbonoptError(f"no Dask scheduler answers at {next(iter(where.values()))} ({error})") from None
    try:
        yield from _submitted(client, tasks, say)
    finally:
        client.close()


def _submitted(client: Any, tasks: Iterable[Task], say: Callable[[str], None]) -> Iterator[tuple[int, Answer]]:
    """Keep the workers busy, and yield each run with its number as it ends."""
    from distributed import wait

    numbered = enumerate(tasks)
    running: dict[Any, tuple[int, float]] = {}  # by future: its number, and when it was submitted
    told = False
    while True:
        threads = sum(client.nthreads().values())
        for number, task in islice(numbered, max(0, max(1, AHEAD * threads) - len(running))):
            running[client.submit(perform_there, _whole(task), pure=False)] = (number, time.monotonic())
        if not running:
            return
        if threads == 0 and not told:
            say("the cluster has no workers yet: waiting for them")
            told = True
        try:
            done = wait(list(running), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED").done
        except TimeoutError:  # look again how many workers there are
            continue
        except CancelledError:
            raise CarbonoptError(GONE) from None
        for future in done:
            number, submitted = running.pop(future)
            yield number, _answer(future, submitted)


def _whole(task: Task) -> Mapping[str, Any]:
    """Return a task with its instance in it: a worker may see other files."""
    path = task.get("path")
    return task if path is None else {**task, "raw": read_json(str(path))}


def _answer(future: Any, submitted: float) -> Answer:
    """Return what came of a run; one whose workers die again and again is a failed run, and not asked for again.

    A run whose worker died is made anew by Dask, so a run alone is lost. How long its tries took no one can tell: its
    seconds are those since it was submitted, at the time `submitted` of the monotonic clock.
    """
    from distributed import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise CarbonoptError(GONE)
    error = future.exception()
    if error is None:
        answer: Answer = future.result()
        return answer
    if isinstance(error, KilledWorker):
        seconds = time.monotonic() - submitted
        return Answer(failed="crashed", message="each worker that began it died", seconds=seconds)
    raise CarbonoptError(f"a worker cannot make runs: {type(error).__name__}: {error}")
