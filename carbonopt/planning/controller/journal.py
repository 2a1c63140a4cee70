"""What the controller has to remember, on disk: the plan, when to plan again, and what it is about to do.

An intent is written before the scheduler is told, and confirmed afterwards. Whoever is killed between the two finds it
after the restart, and asks the scheduler which of both it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from carbonopt.core.errors import Fault, InputError
from carbonopt.core.files import locked
from carbonopt.core.jsonfile import read_json, write_json
from carbonopt.core.time import format_utc
from carbonopt.io.schema import Faults, Section
from carbonopt.planning.file import Moment
from carbonopt.planning.plan import read_plan
from carbonopt.planning.result import Plan

PLAN_FILE = "plan.json"
JOURNAL_FILE = "journal.json"


class Entry(Section):
    """What was intended for a job, and whether the scheduler has taken it."""

    job: str
    cluster: str
    begin: Moment
    confirmed: bool


class JournalFile(Section):
    """The journal."""

    schema_version: Literal[1]
    kind: Literal["carbonopt-controller"]
    to: str
    plan_again: Moment | None
    entries: dict[str, Entry] = Field(default_factory=dict)


class Journal:
    """The memory of a controller.

    Parameters
    ----------
    folder
        Where it is kept; None to keep nothing, for dry runs.
    to
        The target that it is for.

    Raises
    ------
    InputError
        If the folder holds the journal of another target, or files that are broken.
    """

    def __init__(self, folder: Path | None, to: str) -> None:
        self.folder = folder
        self.to = to
        self.plan: Plan | None = None
        self.plan_again: datetime | None = None
        self.entries: dict[str, Entry] = {}
        if folder is not None:
            self._read(folder)

    def _read(self, folder: Path) -> None:
        if (folder / PLAN_FILE).exists():
            self.plan = read_plan(folder / PLAN_FILE)
        path = folder / JOURNAL_FILE
        if not path.exists():
            return
        faults = Faults()
        found = faults.whole(JournalFile, read_json(path))
        try:
            faults.raise_if_any()
            assert found is not None
            if found.to != self.to:
                raise InputError(Fault("to", f"must be {self.to!r}: the folder is of a controller of another target"))
        except InputError as error:
            raise error.in_file(path) from None
        self.plan_again, self.entries = found.plan_again, found.entries

    def announce(self, plan: Plan | None, plan_again: datetime) -> None:
        """Keep a plan, and when to plan again."""
        self.plan, self.plan_again = plan, plan_again
        if self.folder is not None:
            if plan is not None:
                plan.write(self.folder / PLAN_FILE)
            self._write()

    def intend(self, key: str, job: str, cluster: str, begin: datetime) -> None:
        """Note what the scheduler is about to be told."""
        self.entries[key] = Entry.model_construct(
            job=job, cluster=cluster, begin=begin.astimezone(UTC), confirmed=False
        )
        self._write()

    def confirm(self, key: str) -> None:
        """Note that the scheduler has taken it."""
        if key in self.entries and not self.entries[key].confirmed:
            self.entries[key] = self.entries[key].model_copy(update={"confirmed": True})
            self._write()

    def is_confirmed(self, key: str) -> bool:
        """Return whether the scheduler has taken what was intended."""
        return key in self.entries and self.entries[key].confirmed

    def forget_all_but(self, keys: set[str]) -> None:
        """Forget jobs that the scheduler does not know any more."""
        self.entries = {key: entry for key, entry in self.entries.items() if key in keys}

    def _write(self) -> None:
        if self.folder is not None:
            write_json(self.folder / JOURNAL_FILE, self._content())

    def _content(self) -> dict[str, Any]:
        entries = {key: {**entry.model_dump(), "begin": format_utc(entry.begin)} for key, entry in self.entries.items()}
        again = None if self.plan_again is None else format_utc(self.plan_again)
        kind = "carbonopt-controller"
        return {"schema_version": 1, "kind": kind, "to": self.to, "plan_again": again, "entries": entries}


@contextmanager
def held(folder: Path | None) -> Iterator[None]:
    """Keep other controllers out of a folder, which is made if it is not there.

    Raises
    ------
    InputError
        If another controller uses it, or it cannot be made.
    """
    if folder is None:
        yield
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(Fault("", f"cannot be made: {error.strerror or error}", file=str(folder))) from None
    with locked(folder, wait=False):
        yield
