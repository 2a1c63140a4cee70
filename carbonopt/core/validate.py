"""Checks of arrays that every problem's data needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from carbonopt.core.errors import Fault, shown

Axes = Mapping[str, tuple[str, ...]]
"""For each column the axes that it may have, e.g. ``("cluster, resource", "cluster, resource, slot")``."""


def wrong_shapes(section: str, table: object, axes: Axes) -> Iterator[Fault]:
    """Yield the columns that do not have the axes that they should have."""
    for field, allowed in axes.items():
        column = getattr(table, field)
        if column is not None and column.ndim not in {len(names.split(", ")) for names in allowed}:
            words = " or ".join(f"({names})" for names in allowed)
            yield Fault(f"{section}.{field}", f"must have axes {words}", f"shape {column.shape}")


def outside(field: str, values: npt.NDArray[np.generic], bad: npt.NDArray[np.bool_], words: str) -> Iterator[Fault]:
    """Yield a fault for each value that is `bad`."""
    for position in np.argwhere(bad):
        *outer, row = (int(part) for part in position)
        path = field + "".join(f"[{part}]" for part in outer)
        yield Fault(path, words, shown(values[tuple(position)].item()), row)
