"""Sections of instance files as pydantic models, and their errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.instance import SCHEMA_VERSION
from carbonopt.core.time import TimeGrid, parse_utc

LARGEST_WHOLE = 2**53 - 1
"""Whole numbers above this are not exact in JSON readers that use doubles."""


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=LARGEST_WHOLE)]
Positive = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=LARGEST_WHOLE)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
AboveZero = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]


class Section(BaseModel):
    """Base of every section: numbers are numbers, and unknown fields are errors."""

    model_config = ConfigDict(strict=True, extra="forbid")


class TimeSection(Section):
    """Field ``time`` of every instance."""

    slots: Positive
    slot_hours: AboveZero = 1.0
    start: str = Field(description="ISO 8601, e.g. 2023-11-14T00:00:00Z")

    def build(self) -> TimeGrid:
        """Return the time grid.

        Raises
        ------
        InputError
            If `start` is not an ISO 8601 moment.
        """
        try:
            return TimeGrid(self.slots, self.slot_hours, parse_utc(self.start))
        except ValueError:
            raise InputError(
                Fault("time.start", "must be an ISO 8601 moment such as 2023-11-14T00:00:00Z", shown(self.start))
            ) from None


class CarbonSection(Section):
    """Field ``carbon`` of every instance."""

    zones: Annotated[list[Name], Field(min_length=1)]
    g_per_kwh: list[list[NonNegative]] = Field(description="per zone, per slot")

    def build(self, time: TimeGrid) -> CarbonSignal:
        """Return the carbon signal over `time`.

        Raises
        ------
        InputError
            For every row that is too short or too long, and every duplicate zone.
        """
        if len(self.g_per_kwh) != len(self.zones):
            raise InputError(
                Fault(
                    "carbon.g_per_kwh",
                    f"must have one row for each of the {len(self.zones)} zones",
                    f"{len(self.g_per_kwh)} rows",
                )
            )
        faults = [
            Fault("carbon.g_per_kwh", f"must have {time.slots} slots (zone {zone!r})", f"{len(row)} values", number)
            for number, (zone, row) in enumerate(zip(self.zones, self.g_per_kwh, strict=True))
            if len(row) != time.slots
        ]
        if faults:
            raise InputError(faults)
        return CarbonSignal(tuple(self.zones), np.array(self.g_per_kwh, dtype=float), time)


M = TypeVar("M", bound=BaseModel)


class Faults:
    """Collects faults from every part of an input, so that one reading reports them all."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Keep the faults of an InputError that is raised inside, and go on after it."""
        try:
            yield
        except InputError as error:
            self.found += error.faults

    def section(self, model: type[M], raw: Any, field: str) -> M | None:
        """Return `raw` as `model`, or None after noting its faults."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            self.found += [_fault(item, model, field) for item in error.errors(include_url=False)]
            return None

    def raise_if_any(self) -> None:
        """Raise what was found, if anything was.

        Raises
        ------
        InputError
            With every fault.
        """
        if self.found:
            raise InputError(self.found)


def check_header(raw: dict[str, Any], known: tuple[str, ...], faults: Faults) -> None:
    """Note a wrong ``schema_version``, and top-level fields that are missing or unknown."""
    version = raw.get("schema_version")
    if "schema_version" in raw and (type(version) is not int or version != SCHEMA_VERSION):
        faults.found.append(
            Fault("schema_version", f"must be {SCHEMA_VERSION} (this carbonopt reads no other)", shown(version))
        )
    faults.found += [Fault(field, "is missing") for field in known if field not in raw]
    faults.found += [
        Fault(field, "is not a known field" + _suggestion(field, known)) for field in raw if field not in known
    ]
    for field, kind, words in (("name", str, "text"), ("provenance", dict, "an object {...}")):
        if field in raw and not (isinstance(raw[field], kind) and raw[field] != ""):
            faults.found.append(Fault(field, f"must be {words}", shown(raw[field])))


def _suggestion(field: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(field, known, n=1)
    return f": did you mean {close[0]!r}?" if close else f"; known are {', '.join(known)}"


_WORDS = {
    "missing": "is missing",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be an object {...}",
    "model_type": "must be an object {...}",
    "model_attributes_type": "must be an object {...}",
    "finite_number": "must be finite",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "union_tag_not_found": "must be an object with a field 'kind'",
    "literal_error": "is not one of the known values",
}


def _fault(error: Any, model: type[BaseModel], field: str) -> Fault:
    """Turn one pydantic error into words: which field, which row, which value, what would be right."""
    parts = [part for part in error["loc"] if not str(part).startswith("kind:")]
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        words = "is not a known field" + _suggestion(str(parts[-1]), _fields_beside(model, parts[:-1]))
    elif kind == "greater_than_equal":
        words = f"must be at least {context['ge']:g}"
    elif kind == "greater_than":
        words = f"must be above {context['gt']:g}"
    elif kind == "less_than_equal":
        words = f"must be at most {context['le']}"
    elif kind == "union_tag_invalid":
        words = f"has an unknown kind; known are {context['expected_tags'].replace('kind:', '')}"
    else:
        words = _WORDS.get(kind, error["msg"])
    row = parts.pop() if parts and isinstance(parts[-1], int) else None
    path = field + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    path = path.removeprefix(".")
    value = None if kind in ("missing", "extra_forbidden") else shown(error["input"])
    return Fault(path, words, value, row)


def _fields_beside(model: type[BaseModel], path: list[Any]) -> tuple[str, ...]:
    for part in path:
        annotation = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return ()
        model = annotation
    return tuple(model.model_fields)
