"""Generated instances have the shape of the challenge's."""

from __future__ import annotations

import pytest

import carbonopt as co


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
