"""Text files of the ICON challenge, read number by number."""

from __future__ import annotations

from pathlib import Path

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.files import read_bytes
from carbonopt.core.ranges import LARGEST_WHOLE


class Numbers:
    """The numbers of a text file, one after the other; line ends mean nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._words = read_bytes(path).decode("utf-8", "replace").split()
        self._next = 0

    def real(self, what: str) -> float:
        """Return the next number."""
        if self._next >= len(self._words):
            raise self.error(f"ends where {what} is expected", None)
        word = self._words[self._next]
        self._next += 1
        try:
            return float(word)
        except ValueError:
            raise self.error(f"must be a number: {what}", shown(word)) from None

    def whole(self, what: str, least: int = 0) -> int:
        """Return the next number, which must be whole and at least `least`."""
        value = self.real(what)
        if not value.is_integer() or value < least:
            raise self.error(f"must be a whole number, at least {least}: {what}", shown(value))
        if value > LARGEST_WHOLE:
            raise self.error(f"must be at most {LARGEST_WHOLE}: {what}", shown(value))
        return int(value)

    def end(self) -> None:
        """Refuse numbers that are left over."""
        if self._next < len(self._words):
            raise self.error("stands behind the last expected number", shown(self._words[self._next]))

    def error(self, words: str, value: str | None) -> InputError:
        """Return an error that names the file and the number that was read last."""
        return InputError(Fault(f"number {self._next}", words, value)).in_file(self.path)
