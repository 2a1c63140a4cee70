"""Parameters of methods: frozen dataclasses that check themselves, and are read from TOML and dictionaries.

A method that searches has numbers that its user may set: how long a phase may last, how warm an annealing begins.
They are fields of a subclass of `Parameters`, each documented with its unit and its effect. Tolerances that no user
should touch are no parameters: they stay as constants where they are used.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Self, get_args, get_origin, get_type_hints

from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.ranges import require_number, require_one_of

LARGEST_SETTING = 10**12
"""Times a million jobs, this is still a 64-bit number."""
_WORDS = {bool: "true or false", str: "a text"}


def number(default: Any, **limits: Any) -> Any:
    """Return a field with a default and a range: ``least``, ``most``, ``above``, ``below``.

    Of a tuple the range holds for each entry.
    """
    return field(default=default, metadata={"limits": limits})


def choice(default: str, *known: str) -> Any:
    """Return a field that takes one of several words."""
    return field(default=default, metadata={"known": known})


@dataclass(frozen=True)
class Parameters:
    """Base of the parameters of a method; its fields are numbers, words, tuples of numbers, or `Parameters`.

    Raises
    ------
    UnsupportedError
        For a value of another type or out of its range, in one line that names the field.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Annealing(Parameters):
    ...     moves: int = number(100, least=1)
    ...     start_temperature: float = number(0.1, above=0)
    >>> Annealing.of({"start_temperature": 0.2})
    Annealing(moves=100, start_temperature=0.2)
    >>> Annealing(moves=0)
    Traceback (most recent call last):
    carbonopt.core.errors.UnsupportedError: moves = 0: must be a whole number, at least 1
    """

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for name, fault in _faults(self, hints):
            raise UnsupportedError(f"{name} {fault}")
        for name, hint in hints.items():
            object.__setattr__(self, name, _as_hinted(hint, getattr(self, name)))

    @classmethod
    def of(cls, content: Mapping[str, Any], path: str = "", default: Self | None = None) -> Self:
        """Return the parameters that a mapping sets, all others as by default.

        Parameters
        ----------
        content
            Values by name, mappings for fields that are `Parameters` themselves.
        path
            Where the mapping stands, for messages.
        default
            What holds where the mapping says nothing; None for the defaults of the class.

        Raises
        ------
        InputError
            With every unknown name and every wrong value.
        """
        known = {part.name: part for part in fields(cls)}
        hints = get_type_hints(cls)
        usual = cls() if default is None else default
        values: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, value in content.items():
            where = f"{path}.{name}" if path else str(name)
            try:
                if name not in known:
                    raise InputError(Fault(where, f"is unknown: must be {one_of(tuple(known), limit=len(known))}"))
                values[name] = _read(hints[name], value, where, getattr(usual, name))
                replace(usual, **{name: values[name]})
            except InputError as error:
                values.pop(name, None)
                faults += error.faults
            except UnsupportedError as error:
                faults.append(Fault(where, str(error).partition(": ")[2], shown(value)))
        if faults:
            raise InputError(faults)
        try:
            return replace(usual, **values)
        except UnsupportedError as error:  # a condition on several fields
            raise InputError(Fault(path, str(error))) from None

    def changes(self, default: Parameters | None = None) -> dict[str, Any]:
        """Return what differs from the defaults, nested as `of` takes it."""
        default = type(self)() if default is None else default
        told: dict[str, Any] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            usual = getattr(default, part.name)
            if isinstance(value, Parameters):
                told[part.name] = value.changes(usual)
            elif value != usual:
                told[part.name] = list(value) if isinstance(value, tuple) else value
        return {name: value for name, value in told.items() if value != {}}


@dataclass(frozen=True)
class Described:
    """One parameter, as a page or a file of defaults shows it.

    Parameters
    ----------
    path
        Its name, after those of the groups that it is in.
    default
        As TOML; a comment where the default is none.
    text
        What it does, from the docstring of its class.
    """

    path: tuple[str, ...]
    default: str
    text: str


def described(
    kind: type[Parameters], path: tuple[str, ...] = (), default: Parameters | None = None
) -> Iterator[Described]:
    """Yield all parameters of a class and of its groups, in their order; those of its own come first."""
    default = kind() if default is None else default
    texts = _texts(kind)
    groups: list[tuple[Parameters, tuple[str, ...]]] = []
    for part in fields(kind):
        value = getattr(default, part.name)
        name = (*path, part.name)
        if isinstance(value, Parameters):
            groups.append((value, name))
        else:
            yield Described(name, _toml(value), texts.get(part.name, ""))
    for group, name in groups:
        yield from described(type(group), name, group)


def _texts(kind: type[Parameters]) -> dict[str, str]:
    """Return what the section Parameters of a numpydoc docstring says of each name."""
    _, _, section = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line and not line.startswith(" "):
            if set(line) == {"-"}:  # the next section
                texts.pop(names[0], None)
                break
            names = [name.strip() for name in line.split(",")]
        for name in names:
            texts.setdefault(name, []).append(line.strip() if line.startswith(" ") else "")
    return {name: " ".join(filter(None, lines)) for name, lines in texts.items()}


def _toml(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def read_parameters(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the content of a TOML file of parameters.

    Raises
    ------
    InputError
        If there is no such file, or it is not TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(Fault("", f"cannot be read: {error.strerror}")).in_file(path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(Fault("", f"is not TOML: {error}")).in_file(path) from None
    except ValueError:  # Python's limit, far above what any parameter takes
        raise InputError(Fault("", "holds a whole number of more than 4300 digits")).in_file(path) from None


def _read(hint: Any, value: Any, where: str, usual: Any) -> Any:
    """Return a value from a file in the type of its field; what is wrong is told by the field's own check."""
    if is_dataclass(hint) and isinstance(value, Mapping):
        reader: Any = hint
        return reader.of(value, where, usual)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(value)
    return value


def _as_hinted(hint: Any, value: Any) -> Any:
    """Return a whole number as a float where one is meant: compiled loops tell 1 from 1.0."""
    if value is None or float not in (get_args(hint) or (hint,)):
        return value
    return tuple(map(float, value)) if isinstance(value, tuple) else float(value)


def _faults(parameters: Parameters, hints: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and fault of each field of a wrong type or out of its range."""
    for part in fields(parameters):
        fault = _fault(part.name, getattr(parameters, part.name), hints[part.name], part.metadata)
        if fault:
            yield part.name, fault


def _fault(name: str, value: Any, hint: Any, metadata: Mapping[str, Any]) -> str:
    """Return what is wrong with the value of a field; an empty text where nothing is."""
    kinds = get_args(hint) or (hint,)
    if get_origin(hint) is tuple:
        free = kinds[-1] is Ellipsis
        if not isinstance(value, tuple) or not (free or len(value) == len(kinds)):
            return f"= {shown(value)}: must be {'some' if free else len(kinds)} numbers"
        words = (_fault(name, entry, kinds[0], metadata).rpartition(": ")[2] for entry in value)
        wrong = next(filter(None, words), "")
        return f"= {shown(value)}: {wrong}" if wrong else ""
    if value is None and NoneType in kinds:
        return ""
    kind = next(kind for kind in kinds if kind is not NoneType)
    try:
        if kind in (int, float):
            if kind is int and isinstance(value, int) and value > LARGEST_SETTING:
                return f"= {shown(value)}: must be at most {LARGEST_SETTING:g}"
            require_number(name, value, whole=kind is int, none=NoneType in kinds, **metadata.get("limits", {}))
        elif "known" in metadata:
            require_one_of(name, value, metadata["known"])
        elif not isinstance(value, kind):
            return f"= {shown(value)}: must be {_WORDS.get(kind, f'a table of {kind.__name__}')}"
    except UnsupportedError as error:
        return str(error).removeprefix(f"{name} ")
    return ""
