"""Online pause and resume at low intensities: thresholds by hand, and signals that look for more than the ratio."""

import numpy as np
import pytest

from carbonopt.core.errors import InputError
from carbonopt.guarantees.opr import (
    balanced_ratio,
    balanced_thresholds,
    guarded_thresholds,
    limit_ratio,
    proven_ratio,
    run,
)
from tests.guarantees_support import corner_signals, random_signal, value_of, values_of

MAKERS = (balanced_thresholds, guarded_thresholds)
ROUNDING = 1 + 1e-8


def ratio_of(signal, thresholds, low, high, switch=0.0, length=None):
    """What the rule emits, over the exact optimum."""
    work = length or len(thresholds)
    runs = run(signal, thresholds, low, high, switch, length)
    assert runs.sum() == work
    return value_of(signal, runs, switch) / values_of(signal, work, switch).min()


def worst_ratio(thresholds, low, high, switch, slots, length):
    """The largest ratio over all signals, by enumeration."""
    signals = corner_signals(thresholds, 2 * switch, (low, high), slots, length)
    return max(ratio_of(signal, thresholds, low, high, switch, length) for signal in signals)


@pytest.mark.parametrize("make", MAKERS)
def test_one_slot_waits_for_the_geometric_mean(make):
    assert make(4, 100, 1) == pytest.approx([20.0])
    assert make(2, 101, 2).dtype == np.float64
    assert proven_ratio(make(4.0, 100.0, 1), 4.0, 100.0) == pytest.approx(5.0)


def test_one_slot_with_switches_waits_for_the_geometric_mean_of_all_that_is_paid():
    # every run starts and stops once: 8 + 2 * 4 = 16, 92 + 2 * 4 = 100, and 40 - 2 * 4 = 32
    thresholds = guarded_thresholds(8.0, 92.0, 1, 4.0)
    assert thresholds == pytest.approx([32.0])
    assert proven_ratio(thresholds, 8.0, 92.0, 4.0) == pytest.approx(2.5)


def test_balanced_thresholds_by_hand():
    # alpha = 2, k = 2, high = 64: 64 - 32 = 32, 64 - 32 * 1.25 = 24, and low = 64 - 32 * 1.5625 = 14
    assert balanced_ratio(14.0, 64.0, 2) == pytest.approx(2.0)
    assert balanced_thresholds(14.0, 64.0, 2) == pytest.approx([32.0, 24.0])


@pytest.mark.parametrize("above", [1e9, 1e15])
def test_bounds_far_apart_leave_the_published_balance_its_digits(above):
    # (1 - 1/phi) / (1 - 1/alpha) = (1 + 1/(3 alpha))^3 times alpha^2 (1 - 1/alpha): no term is lost beside another
    alpha = balanced_ratio(1.0, above, 3)
    assert alpha**2 / above == pytest.approx(2 / 3 + 8 / 27 / alpha + 1 / 27 / alpha**2, rel=1e-8)
    thresholds = balanced_thresholds(1.0, above, 3)
    for done, limit in enumerate([*thresholds, 1.0]):
        assert (thresholds[:done].sum() + (3 - done) * above) / (3 * limit) == pytest.approx(alpha, rel=1e-5)


def test_balanced_thresholds_with_switches_by_hand():
    # alpha = 2, k = 2, high = 64, beta = 4: l_1 = (2 * 64 + 8) / 4 - 8 / 2 = 30, then with q = 1.25
    # l_2 = 56 - 26 * 1.25 = 23.5, and low = 56 - 26 * 1.5625 = 15.375
    assert balanced_ratio(15.375, 64.0, 2, 4.0) == pytest.approx(2.0)
    assert balanced_thresholds(15.375, 64.0, 2, 4.0) == pytest.approx([30.0, 23.5])
    # equation (7): (u_1 + U + 2 beta) / (2 l_2 + 2 beta) = alpha
    assert (38 + 64 + 8) / (2 * 23.5 + 8) == 2.0
    # none of the slots at low but one, which starts alone: (15.375 + 8 + 64 + 8) / (8 + 15.375 + 23.5)
    assert proven_ratio(np.array([30.0, 23.5]), 15.375, 64.0, 4.0) == pytest.approx(95.375 / 46.875)


@pytest.mark.parametrize("switch", [0.0, 7.0, 60.0])
def test_published_ratio_of_long_jobs_is_that_of_lambert_w(switch):
    assert balanced_ratio(20.0, 500.0, 100_000, switch) == pytest.approx(limit_ratio(20.0, 500.0, switch), abs=1e-3)


def test_balanced_ratio_is_exceeded_after_a_slot_far_below_its_threshold():
    thresholds = balanced_thresholds(1.0, 100.0, 2)
    signal = np.array([1.0, thresholds[1] * (1 + 1e-9), 100.0])
    assert balanced_ratio(1.0, 100.0, 2) == pytest.approx(8.8223, abs=1e-3)
    assert ratio_of(signal, thresholds, 1.0, 100.0) == pytest.approx(101 / (1 + thresholds[1]))
    assert proven_ratio(thresholds, 1.0, 100.0) == pytest.approx(13.8170, abs=1e-3)
    assert proven_ratio(guarded_thresholds(1.0, 100.0, 2), 1.0, 100.0) < 10.5


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("switch", [0.0, 5.0, 20.0])
@pytest.mark.parametrize(("low", "high", "k", "slots"), [(1.0, 100.0, 2, 4), (30.0, 600.0, 2, 5), (14.0, 64.0, 3, 5)])
def test_the_worst_signal_of_tiny_instances_keeps_the_ratio(make, switch, low, high, k, slots):
    thresholds = make(low, high, k, switch)
    worst = worst_ratio(thresholds, low, high, switch, slots, k)
    assert 1 < worst <= proven_ratio(thresholds, low, high, switch) * ROUNDING


def test_the_ratio_is_met_without_switches():
    thresholds = guarded_thresholds(30.0, 600.0, 2)
    assert worst_ratio(thresholds, 30.0, 600.0, 0.0, 4, 2) == pytest.approx(proven_ratio(thresholds, 30.0, 600.0))


def random_terms(rng):
    low = float(rng.uniform(1, 50))
    high = low * float(rng.uniform(1.1, 40))
    switch = float(rng.choice([0.0, rng.uniform(0, 0.49)])) * (high - low)
    return low, high, switch


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_ten_thousand_random_signals_keep_the_ratio(known):
    rng = np.random.default_rng(7)
    for number in range(10_000):
        if number % 100 == 0:
            low, high, switch = random_terms(rng)
            k = int(rng.integers(1, 5))
            shortest = k if known else int(rng.integers(1, k + 1))
            both = []
            for make in MAKERS:
                thresholds = make(low, high, k, switch)
                both.append((thresholds, proven_ratio(thresholds, low, high, switch, shortest)))
        length = int(rng.integers(shortest, k + 1))
        for thresholds, ratio in both:
            signal = random_signal(rng, thresholds, (low, high), length + int(rng.integers(0, 8)))
            assert ratio_of(signal, thresholds, low, high, switch, length) <= ratio * ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_the_worst_signals_of_a_hundred_instances_keep_the_ratio(known):
    rng = np.random.default_rng(11)
    for number in range(100):
        low, high, switch = random_terms(rng)
        k = 2 + number % 2
        thresholds = MAKERS[number // 2 % 2](low, high, k, switch)
        shortest = k if known else 1
        ratio = proven_ratio(thresholds, low, high, switch, shortest)
        for length in range(shortest, k + 1):
            assert worst_ratio(thresholds, low, high, switch, length + 2, length) <= ratio * ROUNDING


def test_a_job_of_unknown_length_by_hand():
    # a job of one slot meets the thresholds of two: it waits for 32, and the other bound is 100
    thresholds = np.array([32.0, 24.0])
    signal = np.array([33.0, 100.0])
    assert ratio_of(signal, thresholds, 14.0, 100.0, length=1) == pytest.approx(100 / 33)
    # of one slot: max(32 / 14, 100 / 32); of two: its own
    assert proven_ratio(thresholds, 14.0, 100.0, shortest=1) == pytest.approx(
        max(100 / 32, proven_ratio(thresholds, 14.0, 100.0))
    )
    guarded = guarded_thresholds(14.0, 100.0, 5, shortest=1)
    assert proven_ratio(guarded, 14.0, 100.0, shortest=1) == pytest.approx(np.sqrt(100 / 14))


@pytest.mark.parametrize("switch", [0.0, 3.0, 40.0, 400.0])
def test_guarded_thresholds_have_less_of_a_ratio(switch):
    for k in (1, 2, 5, 20):
        guarded = proven_ratio(guarded_thresholds(20.0, 500.0, k, switch), 20.0, 500.0, switch)
        assert guarded <= proven_ratio(np.full(k, 100.0), 20.0, 500.0, switch) * ROUNDING
        if 2 * switch < 480:
            balanced = balanced_thresholds(20.0, 500.0, k, switch)
            assert guarded <= proven_ratio(balanced, 20.0, 500.0, switch) * ROUNDING
        if switch == 0:
            assert balanced_ratio(20.0, 500.0, k) <= guarded * ROUNDING


@pytest.mark.parametrize(
    ("low", "high", "k"),
    [(-1.0, 5.0, 1), (0.0, 5.0, 1), (6.0, 5.0, 1), (1.0, np.nan, 1), (1e-300, 1e300, 1), (1.0, 5.0, 0)],
)
def test_bounds_that_cannot_be_are_one_line(low, high, k):
    for make in MAKERS:
        with pytest.raises(InputError) as caught:
            make(low, high, k)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("switch", [-1.0, np.nan, np.inf])
def test_switches_that_cannot_be_are_one_line(switch):
    for make in MAKERS:
        with pytest.raises(InputError, match="switch"):
            make(1.0, 5.0, 2, switch)
    with pytest.raises(InputError, match=r"switch = 2: must be below \(high - low\) / 2 = 2"):
        balanced_thresholds(1.0, 5.0, 2, 2.0)


@pytest.mark.parametrize("thresholds", [[20.0, 30.0], [np.nan, 20.0], [101.0, 20.0], [20.0, 9.0], []])
def test_no_ratio_is_claimed_for_thresholds_that_rise_or_leave_the_bounds(thresholds):
    with pytest.raises(InputError) as caught:
        proven_ratio(np.array(thresholds), 10.0, 100.0)
    with pytest.raises(InputError):
        run(np.full(3, 50.0), np.array(thresholds), 10.0, 100.0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("thresholds", [[-5e-7, -5e-7], [1e-9, 0.0], [1e-9, 5e-7]])
def test_rounding_is_no_excuse_where_the_least_intensity_is_far_below_the_largest(thresholds):
    # the first rule never starts by itself: it may pay 1e3 where the optimum pays 1e-9, and its ratio was 1
    with pytest.raises(InputError, match="thresholds must fall"):
        proven_ratio(np.array(thresholds), 1e-9, 1e3)


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
    with pytest.raises(InputError, match="length = 3"):
        run(np.array([5.0, 5.0, 5.0]), np.array([6.0, 4.0]), 2.0, 10.0, length=3)
