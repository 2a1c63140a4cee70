"""What a JSON format of carbon signals is, and the steps that several readers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.carbon_formats.labels import Labels


class Row(NamedTuple):
    """One value of one zone: the `place` of a fault, and `value` in g/kWh as text, empty where it is missing."""

    place: str
    zone: str
    time: str
    value: str
    labels: Labels


@dataclass(frozen=True)
class JsonFormat:
    """How one source writes JSON.

    Parameters
    ----------
    title
        What messages call it.
    matches
        Whether parsed JSON is of this format.
    rows
        Its values; raises `InputError` for what is no carbon signal.
    """

    title: str
    matches: Callable[[Any], bool]
    rows: Callable[[Any], Iterable[Row]]


def field(raw: Any, *path: str | int) -> Any:
    """Return what stands at a path of keys and positions, None where nothing does."""
    for key in path:
        if isinstance(raw, dict) and isinstance(key, str):
            raw = raw.get(key)
        elif isinstance(raw, list) and isinstance(key, int) and key < len(raw):
            raw = raw[key]
        else:
            return None
    return raw


def text(value: Any) -> str:
    """Return a string as it is, and anything else as empty."""
    return value if isinstance(value, str) else ""


def number(value: Any, factor: float = 1.0) -> str:
    """Return a JSON number times `factor` as text, a string as it is, and the rest as messages show it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else shown(value)
    try:
        return repr(float(value) * factor)
    except OverflowError:
        return shown(value)


def measured_or_estimated(is_estimated: Any) -> str:
    """Return the status that a flag of a row tells, empty where there is none."""
    if is_estimated is True:
        return "estimated"
    return "measured" if is_estimated is False else ""


def objects(rows: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) for a list of objects.

    Raises
    ------
    InputError
        For what is no list, and for a row that is no object.
    """
    if not isinstance(rows, list):
        raise InputError(Fault(place, "must be a list of rows", shown(rows)))
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(Fault(place, "must be an object {...}", shown(row), at))
        yield f"{place}[{at}]", row
