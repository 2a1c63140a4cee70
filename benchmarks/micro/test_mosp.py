"""What the steps of mosp cost, from a file to a program in HiGHS: `pytest benchmarks/micro`.

CPU seconds of this process, so that other work on the machine counts little. Sizes are jobs x clusters x slots.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import carbonopt
from carbonopt.core.options import Options
from carbonopt.milp.program import Arrays, Program
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import build, possible_placements
from carbonopt.problems.mosp.methods.bounds import lagrangian_bound
from carbonopt.problems.mosp.methods.greedy import greedy
from carbonopt.problems.mosp.verify.check import check

pytestmark = pytest.mark.benchmark(
    timer=time.process_time, disable_gc=True, min_rounds=5, warmup=True, warmup_iterations=2
)

SMALL = (200, 3, 48)
LARGE = (1000, 10, 48)
sizes = pytest.mark.parametrize("size", [SMALL, LARGE], ids=lambda size: "x".join(map(str, size)))

Generate = Callable[[tuple[int, int, int]], MospInstance]


def _generate(size: tuple[int, int, int]) -> MospInstance:
    jobs, clusters, slots = size
    instance = carbonopt.generate("mosp", preset="bench", jobs=jobs, clusters=clusters, slots=slots, seed=1)
    assert isinstance(instance, MospInstance)
    return instance


@pytest.fixture(scope="module")
def instance_of() -> Generate:
    """Return instances by size, each generated once."""
    known: dict[tuple[int, int, int], MospInstance] = {}
    return lambda size: known.setdefault(size, known.get(size) or _generate(size))


@sizes
def test_generate(benchmark: BenchmarkFixture, size: tuple[int, int, int]) -> None:
    instance = benchmark(_generate, size)
    assert len(instance.jobs) == size[0]


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_read(benchmark: BenchmarkFixture, instance_of: Generate, tmp_path: Path, suffix: str) -> None:
    instance = instance_of(LARGE)
    path = tmp_path / f"{instance.name}{suffix}"
    instance.write(path)
    assert benchmark(carbonopt.read, path).sha256 == instance.sha256


def test_write(benchmark: BenchmarkFixture, instance_of: Generate, tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    benchmark(instance_of(LARGE).write, path)
    assert path.stat().st_size > 0


@sizes
def test_possible_placements(benchmark: BenchmarkFixture, instance_of: Generate, size: tuple[int, int, int]) -> None:
    assert len(benchmark(possible_placements, instance_of(size))) > 0


@sizes
def test_placement_values(benchmark: BenchmarkFixture, instance_of: Generate, size: tuple[int, int, int]) -> None:
    instance = instance_of(size)
    placements = possible_placements(instance)

    def values() -> Any:
        return placement_value(instance).of(placements.job, placements.cluster, placements.start)

    assert np.isfinite(benchmark(values)).all()


@sizes
def test_build(benchmark: BenchmarkFixture, instance_of: Generate, size: tuple[int, int, int]) -> None:
    instance = instance_of(size)
    form = benchmark(build, instance, placement_value(instance))
    assert form.program.columns == len(form.placements)


@sizes
def test_compress(benchmark: BenchmarkFixture, instance_of: Generate, size: tuple[int, int, int]) -> None:
    """The first call of `arrays`; the program keeps them."""
    instance = instance_of(size)

    def fresh() -> tuple[tuple[Program], dict[str, Any]]:
        return (carbonopt.formulate(instance),), {}

    arrays = benchmark.pedantic(Program.arrays, setup=fresh, rounds=20, warmup_rounds=2)
    assert len(arrays.values) == carbonopt.formulate(instance).nonzeros


@sizes
def test_pass_to_highs(benchmark: BenchmarkFixture, instance_of: Generate, size: tuple[int, int, int]) -> None:
    """HiGHS's own part, from the compressed arrays: it copies and checks them."""
    arrays = carbonopt.formulate(instance_of(size)).arrays()
    highs = benchmark(_passed, arrays)
    assert highs.getNumCol() == len(arrays.cost)
    assert highs.getNumNz() == len(arrays.values)


def _passed(arrays: Arrays) -> highspy.Highs:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.passModel(
        len(arrays.cost),
        len(arrays.row_lower),
        len(arrays.values),
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        arrays.cost,
        arrays.lower,
        arrays.upper,
        arrays.row_lower,
        arrays.row_upper,
        arrays.starts,
        arrays.rows,
        arrays.values,
        arrays.integer.astype(np.int32),
    )
    return highs


def test_range_warnings(benchmark: BenchmarkFixture, instance_of: Generate) -> None:
    """What every solve looks over before HiGHS sees the program, its arrays being there already."""
    program = carbonopt.formulate(instance_of(LARGE))
    program.arrays()
    assert isinstance(benchmark(program.range_warnings), list)


@sizes
def test_greedy_clean(benchmark: BenchmarkFixture, instance_of: Generate, size: tuple[int, int, int]) -> None:
    outcome = benchmark(greedy, instance_of(size), Options(time_limit=None), clean_ties=True)
    assert len(outcome.schedule["job"]) == size[0]


def test_check(benchmark: BenchmarkFixture, instance_of: Generate) -> None:
    instance = instance_of(LARGE)
    schedule = greedy(instance, Options(time_limit=None), clean_ties=True).schedule
    report = benchmark(check, instance, schedule)
    assert report.violations == ()


def test_lagrangian_bound(benchmark: BenchmarkFixture, instance_of: Generate) -> None:
    instance = instance_of(LARGE)
    prices = np.random.default_rng(1).uniform(0, 0.01, instance.clusters.capacity.shape)
    bound = benchmark(lagrangian_bound, instance, placement_value(instance), prices)
    assert np.isfinite(bound)
