"""Capacity that follows carbon: thresholds and quotas by hand, and signals that look for a longer makespan."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from carbonopt.core.errors import InputError
from carbonopt.guarantees.cap import proven_ratio, published_stretch, quota, run, thresholds

LOW, HIGH = 14.0, 64.0


def shortest_makespan(machines, duration, before):
    """The exact optimum of unit pieces that may pause: at most the makespan of any schedule."""
    first = np.concatenate(([0], np.cumsum(duration)))
    needs = []
    for task, length in enumerate(duration):
        needs += [sum(1 << int(first[j + 1] - 1) for j in before[task])]
        needs += [1 << int(first[task] + piece - 1) for piece in range(1, length)]
    everything = (1 << len(needs)) - 1

    @cache
    def left(done):
        if done == everything:
            return 0
        ready = [i for i, need in enumerate(needs) if not done >> i & 1 and need & ~done == 0]
        chosen = combinations(ready, min(machines, len(ready)))
        return 1 + min(left(done | sum(1 << i for i in some)) for some in chosen)

    return left(0)


def ratio_of(signal, machines, least, duration, before, best=None):
    """The makespan over the exact optimum `best`, and the least quota on the way."""
    best = best or shortest_makespan(machines, duration, before)
    quotas = quota(signal, thresholds(LOW, HIGH, machines, least), least)
    start = run(quotas, duration, before)
    makespan = int((start + duration).max())
    for task, earlier in enumerate(before):
        assert all(start[j] + duration[j] <= start[task] for j in earlier)
    for slot in range(makespan):
        busy = ((start <= slot) & (slot < start + duration)).sum()
        begun = (start == slot).any()
        assert busy <= (quotas[min(slot, len(quotas) - 1)] if begun else machines)
    return makespan / best, int(quotas[:makespan].min())


def random_tasks(rng):
    tasks = int(rng.integers(1, 7))
    before = [[j for j in range(i) if rng.random() < 0.3] for i in range(tasks)]
    return rng.integers(1, 3, size=tasks), before


def test_thresholds_and_quotas_by_hand():
    # K = 4, B = 2: the thresholds of k-min search with k = 2, alpha = 2
    limits = thresholds(14.0, 64.0, 4, 2)
    assert limits == pytest.approx([32.0, 24.0])
    assert quota(np.array([64.0, 33.0, 31.9, 24.1, 23.9, 14.0]), limits, 2).tolist() == [2, 2, 3, 3, 4, 4]
    assert quota(np.array([32.0, 24.0]), np.array([32.0, 24.0]), 2).tolist() == [3, 4], "a threshold is not exceeded"
    assert thresholds(14.0, 64.0, 3, 3).tolist() == []


def test_ratios_by_hand():
    assert proven_ratio(4, 2) == 4 / 2 + 1 - 1 / 2
    assert published_stretch(4, 2) == pytest.approx(4 * 3 / 7)
    assert published_stretch(4, 2) * (2 - 1 / 4) == pytest.approx(4 / 2 * (2 - 1 / 2))
    assert proven_ratio(5, 5) == 2 - 1 / 5


def test_graham_list_meets_the_ratio_without_a_quota():
    # six unit tasks and one of three on 3 machines: the long one last gives 5, first 3; 2 - 1/3 = 5/3
    duration = np.array([1, 1, 1, 1, 1, 1, 3])
    ratio, fewest = ratio_of(np.full(6, LOW), 3, 1, duration, [[]] * 7)
    assert (ratio, fewest) == (pytest.approx(5 / 3), 3)
    assert proven_ratio(3, 3) == pytest.approx(5 / 3)


@pytest.mark.parametrize("signals", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_signals_keep_the_ratio(signals):
    rng = np.random.default_rng(3)
    for _ in range(signals):
        machines = int(rng.integers(1, 5))
        least = int(rng.integers(1, machines + 1))
        ratio, fewest = ratio_of(rng.uniform(LOW, HIGH, size=12), machines, least, *random_tasks(rng))
        assert ratio <= proven_ratio(machines, fewest) * (1 + 1e-12)
        assert least <= fewest


@pytest.mark.parametrize("instances", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_the_worst_signal_of_tiny_instances_keeps_the_ratio(instances):
    # what the rule does depends on quotas alone: one intensity for each quota is enough
    rng = np.random.default_rng(17)
    for _ in range(instances):
        machines, least = (3, 1) if rng.random() < 0.5 else (4, 2)
        limits = thresholds(LOW, HIGH, machines, least)
        duration, before = random_tasks(rng)
        best = shortest_makespan(machines, duration, before)
        for signal in product([HIGH, *limits], repeat=4):
            ratio, fewest = ratio_of(np.array(signal), machines, least, duration, before, best)
            assert ratio <= proven_ratio(machines, fewest) * (1 + 1e-12)


def test_what_cannot_be_is_one_line():
    for make in (lambda: thresholds(14.0, 64.0, 4, 0), lambda: proven_ratio(4, 5), lambda: published_stretch(0, 0)):
        with pytest.raises(InputError, match="machines"):
            make()
    with pytest.raises(InputError, match="low, high"):
        thresholds(64.0, 14.0, 4, 1)
    one = np.array([1, 1])
    with pytest.raises(InputError, match="wait for each other"):
        run(one, one, [[1], [0]])
    with pytest.raises(InputError, match=r"before\[0\] = 5: must be from 0 to 1"):
        run(one, one, [[5], []])
    with pytest.raises(InputError, match="an entry for each of 2 tasks"):
        run(one, one, [[]])
    with pytest.raises(InputError, match="duration"):
        run(one, np.array([0]), [[]])
    with pytest.raises(InputError, match="quotas"):
        run(np.array([0]), one, [[], []])
