"""What the steps of elastic cost on a small week: `pytest benchmarks/micro/test_elastic.py`.

CPU seconds of this process, so that other work on the machine counts little. Loops are compiled, as they are on a
whole week, whatever this instance's size; their compilation is not measured.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import carbonopt
from carbonopt.algorithms import kernel
from carbonopt.check import report_on
from carbonopt.core.options import Options
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.greedy import VARIANTS, allocate

pytestmark = pytest.mark.benchmark(
    timer=time.process_time, disable_gc=True, min_rounds=5, warmup=True, warmup_iterations=2
)

JOBS, CAPACITY = 120, 20
NO_LIMIT = Options(time_limit=None)


@pytest.fixture(autouse=True)
def _machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "PLAIN_STEPS", 0)


def _generate() -> ElasticInstance:
    instance = carbonopt.generate("elastic", jobs=JOBS, capacity=CAPACITY, seed=1)
    assert isinstance(instance, ElasticInstance)
    return instance


@pytest.fixture(scope="module")
def week() -> ElasticInstance:
    return _generate()


def test_generate(benchmark: BenchmarkFixture) -> None:
    assert len(benchmark(_generate).jobs) == JOBS


def test_read(benchmark: BenchmarkFixture, week: ElasticInstance, tmp_path: Path) -> None:
    path = tmp_path / "week.json"
    week.write(path)
    assert benchmark(carbonopt.read, path).sha256 == week.sha256


@pytest.mark.parametrize("variant", VARIANTS)
def test_greedy(benchmark: BenchmarkFixture, week: ElasticInstance, variant: str) -> None:
    found = benchmark(allocate, week.with_model("fluid" if variant == "fluid" else "integer"), variant)
    assert variant == "printed" or len(found.unfinished) == 0


@pytest.mark.parametrize("model", ["integer", "fluid"])
def test_check(benchmark: BenchmarkFixture, week: ElasticInstance, model: str) -> None:
    instance = week.with_model(model)
    schedule = allocate(instance, "fluid" if model == "fluid" else "corrected").schedule(instance)
    assert benchmark(report_on, instance, schedule).violations == ()


@pytest.mark.parametrize("form", ["milp", "lp"])
def test_formulate(benchmark: BenchmarkFixture, week: ElasticInstance, form: str) -> None:
    """The whole program, compressed: what HiGHS gets."""

    def arrays() -> Any:
        return carbonopt.formulate(week, form).arrays()

    assert bool(benchmark(arrays).integer.any()) == (form == "milp")


def test_price_all_jobs(benchmark: BenchmarkFixture, week: ElasticInstance) -> None:
    """One Lagrangian bound of the fluid model, from given slot prices."""
    from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
    from carbonopt.problems.elastic.methods.price.fluid.pricing import Pricer

    prices = np.random.default_rng(1).uniform(0, 10, week.time.slots)
    bound, _ = benchmark(Pricer(FluidProgram.of(week)), prices)
    assert np.isfinite(bound)


def test_interior_point(benchmark: BenchmarkFixture, week: ElasticInstance) -> None:
    """The interior point method on the first band of `price`."""
    from carbonopt.problems.elastic.methods.price.fluid import optimum
    from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
    from carbonopt.problems.elastic.methods.price.fluid.interior import InteriorPoint
    from carbonopt.problems.elastic.methods.price.fluid.optimum import ascend
    from carbonopt.problems.elastic.methods.price.fluid.pricing import Pricer
    from carbonopt.problems.elastic.methods.price.parameters import BandParameters

    program = FluidProgram.of(week)
    pricer = Pricer(program)
    prices = ascend(pricer, NO_LIMIT)
    pricer(prices)
    mu, usual = pricer.mu, float(pricer.mu.max())
    band = program.band(prices, mu, BandParameters().width * float(np.median(mu)))

    def solve() -> Any:
        method = InteriorPoint(program, band, prices, mu, optimum.SHORTAGE_FACTOR * usual, usual)
        return method.solve(optimum.INTERIOR_TOLERANCE, NO_LIMIT)

    assert benchmark(solve).converged


def test_fluid_price(benchmark: BenchmarkFixture, week: ElasticInstance) -> None:
    """The whole of method `price` on the fluid model, checker included."""
    fluid = week.with_model("fluid")
    found = benchmark.pedantic(carbonopt.solve, (fluid, "price"), {"threads": 1}, rounds=5, warmup_rounds=1)
    assert found.status == "optimal"
