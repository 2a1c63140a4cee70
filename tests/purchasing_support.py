"""Purchasing instances by hand, as files hold them."""

from __future__ import annotations

from typing import Any

import pytest
from instance_support import Place, Raw, tamper

from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data.file import from_dict

RAW: Raw = {
    "schema_version": 1,
    "problem": "purchasing",
    "name": "three",
    "provenance": {"why": "by hand"},
    "time": {"slots": 40, "slot_hours": 1.0, "start": "2022-01-01T00:00:00Z"},
    "carbon": {"zones": ["A", "B"], "g_per_kwh": [list(range(40)), [100] * 40]},
    "zone": "A",
    "prices": {"on_demand_usd_per_cpu_hour": 0.0624, "reserved_fraction": 0.4, "spot_fraction": 0.2},
    "reserved_cpus": 3,
    "watts_per_cpu": 10,
    "spot": {"max_length_hours": 2, "evictions_per_hour": 0.1},
    "queues": {
        "short": {"max_length_hours": 2, "max_wait_hours": 6},
        "long": {"max_length_hours": None, "max_wait_hours": 24},
    },
    "jobs": {
        "name": ["x", "y", "z"],
        "arrival_hours": [0, 1.5, 2.25],
        "length_hours": [1, 3.25, 2],
        "cpus": [1, 2, 0.5],
    },
    "objective": {
        "weights": {"carbon_kg": 1, "cost_usd": 2, "wait_hours": 0.1},
        "limits": {"carbon_kg": None, "cost_usd": 7.5, "mean_wait_hours": None},
    },
    "model": "no-split",
}


def change(changes: dict[Place, Any]) -> Raw:
    """Return the instance with other values at some paths."""
    return tamper(RAW, changes)


def lines(raw: Raw) -> list[str]:
    """Return the faults of a content, one line each."""
    with pytest.raises(InputError) as caught:
        from_dict(raw)
    return [str(fault) for fault in caught.value.faults]
