"""Bytes on disk: read within bounds, written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import os
import re
import secrets
import select
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from carbonopt.core.errors import Fault, InputError

LARGEST_BYTES = 2**26
"""Of a file's content, uncompressed [B]: Python's objects made of it take up to 25 times as much memory."""
SILENCE_SECONDS = 8.0
"""After which a pipe that sends nothing counts as broken [s]."""
LONGEST_NAME = 150
"""Characters of a name that a file is called after; systems take 255 bytes with the ending."""
_CHUNK = 2**20

PathLike = str | os.PathLike[str]


def read_bytes(path: PathLike, largest: int = LARGEST_BYTES) -> bytes:
    """Return the content of a file, uncompressed if it is gzip (told by its first bytes).

    Parameters
    ----------
    path
        A file, or a pipe that sends something.
    largest
        Most bytes of the content, uncompressed.

    Raises
    ------
    InputError
        If the file is missing, unreadable, too large, or a truncated or damaged gzip.
    """
    try:
        content = _bounded(_chunks(path), largest)
        if content[:2] == b"\x1f\x8b":
            content = _bounded(_unpacked(content), largest)
    except FileNotFoundError:
        raise InputError(Fault("", "no such file", file=str(path))) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        words = f"is not a whole gzip file ({error}); write or copy it again"
        raise InputError(Fault("", words, file=str(path))) from None
    except OSError as error:
        raise InputError(Fault("", f"cannot be read: {error.strerror or error}", file=str(path))) from None
    except ValueError as error:  # a name that no file can have, or a file that is too large
        raise InputError(Fault("", f"cannot be read: {error}", file=str(path))) from None
    return content


def _bounded(chunks: Iterator[bytes], largest: int) -> bytes:
    """Return the chunks as one, and stop at the first that is too much."""
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > largest:
            raise ValueError(f"it holds more than {largest / 2**20:g} MiB")
    return bytes(content)


def _chunks(path: PathLike) -> Iterator[bytes]:
    """Yield the content of a file; a pipe without a writer is empty and does not block."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while True:
            try:
                chunk = os.read(number, _CHUNK)
            except BlockingIOError:
                if not select.select([number], [], [], SILENCE_SECONDS)[0]:
                    raise ValueError(f"nothing came for {SILENCE_SECONDS:g} s") from None
                continue
            if not chunk:
                return
            yield chunk
    finally:
        os.close(number)


def _unpacked(content: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def write_bytes(path: PathLike, content: bytes) -> None:
    """Write bytes to `path`, gzip if the name ends in ``.gz``: a reader sees the old file or the new one, never half.

    A device or pipe, such as ``/dev/stdout``, is written to as it is; a pipe that nobody reads is refused.
    """
    packed = gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content
    if is_device(path):
        with _told(path), os.fdopen(_opened(path), "wb") as file:
            file.write(packed)
    else:
        replace_file(path, lambda part: _write(part, packed))


def _opened(path: PathLike) -> int:
    """Open a device or pipe to write; a pipe that nobody reads is an error at once, and does not block."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "nobody reads this pipe") from None
        raise
    os.set_blocking(number, True)
    return number


def replace_file(path: PathLike, write: Callable[[Path], None]) -> None:
    """Let `write` fill a new file beside `path`, and put it in place of `path` when it is whole and on disk.

    Raises
    ------
    InputError
        If it cannot be written, or no file stands there but a device or pipe: what stood at `path` is then as it was.
    """
    require_writable(path)
    if is_device(path):
        raise InputError(Fault("", "cannot be written: is a device or pipe, and no file", file=str(path)))
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{secrets.token_hex(8)}.part{target.suffix[:8]}")
    try:
        with _told(path):
            write(part)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)


@contextmanager
def _told(path: PathLike) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(Fault("", f"cannot be written: {error.strerror or error}", file=str(path))) from None


@contextmanager
def locked(path: PathLike, wait: bool = True) -> Iterator[None]:
    """Keep other processes that lock the same file or folder out.

    Parameters
    ----------
    path
        A folder, or a file, which is made if it is not there.
    wait
        Until another process is done; else refuse at once.

    Raises
    ------
    InputError
        If it cannot be locked.
    """
    flags = os.O_RDONLY if os.path.isdir(path) else os.O_RDWR | os.O_CREAT
    with _told(path):
        number = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(number, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError(Fault("", "another process writes to it: wait for its end", file=str(path))) from None
    finally:
        os.close(number)


def file_name(text: str) -> str:
    """Return `text` as part of the name of a file: one that is no path, and holds nothing that a shell reads.

    Examples
    --------
    >>> file_name("mosp-tiny_crowd-j0003")
    'mosp-tiny_crowd-j0003'
    >>> file_name("../a b")
    'a_b-2c2c791a'
    """
    safe = re.sub(r"[^\w.+-]", "_", text, flags=re.ASCII).lstrip("._-")[:LONGEST_NAME]
    if safe == text:
        return text
    return f"{safe}-{sha256(text.encode()).hexdigest()[:8]}".lstrip("-")


def is_device(path: PathLike) -> bool:
    """Return whether something is at `path` that is no file to be replaced, such as ``/dev/stdout``."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def require_writable(path: PathLike) -> None:
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


def require_log(path: PathLike) -> None:
    """Refuse a path at which no log can be kept.

    Raises
    ------
    InputError
        If no file can be written there, or it is a named pipe: a solver would wait for who reads it.
    """
    require_writable(path)
    if Path(path).is_fifo() and Path(path).parent != Path("/dev"):
        raise InputError(Fault("", "is a named pipe: name a file, or /dev/stdout", file=str(path)))
