import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.partial_schedule import PartialSchedule


def test_earliest_start_breaks_ties_to_the_clean_cluster(tiny):
    solution = co.solve(tiny["crowd"], "greedy-clean")
    assert dict(zip(solution.columns["job"], solution.columns["cluster"], strict=True)) == {
        "x": "clean", "y": "dirty", "z": "clean",
    }  # fmt: skip
    assert solution.columns["start"] == [0, 0, 1]
    assert solution.objective == pytest.approx(0.1 + 0.5 + 0.2)


def test_random_ties_depend_on_the_seed_alone(small_bench):
    runs = [co.solve(small_bench, "greedy-random", seed=seed).columns for seed in (1, 1, 2, 3)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2] or runs[0] != runs[3]


def test_room_finds_the_cheapest_place_that_is_left(tiny):
    room = PartialSchedule(tiny["crowd"], placement_value(tiny["crowd"]))
    for job, place in ((0, (0, 0)), (1, (0, 1)), (2, (1, 1))):
        best = room.cheapest(job)
        assert best is not None
        assert best[:2] == place
        room.place(job, *place)
    assert room.complete
    room.remove(1)
    assert room.capacity_left[0, 0] == pytest.approx([0, 1], abs=1e-8)


def test_room_respects_per_slot_capacity(random_instance):
    for seed in range(20):
        instance = random_instance(seed, "carbon")
        room = PartialSchedule(instance, placement_value(instance))
        for job in range(len(instance.jobs)):
            fits = room.fits(job)
            starts = room.starts(job)
            for j in range(len(instance.clusters)):
                for k, t in enumerate(starts):
                    run = instance.clusters.capacity[j, :, t : t + instance.jobs.duration[job]]
                    alone = instance.eligible[job, j] and (run >= instance.jobs.demand[job][:, None]).all()
                    assert fits[j, k] == alone


def test_the_papers_rounding_and_ours_on_a_generated_instance(small_bench):
    ours = co.solve(small_bench, "lp-rounding")
    lp = co.solve(small_bench, "lp")
    assert ours.has_solution
    assert ours.bound == pytest.approx(lp.bound)
    assert ours.objective <= co.solve(small_bench, "greedy-clean").objective
    papers = co.solve(small_bench, "lp-rounding-caspian")
    assert papers.bound == pytest.approx(lp.bound)


def test_lp_rounding_takes_an_integral_lp_as_it_is(tiny):
    solution = co.solve(tiny["crowd"], "lp-rounding")
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(0.7)
    assert np.isclose(solution.bound, 0.7)
