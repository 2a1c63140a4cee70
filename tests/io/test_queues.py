"""Queues of Slurm and Kubernetes: what is read of them, and twenty files that are wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from conftest import ROOT

import carbonopt as co
from carbonopt.io.queues.read import read_queue

TONIGHT = ROOT / "instances/tonight"
COLUMNS = "JOBID|NAME|USER|STATE|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME|PRIORITY|DEPENDENCY|TRES_PER_NODE|PARTITION"


def text(tmp_path: Any, content: Any, name: str = "queue") -> Any:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def slurm(**changes: Any) -> dict[str, Any]:
    one = {"job_id": 7, "name": "a", "user_name": "ada", "job_state": ["PENDING"], "cpus": 4, "time_limit": 90}
    return {"jobs": [one | changes]}


def pods(spec: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    container = {"resources": {"requests": {"cpu": "2"}}}
    whole = {"activeDeadlineSeconds": 3600, "template": {"spec": {"containers": [container]}}} | (spec or {})
    return {"kind": "Job", "metadata": {"name": "etl", "namespace": "data"}, "spec": whole} | changes


def test_squeue_json():
    queue = read_queue(TONIGHT / "squeue.json")
    assert queue.source == "slurm"
    assert queue.left_out == {"completed": 1}
    jobs = {job.id: job for job in queue.jobs}
    assert list(jobs) == [
        "4711",
        "4712",
        "4713",
        "4714",
        "4715",
        "4716_0",
        "4716_1",
        "4716_2",
        "4716_3",
        "4720",
        "4721",
    ]
    train = jobs["4712"]
    assert (train.state, train.user, train.cpus, train.gpus, train.memory_gb) == ("RUNNING", "bob", 16, 2, 64)
    assert (train.hours, train.cluster, train.priority) == (12, "hpc", 1001)
    assert train.started == datetime(2026, 11, 24, 19, 30, tzinfo=UTC)
    assert jobs["4713"].started is None


def test_numbers_of_old_and_new_data_parsers(tmp_path):
    old = slurm(job_state="PENDING", tres_req_str="cpu=2,mem=512M,gres/gpu:a100=3,gres/gpu=3")
    found = read_queue(text(tmp_path, old)).jobs[0]
    assert (found.hours, found.cpus, found.gpus, found.memory_gb) == (1.5, 2, 3, 0.5)
    infinite = slurm(time_limit={"set": True, "infinite": True, "number": 0})
    assert read_queue(text(tmp_path, infinite), default_hours=5).jobs[0].hours == 5


def test_nulls_are_nothing_and_held_jobs_are_left_out(tmp_path):
    empty = dict.fromkeys(("name", "user_name", "cluster", "partition", "state_reason", "dependency"))
    held = slurm(job_id=8, state_reason="JobHeldUser")["jobs"]
    queue = read_queue(text(tmp_path, {"jobs": slurm(**empty)["jobs"] + held}))
    assert [(job.id, job.name, job.cluster) for job in queue.jobs] == [("7", "", "")]
    assert queue.left_out == {"held": 1}


def test_sacct_json(tmp_path):
    one = {
        "job_id": 12,
        "name": "t",
        "user": "eva",
        "state": {"current": ["RUNNING"], "reason": "None"},
        "time": {"submission": 1795550000, "start": 1795553600, "limit": {"set": True, "number": 120}},
        "required": {"CPUs": 4},
        "tres": {"allocated": [{"type": "cpu", "count": 8}, {"type": "gres", "name": "gpu", "count": 1}]},
        "array": {"job_id": 11, "task_id": {"set": True, "number": 3}},
        "cluster": "hpc",
    }
    found = read_queue(text(tmp_path, {"jobs": [one]})).jobs[0]
    assert (found.id, found.hours, found.cpus, found.gpus, found.cluster) == ("11_3", 2, 8, 1, "hpc")
    assert found.started == datetime.fromtimestamp(1795553600, tz=UTC)


def test_columns_are_in_local_time(tmp_path):
    rows = [
        "1|a|ada|RUNNING|4|2:00:00|2026-11-24T20:00:00|2026-11-24T21:00:00|5|(null)|N/A|batch",
        "2_[0-4:2]|b|bob|PENDING|1|1-00:00:00|2026-11-24T20:00:00|N/A|5||gres/gpu:2|gpu",
        "3|c|bob|COMPLETING|1|1:00|2026-11-24T20:00:00|N/A|5|||gpu",
    ]
    queue = read_queue(text(tmp_path, "\n".join([COLUMNS, *rows])), ZoneInfo("Europe/Berlin"))
    assert [(job.id, job.hours, job.gpus) for job in queue.jobs] == [
        ("1", 2, 0), ("2_0", 24, 2), ("2_2", 24, 2), ("2_4", 24, 2),
    ]  # fmt: skip
    assert queue.jobs[0].started == datetime(2026, 11, 24, 20, tzinfo=UTC)
    assert queue.left_out == {"completing": 1}
    accounts = "JobID|State|ReqCPUS|Timelimit|ReqTRES\n5|PENDING|2|30:00|cpu=2,mem=4G\n5.batch|PENDING|2|30:00|"
    assert [job.id for job in read_queue(text(tmp_path, accounts)).jobs] == ["5"]
    held = f"{COLUMNS}\n{rows[0]}\n" + "8|held|ada|PENDING|4|2:00:00|2026-11-24T19:00:00|N/A|0|||night"
    assert read_queue(text(tmp_path, held)).left_out == {"held": 1}


def test_kubernetes_jobs():
    queue = read_queue(TONIGHT / "jobs_kubernetes.json")
    assert queue.source == "kubernetes"
    found = {job.id: (job.state, job.hours, job.cpus, job.gpus, job.memory_gb) for job in queue.jobs}
    assert found == {
        "data/etl": ("PENDING", 2, 8, 0, 16),
        "data/train": ("PENDING", 4, 8, 1, 4),
        "data/report": ("PENDING", 1, 0.5, 0, 4),
        "data/ingest": ("RUNNING", 6, 8, 0, 8),
    }


def test_yaml_documents(tmp_path):
    yaml = pytest.importorskip("yaml")
    ended = pods(status={"conditions": [{"type": "Complete", "status": "True"}]})
    queue = read_queue(text(tmp_path, yaml.safe_dump_all([pods(), ended])))
    assert [job.id for job in queue.jobs] == ["data/etl"]
    assert queue.left_out == {"complete": 1}


def wrapper(*jobs: dict[str, Any], **status: Any) -> dict[str, Any]:
    parts = [{"template": {"metadata": {"name": "x"}, **one}} for one in jobs]
    meta = {"name": "both", "namespace": "data"}
    return {"kind": "AppWrapper", "metadata": meta, "spec": {"components": parts}, "status": status}


def test_app_wrappers_hold_what_their_jobs_hold(tmp_path):
    two = wrapper(pods(), pods({"activeDeadlineSeconds": 7200, "parallelism": 3}), phase="Suspended")
    found = read_queue(text(tmp_path, two)).jobs[0]
    assert (found.id, found.state, found.hours, found.cpus) == ("data/both", "PENDING", 2, 8)
    ready = {"type": "PodsReady", "status": "True", "lastTransitionTime": "2026-11-24T20:00:00Z"}
    runs = read_queue(text(tmp_path, {"kind": "List", "items": [wrapper(pods(), phase="Running", conditions=[ready])]}))
    assert runs.jobs[0].started == datetime(2026, 11, 24, 20, tzinfo=UTC)
    ended = {"kind": "AppWrapperList", "items": [wrapper(pods(), phase="Succeeded"), pods()]}
    assert read_queue(text(tmp_path, ended)).left_out == {"succeeded": 1}


def row(**cells: str) -> str:
    names = COLUMNS.split("|")
    known = {"JOBID": "1", "STATE": "PENDING", "CPUS": "1", "TIME_LIMIT": "1:00:00"} | cells
    return COLUMNS + "\n" + "|".join(known.get(name, "") for name in names)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("{", "is not JSON"),
        ("[1]", "must hold one JSON object"),
        ({"jobs": 5}, "jobs = 5: must be a list of jobs"),
        ({"jobs": []}, "holds no job that waits or runs: no job at all"),
        ({"jobs": [7]}, "jobs[0] = 7: must be"),
        ({"jobs": [{"name": "a"}]}, "jobs[0].job_id: is missing"),
        (slurm(job_id="7"), "jobs[0].job_id = '7': must be a valid integer"),
        (slurm(cpus="many"), "jobs[0].cpus = 'many': must be a valid number"),
        (slurm(cpus=0), "jobs[0].cpus = '0': job 7 must have a number of CPUs, more than 0"),
        (slurm(time_limit=None), "jobs[0].time_limit: job 7 has no time limit"),
        (slurm(time_limit=-5), "time_limit = '-0.0833333 h': must be a time"),
        (slurm(dependency="afterok:6(unfulfilled)"), "'afterok:6(unfulfilled)': job 7 waits for other jobs"),
        (slurm(array_job_id=7, array_task_string="1-9%2"), "array 7 limits how many of its tasks run at once"),
        (slurm(array_job_id=7, array_task_string="1-x"), "must be tasks such as 0-9 or 1,4,7"),
        (slurm(het_job_id=3), "job 7 is part of a heterogeneous job"),
        (slurm(job_state=["RUNNING"]), "jobs[0].start_time: job 7 runs: must tell since when"),
        (slurm(job_state=["COMPLETED"]), "holds no job that waits or runs: 1 completed"),
        ({"jobs": slurm()["jobs"] * 2}, "id = '7': must stand once"),
        (row(TIME_LIMIT="soon"), "line 2: time_limit = 'soon': must be a time such as 1-02:30:00"),
        (row(CPUS="x"), "line 2: cpus = 'x': job 1 must have a number of CPUs"),
        (row(TIME_LIMIT="UNLIMITED"), "time_limit = 'UNLIMITED': job 1 has no time limit"),
        (row(DEPENDENCY="singleton"), "line 2: dependency = 'singleton': job 1 waits for other jobs"),
        ("JOBID|STATE|CPUS\n1|PENDING|1", "must be one column of the header: none found"),
        ("JOBID|STATE|CPUS|TIME_LIMIT\n1|PENDING|1", "line 2: '1|PENDING|1': must have 4 cells, has 3"),
        ({"kind": "Pod"}, "kind = 'Pod': must be 'Job', 'AppWrapper', 'List', 'JobList' or 'App"),
        ({"kind": "List", "items": [{"kind": "Pod"}]}, "items[0].kind = 'Pod': must be a Job of batch/v1 or an"),
        (wrapper(), "spec.components = []: must be"),
        (wrapper(pods(kind="Service")), "spec.components.0.template.kind = 'Service': must be 'Job'"),
        (wrapper(pods(), phase="Running"), "start_time: job data/both runs: must tell since when"),
        (pods(metadata={}), "metadata.name: is missing"),
        (pods({"activeDeadlineSeconds": 0}), "spec.activeDeadlineSeconds = 0: must be greater than or equal to 1"),
        (pods({"activeDeadlineSeconds": None}), "time_limit: job data/etl has no time limit"),
        (pods({"template": {"spec": {"containers": []}}}), "job data/etl must have a number of CPUs"),
        (pods({"parallelism": "four"}), "spec.parallelism = 'four': must be a valid integer"),
    ],
)  # fmt: skip
def test_wrong_files_are_told_in_one_line(tmp_path, content, told):
    path = text(tmp_path, content)
    with pytest.raises(co.InputError) as caught:
        read_queue(path)
    lines = caught.value.lines()
    assert told in lines[0]
    assert lines[0].startswith(str(path))
    assert len(lines) == 1


def test_jobs_are_left_out_by_id(tmp_path):
    both = {"jobs": slurm()["jobs"] + slurm(job_id=8, dependency="afterok:7")["jobs"]}
    queue = read_queue(text(tmp_path, both), leave_out=["8"])
    assert [job.id for job in queue.jobs] == ["7"]
    assert queue.left_out == {"asked for": 1}
