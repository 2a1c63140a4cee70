"""Errors that name the file, the field, the row, the value and what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

MAX_SHOWN_FAULTS = 25
MOST_ALIKE = 3
"""Faults of one field and one cause that have a line each; of more the first is shown, and where the others are."""
MAX_SHOWN_ROWS = 5
"""Of faults that have one line together: rows of others that are named."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an input.

    Parameters
    ----------
    field
        Dotted path of the field, e.g. ``jobs.duration``; empty for the whole input.
    problem
        What is wrong, in one clause, e.g. ``must be at least 1 slot``.
    value
        The offending value as text; None where there is none to show.
    row
        0-based position (or key) inside the field, None for the whole field.
    file
        Where it was read from, None for data built in a program.
    line
        1-based line of a text file, None where lines mean nothing.
    """

    field: str
    problem: str
    value: str | None = None
    row: int | str | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = self.field if self.row is None else f"{self.field}[{self.row}]"
        if self.value is not None:
            place = f"{place} = {self.value}" if place else self.value
        file = self.file if self.line is None else f"{self.file}, line {self.line}"
        return one_line(": ".join(part for part in (file, place, self.problem) if part))


class CarbonoptError(Exception):
    """Base class of every error that carbonopt raises on purpose."""


class InputError(CarbonoptError, ValueError):
    """The input is wrong; `faults` holds every fault that was found, not only the first."""

    def __init__(self, faults: Fault | Iterable[Fault]):
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """One line a fault, or for many rows that have one cause; at most `MAX_SHOWN_FAULTS` of them."""
        groups = _alike(self.faults)
        shown = [_line(group) for group in groups[:MAX_SHOWN_FAULTS]]
        hidden = [fault for group in groups[MAX_SHOWN_FAULTS:] for fault in group]
        if hidden:
            return [*shown, str(Fault("", f"and {len(hidden)} more faults", file=hidden[0].file))]
        return shown

    def in_file(self, file: object) -> InputError:
        """Return the same faults, told of `file` where they name no other."""
        return type(self)(fault if fault.file else replace(fault, file=str(file)) for fault in self.faults)


def _alike(faults: Iterable[Fault]) -> list[list[Fault]]:
    """Return faults in their order, those of one cause together if there are more than `MOST_ALIKE`."""
    together = dict[tuple[object, ...], list[Fault]]()
    for place, fault in enumerate(faults):
        alone = fault.line is None and fault.row is None
        together.setdefault((fault.file, fault.field, fault.problem, place if alone else None), []).append(fault)
    places = {id(fault): place for place, fault in enumerate(faults)}
    groups = [
        part
        for group in together.values()
        for part in ([group] if len(group) > MOST_ALIKE else [[fault] for fault in group])
    ]
    return sorted(groups, key=lambda group: places[id(group[0])])


def _line(group: Sequence[Fault]) -> str:
    """Return the first fault, and how many rows are like it and which."""
    first, *others = group
    if not others:
        return str(first)
    what = "row" if first.line is None else "line"
    rows = [str(fault.row if fault.line is None else fault.line) for fault in others]
    named = ", ".join(rows[:MAX_SHOWN_ROWS]) + (", ..." if len(rows) > MAX_SHOWN_ROWS else "")
    return one_line(f"{first} ({len(group)} rows have this fault; the others: {what}s {named})")


class TooLargeError(InputError):
    """The program would not fit into memory; raised before anything is allocated."""


class UnsupportedError(CarbonoptError, ValueError):
    """An unknown problem, method or option, or one that does not apply to the instance."""


class RefusedError(UnsupportedError):
    """A method or policy that does not respect an optional constraint of the instance; its card says so."""


class PolicyError(CarbonoptError):
    """A policy that cannot be loaded, raises, or does what is impossible.

    Parameters
    ----------
    summary
        What happened, in one line.
    log
        What was simulated until then (`carbonopt.simulation.log.Log`); None where nothing was.
    details
        The policy's own traceback; empty where there is none.
    """

    def __init__(self, summary: str, log: Any = None, details: str = "") -> None:
        self.summary = summary
        self.log = log
        self.details = details
        super().__init__(f"{summary}\n{details}".rstrip())


def shown(value: object, limit: int = 60) -> str:
    """Return `value` as JSON-like text that fits into one line."""
    if value is None:
        text = "null"
    else:
        text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def one_line(text: str) -> str:
    """Return `text` with line breaks and control characters written out, as a name in a file may hold any."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def one_of(names: Sequence[str], limit: int = 8) -> str:
    """Return ``'a', 'b' or 'c'`` for an error message, shortened where there are many."""
    quoted = [repr(name) for name in names[:limit]]
    if len(names) > limit:
        return ", ".join(quoted) + f" or one of {len(names) - limit} more"
    return " or ".join(([", ".join(quoted[:-1])] if quoted[1:] else []) + quoted[-1:])
