import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.mosp.formulation.program import estimate_size


def test_the_papers_workload():
    instance = co.generate("mosp", preset="caspian", jobs=2000, slots=48, seed=3)
    jobs, clusters = instance.jobs, instance.clusters
    assert clusters.zone == ("CA-ON", "JP-KN", "DE")
    assert clusters.watts_per_unit[:, 0].tolist() == [200, 100, 200]
    assert (clusters.capacity == 32).all()
    assert set(jobs.duration) == set(jobs.demand[:, 0]) == {1, 2, 3, 4, 5}
    assert jobs.arrival.min() == 0
    assert jobs.arrival.max() == 23
    factor = (jobs.deadline - jobs.arrival) / jobs.duration
    assert 2 <= factor.min() < 2.02
    assert 3.98 < factor.max() <= 4
    assert np.mean(factor) == pytest.approx(3, abs=0.05)
    assert "synthetic" in instance.provenance["carbon_signal"]


def test_same_arguments_same_instance():
    first, second, third = (co.generate("mosp", jobs=20, seed=seed) for seed in (1, 1, 2))
    assert first.to_dict() == second.to_dict()
    assert first.sha256 != third.sha256


def test_bench_sizes_and_load():
    instance = co.generate("mosp", preset="bench", jobs=1000, clusters=10, slots=48, seed=1)
    assert instance.name == "mosp-bench070-j1000-t048-z10-s01"
    assert instance.features()["load"]["gpu"] == pytest.approx(0.7, abs=0.03)
    assert 2.7e5 < estimate_size(instance)[0] < 3e5
    overload = co.generate("mosp", preset="bench", jobs=100, clusters=3, slots=48, seed=1, load=1.2)
    assert overload.objective.rejection_price == 10


def test_a_carbon_signal_of_ones_own():
    signal = co.CarbonSignal(("X", "Y", "Z"), np.full((3, 48), 100.0), co.TimeGrid(48))
    instance = co.generate("mosp", jobs=10, carbon=signal)
    assert instance.clusters.zone == ("X", "Y", "Z")
    assert instance.provenance["carbon_signal"] == "read from files"
    two = co.CarbonSignal(("X", "Y"), np.full((2, 48), 100.0), co.TimeGrid(48))
    with pytest.raises(co.InputError, match="needs a signal of 3 zones"):
        co.generate("mosp", jobs=10, carbon=two)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"preset": "other"}, "unknown preset 'other': must be 'caspian', 'bench' or 'supercomputer'"),
        ({"objective": "money"}, "unknown objective 'money'"),
        ({"jobs": 0}, "jobs = 0: must be at least 1"),
        ({"slots": 9}, "slots = 9: must be at least 10"),
        ({"load": 0, "preset": "bench"}, "load = 0: must be above 0"),
        ({"clusters": 4}, "the caspian preset has 3"),
        ({"weights": (1, 2)}, "must be three numbers"),
    ],
)
def test_impossible_parameters(parameters, words):
    with pytest.raises(co.UnsupportedError, match=words):
        co.generate("mosp", **parameters)


def test_sizes_beyond_memory_are_refused():
    with pytest.raises(co.TooLargeError, match="GiB"):
        co.generate("mosp", jobs=10**10)


def test_weights_reach_the_objective():
    instance = co.generate("mosp", jobs=10, objective="caspian", weights=(2, 1, 1))
    assert instance.objective.to_dict()["weights"] == {"z1": 2, "z2": 1, "z3": 1}
