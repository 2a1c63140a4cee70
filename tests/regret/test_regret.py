"""What policies lose, part by part: by hand, and that the parts make the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.registry import problem_of
from carbonopt.forecasts import ForecastArchive
from carbonopt.problems.mosp.data.instance import MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Queue
from carbonopt.regret import least
from carbonopt.regret.least import cost_of
from carbonopt.regret.table import MEASURES, ORDERS
from carbonopt.simulation import ForecastModel, Policy
from carbonopt.simulation.options import LENGTHS

QUICK = {"time_limit": None, "mip_rel_gap": 1e-3}
SIZES = {
    "purchasing": {"jobs": 8, "arrival_hours": 12.0, "reserved": 1},
    "elastic": {"jobs": 6, "arrival_hours": 24.0, "capacity": 6.0},
    "mosp": {"preset": "bench", "jobs": 6, "clusters": 2, "slots": 20, "load": 0.3},
    "mlcluster": {"jobs": 4},
}
POLICIES = {
    "purchasing": "res-first-carbon-time",
    "elastic": "vcc",
    "mosp": "caspian-milp",
    "mlcluster": "carbon-time",
}


def one_job(*g_per_kwh: float) -> PurchasingInstance:
    """Return one job of an hour that may wait three, on one CPU of 1 MW: g/kWh are t of carbon."""
    made = co.generate("purchasing", jobs=1, arrival_hours=1, seed=1)
    assert isinstance(made, PurchasingInstance)
    time = co.TimeGrid(len(g_per_kwh))
    return replace(
        made,
        carbon=co.CarbonSignal(("A",), [list(g_per_kwh)], time),
        zone="A",
        jobs=replace(made.jobs, arrival_hours=[0.0], length_hours=[1.0], cpus=[1]),
        queues=(Queue("all", float("inf"), 3.0),),
        watts_per_cpu=1e6,
        reserved_cpus=0,
        spot=None,
    )


def parts(table: pd.DataFrame, order: str, measure: str = "carbon") -> dict[str, float]:
    rows = table[(table["order"] == order) & (table["measure"] == measure)]
    return dict(zip(rows["part"], rows["least"], strict=True))


def told(instance: PurchasingInstance, *issues: list[float]) -> ForecastArchive:
    return ForecastArchive("A", instance.time, np.arange(len(issues)), [[issue] for issue in issues])


def test_by_hand() -> None:
    """The truth falls to 100 in slot 2. The forecast ends after two slots, and takes the first for the cleanest.

    So the job runs in slot 0 at 300. Told the first two values, it waits for slot 1 at 200; told all, for slot 2. In
    the other order the value of slot 2 comes first: it is as low as what the forecast says of slot 0, where the job
    stays, and errors cost all.
    """
    instance = one_job(300, 200, 100, 400, 400)
    archive = told(instance, *([[100, 200]] * 5))
    table = co.regret(instance, "lowest-window", forecast=archive, **QUICK)
    first, last = (parts(table, order) for order in ORDERS)
    assert first == pytest.approx(
        {"errors": 100, "window": 100, "arrivals": 0, "lengths": 0, "heuristic": 0, "whole": 200}, abs=1e-6
    )
    assert last == pytest.approx(
        {"errors": 200, "window": 0, "arrivals": 0, "lengths": 0, "heuristic": 0, "whole": 200}, abs=1e-6
    )


@pytest.mark.parametrize(
    "problem",
    ["purchasing", "elastic", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mosp", "mlcluster"))],
)
def test_the_parts_add_up(problem: str) -> None:
    """In each order; order changes neither the whole nor what is the policy's own, which are never below 0."""
    instance = co.generate(problem, **SIZES[problem], seed=5)
    draws = [ForecastModel(error=0.4, window_hours=6), None]
    table = co.regret(instance, POLICIES[problem], forecast=draws, **QUICK)
    assert not table[["least", "most"]].isna().any().any()
    for _, rows in table.groupby(["policy", "forecast", "measure", "order"]):
        value = rows.set_index("part")[["least", "most"]]
        assert value.drop("whole").sum().to_numpy() == pytest.approx(value.loc["whole"].to_numpy(), abs=1e-9, rel=1e-12)
        assert (value.loc[["heuristic", "whole"]] >= -1e-9).all().all()
        assert (value["most"] >= value["least"]).all()
    ends = table[table["part"].isin(["heuristic", "whole"])]
    assert (ends.groupby(["forecast", "measure", "part"])["least"].nunique() == 1).all()
    right = table[(table["forecast"] == 1) & table["part"].isin(["errors", "window"])]
    assert (right[["least", "most"]] == 0.0).all().all()
    assert (right["reason"] != "").all()


@pytest.mark.parametrize("problem", SIZES)
def test_runs_are_schedules_of_what_covers_them(problem: str) -> None:
    """The checker takes them, late jobs included, and values them in its unit as they were valued before."""
    instance = co.generate(problem, **SIZES[problem], seed=6)
    runs = [co.simulate(instance, POLICIES[problem], forecast="error=0.5,window=6", lengths=word) for word in LENGTHS]
    card = problem_of(problem)
    for measure in MEASURES:
        target, unit = card.role("covering")(instance, runs, measure == "carbon")
        for run in runs:
            info = {name: value for name, value in run.info.items() if name != "late_slots"}
            found = co.evaluate(target, run.columns, info=info)
            assert found.objective * unit == pytest.approx(cost_of(card, run, measure), rel=1e-9)


def test_a_perfect_archive_loses_nothing_to_errors() -> None:
    """Exactly nothing; that it ends early still costs."""
    instance = one_job(300, 200, 100, 400, 400)
    truth = instance.carbon.g_per_kwh[0]
    archive = told(instance, *(truth[slot : slot + 2].tolist() for slot in range(4)))
    table = co.regret(instance, "lowest-window", forecast=archive, **QUICK)
    rows = table[table["part"] == "errors"]
    assert (rows[["least", "most"]] == 0.0).all().all()
    assert set(rows["reason"]) == {"the forecast is right"}
    assert parts(table, "errors first")["window"] == pytest.approx(100)


def test_a_policy_that_is_optimal_alone_never_gains_from_ignorance() -> None:
    """Without reserved CPUs wait-awhile takes each job's cleanest hours, so that the last truth cannot hurt it."""
    instance = replace(co.generate("purchasing", jobs=15, arrival_hours=24, seed=2), reserved_cpus=0)
    table = co.regret(instance, "wait-awhile", forecast=ForecastModel(error=0.5, window_hours=8), **QUICK)
    first, last = (parts(table, order) for order in ORDERS)
    assert first["window"] >= -1e-9
    assert last["errors"] >= -1e-9
    assert first["errors"] + first["window"] > 0
    assert first["heuristic"] == pytest.approx(0, abs=1e-6)


def test_what_does_not_exist_says_why() -> None:
    instance = co.generate("mosp", **SIZES["mosp"], seed=1)
    table = co.regret(instance, "earliest-random", forecast="error=0.4", **QUICK).set_index("part")
    assert set(table.loc["lengths", "reason"]) == {"run times are known in mosp"}
    assert set(table.loc["window", "reason"]) == {"the forecast reaches the end of the signal"}
    blind = co.regret(co.generate("mlcluster", jobs=4, seed=1), "fcfs", forecast="error=0.4", **QUICK).set_index("part")
    assert set(blind.loc["errors", "reason"]) == {"the policy reads no forecast"}
    assert set(blind.loc["arrivals", "reason"]) == {"the policy decides on no job before its arrival"}
    assert (blind.loc[["errors", "window", "arrivals"], "most"] == 0.0).all()


class AtOnce(Policy):
    """Every job at its arrival, looking at nothing."""

    def on_arrival(self, state, job):
        state.start(job, "on-demand")


def test_a_policy_of_ones_own() -> None:
    table = co.regret(one_job(3, 2, 1, 4, 4), AtOnce, forecast="error=0.3", **QUICK)
    assert set(table["policy"]) == {"AtOnce"}
    assert set(table.loc[table["part"] == "errors", "reason"]) == {"the policy reads no forecast"}


def test_knowing_arrivals_lets_a_policy_plan_for_them() -> None:
    """One place, slots of 150, 100, 300 and 300 g/kWh; x comes in slot 0, y in slot 1, each for one slot.

    Without y, x waits for slot 1, and one of them runs at 300. Who knows y lets x run at once.
    """
    made = co.generate("mosp", preset="bench", jobs=2, clusters=1, slots=10, load=0.1, seed=1)
    time = co.TimeGrid(4)
    instance = replace(
        made,
        carbon=co.CarbonSignal(made.carbon.zones, [[150.0, 100.0, 300.0, 300.0]], time),
        clusters=replace(made.clusters, capacity=np.ones((1, len(made.resources), 4))),
        jobs=MospJobs(("x", "y"), [0, 1], [1, 1], [4.0, 4.0], np.ones((2, len(made.resources))), None),
        objective=CarbonObjective(1.0, 0.0, 0.0),
    )
    blind, knowing = (co.simulate(instance, "caspian-milp", arrivals=word) for word in ("online", "known"))
    assert knowing.metrics["carbon_kg"] / blind.metrics["carbon_kg"] == pytest.approx(250 / 400)
    table = co.regret(instance, "caspian-milp", **QUICK)
    assert parts(table, "errors first")["arrivals"] == pytest.approx(table["most"].max())
    assert knowing.info["arrivals"] == "known"
    with pytest.raises(UnsupportedError, match="arrivals = 'never': must be 'online' or 'known'"):
        co.simulate(instance, "caspian", arrivals="never")


def test_what_is_refused() -> None:
    instance = one_job(300, 200, 100, 400, 400)
    late = ForecastArchive("A", instance.time, [1], [[[1.0, 2.0]]])
    with pytest.raises(InputError, match="is after the decision"):
        co.regret(instance, "lowest-window", forecast=late)
    with pytest.raises(InputError, match="ends too early"):
        co.regret(instance, "lowest-window", forecast=ForecastArchive("A", instance.time, [0, 3], [[[1.0]], [[2.0]]]))
    with pytest.raises(UnsupportedError, match="'ecas' is none that has online policies: must be 'elastic'"):
        co.regret(co.generate("ecas", jobs=2, machines=1, slots=4, load=0.1, seed=1))
    with pytest.raises(UnsupportedError, match="at least one draw"):
        co.regret(instance, forecast=[])
    with pytest.raises(UnsupportedError, match="unknown policy"):
        co.regret(instance, "wait")
    with pytest.raises(UnsupportedError, match="must be a name or a class"):
        co.regret(instance, AtOnce())


def test_a_bound_that_a_run_refutes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not bent until it fits."""
    instance = one_job(300, 200, 100, 400, 400)
    claimed = replace(co.solve(instance), bound=1e9)
    monkeypatch.setattr(least, "solve", lambda *_, **__: claimed)
    with pytest.raises(co.CarbonoptError, match="claims that no schedule is below"):
        co.regret(instance, "lowest-window")
