"""Kubernetes as a scheduler that a controller keeps to a plan."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from carbonopt.core.errors import InputError, shown
from carbonopt.io.queues.entry import EmptyQueueError, Settings
from carbonopt.io.queues.job import PENDING, RUNNING, Queue, QueuedJob
from carbonopt.io.queues.kubernetes import kubernetes_queue
from carbonopt.planning.apply import is_name
from carbonopt.planning.controller.api import Api, ConflictError, UnreachableError
from carbonopt.planning.controller.journal import Journal
from carbonopt.planning.controller.targets import Object, Target, opened_at, opening_of
from carbonopt.planning.result import Row

MOST_CONFLICTS = 5
"""After which an object that changes at every patch is left to the next pass."""


class Kubernetes:
    """Objects of one kind, and what is done to them.

    Parameters
    ----------
    target
        The kind of object.
    server
        Of the API; or the objects themselves, for a dry run on a file.
    journal
        Where intents are kept.
    settings
        Of reading the jobs.
    send
        Whether patches are sent; else they are told alone.
    """

    source = "kubernetes"

    def __init__(
        self, target: Target, server: Api | list[Object], journal: Journal, settings: Settings, send: bool
    ) -> None:
        self.target = target
        self.server = server
        self.journal = journal
        self.settings = settings
        self.send = send and not isinstance(server, list)
        self.problems: list[str] = []
        self._objects: dict[str, Object] = {}
        self._jobs: dict[str, QueuedJob] = {}

    def look(self) -> None:
        """Read what there is. A job that cannot be planned is left out, and told in `problems`."""
        found = self.server if isinstance(self.server, list) else self.server.list()
        self._objects, self._jobs, self.problems = {}, {}, []
        for one in found:
            meta = one.get("metadata") or {}
            name = f"{meta.get('namespace', 'default')}/{meta.get('name', '')}"
            if not is_name(name):
                self.problems.append(f"{shown(name)}: is no namespace/name of Kubernetes (it is not planned)")
                continue
            self._objects[name] = one
            kind = "Job" if self.target.plural == "jobs" else "AppWrapper"
            try:
                queue = kubernetes_queue({"kind": kind, **self.target.readable(one)}, name, self.settings)
                self._jobs[name] = self._as_opened(queue.jobs[0], one)
            except EmptyQueueError:
                continue
            except InputError as error:
                self.problems += [f"{line} (it is not planned)" for line in error.lines()]
        if found:
            self.journal.forget_all_but({_uid(one) for one in found})

    def _as_opened(self, job: QueuedJob, one: Object) -> QueuedJob:
        """Return a job that was opened as one that runs, though its pods may still wait."""
        mark = opened_at(one)
        if mark is None:
            return job
        return replace(job, state=RUNNING, started=job.started or mark[0], cluster=mark[1])

    @property
    def queue(self) -> Queue:
        """The jobs that wait or run."""
        return Queue(self.source, tuple(self._jobs.values()))

    def keep(self, row: Row, now: datetime, due: bool, several: bool) -> Iterator[str]:
        """Open a job that is due, hold one back that is not; yield what was done.

        Raises
        ------
        UnreachableError
            If the API server does not take it.
        """
        for _ in range(MOST_CONFLICTS):
            one, job = self._objects.get(row.id), self._jobs.get(row.id)
            if one is None or job is None:
                return
            if self._is_done(one):
                self.journal.confirm(_uid(one))
                return
            change, words = self._step(row, one, job, now, due, several)
            if change is None:
                return
            opens = words.startswith("open")
            if not self.send:
                yield shlex.join(self._command(one, change))
                self._objects[row.id] = merged(one, change)
            else:
                if opens:
                    self.journal.intend(_uid(one), row.id, row.cluster, row.begin)
                if self._patch(row.id, one, change):
                    yield words
        if self.send:
            raise UnreachableError(f"{row.id}: is changed by others all the time; the next pass tries again")

    def _step(
        self, row: Row, one: Object, job: QueuedJob, now: datetime, due: bool, several: bool
    ) -> tuple[Object | None, str]:
        """Return the next patch of an object, None for none, and what it does in words."""
        held = self.target.is_held(one)
        waits = job.state == PENDING and not held and self.target.holding is not None
        binds = several and self.target.plural == "jobs"  # what is bound to nodes has to be suspended before
        if waits and (not due or binds) and self.target.holding is not None:
            return self.target.holding(one), f"hold {row.id}"
        if due and held:
            return opening_of(self.target, one, row.cluster, several, now), f"open {row.id} on {row.cluster}"
        return None, ""

    def _is_done(self, one: Object) -> bool:
        """Return whether an object was opened: nothing of it is started twice, whoever suspends it again."""
        return opened_at(one) is not None or self.journal.is_confirmed(_uid(one))

    def _patch(self, job: str, one: Object, change: Object) -> bool:
        """Send a patch; return whether the object was as it had been read."""
        assert not isinstance(self.server, list)
        try:
            found = self.server.patch(one, change)
            taken = found is not None
        except ConflictError:
            found, taken = self.server.get(job), False
        if found is None:
            del self._objects[job]
        else:
            self._objects[job] = found
        return taken

    def _command(self, one: Object, change: Object) -> tuple[str, ...]:
        """Return the same patch for kubectl."""
        kind = "job" if self.target.group == "batch" else f"appwrappers.{self.target.version}.{self.target.group}"
        meta = one["metadata"]
        text = json.dumps(change, separators=(",", ":"))
        where = f"--namespace={meta.get('namespace', 'default')}"
        return ("kubectl", "patch", kind, meta["name"], where, "--type=merge", f"--patch={text}")


def merged(whole: Any, change: Any) -> Any:
    """Apply a merge patch (RFC 7386)."""
    if not isinstance(change, dict):
        return change
    found = dict(whole) if isinstance(whole, dict) else {}
    for key, value in change.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def _uid(one: Object) -> str:
    meta = one.get("metadata") or {}
    return str(meta.get("uid") or f"{meta.get('namespace', 'default')}/{meta.get('name', '')}")
