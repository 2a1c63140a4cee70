"""The fractional knapsack against the plain one: sort everything, and fill."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carbonopt.algorithms.fractional_knapsack import BELOW_ALL, Items, fill, move_bracket
from carbonopt.algorithms.kernel import loops

CEILING = 50.0
steps = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), max_size=12)  # equal and zero ratios are common


def least_cost(ratio: np.ndarray, size: np.ndarray, need: float) -> float:
    """Sort all items by their ratio and fill; what is left costs the ceiling."""
    order = np.argsort(ratio, kind="stable")
    before = np.cumsum(size[order]) - size[order]
    done = np.clip(need - before, 0.0, size[order])
    return float(done @ ratio[order] + (need - done.sum()) * CEILING)


def bracketed_cost(ratio: np.ndarray, size: np.ndarray, need: float, guess: float, width: float) -> float:
    """Find the break price in brackets from a guess, as the callers do."""
    items = Items.of_length(len(ratio))
    low = guess - width if guess > width else BELOW_ALL
    high = min(guess + width, CEILING)
    while True:
        below, inside = ratio <= low, (ratio > low) & (ratio <= high)
        count = int(inside.sum())
        items.ratio[:count], items.size[:count] = ratio[inside], size[inside]
        width *= 4.0
        bracket = move_bracket(low, high, width, size[below].sum(), size[inside].sum(), need, BELOW_ALL, CEILING)
        if bracket == (low, high):
            break
        low, high = bracket
    taken, left, price = fill(items, count, size[below].sum(), need, CEILING)
    assert low < price <= high
    assert ((items.part[taken] >= 0) & (items.part[taken] <= 1)).all()
    part = items.part[taken] * items.size[taken]
    return float(ratio[below] @ size[below] + part @ items.ratio[taken] + left * CEILING)


@settings(deadline=None)
@given(steps, st.floats(0.1, 80.0), st.floats(0.0, CEILING), st.floats(1e-3, 5.0))
def test_a_bracket_from_any_guess_gives_the_least_cost(
    items: list[tuple[int, int]], need: float, guess: float, width: float
) -> None:
    ratio, size = np.array(items, dtype=float).reshape(-1, 2).T.copy()
    with loops(steps=0):
        cost = bracketed_cost(ratio, size, need, guess, width)
    assert cost == pytest.approx(least_cost(ratio, size, need))
