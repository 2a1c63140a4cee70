"""Generated instances have the shape of the challenge's."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict


def test_load_and_windows() -> None:
    instance = co.generate("ecas", jobs=200, machines=10, load=0.6, seed=3)
    assert instance.features()["load"] == pytest.approx(0.6, rel=0.15)
    jobs = instance.jobs
    assert (jobs.arrival >= 0).all()
    assert (jobs.arrival + jobs.duration <= jobs.deadline).all()
    assert len({tuple(row) for row in instance.machines.idle_kw[:, None].tolist()}) <= 5


def test_same_seed_same_instance() -> None:
    first, second, other = (co.generate("ecas", jobs=20, seed=seed) for seed in (1, 1, 2))
    assert first.sha256 == second.sha256 != other.sha256


def test_negative_prices() -> None:
    instance = co.generate("ecas", jobs=5, slots=48, negative_slots=4)
    assert (instance.price_per_kwh < 0).sum() == 4


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"slots": 2000}, {"load": 0.95}, {"machines": 0}])
def test_sizes_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(co.InputError, match=next(iter(wrong))):
        co.generate("ecas", **wrong)


def test_a_data_centre_has_types_of_hosts() -> None:
    """The scarcer resource has the load; every job fits every host; a full host draws at least twice an idle one."""
    sizes = {"family": "data-centre", "jobs": 300, "machines": 12, "load": 0.5}
    instance, again = (co.generate("ecas", seed=3, **sizes) for _ in range(2))
    assert instance.sha256 == again.sha256 != co.generate("ecas", seed=4, **sizes).sha256
    assert instance.resources == ("cores", "memory_gb")
    assert instance.features()["load"] == pytest.approx(0.5, rel=0.2)
    assert 1 < len({tuple(row) for row in instance.machines.capacity.tolist()}) <= 3
    assert instance.fits.all()
    assert ((instance.jobs.deadline - instance.jobs.duration - instance.jobs.arrival) >= 0).all()
    full = instance.machines.idle_kw + instance.machines.capacity[:, 0] * 0.003
    assert (full >= 1.6 * instance.machines.idle_kw).all()
    assert from_dict(instance.to_dict()).sha256 == instance.sha256


def test_heavy_tails_have_the_spread_of_the_challenge() -> None:
    """Standard deviations over means are .76 to 1.04 for durations, .82 to 1.39 for shares; their median .41 to .79."""
    instance = co.generate("ecas", family="heavy-tails", jobs=2000, machines=70, resources=3, load=0.45, seed=3)
    jobs = instance.jobs
    assert instance.features()["load"] == pytest.approx(0.45, rel=0.15)
    assert 0.76 <= jobs.duration.std() / jobs.duration.mean() <= 1.04
    share = jobs.use / instance.machines.capacity.min(axis=0)
    assert 0.82 <= share.std() / share.mean() <= 1.39
    assert share.max() <= 0.931
    assert 0.41 <= np.median(share) / share.mean() <= 0.79
    assert (jobs.arrival + jobs.duration <= jobs.deadline).all()
    assert instance.fits.all()
    again = co.generate("ecas", family="heavy-tails", jobs=2000, machines=70, resources=3, load=0.45, seed=3)
    assert again.sha256 == instance.sha256
    assert from_dict(instance.to_dict()).sha256 == instance.sha256


def test_a_small_data_centre_is_solved_and_its_options_are_checked() -> None:
    small = co.generate("ecas", family="data-centre", jobs=12, machines=2, slots=24, load=0.3)
    solution = co.solve(small, "milp", time_limit=None)
    assert solution.objective == pytest.approx(co.check(small, solution).objective)
    with pytest.raises(co.UnsupportedError, match="family"):
        co.generate("ecas", family="cloud")
    with pytest.raises(co.InputError, match="must be 2 in a data centre"):
        co.generate("ecas", family="data-centre", resources=3)
