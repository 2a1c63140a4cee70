"""`read_queue`: a queue in any format that there is a reader for, told by its content."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection
from datetime import UTC, tzinfo
from typing import Any

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.jsonfile import read_json, read_text
from carbonopt.io.csvfile import words
from carbonopt.io.queues.entry import Settings
from carbonopt.io.queues.job import Queue
from carbonopt.io.queues.kubernetes import kubernetes_queue, read_yaml, require_kubernetes
from carbonopt.io.queues.slurm_json import slurm_json_queue
from carbonopt.io.queues.slurm_text import slurm_text_queue


def read_queue(
    path: str | os.PathLike[str],
    tz: tzinfo = UTC,
    default_hours: float | None = None,
    leave_out: Collection[str] = (),
) -> Queue:
    r"""Read the jobs that wait or run.

    Parameters
    ----------
    path
        ``squeue --json`` or ``sacct --json``; either in columns with ``|`` between them; Kubernetes Jobs in JSON or
        YAML. Plain or gzip.
    tz
        Time zone of times that have none, as those of Slurm's columns.
    default_hours
        Run time of jobs without a time limit [h]; None to refuse them.
    leave_out
        Jobs that are not read, by id.

    Raises
    ------
    InputError
        With every fault of the jobs that wait or run: file, field, value and what would be right.
    UnsupportedError
        For YAML where PyYAML is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "queue.txt")
    ...     _ = path.write_text("JOBID|STATE|CPUS|TIME_LIMIT\n7|PENDING|4|2:00:00\n8_[0-1]|PENDING|1|30:00\n")
    ...     queue = read_queue(path)
    >>> [(job.id, job.hours) for job in queue.jobs]
    [('7', 2.0), ('8_0', 0.5), ('8_1', 0.5)]
    """
    if default_hours is not None and not 0 < default_hours < math.inf:
        raise UnsupportedError(f"default_hours = {default_hours:g}: must be more than 0")
    settings = Settings(default_hours, frozenset(leave_out))
    text = read_text(path).lstrip()
    if words(text.partition("\n")[0].partition("|")[0]) == "jobid":
        return slurm_text_queue(path, tz, settings)
    content: Any = read_json(path) if _is_json(text) else read_yaml(text, str(path))
    if isinstance(content, dict) and "jobs" in content:
        return slurm_json_queue(content, str(path), settings)
    return kubernetes_queue(require_kubernetes(content, str(path)), str(path), settings)


def _is_json(text: str) -> bool:
    if text.startswith("{"):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
