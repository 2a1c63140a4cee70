"""What the tests of purchasing's policies share: the rows that a policy makes."""

from __future__ import annotations

from typing import Any

import carbonopt as co
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

FLAT = [5.0] * 30


def ran(instance: PurchasingInstance, policy: Any, **options: Any) -> list[tuple[str, float, float, str]]:
    """Return the rows of a policy's schedule, times to six digits."""
    found = co.simulate(instance, policy, **options)
    assert found.columns is not None, found.info
    columns = (found.columns[name] for name in ("job", "start_hours", "end_hours", "option"))
    return [(job, round(start, 6), round(end, 6), option) for job, start, end, option in zip(*columns, strict=True)]


def starts(instance: PurchasingInstance, policy: Any, **options: Any) -> list[float]:
    return [row[1] for row in ran(instance, policy, **options)]
