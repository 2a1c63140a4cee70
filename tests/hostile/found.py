"""What an attempt finds wrong: words, and the files that show it."""

from __future__ import annotations

import json
import random
from typing import Any


class Found(AssertionError):  # noqa: N818 (what is found, and not always an error)
    """Something got through that must not.

    Parameters
    ----------
    words
        What, in one line.
    material
        Content that shows it, by the name of a file.
    """

    def __init__(self, words: str, **material: Any) -> None:
        super().__init__(words)
        self.words, self.material = words, material


def stream(kind: str, seed: int) -> random.Random:
    """Return the random numbers of one attempt: kind and seed alone make it."""
    return random.Random(f"{kind}:{seed}")


def as_text(content: Any) -> str:
    """Return material as a file holds it."""
    return content if isinstance(content, str) else json.dumps(content, default=repr, indent=1)
