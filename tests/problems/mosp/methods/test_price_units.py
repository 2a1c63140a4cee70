"""Method `price` sees resources in units of like size."""

import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.mosp.methods.price.units import in_units, unit_sizes
from carbonopt.problems.mosp.verify.certificate import proven_bound


@pytest.fixture(scope="module")
def instance():
    return co.generate("mosp", preset="supercomputer", jobs=60, slots=24, clusters=2, max_demand=32, memory=True)


def test_units_are_of_like_size(instance):
    size = unit_sizes(instance)
    made = in_units(instance, size)
    capacity = made.clusters.capacity.mean(axis=(0, 2))
    assert size[0] == 1
    assert size[1] == 2 ** np.round(np.log2(size[1])) > 1
    assert 2**-0.5 <= capacity[1] / capacity[0] <= 2**0.5
    energy = made.jobs.demand @ made.clusters.watts_per_unit.T
    np.testing.assert_array_equal(energy, instance.jobs.demand @ instance.clusters.watts_per_unit.T)


def test_units_change_no_bound_and_the_certificate_is_in_the_own_ones(instance):
    heard = []
    params = {"search": {"moves_per_job": 50}}
    own = co.solve(instance, "price", params=params, callback=heard.append)
    other = co.solve(in_units(instance, np.array([1.0, 1 / 1024])), "price", params=params)
    assert own.bound == pytest.approx(other.bound, rel=1e-9)
    proven, _ = proven_bound(instance, own.certificate, own.info)
    assert own.certificate["bound"] <= proven == pytest.approx(other.certificate["bound"], rel=1e-9)
    told = [progress.certificate() for progress in heard if progress.certificate is not None]
    assert told[-1]["prices"] == own.certificate["prices"]
    alone = co.generate("mosp", preset="supercomputer", jobs=5, slots=24, clusters=2, max_demand=32)
    assert (unit_sizes(alone) == 1).all()
