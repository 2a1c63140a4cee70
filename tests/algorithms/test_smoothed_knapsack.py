"""The break price of a smoothed knapsack, by hand and against bisection over all items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carbonopt.algorithms.fractional_knapsack import NEGLIGIBLE, move_bracket
from carbonopt.algorithms.kernel import loops
from carbonopt.algorithms.smoothed_knapsack import find_break_price, work_taken

CEILING = 50.0
items = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=12)


def test_one_item_by_hand() -> None:
    ratio, size = np.array([10.0]), np.array([4.0])
    with loops(steps=0):
        assert work_taken(10.0, 2.0, ratio, size, 1) == (2.0, 2.0)  # at its own ratio an item is taken by half
        assert work_taken(11.0, 2.0, ratio, size, 1) == (4.0, 0.0)
        assert find_break_price(0.0, 0.0, 20.0, 3.0, 2.0, ratio, size, 1, 1e-12) == pytest.approx(10.5)


def taken(price: float, spread: float, ratio: np.ndarray, size: np.ndarray) -> float:
    return float(size @ np.clip((price - ratio) / spread + 0.5, 0.0, 1.0))


@settings(deadline=None)
@given(items, st.floats(0.01, 80.0), st.floats(0.0, CEILING), st.floats(1e-3, 5.0))
def test_a_bracket_from_any_guess_ends_at_the_root(
    listed: list[tuple[int, int]], need: float, guess: float, spread: float
) -> None:
    ratio, size = np.array(listed, dtype=float).T.copy()
    low, high, width = guess - spread, min(guess + spread, CEILING), spread
    with loops(steps=0):
        while True:
            at_low, at_high = taken(low, spread, ratio, size), taken(high, spread, ratio, size)
            width *= 4.0
            bracket = move_bracket(low, high, width, at_low, at_high - at_low, need, -spread, CEILING)
            if bracket == (low, high):
                break
            low, high = bracket
        if at_high < (1 - NEGLIGIBLE) * need:
            assert high == CEILING
            assert taken(CEILING, spread, ratio, size) < need
            return
        price = find_break_price(guess, low, high, need, spread, ratio, size, len(ratio), 1e-12 * need)
    assert low <= price <= high
    assert taken(price, spread, ratio, size) == pytest.approx(need, rel=1e-9, abs=1e-13 * CEILING * size.sum() / spread)
