"""Bands are factorised as LAPACK and dense matrices say, narrow ones and wide ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solveh_banded

from carbonopt.algorithms import banded
from carbonopt.algorithms.banded import NARROW, factorised, solved


def random_band(rows: int, width: int) -> np.ndarray:
    random = np.random.default_rng(width)
    band = random.uniform(-1, 1, (rows, width))
    band[:, 0] = 2 * width
    return band


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (9, 1), (9, 2), (9, 9), (40, 13), (5, 8), (600, NARROW + 1)])
def test_the_solution_is_lapack_s(rows: int, width: int) -> None:
    band = random_band(rows, width)
    given = band.copy()
    factor = factorised(band)
    assert factor is not None
    right = np.arange(1.0, rows + 1)
    kept = band[:, :rows]
    wanted = solveh_banded(kept.T, right, lower=True)
    np.testing.assert_allclose(solved(factor, right), wanted, rtol=1e-12)
    np.testing.assert_array_equal(band, given)
    np.testing.assert_array_equal(right, np.arange(1.0, rows + 1))


def test_narrow_and_wide_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    band = random_band(60, 20)
    narrow = factorised(band)
    monkeypatch.setattr(banded, "NARROW", 0)
    wide = factorised(band)
    assert narrow is not None
    assert wide is not None
    inside = np.add.outer(np.arange(60), np.arange(20)) < 60
    np.testing.assert_allclose(narrow[inside], wide[inside], rtol=1e-12)


@pytest.mark.parametrize("width", [3, NARROW + 1])
def test_a_matrix_that_is_not_positive_definite_has_no_factor(width: int) -> None:
    band = random_band(2 * width, width)
    band[width, 0] = -1.0
    assert factorised(band) is None
