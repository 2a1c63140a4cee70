"""Method `price` where its loops are not compiled and there is no time for that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from elastic_support import random_instance

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price import method
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters


@contextmanager
def not_compiled(_steps: float, _kernels: Iterable[Any] = (), _seconds: float = 0.0) -> Iterator[bool]:
    """Stand in for `loops` on a machine that has no machine code yet."""
    yield False


@pytest.mark.parametrize("model", ["fluid", "integer"])
def test_without_compiled_loops_a_short_limit_still_gives_a_schedule(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "loops", not_compiled)
    monkeypatch.setattr(method, "fluid_optimum", None)  # would need loops
    monkeypatch.setattr(method, "fluid_price", None)
    instance = random_instance(8, "decreasing", 6, 9, model=model)
    solution = co.solve(instance, "price", time_limit=5)
    assert solution.has_solution
    assert co.check(instance, solution).violations == ()
    assert model == "fluid" or solution.status == "optimal"  # a small program: HiGHS


def test_a_large_one_gets_the_start_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_instance(8, "decreasing", 6, 9, model="integer")
    first = co.solve(instance, "carbonflex-greedy")
    monkeypatch.setattr(method, "loops", not_compiled)
    outcome = method.price(
        instance, Options(time_limit=5, start=first.columns, params=PriceParameters(highs_columns=0))
    )
    assert outcome.schedule == first.columns


class TestParameters:
    instance = random_instance(8, "decreasing", 6, 9, model="integer")

    @pytest.mark.parametrize(
        ("params", "info"),
        [
            ({"columns": {"first_perturbations": 0, "rounds": 1}}, "columns"),
            ({"balance": {"patience": 1, "sweeps": 1.0}}, "balancings"),
        ],
    )
    def test_of_the_integer_model_change_what_is_done(self, params: dict[str, Any], info: str) -> None:
        """The gap is never closed, so that only the parameters end the search."""
        usual = {"balance": {"patience": 3, "sweeps": 20.0}}
        found = [
            co.solve(self.instance, "price", params=usual | given, mip_rel_gap=0, time_limit=None).info
            for given in ({}, params)
        ]
        assert found[1][info] < found[0][info]

    def test_of_the_fluid_model_change_what_is_done(self) -> None:
        instance = co.generate("elastic", jobs=20, capacity=5, model="fluid", seed=2, arrival_hours=24)
        usual = co.solve(instance, "price")
        short = co.solve(instance, "price", params={"ascent": {"iterations": 5}, "band": {"width": 5.0}})
        assert short.info["pricings"] < usual.info["pricings"]
        assert short.info["band_columns"] > usual.info["band_columns"]
        assert short.objective == pytest.approx(usual.objective, rel=1e-6)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"balance": {"swap_share": 1.5}}, "params.balance.swap_share"),
            ({"repair": {"most_removed": 1}}, "params.repair.most_removed"),
            ({"ascent": {"steps": 3}}, "params.ascent.steps"),
        ],
    )
    def test_that_are_wrong_are_told_in_one_line(self, params: dict[str, Any], message: str) -> None:
        with pytest.raises(InputError) as told:
            co.solve(self.instance, "price", params=params)
        assert message in str(told.value)
        assert "\n" not in str(told.value)
