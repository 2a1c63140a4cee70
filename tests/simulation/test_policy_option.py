"""Settings of policies in a text: names and types are those of the class or of its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from carbonopt.core.errors import UnsupportedError
from carbonopt.simulation.policy_option import read_option


def policy(
    gpus: int | None = 1,
    gamma: float = 0.9,
    spare: bool = True,
    order: str = "ascending",
    file: Path | str | None = None,
    past: list[float] | None = None,
    instance: Path = Path(),
) -> None: ...


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("gpus", "2", 2),
        ("gpus", "none", None),
        ("gpus", "None", None),
        ("gamma", "1", 1.0),
        ("gamma", "1e-3", 0.001),
        ("spare", "False", False),
        ("spare", "true", True),
        ("order", "descending", "descending"),
        ("file", "base.json", "base.json"),
        ("file", "none", None),
    ],
)
def test_values_have_the_type_of_their_parameter(name: str, text: str, value: Any) -> None:
    read = read_option(policy, name, text)
    assert read == {name: value}
    assert type(read[name]) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("gpu", "2", "unknown option 'gpu': must be 'gpus', 'gamma', 'spare', 'order' or 'file'"),
        ("instance", "here", "unknown option 'instance': must be 'gpus', 'gamma', 'spare', 'order' or 'file'"),
        ("gpus", "2.5", "gpus = '2.5': must be a whole number or none"),
        ("gamma", "none", "gamma = 'none': must be a number"),
        ("gamma", "nan", "gamma = 'nan': must be a number"),
        ("spare", "1", "spare = '1': must be true or false"),
    ],
)
def test_what_is_none_is_refused(name: str, text: str, words: str) -> None:
    with pytest.raises(UnsupportedError) as told:
        read_option(policy, name, text)
    assert str(told.value) == words
