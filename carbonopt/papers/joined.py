"""The tables of a campaign as one: below each other, or the mean over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from carbonopt.bench.runs import Row
from carbonopt.papers.campaign import Key, TableRun


def joined(runs: Sequence[TableRun], rows: Mapping[Key, Row]) -> pd.DataFrame:
    """Return all tables below each other, with the instance and the seed of each, where there are several."""
    several = len({run.group for run in runs}) > 1, len({run.seed for run in runs}) > 1
    tables = []
    for run in runs:
        found = rows.get(run.key, {}).get("rows")
        if found is None:
            continue
        table = pd.DataFrame(found)
        if several[1]:
            table.insert(0, "seed", run.seed)
        if several[0] and "instance" not in table:
            table.insert(0, "instance", run.label)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def mean_over_seeds(runs: Sequence[TableRun], rows: Mapping[Key, Row]) -> pd.DataFrame | None:
    """Return the mean of each number over the seeds, row by row; None where the tables of seeds have unlike rows."""
    parts = []
    for group in dict.fromkeys(run.group for run in runs):
        same = [run for run in runs if run.group == group]
        found = [rows[run.key]["rows"] for run in same if rows.get(run.key, {}).get("rows") is not None]
        if not found:
            continue
        mean = _mean([pd.DataFrame(one) for one in found])
        if mean is None:
            return None
        if len({run.group for run in runs}) > 1 and "instance" not in mean:
            mean.insert(0, "instance", same[0].label)
        parts.append(mean)
    return pd.concat(parts, ignore_index=True) if parts else None


def _mean(tables: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    first = tables[0]
    if any(table.shape != first.shape or list(table) != list(first) for table in tables):
        return None
    mean = first.copy()
    for column in first:
        values = [table[column] for table in tables]
        if all(value.dtype.kind in "if" for value in values):
            mean[column] = sum(value.astype(float) for value in values) / len(values)
        elif any(not value.equals(values[0]) for value in values):
            if column != "instance":  # instances that are drawn have the seed in their names
                return None
            mean = mean.drop(columns=column)
    return mean
