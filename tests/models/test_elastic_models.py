"""models/elastic_pyomo.py and models/elastic_cvxpy.py against brute force, by hand, and from the command line."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from elastic_models_support import (
    CVXPY,
    PYOMO,
    by_hand,
    exactly,
    fluid,
    integer,
    linear,
    reference,
)

# The counterexamples to Algorithm 1 of the CarbonFlex paper: capacity, carbon, jobs (arrival, length, slack, gains),
# integer optimum, fluid optimum. None where the page states none.
COUNTEREXAMPLES = {
    "no rerouting": (by_hand(1, [2, 1, 4], (0, 1, 1, [1]), (1, 1, 1, [1])), 3, None),
    "false infeasibility": (by_hand(1, [2, 1, 1], (0, 1, 1, [1]), (1, 2, 0, [1])), 4, None),
    "last unit, one job": (by_hand(2, [2, 3], (0, 1.5, 0, [1, 0.6])), 4, 3.5),
    "last unit, common window": (by_hand(3, [1, 3.9], (0, 1.25, 0, [1, 0.25]), (0, 1, 1, [1, 0.5])), 3, 2.975),
    "gains": (by_hand(3, [1, 4, 100], (0, 2.4, 0, [1, 0.5]), (0, 1.7, 1, [1, 0.7])), None, 9.24),
    "full cluster": (by_hand(1, [1], (0, 1, 0, [1])), 1, None),
    "closed window": (by_hand(1, [2, 1], (0, 1, 0, [1])), 2, None),
}


@pytest.mark.parametrize("cause", COUNTEREXAMPLES)
def test_counterexamples_to_the_papers_algorithm(cause: str) -> None:
    data, whole, shared = COUNTEREXAMPLES[cause]
    assert integer.solve(data)["objective"] == exactly(reference.brute_force(data)[0])
    assert integer.solve(fluid(data))["objective"] == exactly(linear.solve(fluid(data))["objective"])
    if whole is not None:
        assert reference.brute_force(data)[0] == exactly(whole)
    if shared is not None:
        assert linear.solve(fluid(data))["objective"] == exactly(shared)


def test_schedules_by_hand() -> None:
    # l = 1.5, p = (1, .6), CI = (2, 3). Whole: both servers in slot 0 do 1.6 for 4 g; one in each slot takes 5 g.
    # Shared: one server does 1 in slot 0 for 2 g; the rest costs 2 / .6 g a slot's work there and 3 g in slot 1.
    data, _, _ = COUNTEREXAMPLES["last unit, one job"]
    whole = {"job": ["job0"], "slot": [0], "servers": [2]}
    expected = {"instance": "elastic-hand-j1-t2", "sense": "min", "status": "optimal"}
    assert integer.solve(data) == {**expected, "objective": exactly(4), "schedule": whole}
    assert reference.brute_force(data) == (exactly(4), whole)
    for model in (integer, linear):
        shared = model.solve(fluid(data))["schedule"]
        assert (shared["job"], shared["slot"], shared["servers"]) == (["job0", "job0"], [0, 1], [1, 1])
        assert shared["share"] == [exactly(1), exactly(0.5)]


def test_a_further_server_never_runs_without_those_before_it() -> None:
    # The second server takes 10 W, the first 100 W, for 1000 g/kWh: whole 100 g; shared, both for half an hour: 55 g.
    data = by_hand(2, [1000], (0, 1, 0, [1, 1]))
    data["profiles"]["job0"]["marginal_watts"] = [100.0, 10.0]
    assert integer.solve(data)["objective"] == reference.brute_force(data)[0] == exactly(100)
    for model in (integer, linear):
        result = model.solve(fluid(data))
        assert result["objective"] == exactly(55)
        assert result["schedule"] == {"job": ["job0"], "slot": [0], "servers": [2], "share": [exactly(0.5)]}


def test_energy_of_a_block_of_servers_and_of_the_network() -> None:
    # In half an hour 3 servers take (2400 + 2 * 100) / 2000 = 1.3 kWh and a fourth (800 + 2 * 50) / 2000 = .45 kWh.
    # l = 2.5, p = (1, .5), CI = (1, 2, 5): 4 servers then 3 emit 1.75 + 2.6 g, 3 then 4 emit 1.3 + 3.5 g.
    # Shared: 4 servers in slot 0, then the one slot of work left with 4 servers for 2/3 of slot 1, 3.5 * 2 / 3 g.
    data = by_hand(4, [1, 2, 5], (0, 2.5, 0, [1, 0.5]))
    data["time"]["slot_hours"] = 0.5
    data["cluster"]["network_watts_per_gbps"] = 2.0
    blocks = {"k_min": 3, "marginal_watts": [2400.0, 800.0], "marginal_gbps": [100.0, 50.0]}
    data["profiles"]["job0"].update(blocks)
    result = integer.solve(data)
    assert result["objective"] == reference.brute_force(data)[0] == exactly(4.35)
    assert result["schedule"] == {"job": ["job0", "job0"], "slot": [0, 1], "servers": [4, 3]}
    for model in (integer, linear):
        shared = model.solve(fluid(data))
        assert shared["objective"] == exactly(1.75 + 3.5 * 2 / 3)
        assert shared["schedule"]["servers"] == [4, 4]


@pytest.mark.parametrize(("price", "grams", "slots"), [(0, 2, [0, 2]), (1, 6, [0, 2]), (3, 12, [0, 1])])
def test_a_price_of_switching_by_hand(price: float, grams: float, slots: list[int]) -> None:
    # One server, l = 2, CI = (1, 5, 1). Slots 0 and 2 emit 2 g and start twice: 4 changes. Slots 0 and 1 emit 6 g
    # with 2 changes, slots 1 and 2 as well; all three 7 g with 2. The price decides: 2 + 4 * 1 < 6 + 2 * 1, and
    # 2 + 4 * 3 > 6 + 2 * 3.
    data = by_hand(1, [1, 5, 1], (0, 2, 1, [1]))
    data["objective"]["switching_g_per_server"] = price
    result = integer.solve(data)
    assert result["objective"] == reference.brute_force(data)[0] == exactly(grams)
    assert result["schedule"]["slot"] in (slots, [2 - t for t in reversed(slots)])


def test_infeasible_by_hand() -> None:
    # Two jobs need the one server in the one slot; 1.25 slots of work cannot be done in slot 0 and 1.
    data = by_hand(1, [1, 1], (0, 1, 0, [1]), (0, 1.25, 0, [1]))
    columns: dict[str, list] = {"job": [], "slot": [], "servers": []}
    expected = {"objective": None, "sense": "min", "status": "infeasible"}
    assert integer.solve(data) == {"instance": "elastic-hand-j2-t2", **expected, "schedule": columns}
    assert reference.brute_force(data) == (None, columns)
    for model in (integer, linear):
        result = model.solve(fluid(data))
        assert result == {"instance": "elastic-hand-j2-t2-fluid", **expected, "schedule": {**columns, "share": []}}


def test_what_a_model_does_not_state_is_refused() -> None:
    data = by_hand(1, [1, 5, 1], (0, 2, 1, [1]))
    with pytest.raises(ValueError, match=r"states the model 'fluid', not 'integer': use models/elastic_pyomo.py"):
        linear.solve(data)
    with pytest.raises(ValueError, match="model 'integer', not 'fluid'"):
        reference.brute_force(fluid(data))
    data["objective"]["switching_g_per_server"] = 1.0
    for model in (integer, linear):
        with pytest.raises(ValueError, match="switching_g_per_server needs the model 'integer'"):
            model.solve(fluid(data))


def test_a_window_that_ends_after_the_horizon_is_refused() -> None:
    data = by_hand(1, [1, 5, 1], (0, 2, 2, [1]))
    for model, stated in ((integer, data), (linear, fluid(data))):
        with pytest.raises(ValueError, match="'job0' has until slot 4, after the last slot's end"):
            model.solve(stated)


def test_no_jobs_and_fields_that_may_be_left_out() -> None:
    data = by_hand(2, [2, 3], (0, 1.5, 0, [1, 0.6]))
    del data["time"]["slot_hours"], data["cluster"]["network_watts_per_gbps"], data["objective"]
    del data["profiles"]["job0"]["marginal_gbps"]
    assert integer.solve(data)["objective"] == exactly(4)
    assert linear.solve(fluid(data))["objective"] == exactly(3.5)
    data["jobs"] = {column: [] for column in data["jobs"]}
    assert integer.solve(data)["objective"] == linear.solve(fluid(data))["objective"] == 0


@pytest.mark.parametrize("length", [100 * (1 + 5e-10), 100 * (1 - 5e-10), 100.0])
def test_a_length_that_rounding_moved_off_a_whole_number(length: float) -> None:
    import carbonopt
    from carbonopt.problems.elastic.data.file import from_dict

    data = by_hand(1, [1.0 + t % 7 for t in range(100)], (0, length, 0, [1]))  # one server, and no slot to spare
    for stated, model, method in ((data, integer, "milp"), (fluid(data), linear, "lp")):
        assert model.solve(stated)["objective"] == exactly(sum(data["carbon"]["g_per_kwh"][0]))
        solution = carbonopt.solve(from_dict(stated), method=method)
        assert solution.objective == exactly(sum(data["carbon"]["g_per_kwh"][0]))


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_command_line_prints_the_schedule_as_json(suffix: str, tmp_path: Path) -> None:
    data, path = COUNTEREXAMPLES["last unit, one job"][0], tmp_path / f"hand{suffix}"
    with (gzip.open if suffix.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
        json.dump(data, file)
    assert _run(PYOMO, path, "--time-limit", "60") == {
        "instance": "elastic-hand-j1-t2",
        "objective": exactly(4),
        "sense": "min",
        "status": "optimal",
        "schedule": {"job": ["job0"], "slot": [0], "servers": [2]},
    }


@pytest.mark.parametrize("model", [PYOMO, CVXPY], ids=["pyomo", "cvxpy"])
def test_command_line_solves_the_fluid_model(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "hand.json"
    path.write_text(json.dumps(fluid(COUNTEREXAMPLES["last unit, one job"][0])), encoding="utf-8")
    assert _run(model, path) == {
        "instance": "elastic-hand-j1-t2-fluid",
        "objective": exactly(3.5),
        "sense": "min",
        "status": "optimal",
        "schedule": {"job": ["job0"] * 2, "slot": [0, 1], "servers": [1, 1], "share": [exactly(1), exactly(0.5)]},
    }


def _run(model: Path, path: Path, *options: str) -> dict[str, Any]:
    """What the file prints when it runs on its own, outside the repository's import path."""
    command = [sys.executable, str(model), str(path), *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=path.parent).stdout)
