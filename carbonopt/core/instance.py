"""What every instance has, whatever its problem."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from carbonopt.core.arrays import plain
from carbonopt.core.carbon import CarbonSignal
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
    provenance
        Where the data came from, as free JSON; not part of the content hash.
    """

    problem: ClassVar[str]

    name: str
    carbon: CarbonSignal
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
        return f"{type(self).__name__}({self.name!r}, {self.features()})"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the content without name and provenance: equal data, equal hash, in any file."""
        content = self.to_dict()
        del content["name"], content["provenance"]
        return content_hash(content)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the instance to `path` (``.json`` or ``.json.gz``), whole or not at all."""
        write_json(path, self.to_dict())
