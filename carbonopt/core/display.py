"""How numbers and facts are shown to a person: on a terminal, in a notebook, in a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

SMALLEST_SHARE = 1e-6
"""Smaller shares are shown as less than it: they are below every solver's tolerance."""


def number(value: Any, digits: int = 6) -> str:
    """Return a number with its significant digits, a dash where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value + 0.0:.{digits}g}" if isinstance(value, float) else str(value)  # no -0


def digits_of(values: Iterable[float | None], most: int) -> int:
    """Return how many significant digits show all the numbers of a column as well as `most` would, without exponents.

    Examples
    --------
    >>> digits_of([25.0, 30.5, None], 7), digits_of([1 / 3, 100.0], 7), digits_of([100.0], 7)
    (3, 7, 3)
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    shown = [float(f"{value:.{most}g}") for value in known]
    whole = max((len(f"{abs(value):.0f}") for value in known), default=1)
    exact = (n for n in range(1, most) if all(float(f"{a:.{n}g}") == b for a, b in zip(known, shown, strict=True)))
    return min(most, max(whole, next(exact, most)))


def figure(value: float | None, digits: int) -> str:
    """Return a number with all its significant digits, also where the last ones are 0; a dash where there is none.

    Examples
    --------
    >>> figure(25.0, 4), figure(1234567.0, 7), figure(0.5, 3), figure(None, 3)
    ('25.00', '1234567', '0.500', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value:#.{digits}g}".removesuffix(".")


def seconds(value: float) -> str:
    """Return a time, a dash where nothing ran.

    Examples
    --------
    >>> seconds(12.345), seconds(0.0041), seconds(0.0)
    ('12.35', '<0.01', '-')
    """
    if value == 0:
        return "-"
    return "<0.01" if value < 0.01 else f"{value:.2f}"


def counted(count: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "job"), counted(2, "job")
    ('1 job', '2 jobs')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def percent(value: float | None) -> str:
    """Return a share in per cent, a dash where there is none.

    Examples
    --------
    >>> percent(0.12345), percent(0.000012), percent(2e-12), percent(0.0)
    ('12.35 %', '0.0012 %', '<0.0001 %', '0.00 %')
    """
    if value is None or math.isnan(value):
        return "-"
    if 0 < abs(value) < SMALLEST_SHARE:
        return "<0.0001 %"
    if 0 < abs(value) < 1e-4:
        return f"{float(f'{100 * value:.2g}'):f}".rstrip("0") + " %"
    return f"{100 * value:.2f} %"


def metric(name: str, value: Any) -> str:
    """Return a metric of a solution: a share, whose name ends in ``_share``, in per cent.

    Examples
    --------
    >>> metric("deadlines_met_share", 0.92), metric("load", {"gpu": 0.6251, "cpu": 0.5}), metric("carbon_kg", 7.5)
    ('92.00 %', 'gpu 0.6251, cpu 0.5', '7.5')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {number(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(number, value))
    return percent(value) if name.endswith("_share") else number(value)


UNITS = {"usd": "$", "hours": "h", "minutes": "min", "kwh": "kWh", "kw": "kW", "jct": "JCT", "p95": "95th percentile"}
"""Words of the names of quantities that tables write otherwise."""

NAMES = {
    "z1": "Caspian's Z1: clean load",
    "z2": "Caspian's Z2: in time",
    "z3": "Caspian's Z3: early",
}
"""Quantities that tables call otherwise than files do."""


def head(name: str) -> str:
    """Return what tables call a quantity: the same in all commands, with its unit.

    Examples
    --------
    >>> head("carbon_kg"), head("mean_wait_hours"), head("deadlines_met_share"), head("limit_cost_usd")
    ('carbon kg', 'mean wait h', 'deadlines met', 'limit cost $')
    """
    if name in NAMES:
        return NAMES[name]
    return " ".join(UNITS.get(word, word) for word in name.removesuffix("_share").split("_"))


def frame_cells(frame: Any) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a DataFrame as tables show them."""
    rows = [[number(value) for value in row] for row in frame.itertuples(index=False)]
    return [head(str(name)) for name in frame.columns], rows


def metric_rows(metrics: Mapping[str, Any]) -> list[list[str]]:
    """Return name and value of each metric; a share stands beside the number that it is of.

    Examples
    --------
    >>> metric_rows({"deadlines_met": 9, "deadlines_met_share": 0.9, "peak_load_share": 1.0})
    [['deadlines met', '9 (90.00 %)'], ['peak load', '100.00 %']]
    """
    rows = []
    for name, value in metrics.items():
        share = metrics.get(f"{name}_share")
        if share is not None:
            rows.append([head(name), f"{metric(name, value)} ({percent(share)})"])
        elif not (name.endswith("_share") and name.removesuffix("_share") in metrics and value is not None):
            rows.append([head(name), metric(name, value)])
    return rows


def card(title: str, facts: Mapping[str, str], lines: Iterable[str] = ()) -> str:
    """Return a title, a table of named facts and a list of lines as HTML for a notebook.

    Examples
    --------
    >>> card("a < b", {"jobs": "3"})
    '<p><strong>a &lt; b</strong></p><table><tbody><tr><th>jobs</th><td>3</td></tr></tbody></table>'
    >>> card("none", {}, ["one"])
    '<p><strong>none</strong></p><ul><li>one</li></ul>'
    """
    rows = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in facts.items())
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    return f"<p><strong>{_text(title)}</strong></p>{table}{f'<ul>{items}</ul>' if items else ''}"


def _text(words: str) -> str:
    return escape(words.replace("_", " "))
