"""JSON on disk: plain or gzip, written whole or not at all, with a content hash."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from carbonopt.core.errors import Fault, InputError, shown

_HALF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
"""What an escaped surrogate begins with; most come in pairs, which are fine."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, uncompressed if it is gzip (told by its first bytes).

    Raises
    ------
    InputError
        If the file is missing, unreadable, or a truncated or damaged gzip.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(Fault("", "no such file", file=str(path))) from None
    except OSError as error:
        raise InputError(Fault("", f"cannot be read: {error.strerror}", file=str(path))) from None
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(
            Fault("", f"is not a whole gzip file ({error}); write or copy it again", file=str(path))
        ) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the content of a UTF-8 text file, with or without gzip and byte order mark."""
    try:
        return read_bytes(path).decode("utf-8-sig")
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
        content = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, twice))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        problem = f"is not JSON: {where}" if text.strip() else "is empty"
        raise InputError(Fault("", problem, file=str(path))) from None
    except RecursionError:
        raise InputError(Fault("", "is nested too deeply to be an instance", file=str(path))) from None
    except ValueError:  # Python's limit, far above what any field takes
        raise InputError(Fault("", "holds a whole number of more than 4300 digits", file=str(path))) from None
    if not isinstance(content, dict):
        raise InputError(Fault("", "must hold one JSON object {...}", shown(content), file=str(path)))
    faults = list(_faults(content, twice)) if twice or _HALF_A_PAIR.search(text) else []
    if faults:
        raise InputError(faults).in_file(path)
    return content


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


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes to `path` atomically: a reader sees the old file or the new one, never half.

    A device or pipe, such as ``/dev/stdout``, is written to as it is.
    """
    require_writable(path)
    if Path(path).suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            Path(path).write_bytes(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise InputError(Fault("", f"cannot be written: {error.strerror}", file=str(path))) from None


def _replace(target: Path, content: bytes) -> None:
    part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a path at which no file can be written, so that no work is done in vain.

    Raises
    ------
    InputError
        If it is a folder, or its folder is missing or read-only.
    """
    target = Path(path)
    problem = None
    if os.path.isdir(target):
        problem = "is a folder"
    elif not os.path.isdir(target.parent):
        problem = f"there is no folder {str(target.parent)!r}"
    elif not os.access(target.parent, os.W_OK):
        problem = f"the folder {str(target.parent)!r} is read-only"
    if problem is not None:
        raise InputError(Fault("", f"cannot be written: {problem}", file=str(path)))


def content_hash(content: dict[str, Any]) -> str:
    """Return the SHA-256 of `content` as canonical JSON (sorted keys, no white space)."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
