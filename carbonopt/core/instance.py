"""What every instance has, whatever its problem."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

from carbonopt.core.arrays import plain
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.display import card, metric
from carbonopt.core.frames import section, signal_sections
from carbonopt.core.jobs import JobTable
from carbonopt.core.jsonfile import content_hash, write_json
from carbonopt.core.time import TimeGrid, format_utc

SCHEMA_VERSION = 1
"""Of the instance files, in their field ``schema_version``."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance(ABC):
    """Immutable data of one instance; each problem adds its own fields.

    Parameters
    ----------
    name
        By convention ``<problem>-<source>-j<jobs>-t<slots>-<zone>-s<seed>``.
    carbon
        Carbon intensity of the zones; its `time` is the time grid of the instance.
    jobs
        One row a job; each problem adds its own columns.
    provenance
        Where the data came from, as free JSON; not part of the content hash.
    """

    problem: ClassVar[str]

    name: str
    carbon: CarbonSignal
    jobs: JobTable
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    @abstractmethod
    def sense(self) -> str:
        """``min`` or ``max``."""

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the optional constraints that this instance has: only methods that respect them run on it."""
        return ()

    @property
    def time(self) -> TimeGrid:
        """The slots."""
        return self.carbon.time

    @abstractmethod
    def data(self) -> dict[str, Any]:
        """Return the fields that the problem adds, as its file holds them."""

    @abstractmethod
    def features(self) -> dict[str, Any]:
        """Return a few numbers that tell what kind of instance it is (for `info` and the index)."""

    @classmethod
    def usual(cls) -> dict[str, Any]:
        """Return the sections of the file that `from_frames` takes where they are not given."""
        return {}

    @classmethod
    def from_frames(cls, name: str, *, carbon: Any, **sections: Any) -> Self:
        """Make an instance of pandas objects.

        Parameters
        ----------
        name
            Of the instance.
        carbon
            A `DataFrame` with one column a zone, or a `Series` named after its zone [gCO2eq/kWh]. Its index holds
            the beginnings of the slots, in equal steps; moments without a time zone are taken as UTC.
        **sections
            The other fields of the problem's file. A `DataFrame` stands for a table of columns, in which
            ``demand.gpu`` is the entry ``gpu`` of the column ``demand``. Its index names the rows where no column
            ``name`` does. Arrays, mappings and objects with a method ``to_dict`` are taken as well. Units are those
            of the file. Of `mosp`, `elastic` and `ecas` times are slots since the first moment of `carbon`, and
            arrivals are whole: ``np.ceil(hours / slot_hours)`` rounds an arrival or a run time up, ``np.floor`` a
            deadline down, so that no job begins too early or ends too late.

        Raises
        ------
        InputError
            With every fault: field, row, value and what would be right, as for a file.

        Examples
        --------
        >>> import pandas as pd
        >>> import carbonopt as co
        >>> hours = pd.date_range("2024-05-01", periods=3, freq="h")
        >>> gpus = {"zone": "DE", "capacity.gpu": 2, "watts_per_unit.gpu": 300.0}
        >>> train = {"arrival": 0, "duration": 1, "deadline": 3, "demand.gpu": 1}
        >>> day = co.MospInstance.from_frames(
        ...     "mine",
        ...     carbon=pd.DataFrame({"DE": [400.0, 300.0, 100.0]}, index=hours),
        ...     clusters=pd.DataFrame(gpus, index=["berlin"]),
        ...     jobs=pd.DataFrame(train, index=["train"]),
        ... )
        >>> day
        MospInstance('mine', 1 job, 3 slots of 1 h)

        Times in hours become slots, here of half an hour:

        >>> import numpy as np
        >>> arrival, duration, deadline = 0.7, 1.2, 3.9
        >>> int(np.ceil(arrival / 0.5)), int(np.ceil(duration / 0.5)), int(np.floor(deadline / 0.5))
        (2, 3, 7)
        """
        from carbonopt.core.registry import problem_of

        raw = {
            "schema_version": SCHEMA_VERSION,
            "problem": cls.problem,
            "name": name,
            **signal_sections(carbon),
            **{key: section(value) for key, value in (cls.usual() | sections).items()},
        }
        made = problem_of(cls.problem).role("read")(raw)
        assert isinstance(made, cls)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the instance as its file holds it: JSON types, columnar, units in the names."""
        content = {
            "schema_version": SCHEMA_VERSION,
            "problem": self.problem,
            "name": self.name,
            "provenance": dict(self.provenance),
            "time": {
                "slots": self.time.slots,
                "slot_hours": self.time.slot_hours,
                "start": format_utc(self.time.start),
            },
            "carbon": {"zones": self.carbon.zones, "g_per_kwh": self.carbon.g_per_kwh},
            **self.data(),
        }
        return {key: plain(value) for key, value in content.items()}

    def __repr__(self) -> str:
        jobs = f"{len(self.jobs)} job{'' if len(self.jobs) == 1 else 's'}"
        return f"{type(self).__name__}({self.name!r}, {jobs}, {self.time.slots} slots of {self.time.slot_hours:g} h)"

    def _repr_html_(self) -> str:
        facts = {name: metric(name, value) for name, value in self.features().items()}
        return card(f"{type(self).__name__} {self.name}", facts)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the content without name and provenance: equal data, equal hash, in any file."""
        content = self.to_dict()
        del content["name"], content["provenance"]
        return content_hash(content)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the instance to `path` (``.json`` or ``.json.gz``), whole or not at all."""
        write_json(path, self.to_dict())
