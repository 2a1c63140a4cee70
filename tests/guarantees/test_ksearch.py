"""k-min search: thresholds by hand, and signals that look for more than the proven ratio."""

from itertools import product

import numpy as np
import pytest

from carbonopt.core.errors import InputError
from carbonopt.guarantees.ksearch import (
    balanced_ratio,
    balanced_thresholds,
    guarded_thresholds,
    proven_ratio,
    run,
)

MAKERS = (balanced_thresholds, guarded_thresholds)


def ratio_of(signal, thresholds, low, high):
    """What the rule emits, over the k lowest: the exact optimum."""
    k = len(thresholds)
    runs = run(signal, thresholds, low, high)
    assert runs.sum() == k
    return signal[runs].sum() / np.sort(signal)[:k].sum()


def worst_signal(thresholds, low, high, slots):
    """The largest ratio over all signals of the bounds, the thresholds and just above each: by enumeration."""
    above = np.minimum(thresholds * (1 + 1e-9), high)
    levels = sorted({low, high, *thresholds.tolist(), *above.tolist()})
    return max(ratio_of(np.array(signal), thresholds, low, high) for signal in product(levels, repeat=slots))


@pytest.mark.parametrize("make", MAKERS)
def test_one_slot_waits_for_the_geometric_mean(make):
    assert make(4, 100, 1) == pytest.approx([20.0])
    assert make(2, 101, 2).dtype == np.float64
    assert proven_ratio(make(4.0, 100.0, 1), 4.0, 100.0) == pytest.approx(5.0)


def test_balanced_thresholds_by_hand():
    # alpha = 2, k = 2, high = 64: 64 - 32 = 32, 64 - 32 * 1.25 = 24, and low = 64 - 32 * 1.5625 = 14
    assert balanced_ratio(14.0, 64.0, 2) == pytest.approx(2.0)
    assert balanced_thresholds(14.0, 64.0, 2) == pytest.approx([32.0, 24.0])


def test_balanced_ratio_is_exceeded_after_a_slot_far_below_its_threshold():
    thresholds = balanced_thresholds(1.0, 100.0, 2)
    signal = np.array([1.0, thresholds[1] * (1 + 1e-9), 100.0])
    assert balanced_ratio(1.0, 100.0, 2) == pytest.approx(8.8223, abs=1e-4)
    assert ratio_of(signal, thresholds, 1.0, 100.0) == pytest.approx(101 / (1 + thresholds[1]))
    assert proven_ratio(thresholds, 1.0, 100.0) == pytest.approx(13.8170, abs=1e-4)
    assert proven_ratio(guarded_thresholds(1.0, 100.0, 2), 1.0, 100.0) < 10.5


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("low", "high", "k", "slots"), [(1.0, 100.0, 2, 4), (30.0, 600.0, 2, 5), (14.0, 64.0, 3, 5)])
def test_the_worst_signal_of_tiny_instances_keeps_the_ratio(make, low, high, k, slots):
    thresholds = make(low, high, k)
    assert worst_signal(thresholds, low, high, slots) <= proven_ratio(thresholds, low, high) * (1 + 1e-9)


@pytest.mark.parametrize("signals", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_signals_keep_the_ratio(signals):
    rng = np.random.default_rng(7)
    for _ in range(signals):
        k = int(rng.integers(1, 5))
        low = float(rng.uniform(1, 50))
        high = low * float(rng.uniform(1, 40))
        signal = rng.uniform(low, high, size=k + int(rng.integers(0, 12)))
        for make in MAKERS:
            thresholds = np.clip(make(low, high, k), low, high)
            assert np.all(np.diff(thresholds) <= 1e-9 * high)
            ratio = proven_ratio(thresholds, low, high)
            assert ratio_of(signal, thresholds, low, high) <= ratio * (1 + 1e-9)


@pytest.mark.slow
def test_the_worst_signals_of_a_hundred_instances_keep_the_ratio():
    rng = np.random.default_rng(11)
    for _ in range(100):
        low = float(rng.uniform(1, 50))
        high = low * float(rng.uniform(2, 40))
        for make in MAKERS:
            thresholds = make(low, high, 2)
            assert worst_signal(thresholds, low, high, 4) <= proven_ratio(thresholds, low, high) * (1 + 1e-9)


def test_guarded_thresholds_have_the_least_ratio():
    for k in (1, 2, 5, 20):
        guarded = proven_ratio(guarded_thresholds(20.0, 500.0, k), 20.0, 500.0)
        assert balanced_ratio(20.0, 500.0, k) <= guarded * (1 + 1e-9)
        assert guarded <= proven_ratio(balanced_thresholds(20.0, 500.0, k), 20.0, 500.0) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("low", "high", "k"), [(-1.0, 5.0, 1), (0.0, 5.0, 1), (6.0, 5.0, 1), (1.0, np.nan, 1), (1.0, 5.0, 0)]
)
def test_bounds_that_cannot_be_are_one_line(low, high, k):
    for make in MAKERS:
        with pytest.raises(InputError) as caught:
            make(low, high, k)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        ([5.0], "do not fit into 1 slots"),
        ([5.0, 11.0], r"intensity\[1\] = 11"),
        ([np.nan, 5.0], r"intensity\[0\] = nan"),
    ],
)
def test_signals_that_cannot_be_are_one_line(signal, words):
    with pytest.raises(InputError, match=words):
        run(np.array(signal), np.array([6.0, 4.0]), 2.0, 10.0)
