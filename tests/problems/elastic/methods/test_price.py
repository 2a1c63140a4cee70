"""Method `price` where its loops are not compiled and there is no time for that."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from elastic_support import random_instance

import carbonopt as co
from carbonopt.algorithms.kernel import Kernel
from carbonopt.core.errors import Fault, InputError, TooLargeError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.methods.price import method


@pytest.fixture
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no kernel be ready, and let none be compiled."""

    def refuse(_: Kernel) -> None:
        raise AssertionError("a kernel is compiled")

    monkeypatch.setattr(Kernel, "is_ready", False)
    monkeypatch.setattr(method, "FLUID_COMPILE_SECONDS", inf)
    monkeypatch.setattr(method, "fluid_steps", lambda _: inf)
    monkeypatch.setattr(Kernel, "machine", property(refuse))


@pytest.mark.usefixtures("nothing_is_compiled")
class TestWithoutCompiledLoops:
    @pytest.mark.parametrize("model", ["fluid", "integer"])
    def test_highs_solves_what_it_can(self, model: str) -> None:
        instance = random_instance(8, "decreasing", 6, 9, model=model)
        solution = co.solve(instance, "price", time_limit=1e6)
        assert co.check(instance, solution).violations == ()
        assert solution.status == "optimal"
        assert solution.gap <= 1e-4
        assert model == "integer" or solution.certificate["kind"] == "lagrangian"

    @pytest.mark.parametrize("model", ["fluid", "integer"])
    @pytest.mark.parametrize("with_start", [False, True])
    def test_what_memory_does_not_hold_gets_the_start_or_the_greedy(
        self, model: str, with_start: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def too_large(*_: object) -> None:
            raise TooLargeError([Fault("", "the program needs more memory than there is")])

        monkeypatch.setattr(method, "milp", too_large)
        instance = random_instance(8, "decreasing", 6, 9, model=model)
        first = co.solve(instance, "carbonflex-greedy-fluid" if model == "fluid" else "carbonflex-greedy").columns
        outcome = method.price(instance, Options(time_limit=1e6, start=first if with_start else None))
        assert (outcome.status, outcome.schedule) == (Status.TIME_LIMIT, first)

    def test_an_lp_that_does_not_end_leaves_the_greedy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(method, "milp", lambda *_: Outcome(Status.TIME_LIMIT, bound=1.0))
        instance = random_instance(8, "decreasing", 6, 9, model="fluid")
        outcome = method.price(instance, Options(time_limit=1e6))
        assert outcome.schedule is not None
        assert (outcome.status, outcome.bound) == (Status.TIME_LIMIT, 1.0)


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
