"""Slurm as a scheduler that a controller keeps to a plan: it asks squeue, and tells scontrol when a job may start.

Both are run as lists of words, without a shell, in UTC. ``StartTime`` set twice is set once: what is lost between the
command and its record is said again.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from carbonopt.core.errors import InputError, UnsupportedError, one_line
from carbonopt.io.queues.entry import EmptyQueueError, Settings
from carbonopt.io.queues.job import PENDING, Queue, QueuedJob
from carbonopt.io.queues.slurm_json import slurm_json_queue
from carbonopt.planning.controller.api import UnreachableError
from carbonopt.planning.controller.journal import Journal
from carbonopt.planning.result import Row

TIMEOUT_SECONDS = 60


class Slurm:
    """The queue of one slurmctld.

    Parameters
    ----------
    journal
        Where intents are kept.
    settings
        Of reading the jobs.
    send
        Whether commands are run; else they are told alone.
    content
        What ``squeue --json`` printed; None to ask it.
    """

    source = "slurm"

    def __init__(self, journal: Journal, settings: Settings, send: bool, content: dict[str, Any] | None = None) -> None:
        self.journal = journal
        self.settings = settings
        self.send = send
        self.content = content
        self.problems: list[str] = []
        self._jobs: dict[str, QueuedJob] = {}
        self._starts: dict[str, float] = {}

    def look(self) -> None:
        """Read what there is. A job that cannot be planned is left out, and told in `problems`."""
        content = self.content
        if content is None:
            try:
                content = json.loads(run(["squeue", "--json"]))
            except ValueError:
                raise UnreachableError("squeue --json: does not print JSON; Slurm 21.08 and later do") from None
        self._jobs, self._starts, self.problems = {}, {}, []
        for raw in (content or {}).get("jobs") or []:
            try:
                found = slurm_json_queue({"jobs": [raw]}, "squeue", self.settings).jobs
            except EmptyQueueError:
                continue
            except InputError as error:
                self.problems += [f"{line} (it is not planned)" for line in error.lines()]
                continue
            start = raw.get("start_time")
            number = start.get("number") if isinstance(start, dict) else start
            for job in found:
                self._jobs[job.id] = job
                self._starts[job.id] = float(number or 0)
        self.journal.forget_all_but(set(self._jobs))

    @property
    def queue(self) -> Queue:
        """The jobs that wait or run."""
        return Queue(self.source, tuple(self._jobs.values()))

    def keep(self, row: Row, now: datetime, due: bool, several: bool) -> Iterator[str]:  # noqa: ARG002
        """Tell Slurm the begin of a job if it does not have it; yield what was done.

        Raises
        ------
        UnreachableError
            If Slurm does not take it.
        """
        job = self._jobs.get(row.id)
        if job is None or job.state != PENDING or self._has(row):
            return
        begin = f"{row.begin.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
        words = ["scontrol", "update", f"JobId={row.id}", f"StartTime={begin}"]
        if not self.send:
            yield shlex.join(["env", "TZ=UTC", *words])
            return
        self.journal.intend(row.id, row.id, row.cluster, row.begin)
        run(words)
        self.journal.confirm(row.id)
        yield f"start {row.id} from {begin} UTC"

    def _has(self, row: Row) -> bool:
        """Return whether Slurm took this begin, and does not say an earlier one now."""
        entry = self.journal.entries.get(row.id)
        if entry is None or not entry.confirmed or entry.begin != row.begin.astimezone(UTC):
            return False
        told = self._starts[row.id]
        return not told or datetime.fromtimestamp(told, UTC) > entry.begin - timedelta(seconds=1)


def require_one_cluster(clusters: int) -> None:
    """Refuse several clusters: a job cannot move from one slurmctld to another without being submitted twice.

    Raises
    ------
    UnsupportedError
        It says what to do.
    """
    if clusters > 1:
        raise UnsupportedError("the controller keeps one Slurm cluster: run one for each, or use `carbonopt apply`")


def run(words: Sequence[str]) -> str:
    """Run a program of Slurm's and return what it prints.

    Raises
    ------
    UnreachableError
        If it is not there, or fails.
    """
    environment = {**os.environ, "TZ": "UTC"}
    try:
        done = subprocess.run(
            list(words), env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreachableError(f"{words[0]}: {one_line(str(error))}") from None
    if done.returncode:
        raise UnreachableError(f"{shlex.join(words)}: {one_line(done.stderr.strip())[:300]}")
    return done.stdout
