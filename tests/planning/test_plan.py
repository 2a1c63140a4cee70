"""`plan`, `replan` and `apply` on nights that are planned by hand."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from cli_support import run
from conftest import ROOT

import carbonopt as co
from carbonopt.io.queues.job import PENDING, RUNNING, Queue, QueuedJob
from carbonopt.planning.apply import commands, script

NOW = datetime(2026, 11, 24, 21, tzinfo=UTC)
TERMS = co.Terms(slot_minutes=60, wait_hours=6, watts_per_cpu=1000.0)
TONIGHT = ROOT / "instances/tonight"


def forecast(*rows: list[float], begin: datetime = NOW) -> co.CarbonSignal:
    zones = ("A", "B")[: len(rows)]
    return co.CarbonSignal(zones, np.array(rows, dtype=float), co.TimeGrid(len(rows[0]), 1.0, begin))


def job(name: str, hours: float = 1.0, cpus: float = 1.0, state: str = PENDING, started: float = 0.0) -> QueuedJob:
    moment = None if state == PENDING else NOW + timedelta(hours=started)
    return QueuedJob(name, "work", "ada", state, hours, cpus, started=moment, cluster="A")


def slots(plan: co.Plan) -> dict[str, tuple[str, int]]:
    return {row.id: (row.cluster, round((row.begin - plan.now) / timedelta(hours=1))) for row in plan.rows}


def make(jobs: list[QueuedJob], signal: co.CarbonSignal, source: str = "slurm", **options: object) -> co.Plan:
    settings = {"now": NOW, "terms": TERMS, "mip_rel_gap": 0.0} | options
    return co.plan(Queue(source, tuple(jobs)), signal, **settings)


def test_by_hand():
    signal = forecast([500, 400, 100, 300, 200])
    jobs = [job("1", 3, state=RUNNING, started=-1), job("2", 2), job("3")]
    plan = make(jobs, signal, clusters=["A=A:1"])
    # 1 has two hours left, in 0-1; 3 takes the clean hour 2 and 2 hours 3-4: 100 + 500; else 2 in 2-3 and 3 in 4: 600.
    assert plan.kg == pytest.approx(0.5 + 0.4 + 0.6)
    assert slots(plan)["1"] == ("A", -1)
    assert plan.solution.gap == pytest.approx(0.0, abs=1e-7)
    assert {row.id: row.end - row.begin for row in plan.rows}["1"] == timedelta(hours=3)
    # at once: 1 in 0-1, 2 in 2-3, 3 in 4: the same carbon.
    assert plan.saving_kg == pytest.approx(0.0)
    free = make(jobs, signal)  # room for all
    assert slots(free) == {"1": ("A", -1), "2": ("A", 2), "3": ("A", 2)}
    assert free.kg == pytest.approx(0.9 + 0.4 + 0.1)
    assert free.saving_kg == pytest.approx(0.9 - 0.4 + 0.5 - 0.1)


def test_a_cluster_has_the_name_that_the_queue_knows():
    """One zone and one cluster: jobs stay where they are; otherwise the zones are the clusters."""
    here = replace(job("1"), cluster="hpc")
    plan = make([here], forecast([500, 400]))
    assert [(site.name, site.zone, site.cpus) for site in plan.sites] == [("hpc", "A", None)]
    assert slots(plan) == {"1": ("hpc", 1)}
    assert [site.name for site in make([here, job("2")], forecast([500, 400])).sites] == ["A"]
    assert [site.name for site in make([here], forecast([500, 400], [300, 300])).sites] == ["A", "B"]
    assert script(plan, "slurm").startswith("# 1 command for slurm; 0 jobs that run are left alone.")


def test_no_line_of_a_plan_is_wider_than_80_columns():
    given = ("--carbon", TONIGHT / "forecast_21h.csv", "--now", "2026-11-24T22:00")
    done = run("plan", TONIGHT / "squeue.json", *given)
    assert done.stdout.startswith("11 jobs from Tue 24 Nov 22:00 UTC\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stderr == "cluster hpc: zone DE, room for all jobs (--cluster says otherwise)\n"


def test_of_equal_starts_the_first_is_taken():
    assert slots(make([job("1")], forecast([100, 100, 100, 100])))["1"] == ("A", 0)


def test_two_clusters_and_a_running_job_that_stays_on_its_own():
    plan = make([job("1", 2, state=RUNNING), job("2")], forecast([900, 900], [100, 50]), clusters=["A=A", "B=B"])
    assert slots(plan) == {"1": ("A", 0), "2": ("B", 1)}


def test_measured_power_counts_where_there_is_one():
    plan = make([replace(job("1"), watts=250.0), job("2")], forecast([500, 400]))
    assert plan.instance.resources == ("cpu", "watt")
    assert {row.id: row.kg for row in plan.rows} == pytest.approx({"1": 0.1, "2": 0.4})
    assert plan.solution.metrics["energy_kwh"] == pytest.approx(1.25)


def test_waits_are_limited():
    late = forecast([500, 500, 500, 500, 100])
    assert slots(make([job("1")], late))["1"] == ("A", 4)
    assert slots(make([job("1")], late, terms=replace(TERMS, wait_hours=2)))["1"] == ("A", 0)


def test_overdue_runs_hold_a_slot():
    plan = make([job("1", 1, state=RUNNING, started=-3), job("2")], forecast([100, 200]), clusters=["A=A:1"])
    assert slots(plan) == {"1": ("A", -3), "2": ("A", 1)}


@pytest.mark.parametrize(
    ("jobs", "options", "told"),
    [
        ([job("1", 9)], {}, "job 1 runs up to 9 h, until 2026-11-25T06:00:00Z if it starts at once: the forecast ends"),
        ([job("1", 1, 5)], {"clusters": ["A=A:4"]}, "needs 5 cpu, the largest cluster that may run it has 4"),
        ([job("1", 1, state=RUNNING)], {"clusters": ["X=A", "Y=A"]}, "cluster = 'A': job 1 runs there: must be 'X' or"),
        (
            [job("1", 2, 3, RUNNING)],
            {"clusters": ["A=A:2"]},
            "use 3 cpu of cluster 'A' in slot 0, 2 are there",
        ),
        ([job("1")], {"clusters": ["A=Q"]}, "cluster 'A' is in zone 'Q': the carbon files have 'A'"),
        ([job("1")], {"clusters": ["A"]}, "must be NAME=ZONE, NAME=ZONE:CPUS or NAME=ZONE:CPUS:GPUS"),
        ([job("1")], {"clusters": ["A=A:many"]}, "'many' must be a number"),
        ([job("1")], {"clusters": ["A=A", "A=A"]}, "cluster 'A' is named twice"),
        ([job("1")], {"tz": "Mars/Olympus"}, "unknown time zone 'Mars/Olympus'"),
        ([job("1")], {"now": "tonight"}, "now = 'tonight': must be a moment"),
        ([job("1")], {"now": NOW + timedelta(hours=1)}, "carbon = 2026-11-24T21:00:00Z in slots of 60 min: must begin"),
    ],
)
def test_what_cannot_be_planned_is_told(jobs, options, told):
    with pytest.raises((co.InputError, co.UnsupportedError)) as caught:
        make(jobs, forecast([100, 100, 100]), **options)
    assert told in str(caught.value)


@pytest.mark.parametrize("field", ["slot_minutes", "wait_hours", "watts_per_cpu", "watts_per_gpu"])
@pytest.mark.parametrize("value", [-1, float("nan"), 7e9])
def test_terms_out_of_range_are_refused(field, value):
    with pytest.raises(co.UnsupportedError, match=field):
        co.Terms(**{field: value})


def test_moves_are_made_where_they_pay():
    first = make([job("1"), job("2"), job("3", state=RUNNING)], forecast([500, 300, 100, 400, 400, 400]))
    assert slots(first) == {"3": ("A", 0), "1": ("A", 2), "2": ("A", 2)}
    later = NOW + timedelta(hours=1)
    newer = forecast([350, 300, 250, 100, 400], begin=later)  # the clean hour comes two hours later
    for price, moved in ((0.1, {"1", "2"}), (0.21, set())):
        again = co.replan(first, newer, now=later, move_price=price, mip_rel_gap=0.0)
        assert again.moved == moved
        assert {row.id for row in again.rows} == {"1", "2"}  # 3 has ended
        facts = again.replanned
        assert facts["forecast_change_kg"] == pytest.approx(2 * (0.3 - 0.1))
        assert facts["taken_back_kg"] == pytest.approx(len(moved) * 0.2)
        assert facts["moves"] == len(moved)
        assert facts["gap"] == pytest.approx(0.0, abs=1e-6)
    assert co.replan(first, newer, now=later, mip_rel_gap=0.0).kg == pytest.approx(0.2)


def test_moves_make_room_by_the_bound_of_the_rest():
    """A brute force over all places agrees with objective and bound."""
    rng = np.random.default_rng(1)
    for seed in range(6):
        jobs = [job("1", 2), job("2"), job("3", 1, 2)]
        before = make(jobs, forecast(rng.integers(50, 500, 6).tolist()), clusters=["A=A:2"])
        after = forecast(rng.integers(50, 500, 6).tolist())
        price = [0.0, 0.05, 0.3][seed % 3]
        again = co.replan(before, after, now=NOW, move_price=price, mip_rel_gap=0.0)
        best = _best(again, slots(before), price)
        assert again.replanned["objective_with_moves"] == pytest.approx(best, rel=1e-6)
        assert again.replanned["bound"] <= best + 1e-9


def _best(plan: co.Plan, announced: dict[str, tuple[str, int]], price: float) -> float:
    from itertools import product

    check = co.core.registry.problem_of("mosp").role("check")
    names = plan.instance.jobs.name
    values = []
    for starts in product(range(6), repeat=len(names)):
        schedule = {"job": list(names), "cluster": ["A"] * len(names), "start": list(starts)}
        report = check(plan.instance, schedule, None)
        if not report.violations:
            moves = sum(announced[name][1] != start for name, start in zip(names, starts, strict=True))
            values.append(report.objective + price * moves)
    return min(values)


def test_what_began_by_the_plan_is_fixed_and_new_jobs_are_no_moves():
    first = make([job("1", 3), job("2")], forecast([100, 110, 100, 500, 50, 500]))
    assert slots(first) == {"1": ("A", 0), "2": ("A", 4)}
    later = NOW + timedelta(hours=1, minutes=20)
    edge = NOW + timedelta(hours=2)  # the next slot edge of the plan
    signal = forecast([100, 500, 50, 500], begin=edge)
    again = co.replan(first, signal, now=later)
    assert again.now == edge
    assert [(row.id, row.state) for row in again.rows] == [("1", RUNNING), ("2", PENDING)]
    assert again.moved == frozenset()
    queue = Queue("slurm", (job("2"), job("9")))  # 1 ended early, 9 is new
    with_new = co.replan(first, signal, now=later, queue=queue)
    assert with_new.moved == {"9"}
    assert with_new.replanned["moves"] == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"now": NOW - timedelta(hours=1)}, "must not be before 2026-11-24T21:00:00Z, when the plan began"),
        ({"now": NOW, "move_price": -1.0}, "move_price = -1.0: must be a number of kg, at least 0"),
        ({"now": NOW, "move_price": float("nan")}, "move_price = nan"),
        ({"now": NOW, "queue": Queue("kubernetes", (job("a/b"),))}, "the queue is of kubernetes, the plan of slurm"),
        ({"now": NOW + timedelta(days=2)}, "must not all have ended by"),
    ],
)
def test_what_cannot_be_replanned_is_told(options, told):
    signal = forecast([100, 100])
    with pytest.raises((co.InputError, co.UnsupportedError)) as caught:
        co.replan(make([job("1")], signal), signal, **options)
    assert told in str(caught.value)


def test_commands_for_slurm_are_in_local_time_and_quoted():
    plan = make([job("7"), job("8_1"), job("9", state=RUNNING)], forecast([500, 100]), tz="Europe/Berlin")
    assert [command.words for command in commands(plan, "slurm")] == [
        ("scontrol", "update", "JobId=7", "StartTime=2026-11-24T23:00:00"),
        ("scontrol", "update", "JobId=8_1", "StartTime=2026-11-24T23:00:00"),
    ]
    moved = make([job("7")], forecast([900, 900], [100, 50]), clusters=["A=A", "B=B"])
    assert [shlex.join(command.words) for command in commands(moved, "slurm")] == [
        "scontrol write batch_script 7 job-7.sh",
        "sbatch --clusters=B --begin=2026-11-24T22:00:00 job-7.sh",
        "scancel 7",
    ]


@pytest.mark.parametrize("name", ["7; rm -rf /", "$(id)", "7\nid", "-x", "7 8", "7_", "", "9" * 5 + "'"])
def test_names_that_no_scheduler_gives_reach_no_shell(name):
    plan = make([job(name)], forecast([100]))
    with pytest.raises(co.InputError, match="must be a number of Slurm"):
        commands(plan, "slurm")
    of_pods = make([job(f"ns/{name}")], forecast([100]), source="kubernetes")
    if name not in ("",):
        with pytest.raises(co.InputError, match="must be namespace/name"):
            commands(of_pods, "kueue")


def test_the_hour_that_comes_twice_is_told():
    begin = datetime(2026, 10, 25, 0, tzinfo=UTC)  # 2:00 summer time in Berlin; at 1:00 UTC it is 2:00 again
    plan = make([job("7")], forecast([500, 100, 500], begin=begin), now=begin, tz="Europe/Berlin")
    assert [line for line in script(plan, "slurm").splitlines() if "twice" in line or "scontrol" in line] == [
        "# job 7: this local time comes twice tonight; Slurm takes one of them",
        "scontrol update JobId=7 StartTime=2026-10-25T02:00:00",
    ]
    assert plan.to_frame()["begin"].tolist() == ["2026-10-25T02:00:00+01:00"]


def patches(plan: co.Plan, to: str) -> list[tuple[object, dict[str, object]]]:
    found = []
    for command in commands(plan, to):
        text = next(word for word in command.words if word.startswith("--patch="))
        found.append((command.due, json.loads(text.removeprefix("--patch="))))
    return found


def test_patches_for_kubernetes():
    plan = make([job("data/etl")], forecast([500, 100]), source="kubernetes")
    due = NOW + timedelta(hours=1)
    assert patches(plan, "kubernetes") == [(None, {"spec": {"suspend": True}}), (due, {"spec": {"suspend": False}})]
    gate = {"kueue.x-k8s.io/admission-gated-by": None}
    assert patches(plan, "kueue") == [(due, {"metadata": {"annotations": gate}})]
    assert patches(plan, "appwrapper") == [(due, {"spec": {"suspend": False}})]
    several = make([job("data/etl")], forecast([9, 9], [5, 4]), source="kubernetes", clusters=["A=A", "B=B"])
    selector = {"topology.kubernetes.io/region": "B"}
    opened = {"spec": {"suspend": False, "template": {"spec": {"nodeSelector": selector}}}}
    assert patches(several, "kubernetes")[-1] == (due, opened)
    label = {"kueue.x-k8s.io/queue-name": "B"}
    assert patches(several, "kueue") == [(due, {"metadata": {"annotations": gate, "labels": label}})]
    assert "# at 2026-11-24T22:00+00:00" in script(several, "kueue")


def test_a_plan_is_applied_to_its_own_scheduler():
    plan = make([job("1")], forecast([100]))
    with pytest.raises(co.UnsupportedError, match="the plan's jobs are of slurm, not of kubernetes"):
        commands(plan, "kueue")
    with pytest.raises(co.UnsupportedError, match="'nomad': must be 'slurm'"):
        commands(plan, "nomad")


def broken(content: dict[str, object], *path: object, value: object) -> dict[str, object]:
    found = json.loads(json.dumps(content))
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("kind",), "x", "kind: must be 'carbonopt-plan'"),
        (("now",), "soon", "now"),
        (("now",), "2026-11-24T20:00:00Z", "must be the beginning of slot 0"),
        (("tz",), "Mars", "tz"),
        (("source",), "lsf", "source"),
        (("jobs", 0, "id"), "else", "must be the jobs of the field instance"),
        (("jobs", 0, "cpus"), -1, "jobs"),
        (("sites", 0, "zone"), "Q", "cluster 'A' is in zone 'Q'"),
        (("terms", "slot_minutes"), 7, "slot_minutes = 7"),
        (("solution", "schedule", "start"), [9], "after the horizon of 2 slots"),
        (("at_once",), {"job": []}, "at_once: must keep the instance"),
        (("instance", "jobs", "duration"), [0], "jobs.duration"),
    ],
)
def test_broken_plan_files_are_told(tmp_path, path, value, told):
    content = make([job("1")], forecast([500, 100])).to_dict()
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(broken(content, *path, value=value)))
    done = run("apply", file, "--to", "slurm")
    assert done.exit_code == 2
    assert told in done.output
    assert str(file) in done.output


def test_csv_and_json_hold_the_same_rows(tmp_path):
    call = ["plan", TONIGHT / "squeue.json", "--carbon", TONIGHT / "forecast_21h.csv", "--now", "2026-11-24T22:00"]
    call += ["--tz", "Europe/Berlin", "--cluster", "hpc=DE:192:4"]
    table = run(*call, "--csv").stdout.splitlines()
    content = json.loads(run(*call, "--json").stdout)
    assert table[0] == "id,name,state,cluster,begin,end,kg,kg_at_once,saving_kg,moved"
    assert len(table) - 1 == len(content["rows"]) == content["jobs"] == 11
    assert content["rows"][0]["begin"] == "2026-11-24T19:00:00+01:00"
    assert content["gap"] is not None
    assert run(*call, "--gantt", tmp_path / "night.svg").exit_code == 0
    assert "<svg" in (tmp_path / "night.svg").read_text()
    assert run(*call, "--gantt", tmp_path / "night.txt").exit_code == 2
    assert run(*call, "--csv", "--json").exit_code == 2
    assert run(*call[:2]).exit_code == 2
    early = run(*call[:-6], "--now", "2026-11-20T22:00")
    assert early.exit_code == 2
    assert "2026-11-20" in early.output


def test_csv_on_the_terminal_holds_no_formula_and_no_control_character(tmp_path):
    raw = json.loads((ROOT / "instances/tonight/squeue.json").read_text())
    raw["jobs"][2]["name"], raw["jobs"][3]["name"] = "=1+1", "\x1b[31m\x00"
    (tmp_path / "squeue.json").write_text(json.dumps(raw))
    carbon = ROOT / "instances/tonight/forecast_21h.csv"
    done = run("plan", tmp_path / "squeue.json", "--carbon", carbon, "--now", "2026-11-24T22:00Z", "-m", "greedy-clean",
               "--csv")  # fmt: skip
    assert (done.exit_code, ",'=1+1," in done.stdout, r"\x1b[31m\x00" in done.stdout) == (0, True, True)


def test_reservations_hold_the_slots_of_each_job():
    jobs = [replace(job("7", 1.5, 2), user="ada"), job("8", state=RUNNING)]
    plan = make(jobs, forecast([500, 100, 100]), tz="Europe/Berlin")
    assert [shlex.join(command.words) for command in commands(plan, "slurm", reserve=True)] == [
        "scontrol create reservation ReservationName=carbonopt-7 StartTime=2026-11-24T23:00:00 Duration=90"
        " Users=ada CoreCnt=2 Flags=PURGE_COMP",
        "scontrol update JobId=7 StartTime=2026-11-24T23:00:00 ReservationName=carbonopt-7",
    ]
    queue = Queue("slurm", (*jobs, replace(job("9"), user="ada")))
    moved = co.replan(plan, forecast([500, 500, 100, 100]), now=NOW, queue=queue)
    assert [command.words[1:4] for command in commands(moved, "slurm", reserve=True)] == [
        ("update", "ReservationName=carbonopt-7", "StartTime=2026-11-25T00:00:00"),
        ("update", "JobId=7", "StartTime=2026-11-25T00:00:00"),
        ("create", "reservation", "ReservationName=carbonopt-9"),
        ("update", "JobId=9", "StartTime=2026-11-25T00:00:00"),
    ]


@pytest.mark.parametrize(
    ("changes", "options", "told"),
    [
        ({"user": "$(id)"}, {}, "jobs.user = '$(id)': job 7: must be the name of a user"),
        ({"user": "a,root"}, {}, "must be the name of a user"),
        ({"gpus": 1.0}, {}, "a reservation holds whole CPUs alone"),
        ({"cpus": 0.5}, {}, "a reservation holds whole CPUs alone"),
        ({}, {"clusters": ["A=A", "B=A"]}, "--reserve is of plans of one Slurm cluster"),
    ],
)
def test_what_cannot_be_reserved_is_told(changes, options, told):
    plan = make([replace(job("7"), **changes)], forecast([500, 100]), **options)
    with pytest.raises((co.InputError, co.UnsupportedError)) as caught:
        commands(plan, "slurm", reserve=True)
    assert told in str(caught.value)


def test_a_method_of_choice_plans_again():
    first = make([job("1"), job("2")], forecast([500, 300, 100, 400]))
    again = co.replan(first, forecast([500, 100, 400, 400]), now=NOW, method="milp")
    assert again.solution.method == "milp"
    assert again.replanned["moves"] == 2
    assert again.replanned["gap"] == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(co.UnsupportedError, match="method 'milp' knows no price on moves"):
        co.replan(first, forecast([500, 100]), now=NOW, method="milp", move_price=0.1)
