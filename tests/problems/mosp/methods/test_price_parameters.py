"""Parameters of method `price`: what a user sets holds and is recorded, and what is wrong is told in one line."""

from __future__ import annotations

from typing import Any

import pytest

import carbonopt as co
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.search_parameters import SearchParameters

NO_BEAMS: dict[str, Any] = {"beam": {"most_jobs": 0}, "cuts": {"most_jobs_of_tree": 0}}
"""The search is then all that looks for schedules."""


@pytest.fixture(scope="module")
def instance() -> co.Instance:
    return co.generate("mosp", preset="bench", jobs=30, clusters=2, slots=24, seed=1)


def test_what_is_set_holds_and_is_recorded(instance: co.Instance) -> None:
    given = NO_BEAMS | {"search": {"moves_per_job": 3, "first_moves": 10}}
    found = co.solve(instance, "price", params=given, mip_rel_gap=0.0, time_limit=None)
    assert found.info["moves"] == 32  # 3 x 30, times (30 / 50)^2: fewer jobs than `full_moves_jobs` get fewer moves
    assert found.options["params"] == given


def test_without_an_ascent_the_bound_is_that_of_free_capacity(instance: co.Instance) -> None:
    usual, without = (
        co.solve(instance, "price", params=NO_BEAMS | {"search": {"moves_per_job": 1}} | given, time_limit=None).bound
        for given in ({}, {"bound": {"temperatures": [0.03], "iterations": 1, "steps": 0}})
    )
    assert usual is not None
    assert without is not None
    assert without < usual


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"search": {"moves_per_job": -1}}, "params.search.moves_per_job = -1: must be a whole number, at least 0"),
        ({"search": {"move": {"tournament": 0}}}, "params.search.move.tournament = 0: must be a whole number"),
        ({"beam": {"width": 3}}, "params.beam.width: is unknown"),
        (SearchParameters(), "must be PriceParameters, not SearchParameters"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(instance: co.Instance, params: Any, words: str) -> None:
    with pytest.raises((co.InputError, co.UnsupportedError), match=words) as caught:
        co.solve(instance, "price", params=params)
    assert "\n" not in str(caught.value)


def test_changes_make_the_same_parameters_again() -> None:
    found = PriceParameters.of({"search": {"rejection_penalty": {"steps": 5}}})
    assert found.search.rejection_penalty.steps == 5
    assert PriceParameters.of(found.changes()) == found
    assert PriceParameters().changes() == {}
