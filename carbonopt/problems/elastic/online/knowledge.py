"""CarbonFlex's knowledge base: what the oracle did in past states, and which are most like the present one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from carbonopt.core.arrays import FloatArray, frozen_float, plain
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.jsonfile import read_json, write_json
from carbonopt.core.ranges import LARGEST_NUMBER, require_number
from carbonopt.io.schema import AboveZero, Faults, NonNegative, Positive, SchemaVersion, Section
from carbonopt.problems.elastic.online.cases import Cases, feature_names
from carbonopt.problems.elastic.online.queue_statistics import QUEUE_HOURS, require_queues

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
"""Of the file."""
Size = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False)]
LEAST_SCALE = 1e-9
"""A feature that varies by less than this over all cases is not scaled: it is the same in all of them."""


class _KnowledgeFile(Section):
    """A knowledge base on disk."""

    schema_version: SchemaVersion
    kind: Literal["carbonflex-knowledge"]
    queue_hours: list[NonNegative]
    neighbours: Positive
    far_percentile: NonNegative
    max_age_hours: AboveZero
    max_cases: Positive
    cases: dict[str, list[Size]]


@dataclass(frozen=True)
class Match:
    """The cases nearest to a state.

    Parameters
    ----------
    servers, rho
        Of each, shape (K,).
    distance
        Of each, in standard deviations, shape (K,).
    known
        Whether their mean distance is at most delta.
    """

    servers: FloatArray
    rho: FloatArray
    distance: FloatArray
    known: bool


class KnowledgeBase:
    """Cases with their nearest neighbours, by Euclidean distance of z-scores, on a KD-tree.

    Parameters
    ----------
    queue_hours
        Longest job of each queue but the last [h]: what "jobs per queue" counts.
    cases
        To begin with; None for none.
    neighbours
        K of the K nearest. More of them smooth what is provisioned.
    far_percentile
        Of the mean distances of the base's own cases to their neighbours: delta. A state that is farther from its
        own neighbours counts as unknown. A higher percentile leaves fewer states unknown.
    max_age_hours
        Cases older than this, when others are added, are forgotten [h]. More of it keeps other seasons.
    max_cases
        If there are more cases, the oldest are forgotten. More of them take more memory.
    """

    def __init__(
        self,
        queue_hours: tuple[float, ...] = QUEUE_HOURS,
        cases: Cases | None = None,
        neighbours: int = 5,
        far_percentile: float = 95.0,
        max_age_hours: float = 8760.0,
        max_cases: int = 100_000,
    ) -> None:
        require_queues(queue_hours)
        require_number("neighbours", neighbours, least=1, whole=True)
        require_number("far_percentile", far_percentile, least=0, most=100)
        require_number("max_age_hours", max_age_hours, above=0)
        require_number("max_cases", max_cases, least=1, whole=True)
        self.queue_hours = tuple(float(hours) for hours in queue_hours)
        self.features = feature_names(len(self.queue_hours) + 1)
        self.neighbours = neighbours
        self.far_percentile = far_percentile
        self.max_age_hours = max_age_hours
        self.max_cases = max_cases
        self.cases = Cases.empty(len(self.features)) if cases is None else cases
        self._tree: Any = None
        self._centre, self._scale, self.delta = np.zeros(0), np.zeros(0), 0.0

    def __len__(self) -> int:
        return len(self.cases)

    def add(self, cases: Cases, now_hour: float | None = None) -> None:
        """Add cases, and forget those that are too old or too many.

        Parameters
        ----------
        cases
            With the features of this base.
        now_hour
            The present, in hours since 1970; None for the latest case.
        """
        every = Cases.joined([self.cases, cases])
        if not len(every):
            return
        now = float(every.hour.max()) if now_hour is None else now_hour
        every = every.kept(np.flatnonzero(every.hour >= now - self.max_age_hours))
        if len(every) > self.max_cases:
            latest = np.argsort(-every.hour, kind="stable")[: self.max_cases]
            every = every.kept(np.sort(latest))
        self.cases, self._tree = every, None

    def copy(
        self,
        neighbours: int | None = None,
        far_percentile: float | None = None,
        max_age_hours: float | None = None,
        max_cases: int | None = None,
    ) -> KnowledgeBase:
        """Return a base of its own with the same cases; what is None stays as it is."""
        return KnowledgeBase(
            self.queue_hours,
            self.cases,
            self.neighbours if neighbours is None else neighbours,
            self.far_percentile if far_percentile is None else far_percentile,
            self.max_age_hours if max_age_hours is None else max_age_hours,
            self.max_cases if max_cases is None else max_cases,
        )

    def match(self, state: npt.ArrayLike) -> Match | None:
        """Return the cases nearest to a state, shape (F,); None where the base is empty."""
        if not len(self):
            return None
        if self._tree is None:
            self._build()
        count = min(self.neighbours, len(self))
        place = (np.asarray(state, dtype=np.float64) - self._centre) / self._scale
        distance, row = self._tree.query(place, k=[*range(1, count + 1)])
        known = bool(distance.mean() <= self.delta)
        return Match(self.cases.servers[row], self.cases.rho[row], distance, known)

    def _build(self) -> None:
        from scipy.spatial import cKDTree

        state = self.cases.state
        self._centre, spread = state.mean(axis=0), state.std(axis=0)
        self._scale = np.where(spread > LEAST_SCALE, spread, 1.0)
        points = (state - self._centre) / self._scale
        self._tree = cKDTree(points)
        count = min(self.neighbours, len(self) - 1)
        self.delta = np.inf
        if count > 0:
            distance, _ = self._tree.query(points, k=[*range(2, count + 2)])  # the nearest one is the case itself
            self.delta = float(np.percentile(distance.mean(axis=1), self.far_percentile))

    def to_frame(self) -> pd.DataFrame:
        """Return the cases as a table, one row each."""
        import pandas as pd

        table = pd.DataFrame(self.cases.state, columns=list(self.features))
        return table.assign(servers=self.cases.servers, rho=self.cases.rho, hour=self.cases.hour)

    def to_dict(self) -> dict[str, Any]:
        """Return the base as its file holds it."""
        cases = self.cases
        content = {
            "schema_version": SCHEMA_VERSION,
            "kind": "carbonflex-knowledge",
            "queue_hours": self.queue_hours,
            "neighbours": self.neighbours,
            "far_percentile": self.far_percentile,
            "max_age_hours": self.max_age_hours,
            "max_cases": self.max_cases,
            "cases": {
                **{name: cases.state[:, column] for column, name in enumerate(self.features)},
                "servers": cases.servers,
                "rho": cases.rho,
                "hours_since_1970": cases.hour,
            },
        }
        return {key: plain(value) for key, value in content.items()}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the base to `path` (``.json`` or ``.json.gz``), whole or not at all."""
        write_json(path, self.to_dict())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> KnowledgeBase:
        """Return the base that `write` wrote.

        Raises
        ------
        InputError
            If the file is none; it names file and field.
        """
        return cls.from_dict(read_json(path), os.fspath(path))

    @classmethod
    def from_dict(cls, content: dict[str, Any], file: str | None = None) -> KnowledgeBase:
        """Return the base that a file's content stands for.

        Raises
        ------
        InputError
            With every field that is not what it must be.
        """
        found = Faults()
        read = found.whole(_KnowledgeFile, content)
        if read is not None:
            names = [*feature_names(len(read.queue_hours) + 1), "servers", "rho", "hours_since_1970"]
            lengths = {len(column) for column in read.cases.values()}
            found.found += [Fault(f"cases.{name}", "is missing") for name in names if name not in read.cases]
            if len(lengths) > 1:
                found.found.append(Fault("cases", "must hold columns, all of one length", shown(sorted(lengths))))
        try:
            found.raise_if_any()
            assert read is not None
            columns = [frozen_float(read.cases[name]) for name in names]
            state = np.column_stack(columns[:-3])
            return cls(
                tuple(read.queue_hours),
                Cases(state, *columns[-3:]),
                read.neighbours,
                read.far_percentile,
                read.max_age_hours,
                read.max_cases,
            )
        except UnsupportedError as error:
            raise InputError(Fault("", str(error), file=file)) from None
        except InputError as error:
            raise (error if file is None else error.in_file(file)) from None
