"""JSON on disk: plain or gzip, with a content hash."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.files import read_bytes, write_bytes

ZIP = b"PK\x03\x04"
"""What zip files begin with, and so do workbooks."""
_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
"""What an escaped surrogate begins with; most come in pairs, which are fine."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the content of a UTF-8 text file, with or without gzip and byte order mark."""
    content = read_bytes(path)
    if content.startswith(ZIP):
        words = "save the sheet that is meant as CSV, with times such as 2024-06-01T00:00Z"
        problem = f"is a workbook or another zip file: {words}"
        raise InputError(Fault("", problem, file=str(path)))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text (byte {error.start}): a binary file, or text in another encoding"
        raise InputError(Fault("", problem, file=str(path))) from None


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises
    ------
    InputError
        If it is not JSON (the message says where), not an object at the top, or names a key twice.
    """
    text = read_text(path)
    twice: list[tuple[dict[str, Any], list[str]]] = []
    try:
        content = parse_json(text, lambda pairs: _object(pairs, twice))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        problem = f"is not JSON: {where}" if text.strip() else "is empty"
        raise InputError(Fault("", problem, file=str(path))) from None
    except InputError as error:
        raise error.in_file(path) from None
    if not isinstance(content, dict):
        raise InputError(Fault("", "must hold one JSON object {...}", shown(content), file=str(path)))
    faults = list(_faults(content, twice)) if twice or _HALF_A_PAIR.search(text) else []
    if faults:
        raise InputError(faults).in_file(path)
    return content


def parse_json(text: str, objects: Callable[[list[tuple[str, Any]]], Any] = dict) -> Any:
    """Return what JSON text holds; `objects` makes an object of its pairs.

    Raises
    ------
    JSONDecodeError
        If the text is not JSON.
    InputError
        If it is JSON that Python can't hold.
    """
    try:
        return json.loads(text, object_pairs_hook=objects)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise InputError(Fault("", "is nested too deeply to be an instance")) from None
    except ValueError:  # Python's limit, far above what any field takes
        raise InputError(Fault("", "holds a whole number of more than 4300 digits")) from None


def _object(pairs: list[tuple[str, Any]], twice: list[tuple[dict[str, Any], list[str]]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice.append((content, [key for key in content if keys.count(key) > 1]))
    return content


def _faults(content: dict[str, Any], twice: list[tuple[dict[str, Any], list[str]]]) -> Iterator[Fault]:
    repeated = {id(place): keys for place, keys in twice}
    for path, value in _places(content):
        for key in repeated.get(id(value), ()):
            yield Fault(f"{path}.{key}".removeprefix("."), "stands twice in one object")
        for text in value if isinstance(value, dict) else [value]:
            if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
                yield Fault(path, "is not valid Unicode: half of a surrogate pair", shown(text))


def _places(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value with its path, without recursion."""
    stack = [("", content)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if isinstance(value, dict):
            stack += [(f"{path}.{key}".removeprefix("."), item) for key, item in value.items()]
        elif isinstance(value, list):
            stack += [(f"{path}[{row}]", item) for row, item in enumerate(value)]


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write `content` to `path` whole or not at all, gzip if the name ends in ``.gz``.

    The same content gives the same bytes. No number is rounded; NaN and infinity are refused.
    """
    write_bytes(path, to_text(content).encode())


def to_text(content: dict[str, Any]) -> str:
    """Return `content` as JSON with a line for each column, so that files can be compared."""
    lines = []
    for key, value in content.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"    {_dumps(name)}: {_dumps(item)}" for name, item in value.items())
            lines.append(f"  {_dumps(key)}: {{\n{inner}\n  }}")
        else:
            lines.append(f"  {_dumps(key)}: {_dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def content_hash(content: dict[str, Any]) -> str:
    """Return the SHA-256 of `content` as canonical JSON (sorted keys, no white space)."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
