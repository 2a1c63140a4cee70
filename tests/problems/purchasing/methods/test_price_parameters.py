"""Parameters of method `price`: what a user sets holds, and what is wrong is told in one line."""

from __future__ import annotations

from typing import Any

import pytest

import carbonopt as co
from carbonopt.problems.purchasing.methods.price.parameters import LimitParameters, PriceParameters


@pytest.fixture(scope="module")
def instance() -> co.Instance:
    return co.generate("purchasing", jobs=40, arrival_hours=24, reserved=5, seed=1)


def test_what_is_set_holds_and_is_recorded(instance: co.Instance) -> None:
    short = {"rounds": {"rounds": 1}, "splitting": {"exact": {"sweeps": 0.1}}}
    found = co.solve(instance, "price", params=short, mip_rel_gap=0.0, time_limit=None)
    assert found.info["rounds"] == 1
    assert found.options["params"] == short


def test_a_finer_grid_of_prices_bounds_better(instance: co.Instance) -> None:
    coarse, fine = (
        co.solve(instance, "price", params={"bound": {"cell_hours": hours}, "rounds": {"rounds": 1}}).bound
        for hours in ([1.0], [1.0, 0.25])
    )
    assert coarse is not None
    assert fine is not None
    assert fine > coarse


def test_what_a_group_does_not_say_is_as_in_this_group() -> None:
    found = PriceParameters.of({"short_of_time": {"exact": {"sweeps": 0.2}}})
    assert found.short_of_time.exact.sweeps == 0.2
    assert found.short_of_time.exact.cell_hours == 0.0
    assert found.short_of_time.exact.reach_hours == 0.5
    assert PriceParameters.of(found.changes()) == found
    assert PriceParameters().changes() == {}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"rounds": {"rounds": 0}}, "params.rounds.rounds = 0: must be a whole number, at least 1"),
        ({"bound": {"cell_hours": []}}, "params.bound.cell_hours = .*: must be at least one number"),
        ({"splitting": {"coarse": {"reach_hours": 0}}}, "params.splitting.coarse.reach_hours = 0: must be above 0"),
        ({"search": {}}, "params.search: is unknown"),
        (LimitParameters(), "must be PriceParameters, not LimitParameters"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(instance: co.Instance, params: Any, words: str) -> None:
    with pytest.raises((co.InputError, co.UnsupportedError), match=words):
        co.solve(instance, "price", params=params)
