"""Sections of instance files as pydantic models, and their errors in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from sys import float_info
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.instance import SCHEMA_VERSION
from carbonopt.core.ranges import LARGEST_NUMBER, LARGEST_WHOLE
from carbonopt.core.time import TimeGrid, parse_utc
from carbonopt.io.columns import carbon_faults

LEAST_DIVISOR = 1e-30
"""What divides data is at least this, so that no quotient overflows."""
DEEPEST = 100
"""Nesting of free-form parts that every JSON writer copes with."""


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _version(value: Any) -> Any:
    if type(value) is not int or value != SCHEMA_VERSION:  # True and 1.0 equal 1
        raise ValueError(f"must be {SCHEMA_VERSION} (this carbonopt reads no other)")
    return value


def _divisor(value: float) -> float:
    if 0 < value < LEAST_DIVISOR:
        raise ValueError(f"must be at least {LEAST_DIVISOR:g}, or 0")
    return value


SchemaVersion = Annotated[Literal[1], BeforeValidator(_version)]
Whole = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=LARGEST_WHOLE)]
Positive = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=LARGEST_WHOLE)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
AboveZero = Annotated[float, Field(gt=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
Normalizer = Annotated[float, AfterValidator(_divisor), Field(ge=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]


class Section(BaseModel):
    """Base of every section: numbers are numbers, and unknown fields are errors."""

    model_config = ConfigDict(strict=True, extra="forbid")


def _moment(text: str) -> str:
    try:
        parse_utc(text)
    except (ValueError, OverflowError):
        raise ValueError("must be an ISO 8601 moment such as 2023-11-14T00:00:00Z") from None
    return text


class TimeSection(Section):
    """Field ``time`` of every instance."""

    slots: Positive
    slot_hours: AboveZero = 1.0
    start: Annotated[str, AfterValidator(_moment)] = Field(description="ISO 8601, e.g. 2023-11-14T00:00:00Z")

    def build(self) -> TimeGrid:
        """Return the time grid."""
        return TimeGrid(self.slots, self.slot_hours, parse_utc(self.start))


class CarbonSection(Section):
    """Field ``carbon`` of every instance."""

    zones: Annotated[list[Name], Field(min_length=1)]
    g_per_kwh: list[list[NonNegative]] = Field(description="per zone, per slot")

    def build(self, time: TimeGrid) -> CarbonSignal:
        """Return the carbon signal over `time`."""
        return CarbonSignal(tuple(self.zones), np.array(self.g_per_kwh, dtype=float), time)


M = TypeVar("M", bound=BaseModel)


class Faults:
    """Collects faults from every part of an input, so that one reading reports them all."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def section(self, model: type[M], raw: dict[str, Any], field: str, default: M | None = None) -> M | None:
        """Return field `field` of `raw` as `model`: None after noting its faults, `default` where it is missing."""
        return self.whole(model, raw[field], field) if field in raw else default

    def whole(self, model: type[M], raw: Any, field: str = "") -> M | None:
        """Return `raw`, which stands at `field`, as `model`; None after noting its faults."""
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            self.found += [_fault(item, model, field) for item in error.errors(include_url=False)]
            return None

    def sound(self, *sections: str) -> bool:
        """Return whether no fault was found in `sections`."""
        return not any(fault.field.partition(".")[0] in sections for fault in self.found)

    def raise_if_any(self) -> None:
        """Raise what was found, if anything was.

        Raises
        ------
        InputError
            With every fault.
        """
        if self.found:
            raise InputError(self.found)


class InstanceReading(Faults):
    """Collects faults of an instance file, from the fields on that every instance has.

    Parameters
    ----------
    raw
        Content of the file.
    model
        The whole file as the problem's schema has it.
    """

    def __init__(self, raw: dict[str, Any], model: type[BaseModel]):
        super().__init__()
        self.raw, self.model = raw, model
        self._top_level_faults()
        self.time = self.section(TimeSection, raw, "time")
        self.carbon: CarbonSection | None = self.section(self._carbon_section(), raw, "carbon")
        self.found += carbon_faults(raw, self.slots)

    def _carbon_section(self) -> type[CarbonSection]:
        """Return the class of field ``carbon``: a problem may allow that there is no zone."""
        section = self.model.model_fields["carbon"].annotation
        assert isinstance(section, type)
        assert issubclass(section, CarbonSection)
        return section

    @property
    def slots(self) -> int | None:
        """The horizon; None where ``time`` does not tell it."""
        return self.time.slots if self.time else None

    def fields(self, *names: str) -> dict[str, Any] | None:
        """Return fields that are no sections, with defaults; None after noting faults, or where one is missing."""
        known = {name: self.model.model_fields[name] for name in names}
        given = {name: (field.annotation, field) for name, field in known.items() if name in self.raw}
        part: type[Section] = create_model("Fields", __base__=Section, **given)  # type: ignore[call-overload]
        found = self.whole(part, {name: self.raw[name] for name in given})
        if found is None or any(field.is_required() for name, field in known.items() if name not in given):
            return None
        return {
            name: getattr(found, name, field.get_default(call_default_factory=True)) for name, field in known.items()
        }

    def common(self) -> dict[str, Any]:
        """Return the arguments that every instance takes; raises if a fault was found, of whatever part."""
        self.raise_if_any()
        assert self.time is not None
        assert self.carbon is not None
        provenance = self.raw.get("provenance", {})
        return {"name": self.raw["name"], "provenance": provenance, "carbon": self.carbon.build(self.time.build())}

    def _top_level_faults(self) -> None:
        """Note top-level fields that are missing or unknown, and what is wrong with those of every instance."""
        fields = self.model.model_fields
        self.found += [
            Fault(name, "is missing") for name, field in fields.items() if field.is_required() and name not in self.raw
        ]
        self.found += [
            _placed([name], "is not a known field" + _suggestion(name, tuple(fields)))
            for name in self.raw
            if name not in fields
        ]
        self.fields("schema_version", "name", "provenance")
        self.found += free_form_faults(self.raw, "provenance")


def free_form_faults(content: dict[str, Any], *fields: str) -> Iterator[Fault]:
    """Yield each number that is no double in `fields`, which may hold anything, and what is nested too deeply."""
    stack: list[tuple[list[str | int], Any]] = [([field], content.get(field)) for field in fields]
    while stack:
        place, value = stack.pop()
        if len(place) > DEEPEST:
            yield Fault(str(place[0]), f"is nested more than {DEEPEST} deep")
        elif isinstance(value, (int, float)) and not abs(value) <= float_info.max:
            yield _placed(place, "must be finite" if isinstance(value, float) else "is too large", shown(value))
        elif isinstance(value, dict):
            stack += [([*place, key], item) for key, item in value.items()]
        elif isinstance(value, list):
            stack += [([*place, row], item) for row, item in enumerate(value)]


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
    "string_unicode": "must be valid Unicode",
    "string_pattern_mismatch": "must be 64 hexadecimal digits",
}


def _fault(error: Any, model: type[BaseModel], field: str) -> Fault:
    """Turn one pydantic error into words: which field, which row, which value, what would be right."""
    parts = [part for part in error["loc"] if not str(part).startswith("kind:")]
    kind = error["type"]
    context = error.get("ctx", {})
    if parts and parts[-1] == "[key]":  # the name of a field is wrong, not what it holds
        parts.pop()
    if kind == "extra_forbidden":
        words = "is not a known field" + _suggestion(str(parts[-1]), _fields_beside(model, parts[:-1]))
    elif kind == "greater_than_equal":
        words = f"must be at least {context['ge']:g}"
    elif kind == "greater_than":
        words = f"must be above {context['gt']:g}"
    elif kind == "less_than_equal":
        words = f"must be at most {context['le']}"
    elif kind == "literal_error":
        words = f"must be {context['expected']}"
    elif kind == "value_error":
        words = str(context["error"])
    else:
        words = _WORDS.get(kind, error["msg"])
    value = None if kind in ("missing", "extra_forbidden") else shown(error["input"])
    return _placed([field, *parts] if field else parts, words, value)


def _placed(place: Sequence[str | int], words: str, value: str | None = None) -> Fault:
    """Return a fault at `place`: names of fields and positions in lists, of which the last may be the row."""
    *outer, last = place
    row, path = (last, outer) if isinstance(last, int) else (None, place)
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part or repr(part)}" for part in path)
    return Fault(field.removeprefix("."), words, value, row)


def _fields_beside(model: type[BaseModel], path: list[Any]) -> tuple[str, ...]:
    for part in path:
        annotation = model.model_fields[part].annotation if part in model.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return ()
        model = annotation
    return tuple(model.model_fields)
