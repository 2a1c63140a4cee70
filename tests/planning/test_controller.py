"""The controller against a fake API server: what it patches, what it survives."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from api_server_support import START, ApiServer, job, serving
from cli_support import run
from conftest import ROOT

import carbonopt as co
from carbonopt.io.queues.entry import Settings
from carbonopt.planning.apply import CLUSTER_LABEL, GATE
from carbonopt.planning.controller.api import TRIES, Api, UnreachableError
from carbonopt.planning.controller.journal import Journal, held
from carbonopt.planning.controller.kubernetes import Kubernetes
from carbonopt.planning.controller.loop import Choices, Controller
from carbonopt.planning.controller.targets import CASPIAN_GATE, OPENED, TARGETS

pytest.importorskip("kubernetes")
HOUR = timedelta(hours=1)
TERMS = co.Terms(slot_minutes=60, wait_hours=12, watts_per_cpu=1000.0)
CLEAN = {1: 100, 3: 150, 5: 200}
"""Intensities of the clean hours; all others have 400 g/kWh."""


def forecast(folder: Path, clean: dict[int, int], name: str = "carbon.csv") -> Path:
    rows = [f"{START + h * HOUR:%Y-%m-%dT%H:%M:%SZ},DE,{clean.get(h, 400)}" for h in range(60)]
    path = folder / name
    path.write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *rows]) + "\n")
    return path


def gated(name: str, gates: str = "carbonopt/plan") -> dict[str, Any]:
    return job(name, annotations={GATE: gates}, labels={"kueue.x-k8s.io/queue-name": "night"})


def wrapped(name: str) -> dict[str, Any]:
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
    return head | {
        "metadata": {"name": name, "namespace": "data"},
        "spec": {"suspend": True, "components": [{"template": job(name)}]},
    }


def dispatched(name: str, *gates: str) -> dict[str, Any]:
    head = {"apiVersion": "workload.codeflare.dev/v1beta1", "kind": "AppWrapper"}
    items = [{"generictemplate": job(name)}]
    spec = {"dispatchingGates": list(gates), "resources": {"GenericItems": items}}
    return head | {"metadata": {"name": name, "namespace": "data"}, "spec": spec}


MAKERS = {
    "kubernetes": job,
    "kueue": gated,
    "appwrapper": wrapped,
    "caspian": lambda name: dispatched(name, "others", CASPIAN_GATE),
}


class Night:
    """A controller, its server, and what it says."""

    def __init__(self, server: ApiServer, config: Path, folder: Path, carbon: Path, **choices: Any) -> None:
        to = next(name for name, target in TARGETS.items() if target is server.target)
        self.said: list[str] = []
        self.warned: list[str] = []
        self.server = server
        journal = Journal(folder, to)
        scheduler = Kubernetes(server.target, Api(server.target, server, str(config)), journal, Settings(), send=True)
        given = {"clusters": ("night=DE:2",), "terms": TERMS, **choices}
        chosen = Choices((carbon,), **given)
        self.controller = Controller(scheduler, chosen, journal, server, self.said.append, self.warned.append)

    def passes(self, hours: int) -> None:
        for _ in range(hours):
            self.controller.once()
            self.server.moment += HOUR


@pytest.fixture
def night(tmp_path):
    """Return a function that makes a night of one kind of objects."""
    stack = []

    def make(to: str, objects: list[dict[str, Any]], clean: dict[int, int] = CLEAN, **choices: Any) -> Night:
        server = ApiServer(to, objects)
        context = serving(server, tmp_path)
        config = context.__enter__()
        stack.append(context)
        (tmp_path / "state").mkdir()
        return Night(server, config, tmp_path / "state", forecast(tmp_path, clean), **choices)

    yield make
    for context in stack:
        context.__exit__(None, None, None)


@pytest.mark.parametrize("to", TARGETS)
def test_jobs_are_opened_when_they_are_due_and_once(night, to):
    found = night(to, [MAKERS[to](name) for name in "abc"])
    found.passes(8)  # two fit into the clean hour 1, the third takes hour 3
    assert sorted(found.server.starts, key=lambda start: start[1]) == found.server.starts
    assert [moment for _, moment in found.server.starts] == [START + HOUR, START + HOUR, START + 3 * HOUR]
    assert {name for name, _ in found.server.starts} == {"data/a", "data/b", "data/c"}
    assert len(found.server.patches) == 3
    assert found.warned == []
    for _, change in found.server.patches:
        assert change["metadata"]["annotations"][OPENED].endswith(" night")
    if to == "caspian":
        assert all(one["spec"]["dispatchingGates"] == ["others"] for one in found.server.objects.values())


@pytest.mark.parametrize("to", TARGETS)
def test_of_two_clusters_the_planned_one_is_named(night, tmp_path, to):
    found = night(to, [MAKERS[to]("a")], clusters=("day=DE:2", "night=DE:0.5"))
    found.passes(3)
    ((_, change),) = found.server.patches
    told = {
        "kubernetes": lambda: change["spec"]["template"]["spec"]["nodeSelector"][CLUSTER_LABEL],
        "kueue": lambda: change["metadata"]["labels"]["kueue.x-k8s.io/queue-name"],
        "appwrapper": lambda: change["metadata"]["annotations"][OPENED].split()[1],
        "caspian": lambda: change["spec"]["schedulingSpec"]["clusterScheduling"]["policyResult"]["targetCluster"][
            "name"
        ],
    }
    assert told[to]() == "day"


def test_what_is_not_held_is_held_back_until_it_is_due(night):
    loose, running = job("loose"), job("running")
    loose["spec"]["suspend"] = running["spec"]["suspend"] = False
    running["status"] = {"active": 1, "startTime": "2026-11-24T20:30:00Z"}
    found = night("kubernetes", [loose, running])
    found.passes(3)
    assert [(name, change["spec"]["suspend"]) for name, change in found.server.patches] == [
        ("data/loose", True),
        ("data/loose", False),
    ]
    caspian = TARGETS["caspian"]
    change = caspian.holding(dispatched("a", "others"))
    assert change == {"spec": {"dispatchingGates": ["others", CASPIAN_GATE]}}


def test_gates_of_others_stay_and_several_without_ours_are_left_alone(night):
    found = night("kueue", [gated("a", "x.org/g,carbonopt/plan"), gated("b", "x.org/g"), gated("c", "x.org/g,y.org/h")])
    found.passes(3)
    left = {name: one["metadata"]["annotations"].get(GATE) for name, one in found.server.objects.items()}
    assert left == {"data/a": "x.org/g", "data/b": None, "data/c": "x.org/g,y.org/h"}


def test_a_job_that_was_opened_is_not_opened_again(night):
    found = night("kubernetes", [job("a"), job("b", 2)])
    found.passes(2)
    assert found.server.starts == [("data/a", START + HOUR)] or len(found.server.starts) == 2
    name = found.server.starts[0][0]
    found.server.objects[name]["spec"]["suspend"] = True  # somebody stops it
    found.passes(8)
    assert [start for start in found.server.starts if start[0] == name] == found.server.starts[:1]
    del found.server.objects[name]["metadata"]["annotations"][OPENED]  # and takes the mark away: the journal knows
    found.passes(2)
    assert [start for start in found.server.starts if start[0] == name] == found.server.starts[:1]
    found.server.objects.clear()
    found.server.add(job(name.partition("/")[2]))  # another job of the same name
    found.server.objects[name]["metadata"]["uid"] = "new"
    found.server.moment += 12 * HOUR
    found.passes(14)
    assert sum(start[0] == name for start in found.server.starts) == 2


def test_busy_and_broken_servers_are_asked_again(night):
    found = night("kueue", [gated(name) for name in "abc"])
    tricks = {1: (429, 7), 3: 500, 5: "lose", 8: 503}
    found.server.mischief = lambda count, _: tricks.get(count)
    found.passes(1)
    assert found.server.waits == [7.0, 0.5 * 2, 0.5 * 2, 0.5 * 2] or found.server.waits[0] == 7.0
    found.server.mischief = lambda count, method: "lose answer" if method == "PATCH" and count % 2 else None
    found.passes(8)
    assert len(found.server.starts) == len(found.server.patches) == 3


def test_a_conflict_is_read_again(night):
    found = night("kueue", [gated("a")])
    found.passes(1)
    first = True

    def touch(_count: int, method: str) -> None:
        nonlocal first
        if method == "PATCH" and first:
            first = False
            found.server.objects["data/a"]["metadata"]["resourceVersion"] = "77"

    found.server.mischief = touch
    found.passes(2)
    assert found.server.starts == [("data/a", START + HOUR)] or len(found.server.starts) == 1
    assert found.server.requests.count("PATCH") == 2


def test_a_server_that_stays_away_is_told_and_the_others_do_not_wait(night):
    found = night("kueue", [gated("a"), gated("b")])
    found.passes(1)
    found.server.mischief = lambda count, method: 403 if method == "PATCH" and not found.server.patches else None
    stopped = iter([False] * 2)
    found.server.mischief = lambda count, method: 403 if method == "PATCH" and next(stopped, None) is False else None
    with pytest.raises(UnreachableError, match="answers 403: not now"):
        found.passes(1)
    found.passes(1)
    assert len(found.server.starts) == 2
    found.server.mischief = lambda *_: "lose"
    before = len(found.server.requests)
    with pytest.raises(UnreachableError, match="does not answer"):
        found.passes(1)
    assert len(found.server.requests) - before == TRIES


def test_a_newer_forecast_moves_what_pays(night, tmp_path):
    found = night("kueue", [gated("a"), gated("b")], clean={4: 100}, move_price=0.15)
    found.passes(1)
    forecast(tmp_path, {4: 200, 6: 100})  # 0.1 kg for a job: does not pay
    found.passes(1)
    assert {row.begin for row in found.controller.journal.plan.rows} == {START + 4 * HOUR}
    forecast(tmp_path, {4: 300, 6: 100})  # 0.2 kg: pays
    found.passes(8)
    assert {moment for _, moment in found.server.starts} == {START + 6 * HOUR}
    assert any("2 moved" in line for line in found.said)


@pytest.mark.parametrize("method", ["milp", "price", "greedy-clean", "lp-rounding-caspian"])
def test_any_method_plans(night, method):
    found = night("caspian", [MAKERS["caspian"](name) for name in "ab"], method=method)
    found.passes(13)
    assert len(found.server.starts) == 2
    assert found.controller.journal.plan.solution.method == method


def test_without_a_forecast_the_plan_of_before_stays(night, tmp_path):
    found = night("kueue", [gated("a"), gated("b"), gated("c")])
    found.passes(1)
    (tmp_path / "carbon.csv").write_text("broken")
    found.passes(4)
    assert [moment for _, moment in found.server.starts] == [START + HOUR, START + HOUR, START + 3 * HOUR]
    assert any("the plan of before stays" in line for line in found.warned)


def test_what_was_missed_is_planned_again_or_started(night, tmp_path):
    found = night("kueue", [gated(name) for name in "abcd"])
    found.passes(1)
    found.server.moment = START + 5 * HOUR  # all starts are past: of four jobs, two fit at a time
    found.passes(1)
    assert [moment for _, moment in found.server.starts] == [START + 5 * HOUR] * 2
    (tmp_path / "carbon.csv").write_text("broken")
    found.server.moment = START + 20 * HOUR
    found.passes(1)
    assert len(found.server.starts) == 4


def test_a_job_that_cannot_be_planned_keeps_no_other_back(night):
    endless, hostile = gated("endless"), gated("x")
    del endless["spec"]["activeDeadlineSeconds"]
    hostile["metadata"]["name"] = "$(touch taken);-x"
    found = night("kueue", [endless, hostile, gated("a")])
    found.passes(3)
    assert [name for name, _ in found.server.starts] == ["data/a"]
    assert len(found.warned) == 2
    assert any("job data/endless has no time limit" in line for line in found.warned)
    assert any("is no namespace/name of Kubernetes" in line for line in found.warned)


def test_nothing_to_plan_is_no_fault(night):
    found = night("kueue", [])
    found.passes(3)
    assert found.warned == found.said == []
    found.server.add(gated("late"))
    found.passes(3)
    assert len(found.server.starts) == 1


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_kill_9_at_any_moment_loses_nothing_and_starts_nothing_twice(tmp_path, seed):
    """Lives end by SIGKILL at a random call, while the server fails every fifth request in one way or another."""
    rng = random.Random(seed)
    to = ["kubernetes", "kueue", "caspian"][seed]
    names = "abcdef"
    server = ApiServer(to, [MAKERS[to](name) for name in names])
    tricks = [(429, 1), 500, 503, "lose", "lose answer", "lose answer"]
    server.mischief = lambda count, _: rng.choice(tricks) if rng.random() < 0.2 else None
    counts = [str(rng.randint(1, 900)) for _ in range(16)]
    with serving(server, tmp_path) as config:
        call = [sys.executable, str(ROOT / "tests/controller_lives.py"), to, str(config)]
        call += [str(tmp_path / "state"), str(forecast(tmp_path, CLEAN)), *counts]
        done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    assert ends.count(-signal.SIGKILL) == len(ends) - 1 >= 5
    assert ends[-1] == 0, done.stderr
    assert sorted(name for name, _ in server.starts) == [f"data/{name}" for name in names]
    assert min(moment for _, moment in server.starts) >= START + HOUR
    assert not list((tmp_path / "state").glob(".*"))
    assert Journal(tmp_path / "state", to).plan is not None


def test_the_command_sends_with_send_alone_and_ends_with_130(tmp_path):
    server = ApiServer("kueue", [gated("a")])
    carbon = forecast(tmp_path, {})
    words = ["controller", "--to", "kueue", "--carbon", carbon, "--cluster", "night=DE:2"]
    now = datetime.now(START.tzinfo).replace(minute=0, second=0, microsecond=0)
    rows = [f"{now + h * HOUR:%Y-%m-%dT%H:%M:%SZ},DE,400" for h in range(60)]
    carbon.write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *rows]) + "\n")
    with serving(server, tmp_path) as config:
        words += ["--kubeconfig", config]
        dry = run(*words, "--once")
        assert dry.exit_code == 0, dry.output
        assert "kubectl patch job a --namespace=data --type=merge" in dry.output
        assert server.patches == []
        call = [sys.executable, "-m", "carbonopt", *map(str, words), "--send", "--state", str(tmp_path / "state")]
        with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(2)]
            process.send_signal(signal.SIGTERM)
            _, problems = process.communicate(timeout=60)
        assert "open data/a on night" in said[1]
        assert process.returncode == 130
        assert "interrupted" in problems
        assert len(server.starts) == 1
        with held(tmp_path / "state"):
            second = run(*words, "--once", "--send", "--state", tmp_path / "state")
        assert second.exit_code == 2
        assert "another process writes to it" in second.output
        server.mischief = lambda *_: 403
        refused = run(*words, "--once", "--send", "--state", tmp_path / "state")
    assert refused.exit_code == 1
    assert "the API server answers 403: not now" in refused.output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--to", "nomad"], "--to 'nomad': must be 'slurm', 'kubernetes', 'kueue', 'appwrapper' or 'caspian'"),
        (["--to", "kueue", "--send"], "--state is missing"),
        (["--to", "kueue", "--send", "--state", "s", "--queue", "q"], "jobs are read from the scheduler"),
        (["--to", "kueue", "--now", "2026-11-24T22:00"], "it goes with --once and without --send"),
        (["--to", "kueue", "--kubeconfig", os.devnull], "no cluster to talk to"),
        (["--to", "slurm", "--cluster", "a=DE", "--cluster", "b=DE"], "keeps one Slurm cluster"),
        (["--to", "kueue", "--queue", "nowhere.json"], "no such file"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, options, told):
    done = run("controller", "--carbon", forecast(tmp_path, {}), *options)
    assert done.exit_code == 2
    assert told in done.output


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not JSON"),
        ('{"kind": "x"}', "kind"),
        ('{"schema_version":1,"kind":"carbonopt-controller","to":"kueue","plan_again":"soon","entries":{}}', "moment"),
        ('{"schema_version":1,"kind":"carbonopt-controller","to":"slurm","plan_again":null,"entries":{}}', "'kueue'"),
    ],
)
def test_a_broken_journal_is_told(tmp_path, content, told):
    (tmp_path / "journal.json").write_text(content)
    with pytest.raises(co.InputError, match=told) as caught:
        Journal(tmp_path, "kueue")
    assert "journal.json" in str(caught.value)
