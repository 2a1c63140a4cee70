"""Prices that clear a demand, against the certified fluid optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from elastic_support import random_instance

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder, merge_units
from carbonopt.problems.elastic.methods.price.fluid.method import fluid_optimum
from carbonopt.problems.elastic.online import clearing
from carbonopt.problems.elastic.online.clearing import Clearing


def clear(program: FluidProgram) -> Clearing:
    return clearing.clear(program, np.ones(len(program.length)))


def test_load_fits_and_prices_are_near_the_optimum() -> None:
    instance = co.generate("elastic", jobs=120, capacity=12, model="fluid", seed=2, arrival_hours=96)
    found, best = clear(FluidProgram.of(instance)), fluid_optimum(instance, Options())
    capacity = instance.cluster.capacity
    assert (found.load <= capacity + 2 * clearing.TOLERANCE * capacity.max()).all()
    assert ((found.prices == 0) | (found.load >= capacity * (1 - 2 * clearing.TOLERANCE))).all()
    assert found.iterations < 60
    scarce = best.prices > 0
    error = np.abs(found.prices - best.prices)[scarce].mean()
    assert error <= 0.1 * best.prices[scarce].mean() + 1e-9


def test_a_weight_stands_for_so_many_jobs() -> None:
    instance = co.generate("elastic", jobs=20, capacity=6, model="fluid", seed=2, arrival_hours=24)
    one = FluidProgram.of(instance)
    rows = np.concatenate([np.arange(len(one.length))] * 2)
    fields = ("arrival", "end", "length", "profile")
    twice = replace(one, **{name: getattr(one, name)[rows] for name in fields})
    assert clearing.clear(twice, np.full(len(rows), 0.5)).prices == pytest.approx(clear(one).prices, abs=1e-6)


@pytest.mark.parametrize("kind", ["decreasing", "general", "free", "scaled"])
def test_it_ends_on_any_demand(kind: str) -> None:
    for seed in range(8):
        found = clear(FluidProgram.of(random_instance(seed, kind)))
        assert np.isfinite(found.prices).all()
        assert np.isfinite(found.mu).all()
        assert ((found.share >= 0) & (found.share <= 1)).all()


def test_steps_merge_units_whose_cost_per_work_falls() -> None:
    cost, gain = np.array([[[4.0, 1.0, 3.0]]]), np.array([[1.0, 1.0, 1.0]])
    ladder = Ladder.of_shape(1, 1, 3)
    merge_units.function(cost, gain, np.ones((1, 3)), np.array([3]), ladder)
    assert ladder.steps[0, 0] == 2
    assert ladder.ratio[0, 0, :2].tolist() == [2.5, 3.0]
    assert ladder.gain[0, 0, :2].tolist() == [2.0, 1.0]
    assert ladder.level[0, 0, :2].tolist() == [1, 2]
