"""Columns of prices, as certificates in files hold them."""

from __future__ import annotations

from typing import Any

import pytest

from carbonopt.core.certificate import prices_of
from carbonopt.core.errors import InputError


def test_numbers_in_their_range() -> None:
    found = prices_of({"prices": [0, 2.5]}, "prices", 2, 2.5)
    assert found.tolist() == [0.0, 2.5]
    assert found.dtype == float


@pytest.mark.parametrize(
    "given",
    [None, 1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [1.0, [2.0]], ["1", "2"], [True, False], [-1.0, 1.0],
     [1.0, float("nan")], [1.0, 1e31], {"a": 1}],
)  # fmt: skip
def test_what_is_none_is_told(given: Any) -> None:
    with pytest.raises(InputError, match=r"^certificate.prices: must be 2 numbers from 0 to 1e\+30$"):
        prices_of({"prices": given}, "prices", 2)
