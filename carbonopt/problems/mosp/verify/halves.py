"""Cuts by halves of a certificate: half of the limits of some jobs and cliques together, rounded down.

In a schedule a job starts at most once, and the weights of a clique's starts add up to at most its limit. All of these
are whole numbers. Some of these limits are added up, and halved. The factor of each start is rounded down, which a
schedule keeps. Now what its starts add up to is whole. So the limit may be rounded down, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance

MOST_FACTOR = 2**40
"""That all weights of the parts, and their limits, may add up to: sums up to it are exact."""
FIELDS = {"jobs", "halves", "price"}


class Starts(NamedTuple):
    """Starts of a job (its row) on a cluster (its row) from `first` to `last`, and the weight of each."""

    job: int
    cluster: int
    first: int
    last: int
    weight: int


class Limited(Protocol):
    """Starts whose weights in a schedule add up to at most `most`."""

    @property
    def most(self) -> int:
        """What they add up to at most."""

    def runs(self) -> Iterator[Starts]:
        """Yield the starts."""


@dataclass(frozen=True, eq=False)
class Half:
    """Starts with weights of their own.

    Parameters
    ----------
    starts
        Job, cluster, first and last slot, and weight of each stretch of starts, shape (S, 5).
    most
        What the weights of the starts in a schedule add up to at most.
    """

    starts: IntArray
    most: int

    def runs(self) -> Iterator[Starts]:
        """Yield its starts, of one weight each time."""
        return (Starts(*row) for row in self.starts.tolist())


def half_of(instance: MospInstance, entry: dict[str, Any], before: Sequence[Limited], field: str) -> Half:
    """Return half of the limits that an entry of a certificate names, rounded down.

    Parameters
    ----------
    instance
        The instance.
    entry
        ``{"jobs": [row, ...], "halves": [number of a clique before it, ...]}``.
    before
        The cliques before it.
    field
        Name of the entry, for the message.

    Raises
    ------
    InputError
        If it names what is not there, or a job or a clique twice, or has other fields.
    """
    if not set(entry) <= FIELDS:
        raise InputError(
            Fault(field, f"must have {', '.join(sorted(FIELDS))} alone", shown(sorted(set(entry) - FIELDS)))
        )
    for name, below in (("jobs", len(instance.jobs)), ("halves", len(before))):
        given = entry.get(name)
        good = isinstance(given, list) and all(type(number) is int and 0 <= number < below for number in given)
        if not isinstance(given, list) or not good or len(set(given)) < len(given):
            words = f"must be different whole numbers below {below}"
            raise InputError(Fault(f"{field}.{name}", words, shown(given)))
    parts = [before[number] for number in entry["halves"]]
    most = sum(part.most for part in parts) + len(entry["jobs"])
    runs = np.array([run for part in parts for run in part.runs()], dtype=np.int64).reshape(-1, 5)
    job, cluster, first, last, weight = runs.T
    if most > MOST_FACTOR or float(weight.sum(dtype=np.float64)) > MOST_FACTOR:
        raise InputError(Fault(field, f"must have factors of at most {MOST_FACTOR} in all"))
    slots = instance.time.slots
    places, at = np.unique(job * len(instance.clusters.capacity) + cluster, return_inverse=True)
    change = np.zeros((len(places), slots + 1), dtype=np.int64)
    np.add.at(change, (at.ravel(), first), weight)
    np.subtract.at(change, (at.ravel(), last + 1), weight)
    job, cluster = np.divmod(places, len(instance.clusters.capacity))
    factor = (change.cumsum(axis=1)[:, :-1] + np.isin(job, entry["jobs"])[:, None]) // 2
    return Half(np.column_stack(_stretches(job, cluster, factor)), most // 2)


def _stretches(job: IntArray, cluster: IntArray, factor: IntArray) -> tuple[IntArray, ...]:
    """Return job, cluster, first and last slot and factor of the stretches with an equal factor above 0."""
    padded = np.pad(factor, ((0, 0), (1, 1)))
    change = np.diff(padded, axis=1) != 0
    row, begin = np.nonzero(change[:, :-1] & (factor > 0))
    _, end = np.nonzero(change[:, 1:] & (factor > 0))
    return job[row], cluster[row], begin, end, factor[row, begin]
