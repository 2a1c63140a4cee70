"""Online pause and resume at high values: thresholds by hand, and signals that look for more than the ratio."""

import numpy as np
import pytest

from carbonopt.core.errors import InputError
from carbonopt.guarantees.opr_max import balanced_ratio, balanced_thresholds, limit_ratio, proven_ratio, run
from tests.guarantees_support import corner_signals, random_signal, value_of, values_of

ROUNDING = 1 + 1e-8


def ratio_of(signal, thresholds, low, high, switch):
    """What the exact optimum gains, over what the rule does."""
    runs = run(signal, thresholds, low, high, switch)
    assert runs.sum() == len(thresholds)
    return values_of(signal, len(thresholds), -switch).max() / value_of(signal, runs, -switch)


def worst_ratio(thresholds, low, high, switch, slots):
    signals = corner_signals(thresholds, 2 * switch, (low, high), slots, len(thresholds), sign=-1)
    return max(ratio_of(signal, thresholds, low, high, switch) for signal in signals)


def test_thresholds_by_hand():
    # omega = 2, k = 2, low = 10, beta = 1: u_1 = 20 - 1 = 19, near = 12, q = 2: u_2 = 12 + 14 = 26, high = 12 + 28
    assert balanced_ratio(10.0, 40.0, 2, 1.0) == pytest.approx(2.0)
    assert balanced_thresholds(10.0, 40.0, 2, 1.0) == pytest.approx([19.0, 26.0])
    # equation (8): (2 u_1 - 2) / (2 low - 2) = (2 u_2 - 2) / (u_1 + low - 4) = omega
    assert (38 - 2) / (20 - 2) == (52 - 2) / (19 + 10 - 4) == 2.0


@pytest.mark.parametrize("switch", [0.0, 3.0])
def test_published_ratio_of_long_jobs_is_that_of_lambert_w(switch):
    assert balanced_ratio(20.0, 500.0, 100_000, switch) == pytest.approx(limit_ratio(20.0, 500.0, switch), abs=1e-3)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_the_published_ratio_is_the_proven_one(k):
    thresholds = balanced_thresholds(20.0, 500.0, k, 4.0)
    assert proven_ratio(thresholds, 20.0, 500.0, 4.0) == pytest.approx(balanced_ratio(20.0, 500.0, k, 4.0))


@pytest.mark.parametrize(("low", "high", "k", "slots", "switch"), [(10.0, 40.0, 2, 5, 1.0), (10.0, 90.0, 3, 5, 3.0)])
def test_the_worst_signal_of_tiny_instances_meets_the_ratio(low, high, k, slots, switch):
    thresholds = balanced_thresholds(low, high, k, switch)
    assert worst_ratio(thresholds, low, high, switch, slots) <= balanced_ratio(low, high, k, switch) * ROUNDING


def test_the_ratio_is_met_by_a_signal_that_rises_and_falls():
    thresholds = balanced_thresholds(10.0, 40.0, 2, 1.0)
    just_below = thresholds[0] * (1 - 1e-9)
    assert ratio_of(np.array([just_below, just_below, 10.0, 10.0]), thresholds, 10.0, 40.0, 1.0) == pytest.approx(2.0)


def random_terms(rng):
    low = float(rng.uniform(1, 50))
    high = low * float(rng.uniform(1.5, 40))
    k = int(rng.integers(1, 4))
    most = min(high - low, k * low) / 2
    return low, high, k, float(rng.choice([0.0, rng.uniform(0, 0.9)])) * most


@pytest.mark.slow
def test_ten_thousand_random_signals_keep_the_ratio():
    rng = np.random.default_rng(5)
    for number in range(10_000):
        if number % 50 == 0:
            low, high, k, switch = random_terms(rng)
            thresholds = balanced_thresholds(low, high, k, switch)
            ratio = proven_ratio(thresholds, low, high, switch)
        signal = random_signal(rng, thresholds, (low, high), k + int(rng.integers(0, 8)))
        assert ratio_of(signal, thresholds, low, high, switch) <= ratio * ROUNDING


@pytest.mark.slow
def test_the_worst_signals_of_a_hundred_instances_keep_the_ratio():
    rng = np.random.default_rng(13)
    for _ in range(100):
        low, high, k, switch = random_terms(rng)
        thresholds = balanced_thresholds(low, high, k, switch)
        ratio = balanced_ratio(low, high, k, switch)
        assert worst_ratio(thresholds, low, high, switch, k + 2) <= ratio * ROUNDING


@pytest.mark.parametrize(
    ("thresholds", "switch"), [([20.0, 15.0], 0.0), ([np.nan, 20.0], 0.0), ([20.0, 50.0], 0.0), ([10.0, 10.0], 5.0)]
)
def test_no_ratio_is_claimed_without_rising_thresholds_and_a_gain(thresholds, switch):
    with pytest.raises(InputError) as caught:
        proven_ratio(np.array(thresholds), 10.0, 40.0, switch)
    assert "\n" not in str(caught.value)


def test_switches_that_cost_all_of_the_gain_are_refused():
    with pytest.raises(InputError, match="switch = 10: must be below k low / 2 = 10"):
        balanced_ratio(10.0, 90.0, 2, 10.0)
