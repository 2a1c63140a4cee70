"""Array types, and the frozen arrays that instances are made of."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.errors import Fault, InputError, shown

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.int8]
ShortArray = npt.NDArray[np.int16]
RecordArray = np.recarray[Any, Any]


def frozen_float(values: npt.ArrayLike) -> FloatArray:
    """Return `values` as a read-only float64 array of its own."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def frozen_int(values: npt.ArrayLike, field: str = "") -> IntArray:
    """Return `values` as a read-only int64 array of its own.

    Raises
    ------
    InputError
        If one is not a whole number; `field` names the column.
    """
    given = np.asarray(values)
    try:
        with np.errstate(invalid="ignore"):  # NaN is told below
            array = given.astype(np.int64)
    except OverflowError:
        raise InputError(Fault(field, "must be whole numbers, at most 2^63 - 1")) from None
    wrong = np.argwhere(array != given)
    if wrong.size:
        place = tuple(wrong[0])
        raise InputError(Fault(field, "must be a whole number", shown(given[place].item()), int(place[0])))
    array.setflags(write=False)
    return array


def prefix_sums(values: FloatArray) -> FloatArray:
    """Return sums of ``values[..., :t]`` for t = 0..T: one longer on the last axis, first 0."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    sums.setflags(write=False)
    return sums


def exact_mean(values: Any) -> float:
    """Return the mean of an array, the same on every processor; 0 where it is empty."""
    return fsum(np.ravel(values)) / np.size(values) if np.size(values) else 0.0


def plain(value: Any) -> Any:
    """Return `value` as JSON types: arrays as lists, numpy numbers as Python's, whole floats as ints."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and bool(np.all(value == np.floor(value))) and value.size:
            value = value.astype(np.int64) if float(np.abs(value).max()) < 2**53 else value
        return value.tolist()
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def rank_within(groups: IntArray) -> IntArray:
    """Return how many earlier entries are of the same group as each, shape (entries,).

    >>> rank_within(np.array([7, 3, 7, 7, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups)) - np.searchsorted(ordered, ordered, side="left")
    return rank
