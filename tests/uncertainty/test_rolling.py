"""Plans that are made anew with each forecast, for its members."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.lessons.instances import small
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.uncertainty.measures import CVaR, Expectation, Risk
from carbonopt.uncertainty.rolling import RiskRolling


def night() -> MospInstance:
    """Return one job of an hour that may run in three hours of 300, 450 and 100 g/kWh."""
    return small("night", [300, 450, 100], 1, {"a": (0, 1, 1)})


def forecasts(second: tuple[float, float] = (450.0, 100.0), issues: tuple[int, int] = (0, 1)) -> ForecastArchive:
    """Return two members: 300, 100 or 450, then 500; an hour later it is known what the next ones are."""
    first = [[300.0, 100.0, 500.0], [300.0, 450.0, 500.0]]
    then = [[*second, np.nan]] * 2
    return ForecastArchive("DE", night().time, np.array(issues), np.array([first, then]))


def start_of(risk: Risk, archive: ForecastArchive) -> int:
    found = co.simulate(night(), RiskRolling([archive], risk), forecast=archive)
    return int(found.schedule["start"][0])


def test_the_tail_starts_at_once_and_the_mean_waits() -> None:
    """On average the next hour has 275 g/kWh, at worst 450."""
    assert start_of(CVaR(0.5), forecasts()) == 0
    assert start_of(Expectation(), forecasts()) == 2  # an hour later 100 are known of the last


def test_no_decision_knows_a_later_issue() -> None:
    for second in ((450.0, 100.0), (0.0, 0.0), (900.0, 900.0)):
        assert start_of(CVaR(0.5), forecasts(second)) == 0
    assert start_of(Expectation(), forecasts((450.0, 500.0))) == 1


def test_a_forecast_after_the_decision_is_refused() -> None:
    policy = RiskRolling([forecasts(issues=(1, 2))], CVaR(0.5))
    with pytest.raises(UnsupportedError, match="is after the decision"):
        co.simulate(night(), policy)


def test_a_forecast_that_ends_too_early_is_refused() -> None:
    archive = ForecastArchive("DE", night().time, np.array([0]), np.full((1, 2, 2), 300.0))
    with pytest.raises(UnsupportedError, match="ends too early"):
        co.simulate(night(), RiskRolling([archive], CVaR(0.5)))


@pytest.mark.parametrize("risk", [Expectation(), CVaR(0.5)])
def test_a_perfect_forecast_gives_the_optimum(risk: Risk) -> None:
    """All jobs are there in slot 0: then no later plan is better than the first."""
    signal = [400, 250, 100, 300, 120, 500]
    instance = small("crowd", signal, 2, {"a": (0, 2, 1), "b": (0, 1, 2), "c": (0, 3, 1), "d": (0, 1, 1)})
    issues = [[signal[t:] + [np.nan] * t] * 3 for t in range(6)]
    archive = ForecastArchive("DE", instance.time, np.arange(6), np.array(issues, dtype=float))
    found = co.simulate(instance, RiskRolling([archive], risk), forecast=archive)
    assert found.objective == pytest.approx(co.solve(instance, mip_rel_gap=0.0).objective, rel=1e-9)
