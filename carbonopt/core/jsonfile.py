"""JSON on disk: plain or gzip, written whole or not at all, with a content hash."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import zlib
from pathlib import Path
from typing import Any

from carbonopt.core.errors import Fault, InputError, shown


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
        raise InputError(Fault("", f"is not UTF-8 text (byte {error.start})", file=str(path))) from None


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises
    ------
    InputError
        If it is not JSON (the message says where), or not an object at the top.
    """
    text = read_text(path)
    try:
        content = json.loads(text, object_pairs_hook=_unique_keys)
    except InputError as error:
        raise error.in_file(path) from None
    except json.JSONDecodeError as error:
        raise InputError(
            Fault("", f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}", file=str(path))
        ) from None
    except RecursionError:
        raise InputError(Fault("", "is nested too deeply to be an instance", file=str(path))) from None
    except ValueError as error:  # an integer of more than 4,300 digits
        raise InputError(Fault("", f"holds a number that cannot be read: {error}", file=str(path))) from None
    if not isinstance(content, dict):
        raise InputError(Fault("", "must hold one JSON object {...}", shown(content), file=str(path)))
    return content


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise InputError([Fault(key, "stands twice in one object") for key in content if keys.count(key) > 1])
    return content


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
    """Write bytes to `path` atomically: a reader sees the old file or the new one, never half."""
    target = Path(path)
    if target.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        raise InputError(Fault("", f"cannot be written: {error.strerror}", file=str(path))) from None
    finally:
        part.unlink(missing_ok=True)


def content_hash(content: dict[str, Any]) -> str:
    """Return the SHA-256 of `content` as canonical JSON (sorted keys, no white space)."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
