"""A campaign of tables, for `carbonopt reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from carbonopt.cli import campaigns, console, progress
from carbonopt.core.errors import one_line
from carbonopt.core.files import locked
from carbonopt.core.interrupt import INTERRUPTED

if TYPE_CHECKING:
    import pandas as pd

    from carbonopt.papers.campaign import TableRun


@dataclass(frozen=True)
class Where:
    """Where tables are made, and kept.

    Parameters
    ----------
    results
        The file that keeps them.
    workers, cluster, array_task
        As the options of `carbonopt bench`.
    """

    results: Path
    workers: int = 1
    cluster: str | None = None
    array_task: str | None = None


@dataclass(frozen=True)
class Made:
    """What came of a figure.

    Parameters
    ----------
    whole
        All tables below each other.
    mean
        Over the seeds, row by row; None where their tables have unlike rows.
    seeds
        How many have a table.
    code
        For the shell.
    """

    whole: pd.DataFrame
    mean: pd.DataFrame | None = None
    seeds: int = 1
    code: int = 0


def campaign(runs: Sequence[TableRun], settings: dict[str, Any], where: Where, others: Sequence[Path | None]) -> Made:
    """Make the tables that are left, and return all.

    Parameters
    ----------
    runs
        All tables.
    settings
        ``mode`` and ``time_limit``.
    where
        Where they are made and kept.
    others
        Files that the results must not be.
    """
    from carbonopt.papers.campaign import key_of, missing, run_tables
    from carbonopt.papers.joined import joined, mean_over_seeds

    results = where.results
    part = campaigns.part(where.array_task)
    if part is not None:
        results = campaigns.part_file(results, *part)
        runs = runs[part[0] - 1 :: part[1]]
    results.parent.mkdir(parents=True, exist_ok=True)
    campaigns.require_file(results)
    console.require_target(results, others, ())
    execute = campaigns.execute(where.workers, where.cluster)
    console.say(f"{len(runs)} tables, each kept in {results} once it is made")
    rows: dict[Any, Any] = {}
    code = 0
    with locked(results, wait=False):
        left, old = missing(runs, results, settings)
        with progress.counted("reproduce", len(left)) as step:
            try:
                for row in run_tables(runs, results, execute, **settings):
                    rows[key_of(row)] = row
                    if row["rows"] is None:
                        code = 1
                        console.say(f"error: {row['instances'][-1]}, seed {row['seed']}: {one_line(row['message'])}")
                    if len(rows) > len(old):
                        step()
            except KeyboardInterrupt:
                # the last one may be on disk and not told yet
                rows = {key_of(row): row for row in missing(runs, results, settings)[1]}
                if not rows:
                    raise
                told = f"{len(rows)} of {len(runs)} tables are in {results}; the same command goes on"
                console.say(f"interrupted: {told}")
                code = INTERRUPTED
    if not any(row["rows"] for row in rows.values()):
        raise typer.Exit(code)
    seeds = len({row["seed"] for row in rows.values() if row["rows"] is not None})
    return Made(joined(runs, rows), mean_over_seeds(runs, rows), seeds, code)
