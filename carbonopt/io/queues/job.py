"""One job of a queue, whatever scheduler it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from carbonopt.core.time import format_utc, parse_utc

PENDING = "PENDING"
RUNNING = "RUNNING"
_TIMES = ("submitted", "started")


@dataclass(frozen=True)
class QueuedJob:
    """A job that waits or runs.

    Parameters
    ----------
    id
        By which the scheduler knows it: ``1234``, ``1234_7`` (Slurm), ``namespace/name`` (Kubernetes).
    name, user
        As the scheduler prints them.
    state
        `PENDING` or `RUNNING`.
    hours
        Longest run time [h]: the time limit.
    cpus, gpus, memory_gb
        That it holds while it runs; memory in units of 2^30 B.
    priority
        Larger is sooner; None where the scheduler does not tell.
    submitted, started
        Moments with their time zone; None where they are not known.
    cluster
        Cluster, partition or queue that it is in; empty where it is not known.
    watts
        Measured power [W]; None where it was not measured.
    """

    id: str
    name: str
    user: str
    state: str
    hours: float
    cpus: float
    gpus: float = 0.0
    memory_gb: float | None = None
    priority: float | None = None
    submitted: datetime | None = None
    started: datetime | None = None
    cluster: str = ""
    watts: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the job as a plan file holds it."""
        content = asdict(self)
        return content | {key: content[key] and format_utc(content[key]) for key in _TIMES}

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> QueuedJob:
        """Return the job that a plan file holds."""
        known = {f.name: content[f.name] for f in fields(cls) if f.name in content}
        return cls(**{**known, **{key: known.get(key) and parse_utc(known[key]) for key in _TIMES}})


@dataclass(frozen=True)
class Queue:
    """The jobs of a queue.

    Parameters
    ----------
    source
        ``slurm`` or ``kubernetes``.
    jobs
        Those that wait or run, in the order of the file.
    left_out
        Number of those that do neither, by state.
    """

    source: str
    jobs: tuple[QueuedJob, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
