"""A campaign: every method on every instance with every seed, each finished run on disk at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from carbonopt.bench.perform import failed_row, perform
from carbonopt.bench.results import append, key_of, read_results, require_conditions
from carbonopt.bench.runs import Answer, Job, Row, Run, job_of, planned
from carbonopt.core.errors import CarbonoptError, Fault, InputError
from carbonopt.core.status import Status
from carbonopt.core.versions import installed_versions

Execute = Callable[[Iterable[Any]], Iterator[tuple[int, Answer]]]
"""Makes runs somewhere, and yields the number of each with its answer, in any order."""


def here(jobs: Iterable[Job]) -> Iterator[tuple[int, Answer]]:
    """Make the runs in this process, one after the other."""
    for number, job in enumerate(jobs):
        answer = perform(job)
        if answer["row"]["status"] == Status.INTERRUPTED:
            return
        yield number, answer


def run_campaign(
    runs: Sequence[Run],
    results: Path,
    on_answer: Callable[[Run, Answer], None] | None = None,
    execute: Execute = here,
    **options: Any,
) -> Iterator[Row]:
    """Make all runs that `results` does not hold yet.

    Parameters
    ----------
    runs
        Of `carbonopt.bench.runs.runs_on`.
    results
        A file of one JSON object a line, appended to; a campaign that was killed goes on where it
        stopped.
    on_answer
        Called with each new answer, which then holds the solution, before its row is written.
    execute
        Where the runs are made: `here`, or of `processes` or `cluster`.
    **options
        Of `solve`, with ``memory_mib`` and ``kill_seconds`` of a process. Runs with other options are not mixed.

    Yields
    ------
    dict
        One row a run: first the old ones, then the new ones as they end.

    Raises
    ------
    InputError
        If the file holds runs of other versions or options.
    """
    left, old = missing(runs, results, options)
    yield from old
    jobs = (job_of(run, options, on_answer is not None) for run in left)
    for number, answer in execute(jobs):
        run = left[number]
        row = _row_of(run, answer, options)
        if on_answer is not None:  # first: a run that is recorded is not made again
            on_answer(run, answer)
        append(results, row)
        yield row


def missing(runs: Iterable[Run], results: Path, options: Mapping[str, Any]) -> tuple[list[Run], list[Row]]:
    """Return the runs that `results` does not hold yet, and the rows of the others."""
    held = read_results(results)
    require_conditions(results, held, planned(options) | installed_versions())
    rows = {key_of(row): row for row in held}
    wanted = {run.key: run for run in runs}
    left = [run for key, run in wanted.items() if key not in rows]
    return left, [rows[key] for key in wanted if key in rows]


def _row_of(run: Run, answer: Answer, options: Mapping[str, Any]) -> Row:
    """Return the row of an answer, after a look at whether it is of this run and of this version."""
    if "refused" in answer:
        raise CarbonoptError(f"{run.path}: {answer['refused']}")
    if "failed" in answer:
        return failed_row(run, options, answer)
    row = answer["row"]
    row["instance_file"] = str(run.path)
    if row["instance_sha256"] != run.sha256:
        raise InputError(Fault("", "has changed since the campaign began: start it again", file=str(run.path)))
    mine = installed_versions()
    if row["versions"] != mine:
        raise CarbonoptError(f"a worker has other versions: {row['versions']}, here {mine}; install the same on both")
    return row
