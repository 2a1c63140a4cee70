"""Files: bytes of all that is read, damaged; a reader says what is wrong in words, or reads what is there."""

from __future__ import annotations

import gzip
import json
import random
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import carbonopt as co
from hostile.found import Found
from hostile.sound import READERS, TINY

WORDS = (
    "NaN",
    "Infinity",
    "1e999",
    "-0",
    "9" * 400,
    "9" * 5000,
    "[" * 3000,
    '"',
    "\0",
    "\ud7ff",
    "2024-13-45T99:99:99",
    "1-",
)

THINGS = (
    *(None, True, 0, -1, 0.5, 1e-320, 1e300, -1e300, float("nan"), float("inf"), 2**63, 10**400, [], {}, [[]], "", "x"),
    *("NaN", "\ud800", "a\0b", "1e999", "9" * 5000, "2024-13-45T99:99:99Z", "0001-01-01T00:00:00+14:00"),
    *("9999-12-31T23:59:59-12:00", "2016-12-31T23:59:60Z", "../../up", "\u202e\x1b[31m", {"a": 1}, ["x"], [1e300]),
)
"""What a value of a JSON file becomes."""


def attempt(rng: random.Random) -> None:
    """Damage a sound file, and read it.

    Raises
    ------
    Found
        If a reader ends otherwise than with a result or an error in words, one line a fault.
    """
    if rng.random() < 0.3:
        read, name, content = co.read, "i.json", rng.choice(sorted(TINY.glob("*.json"))).read_bytes()
    else:
        name = rng.choice(sorted(READERS))
        read, sound = READERS[name]
        whole = sound()
        if whole is None:
            return
        content = whole.encode() if isinstance(whole, str) else whole
    damaged = _damaged(rng, content)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, name)
        path.write_bytes(damaged)
        try:
            read(path)
        except co.InputError as error:
            bad = [line for line in error.lines() if not line.isprintable()]
            if bad:
                raise Found(f"{name}: a fault is not one plain line: {bad[0]!r}", file=damaged.hex()) from error
        except co.UnsupportedError:
            pass
        except Exception as error:
            raise Found(f"{name}: {error!r}", file=damaged.hex()) from error


def _damaged(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.randint(1, 3)):
        content = rng.choice(DAMAGES)(rng, content)
    return content


def _flip(rng: random.Random, content: bytes) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _insert(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(WORDS).encode() + content[at:]


def _repeat(rng: random.Random, content: bytes) -> bytes:
    one, two = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:two] + content[one:]


def _number(rng: random.Random, content: bytes) -> bytes:
    places = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
    if not places:
        return content
    at = rng.choice(places)
    return content[:at] + rng.choice(WORDS).encode() + content[at + 1 :]


def _encode(rng: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", errors="replace")
    encoding = rng.choice(["utf-16", "utf-8-sig", "latin-1", "utf-32"])
    return text.encode(encoding, errors="replace")


def _lines(rng: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\xe2\x80\xa8"]))


def _pack(rng: random.Random, content: bytes) -> bytes:
    packed = gzip.compress(content)
    return packed if rng.random() < 0.5 else _flip(rng, packed)


def _value(rng: random.Random, content: bytes) -> bytes:
    """Let another thing stand where a value of a JSON file is, or leave it out."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        return content
    place: Any = [whole]
    key: Any = 0
    while isinstance(place[key], (dict, list)) and place[key] and (place[key] is whole or rng.random() < 0.9):
        place = place[key]
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    if rng.random() < 0.1:
        del place[key]
    else:
        place[key] = rng.choice(THINGS)
    return json.dumps(whole).encode()


DAMAGES = (_value, _value, _value, _flip, _flip, _cut, _insert, _repeat, _number, _number, _encode, _lines, _pack)
