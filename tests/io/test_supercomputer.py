"""Jobs in the shape of supercomputer traces: the published numbers, and what generators make of them."""

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.io.supercomputer import supercomputer_jobs


@pytest.fixture(scope="module")
def jobs():
    return supercomputer_jobs(20_000, 24.0 * 500, 128, seed=3)


def test_sizes_have_the_published_shares(jobs):
    sizes = jobs.cpus
    powers = np.isin(sizes, 2.0 ** np.arange(8))
    assert np.mean(sizes == 1) == pytest.approx(0.244, abs=0.01)
    assert np.mean(powers) >= 0.244 + 0.576  # some of the others are powers of 2 by chance
    below_middle = np.mean(sizes[sizes > 1] < 2**4.5)
    assert below_middle == pytest.approx(0.86, abs=0.02)
    assert sizes.max() == 128


def test_lengths_are_a_mixture_that_depends_on_the_size(jobs):
    hours = jobs.length_hours
    assert hours.max() <= np.exp(12) / 3600 + 0.01
    long = hours > 1
    short_alone = 0.78 - 0.0054  # of one processor; half of the short lengths are below e^3.9 s
    assert np.mean(~long[jobs.cpus == 1]) == pytest.approx(short_alone, abs=0.03)
    assert np.mean(~long[jobs.cpus == 128]) < 0.2  # 0.78 - 0.0054 x 128 = 0.09, and some long ones are below 1 h


def test_arrivals_follow_the_day_and_come_in_bursts(jobs):
    hour = np.floor(jobs.arrival_hours % 24)
    by_hour = np.bincount(hour.astype(int), minlength=24) / len(jobs)
    assert by_hour[12:16].sum() > 5 * by_hour[2:6].sum()
    gaps = np.diff(jobs.arrival_hours)
    assert gaps.std() > 2 * gaps.mean()  # of a Poisson process: 1
    assert jobs.arrival_hours.max() <= 24 * 500


@pytest.mark.parametrize("problem", ["purchasing", "elastic", "mlcluster"])
def test_every_generator_takes_the_workload(problem):
    one, again, other = (
        co.generate(problem, jobs=30, arrival_hours=24, workload=kind, seed=1)
        for kind in ("supercomputer", "supercomputer", "paper")
    )
    assert one.sha256 == again.sha256 != other.sha256
    assert one.name.startswith(f"{problem}-supercomputer-")
    assert "Lublin" in one.provenance["workload"]
    with pytest.raises(UnsupportedError, match=r"workload = 'hpc': must be 'paper' or 'supercomputer'"):
        co.generate(problem, jobs=30, workload="hpc")


def test_mosp_takes_shapes():
    made = co.generate(
        "mosp", preset="supercomputer", jobs=200, slots=48, memory=True, restricted_share=0.5, day_capacity=0.5, seed=2
    )
    assert made.resources == ("node", "memory_gb")
    assert made.jobs.demand[:, 0].max() > 20 * np.median(made.jobs.demand[:, 0])
    eligible = made.jobs.eligible
    assert eligible.any(axis=1).all()
    assert 0.3 < np.mean(~eligible.all(axis=1)) < 0.5
    nodes = made.clusters.capacity[0, 0]
    assert nodes[12] == np.ceil(nodes[0] / 2)
    assert (nodes >= made.jobs.demand[:, 0].max()).all()
    assert (made.jobs.arrival + made.jobs.duration <= 48).all()


def test_mosp_takes_job_arrays():
    given = {"preset": "supercomputer", "jobs": 756, "clusters": 8, "slots": 101, "memory": True, "seed": 3}
    made = co.generate("mosp", **given, restricted_share=0.3, array_tail=0.9)
    assert made.name == "mosp-supercomputer070arrays-j0756-t101-z8-s03"
    jobs = made.jobs
    assert len(jobs) == 756
    rows = np.column_stack([jobs.arrival, jobs.duration, jobs.deadline, jobs.demand, jobs.eligible])
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    assert 40 <= len(counts) <= 250  # 46 to 180 in all but one stretch of RICC
    assert (np.diff(jobs.arrival) >= 0).all()
    assert (jobs.arrival + jobs.duration <= 101).all()
    assert (made.clusters.capacity[:, 0] >= jobs.demand[:, 0].max()).all()
    assert co.generate("mosp", **given, array_tail=np.inf).sha256 == co.generate("mosp", **given).sha256


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"max_demand": 1}, "max_demand = 1: must be at least 2"),
        ({"restricted_share": 1.5}, "restricted_share = 1.5: must be from 0 to 1"),
        ({"day_capacity": 0}, "day_capacity = 0: must be above 0 and at most 1"),
        ({"array_tail": 0.0}, r"array_tail = 0\.0: must be at least 0\.1"),
        ({"night_capacity": 1}, "the supercomputer preset does not take 'night_capacity'"),
    ],
)
def test_shapes_that_do_not_exist(shape, message):
    with pytest.raises(UnsupportedError, match=message):
        co.generate("mosp", preset="supercomputer", **shape)
