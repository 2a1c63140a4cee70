"""Many cases of one kind as one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., None]


def for_each(**values: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each value of an argument in a loop: one test, whose failure names the value.

    For cases that differ by what was drawn at random. Those that a reader would name are parametrised.
    """
    ((name, cases),) = values.items()

    def decorate(test: Test) -> Test:
        @wraps(test)
        def loop(*args: Any, **others: Any) -> None:
            for case in cases:
                try:
                    test(*args, **{name: case}, **others)
                except Exception as error:
                    error.add_note(f"with {name} = {case!r}")
                    raise

        signature = inspect.signature(test)
        rest = [parameter for parameter in signature.parameters.values() if parameter.name != name]
        loop.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return loop

    return decorate
