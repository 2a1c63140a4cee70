"""What a section of an instance file is, made of pandas objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import plain
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.time import format_utc

if TYPE_CHECKING:
    import pandas as pd

SAME_STEP = 1e-6
"""Relative difference between two steps of time that counts as none: clocks are kept in whole nanoseconds."""


def signal_sections(carbon: Any) -> dict[str, Any]:
    """Return the sections ``time`` and ``carbon`` of a table of carbon intensity.

    Parameters
    ----------
    carbon
        A `DataFrame` with one column a zone, or a `Series` named after its zone [gCO2eq/kWh]. Its index holds the
        beginnings of the slots: moments in equal steps; those without a time zone are taken as UTC.

    Raises
    ------
    InputError
        If the index does not tell the slots.
    """
    import pandas as pd

    frame = carbon.to_frame() if isinstance(carbon, pd.Series) else carbon
    if not isinstance(frame, pd.DataFrame):
        words = "must be a DataFrame with one column a zone, or a Series"
        raise InputError(Fault("carbon", words, type(carbon).__name__))
    hours = _slot_hours(frame.index)
    return {
        "time": {"slots": len(frame), "slot_hours": hours, "start": format_utc(frame.index[0].to_pydatetime())},
        "carbon": {
            "zones": [str(zone) for zone in frame.columns],
            "g_per_kwh": [plain(frame.iloc[:, column].to_numpy()) for column in range(frame.shape[1])],
        },
    }


def _slot_hours(moments: pd.Index) -> float:
    """Return the one step between moments [h]."""
    import pandas as pd

    if not isinstance(moments, pd.DatetimeIndex):
        raise InputError(Fault("carbon.index", "must be a DatetimeIndex", type(moments).__name__))
    if len(moments) < 2 or moments.hasnans:
        raise InputError(Fault("carbon.index", "must hold two moments or more, and none that is missing"))
    steps = np.diff(moments.as_unit("ns").asi8) / 3.6e12  # nanoseconds of an hour
    odd = np.flatnonzero(~(np.abs(steps - steps[0]) <= SAME_STEP * abs(steps[0])) | (steps <= 0))
    if odd.size:
        row = int(odd[0]) + 1
        words = f"must be {shown(float(steps[0]))} h after the moment before, as the first step is, and later"
        raise InputError(Fault("carbon.index", words, str(moments[row]), row))
    return float(steps[0])


def section(content: Any) -> Any:
    """Return a section of a file: a frame becomes columns, anything else plain JSON.

    A column ``demand.gpu`` is the entry ``gpu`` of the field ``demand``. Where no column ``name`` is, the index names
    the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> section(pd.DataFrame({"arrival": [0, 2], "demand.gpu": [1.0, 0.5]}, index=["a", "b"]))
    {'name': ['a', 'b'], 'arrival': [0, 2], 'demand': {'gpu': [1, 0.5]}}
    """
    import pandas as pd

    if not isinstance(content, pd.DataFrame):
        if hasattr(content, "to_dict"):
            content = content.to_dict()
        return plain(content)
    columns: dict[str, Any] = {}
    if "name" not in content.columns:
        columns["name"] = [str(name) for name in content.index]
    for place, column in enumerate(content.columns):
        field, _, entry = str(column).partition(".")
        values = [_entry(value) for value in content.iloc[:, place].tolist()]
        inner = columns.setdefault(field, {}) if entry else columns
        if not isinstance(inner, dict) or (entry or field) in inner:
            raise InputError(Fault(str(column), "is there twice: once as a column, once as a table"))
        inner[entry or field] = values
    return columns


def _entry(value: Any) -> Any:
    """Return one entry as JSON; a Timestamp or another object becomes its text, which the schema then refuses."""
    if value is None or isinstance(value, (bool, int, float, str, list, tuple, Mapping, np.generic, np.ndarray)):
        return plain(value)
    return str(value)
