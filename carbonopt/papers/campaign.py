"""A figure with several seeds, or on several groups of instances: a campaign of tables, each on disk at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carbonopt.bench.results import append, read_results
from carbonopt.bench.runs import Answer, Row, Task
from carbonopt.core.errors import CarbonoptError, Fault, InputError, UnsupportedError, shown
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of
from carbonopt.core.versions import installed_versions
from carbonopt.generate import generate
from carbonopt.papers.figure import Figure, Run, figure_of

if TYPE_CHECKING:
    import pandas as pd

    from carbonopt.bench.campaign import Execute

Key = tuple[str, tuple[str, ...], int]
"""What tells tables apart: name of the figure, hashes of the instances, and seed."""
SETTINGS = ("mode", "time_limit")
"""Options that are the same for all tables of a figure in a file of results."""


class TableTask(Task):
    """What a process needs to make one table."""

    figure: str
    instances: list[dict[str, Any]]
    seed: int
    mode: str
    time_limit: float | None


@dataclass(frozen=True)
class TableRun:
    """A table to be made.

    Parameters
    ----------
    figure
        Its name.
    instances
        What the table shows.
    seed
        Of everything that is drawn at random.
    group
        Number of the instances among those that are given.
    """

    figure: str
    instances: tuple[Instance, ...]
    seed: int
    group: int = 0

    @property
    def key(self) -> Key:
        """What tells it apart."""
        return self.figure, tuple(instance.sha256 for instance in self.instances), self.seed

    @property
    def label(self) -> str:
        """Name of its last instance: of a past and a week, the week."""
        return self.instances[-1].name


def table_runs(name: str, instances: Sequence[Instance], seeds: Sequence[int]) -> list[TableRun]:
    """Return the tables of a figure: one for each group of instances that it shows together, and each seed.

    Without instances the figure's own are drawn, with its seeds plus that of the table.

    Raises
    ------
    UnsupportedError
        If the instances are of another problem, or do not make whole groups.
    """
    figure = figure_of(name)
    for instance in instances:
        if instance.problem != figure.problem:
            raise UnsupportedError(f"{instance.name}: {name} runs on {figure.problem}, not on {instance.problem}")
    if not instances:
        return [TableRun(name, _drawn(figure, seed), seed) for seed in seeds]
    groups = _groups(name, figure, tuple(instances))
    return [TableRun(name, group, seed, number) for number, group in enumerate(groups) for seed in seeds]


def _drawn(figure: Figure, seed: int) -> tuple[Instance, ...]:
    """Return the figure's own instances, drawn anew for each seed but 0."""
    own = [generate(figure.problem, **parameters) for parameters in figure.defaults]
    if seed == 0:
        return tuple(own)
    seeds = [instance.provenance["seed"] + seed for instance in own]
    return tuple(
        generate(figure.problem, **{**parameters, "seed": one})
        for parameters, one in zip(figure.defaults, seeds, strict=True)
    )


def _groups(name: str, figure: Figure, instances: tuple[Instance, ...]) -> list[tuple[Instance, ...]]:
    """Return the instances that one table shows, for each table."""
    size = figure.shows or len(instances)
    if len(instances) <= size:
        return [instances]
    if len(instances) % size:
        raise UnsupportedError(f"{name}: {len(instances)} instances: must be one week, or pairs of a past and a week")
    return [instances[first : first + size] for first in range(0, len(instances), size)]


def make(task: TableTask) -> Answer:
    """Make one table in this process."""
    begin = time.monotonic()
    read = problem_of(task["problem"]).role("read")
    settings = {"seed": task["seed"], "mode": task["mode"]}
    run = Run([read(raw) for raw in task["instances"]], settings, time_limit=task["time_limit"])
    table = figure_of(task["figure"]).table(run)
    return Answer(row={"rows": records(table), "seconds": time.monotonic() - begin, "versions": installed_versions()})


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON objects, every digit kept, and None for what is missing."""
    rows = table.to_dict(orient="records")
    return [{str(key): None if value != value else value for key, value in row.items()} for row in rows]


def run_tables(
    runs: Sequence[TableRun],
    results: Path,
    execute: Execute,
    *,
    mode: str = "paper",
    time_limit: float | None = None,
    kill_seconds: float | None = None,
) -> Iterator[Row]:
    """Make all tables that `results` does not hold yet.

    Parameters
    ----------
    runs
        Of `table_runs`.
    results
        A file of one JSON object a line, appended to; a campaign that was killed goes on where it stopped.
    execute
        Where the tables are made: of `carbonopt.bench.processes` or `carbonopt.bench.cluster`.
    mode, time_limit
        See `Run`.
    kill_seconds
        Of a table's process [s]. None: no limit.

    Yields
    ------
    dict
        One a table, with its ``rows``; first the old ones. One whose process was ended has a ``message`` instead.

    Raises
    ------
    InputError
        If the file holds tables of other versions or options.
    """
    settings = {"mode": mode, "time_limit": time_limit}
    left, old = missing(runs, results, settings)
    yield from old
    tasks = (_task(run, settings, kill_seconds) for run in left)
    for number, answer in execute(tasks):
        row = _row(left[number], answer, settings)
        append(results, row)
        yield row


def missing(runs: Sequence[TableRun], results: Path, settings: Mapping[str, Any]) -> tuple[list[TableRun], list[Row]]:
    """Return the tables that `results` does not hold yet, and the rows of the others."""
    held = {key_of(row): row for row in read_results(results, _is_table)}
    wanted = {run.key: run for run in runs}
    conditions = {**settings, "versions": installed_versions()}
    for key in wanted.keys() & held.keys():
        for name, value in conditions.items():
            if held[key][name] != value:
                words = f"holds tables of {key[0]} with {name} {shown(held[key][name])}, and not with {shown(value)}"
                raise InputError(Fault("", f"{words}: they cannot be compared", file=str(results)))
    return [run for key, run in wanted.items() if key not in held], [held[key] for key in wanted if key in held]


def key_of(row: Row) -> Key:
    """Return what tells the table of a row apart."""
    return row["figure"], tuple(row["instances_sha256"]), row["seed"]


def _is_table(record: Any) -> bool:
    """Return whether a line holds all that is read of a finished table, each of its own type."""
    if not isinstance(record, dict) or not isinstance(record.get("figure"), str):
        return False
    hashes, rows, seed = record.get("instances_sha256"), record.get("rows"), record.get("seed")
    whole = isinstance(seed, int) and not isinstance(seed, bool) and all(name in record for name in SETTINGS)
    texts = isinstance(hashes, list) and all(isinstance(one, str) for one in hashes)
    made = rows is None or (isinstance(rows, list) and all(isinstance(one, dict) for one in rows))
    return whole and texts and made and isinstance(record.get("versions"), dict)


def _task(run: TableRun, settings: Mapping[str, Any], kill_seconds: float | None) -> TableTask:
    return TableTask(
        made_by="carbonopt.papers.campaign:make",
        problem=figure_of(run.figure).problem,
        figure=run.figure,
        instances=[instance.to_dict() for instance in run.instances],
        seed=run.seed,
        mode=settings["mode"],
        time_limit=settings["time_limit"],
        memory_mib=None,
        kill_seconds=kill_seconds,
    )


def _row(run: TableRun, answer: Answer, settings: Mapping[str, Any]) -> Row:
    """Return the line of a table, after a look at whether it was made by this version."""
    if "refused" in answer:
        raise CarbonoptError(f"{run.label}: {answer['refused']}")
    facts = {
        "figure": run.figure,
        "instances": [instance.name for instance in run.instances],
        "instances_sha256": list(run.key[1]),
        "seed": run.seed,
        **settings,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    mine = installed_versions()
    if "failed" in answer:
        told = {"rows": None, "seconds": answer["seconds"], "message": f"{answer['failed']}: {answer['message']}"}
        return {**facts, **told, "versions": mine}
    theirs = answer["row"]["versions"]
    if theirs != mine:
        raise CarbonoptError(f"a worker has other versions: {theirs}, here {mine}; install the same on both")
    return {**facts, **answer["row"]}
