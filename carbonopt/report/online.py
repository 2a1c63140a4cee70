"""What being online costs, by cause: tables of ``carbonopt compare --policies ... --split -o FILE.csv``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from carbonopt.core.errors import Fault, InputError, one_line
from carbonopt.core.jsonfile import read_text

CAUSE = "due_to_"
"""How the names of columns begin that split the excess."""


def online_rows(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return for each policy of each table the shares of its excess over the proven least, by cause.

    Raises
    ------
    InputError
        If a file is no such table.
    """
    from csv import DictReader

    found = []
    for path in files:
        reader = DictReader(read_text(path).splitlines())
        causes = [name for name in reader.fieldnames or () if name.startswith(CAUSE)]
        if "policy" not in (reader.fieldnames or ()) or not causes:
            words = f"must be a table with the columns policy and {CAUSE}...: `carbonopt compare -p all --split -o`"
            raise InputError(Fault("", words, file=str(path)))
        for number, line in enumerate(reader, start=2):
            parts = {_name(cause): _share(line[cause], path, number, cause) for cause in causes}
            label = line["policy"] if len(files) == 1 else f"{line['policy']} ({path.stem})"
            found.append({"policy": one_line(label), "parts": parts})
    return found


def _name(column: str) -> str:
    return one_line(column.removeprefix(CAUSE).replace("_", " "))


def _share(text: str | None, path: Path, line: int, column: str) -> float | None:
    """Return a share; None where nothing was proven."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise InputError(Fault(column, "must be a number", repr(text), file=str(path), line=line))
    return value
