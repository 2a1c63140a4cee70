"""Public traces: what is read of each, what is left out, and how a broken file is told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from public_traces_support import (
    ACME,
    AZURE,
    HELIOS,
    JOBS_HEADER,
    OPENB,
    PAI_JOBS,
    PAI_TASKS,
    TASKS_HEADER,
    attempt,
    fdata,
    pai,
    philly,
    pm100,
)
from trace_support import write

from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.io.trace import guess_format, read_trace
from carbonopt.io.traces.parquet import read_rows

HELIOS_LEFT_OUT = "1 of 3 jobs left out: 1 cancelled"


def told(trace) -> dict[str, list]:
    names = ("arrival_hours", "length_hours", "cpus", "gpus", "memory_gb", "watts", "started_hours", "limit_hours")
    return {name: np.round(values, 3).tolist() for name in names if (values := getattr(trace, name)) is not None}


def test_pai_sums_the_tasks_of_a_job_in_per_cent(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="1 of 3 jobs left out: 1 failed"):
        trace = read_trace(pai(tmp_path))
    assert told(trace) == {
        "arrival_hours": [0, 2],
        "length_hours": [3, 2],
        "cpus": [14, 4],
        "gpus": [2, 0.25],
        "memory_gb": [127.2, 8],
        "started_hours": [1, 2],
    }
    assert (trace.ids, trace.user, trace.state) == (("a", "c"), ("u1", "u1"), ("Terminated", "Terminated"))
    assert trace.zero == ""


def test_pai_tables_come_in_any_order_with_headers_of_their_own(tmp_path: Path) -> None:
    jobs = write(tmp_path / "one.csv", JOBS_HEADER + PAI_JOBS)
    tasks = write(tmp_path / "two.csv", TASKS_HEADER + PAI_TASKS)
    with pytest.warns(UserWarning, match="2 of 3 jobs left out: 2 terminated"):
        trace = read_trace([tasks, jobs], states=["Failed"])
    assert trace.ids == ("b",)
    with pytest.raises(UnsupportedError, match=r"give both with --trace \(given: one.csv\)"):
        read_trace(jobs)
    with pytest.raises(UnsupportedError, match="no job is 'done'; the file has 'failed' or 'terminated'"):
        read_trace([tasks, jobs], states=["done"])


def test_a_job_of_pai_with_a_task_without_end_is_left_out(tmp_path: Path) -> None:
    tasks = PAI_TASKS.replace("7200,14400,", "7200,,")
    with pytest.warns(UserWarning, match="2 of 3 jobs left out: 1 failed, 1 without run time"):
        assert read_trace(pai(tmp_path, tasks=tasks)).ids == ("c",)


def test_openb_runs_from_being_scheduled_to_its_deletion(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="2 of 4 jobs left out: 1 running, 1 without run time"):
        trace = read_trace(write(tmp_path / "pods.csv", OPENB))
    assert told(trace) == {
        "arrival_hours": [0, 1],
        "length_hours": [1, 2],
        "cpus": [12, 6],
        "gpus": [0.25, 8],
        "memory_gb": [16, 12],
        "started_hours": [1, 1],
    }


def test_helios_leaves_out_what_a_user_cancelled(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=HELIOS_LEFT_OUT):
        trace = read_trace(write(tmp_path / "cluster_log.csv", HELIOS))
    assert told(trace) == {
        "arrival_hours": [0, 1.5],
        "length_hours": [2, 0.5],
        "cpus": [4, 32],
        "gpus": [1, 8],
        "started_hours": [0.5, 1.5],
    }
    assert (trace.ids, trace.zero, trace.left_out) == (("11", "12"), "2020-06-09T18:00:00Z", {"cancelled": 1})
    everything = read_trace(tmp_path / "cluster_log.csv", states=["COMPLETED", "FAILED", "CANCELLED"])
    assert len(everything) == 3


def test_acme_has_offsets_and_memory_by_pod(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "trace_kalos.csv", ACME))
    assert (trace.zero, trace.length_hours.tolist(), trace.memory_gb.tolist()) == ("2023-05-17T03:00:00Z", [2], [8000])


@pytest.mark.parametrize("header", ["", "vmid,a,b,vmcreated,vmdeleted,c,d,e,vmcategory,f,g\n"])
def test_azure_leaves_out_machines_whose_life_is_not_seen_whole(tmp_path: Path, header: str) -> None:
    left_out = "3 of 5 jobs left out: 1 alive when it ended, 1 alive when the trace began, 1 without run time"
    path = tmp_path / "vmtable.csv.gz"
    path.write_bytes(gzip.compress((header + AZURE).encode()))
    with pytest.warns(UserWarning, match=left_out):
        trace = read_trace(path)
    assert told(trace) == {
        "arrival_hours": [0, 1],
        "length_hours": [2, 1],
        "cpus": [30, 2],
        "memory_gb": [70, 4],
    }


def test_philly_adds_the_attempts_of_a_job(tmp_path: Path) -> None:
    left_out = "3 of 5 jobs left out: 1 killed, 1 with an attempt without times, 1 without attempts"
    with pytest.warns(UserWarning, match=left_out):
        trace = read_trace(write(tmp_path / "cluster_job_log", philly()))
    assert told(trace) == {
        "arrival_hours": [0, 2],
        "length_hours": [3, 0.5],
        "cpus": [4, 2],
        "gpus": [4, 2],
        "started_hours": [0.5, 2],
    }
    assert not trace.cpus_known
    assert trace.zero == "2017-10-07T00:30:00Z"


def test_pm100_has_the_mean_of_measured_power(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.warns(UserWarning, match="1 of 3 jobs left out: 1 cancelled"):
        trace = read_trace(pm100(tmp_path / "job_table.parquet"))
    assert told(trace) == {
        "arrival_hours": [0, 1],
        "length_hours": [2, 1],
        "cpus": [128, 32],
        "gpus": [4, 0],
        "memory_gb": [237, 8],
        "watts": [1000, 400],
        "started_hours": [0, 2],
        "limit_hours": [24, 1],
    }
    assert (trace.zero, trace.priority.tolist()) == ("2020-06-01T12:00:00Z", [100, 90])


def test_fdata_has_the_power_of_the_whole_job(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.warns(UserWarning, match="1 of 3 jobs left out: 1 without run time"):
        trace = read_trace(fdata(tmp_path / "20_06.parquet"))
    assert trace.cpus.tolist() == [96, 48]
    assert trace.memory_gb.tolist()[0] == 56
    assert np.isnan(trace.memory_gb[1])
    assert trace.watts.tolist()[0] == 200
    assert np.isnan(trace.watts[1])
    assert trace.limit_hours.tolist() == [24, 2]


def test_a_part_keeps_every_column(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=HELIOS_LEFT_OUT):
        trace = read_trace(write(tmp_path / "log.csv", HELIOS))
    part = trace.part(np.array([1]), 1.0)
    assert told(part) == {
        "arrival_hours": [0.5],
        "length_hours": [0.5],
        "cpus": [32],
        "gpus": [8],
        "started_hours": [0.5],
    }
    assert (part.ids, part.user, part.state) == (("12",), ("u2",), ("FAILED",))


def test_each_is_told_by_its_content(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    files = {
        "pai": pai(tmp_path)[1],
        "openb": write(tmp_path / "x1", OPENB),
        "helios": write(tmp_path / "x2", ACME),
        "azure": write(tmp_path / "x3", AZURE),
        "philly": write(tmp_path / "x4", philly()),
        "pm100": pm100(tmp_path / "x5"),
        "fdata": fdata(tmp_path / "x6"),
    }
    assert {name: guess_format(path) for name, path in files.items()} == {name: name for name in files}


def test_only_public_traces_have_states_and_only_pai_two_files(tmp_path: Path) -> None:
    path = write(tmp_path / "jobs.csv", "arrival_time,length,cpus\n0,2,1\n")
    with pytest.raises(UnsupportedError, match="--states is for public traces"):
        read_trace(path, states=["done"])
    log = write(tmp_path / "log.csv", HELIOS)
    with pytest.raises(UnsupportedError, match="helios takes one file, not 2"):
        read_trace([log, log])
    with pytest.raises(UnsupportedError, match="--trace is missing"):
        read_trace([])


HELIOS_ROW = HELIOS.splitlines()[1]
OPENB_ROW = OPENB.splitlines()[1]
AZURE_ROW = AZURE.splitlines()[0]
TASK = PAI_TASKS.splitlines()[0]


def helios(old: str, new: str) -> str:
    return HELIOS.splitlines()[0] + "\n" + HELIOS_ROW.replace(old, new, 1) + "\n"


def openb(old: str, new: str) -> str:
    return OPENB.splitlines()[0] + "\n" + OPENB_ROW.replace(old, new, 1) + "\n"


def azure(old: str, new: str) -> str:
    return AZURE_ROW.replace(old, new, 1) + "\n"


BROKEN_TEXTS = [
    # what, name of the file, its content, the one line that is told
    ("h-time", helios("2020-06-09 18:00:00", "yesterday"), ", line 2: submit_time = 'yesterday': must be an ISO 8601"),
    ("h-month", helios("2020-06-09 18:30:00", "2020-13-09 18:30:00"), "start_time = '2020-13-09 18:30:00': must be an"),
    ("h-back", helios("2020-06-09 20:30:00", "2020-06-08 20:30:00"), ": must not be before start_time"),
    ("h-long", helios("2020-06-09 20:30:00", "2190-06-09 20:30:00"), "must make a run time of at most 1e+06 h"),
    ("h-gpus", helios(",1,4,1,", ",x,4,1,"), ", line 2: gpu_num = 'x': must be a number of GPUs, at least 0"),
    ("h-minus", helios(",1,4,1,", ",1,-4,1,"), ", line 2: cpu_num = '-4': must be a number of CPUs, at least 0"),
    ("h-digits", helios(",1,4,1,", ",1," + "9" * 400 + ",1,"), "cpu_num = '999"),
    ("h-id", helios("11,", ",").replace(",u1", "'',u1", 0), ", line 2: job_id = '': must be the job's name"),
    ("h-cells", helios("7200,1800", "7200"), ", line 2: '11,u1,vcA,1,4,1,"),
    ("h-column", HELIOS.replace("start_time", "begin_time"), "start_time = 'job_id,user,gpu_num"),
    ("h-twice", HELIOS.replace("user,vc", "user,user"), "user = 'job_id,user,user"),
    ("h-empty", HELIOS.splitlines()[0] + "\n", "has a header but no rows"),
    ("h-none", helios("COMPLETED", "CANCELLED"), "holds no job that ran to an end: 1 of 1 jobs left out: 1 cancelled"),
    ("h-state", helios("COMPLETED", ""), "1 without state"),
    ("h-submit", helios("2020-06-09 18:00:00", ""), "1 without submit time"),
    ("h-cpus", helios(",1,4,1,", ",1,0,1,"), "1 without CPUs"),
    ("h-quote", helios("u1", '"u1'), "is not CSV: unexpected end of data"),
    ("o-milli", openb("12000", "12 CPUs"), ", line 2: cpu_milli = '12 CPUs': must be thousandths of a CPU, at least 0"),
    ("o-gpu", openb(",1,250,", ",1,2500,"), ", line 2: gpu_milli = '2500': must be thousandths of a GPU"),
    ("o-many", openb(",1,250,", ",-1,250,"), ", line 2: num_gpu = '-1': must be a number of GPUs"),
    ("o-back", openb("10800", "10"), ", line 2: deletion_time = '10': must not be before scheduled_time"),
    ("o-time", openb(",3600,", ",1e300,"), ", line 2: creation_time = '1e300': must be a number of seconds"),
    ("o-date", openb(",3600,", ",2023-01-01,"), ", line 2: creation_time = '2023-01-01': must be a number of seconds"),
    ("o-mib", openb("16384", "16Gi"), ", line 2: memory_mib = '16Gi': must be a number of MiB"),
    ("o-zero", openb("10800", "7200"), "1 without run time"),
    ("o-column", OPENB.replace("scheduled_time", "bound_time"), "scheduled_time = 'name,cpu_milli"),
    ("a-minus", azure(",0,3600,", ",-5,3600,"), ", line 1: vmcreated = '-5': must be a number of seconds, at least 0"),
    ("a-back", azure(",0,3600,", ",7200,3600,"), ", line 1: vmdeleted = '3600': must not be before vmcreated"),
    ("a-word", azure(",0,3600,", ",0,never,"), ", line 1: vmdeleted = 'never': must be a number of seconds"),
    ("a-cores", azure(",4,8", ",four,8"), ", line 1: vmcorecountbucket = 'four': must be a number of CPUs"),
    ("a-memory", azure(",4,8", ",4,>8"), ", line 1: vmmemorybucket = '>8': must be a number of GB"),
    ("a-begin", azure("", ""), "1 alive when the trace began"),
    ("a-cells", AZURE + "v6,s1\n", ", line 6: 'v6,s1': must have 11 cells, has 2"),
    ("p-json", philly()[:-5], "is not JSON: line 1, column"),
    ("p-object", "[1]", "[0] = 1: must be an object {...}"),
    ("p-empty", "[]", "must be a list of jobs"),
    ("p-id", philly(jobid=7), "[0].jobid = 7: must be text"),
    ("p-noid", philly(jobid=""), "[0].jobid = '': must be the job's name"),
    ("p-status", philly(status=None), "[0].status = null: must be text"),
    ("p-time", philly(submitted_time="noon"), "[0].submitted_time = 'noon': must be an ISO 8601"),
    ("p-attempts", philly(attempts={}), "[0].attempts = {}: must be a list of attempts"),
    ("p-detail", philly(attempts=[{"detail": 1}]), "[0].attempts[0] = {'detail': 1}: must be an object whose detail"),
    ("p-begin", philly(attempts=[attempt("2017", "2017-10-07 02:00:00")]), "[0].attempts[0].start_time = '2017': must"),
    ("p-back", philly(attempts=[attempt("2017-10-07 02:00:00", "2017-10-07 01:00:00")]), "not be before start_time"),
    ("p-number", philly(attempts=[attempt("2017-10-07 02:00:00", 7)]), "[0].attempts[0].end_time = 7: must be"),
    ("p-digits", '[{"jobid": ' + "9" * 5000 + "}]", "a whole number of more than 4300 digits"),
    ("p-deep", "[" * 100_000, "is nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "line"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN_TEXTS])
def test_a_broken_file_is_told_in_one_line(tmp_path: Path, content: str, line: str) -> None:
    path = write(tmp_path / "trace", content)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    (only,) = caught.value.lines()
    assert only.startswith(str(path))
    assert line in only


BROKEN_PAI = [
    ("cpu", PAI_JOBS, TASK.replace(",600,", ",six,"), "task_table.csv, line 1: plan_cpu = 'six': must be per cent"),
    ("gpu", PAI_JOBS, TASK.replace(",10,0,", ",10,-1,"), "line 1: plan_gpu = '-1': must be per cent of a GPU"),
    ("count", PAI_JOBS, TASK.replace("ps,1,", "ps,1e99,"), "line 1: inst_num = '1e99': must be a number of instances"),
    ("back", PAI_JOBS, TASK.replace(",14400,", ",1,"), "line 1: end_time = '1': must not be before start_time"),
    ("submit", PAI_JOBS.replace("3600", "soon"), TASK, "job_table.csv, line 1: start_time = 'soon': must be a number"),
    ("twice", PAI_JOBS.replace("b,i2", "a,i2"), TASK, "job_table.csv, line 2: job_name = 'a': must stand once"),
    ("other", PAI_JOBS, TASK.replace("a,ps", "z,ps"), "job_name = 'z': no task is of a job of"),
    ("cells", PAI_JOBS, TASK[:-9], "task_table.csv, line 1: 'a,ps,1,Terminated,7200,14400,': must have 10 cells"),
]  # fmt: skip


@pytest.mark.parametrize(("jobs", "tasks", "line"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN_PAI])
def test_a_broken_table_of_pai_is_told_in_one_line(tmp_path: Path, jobs: str, tasks: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trace(pai(tmp_path, jobs, tasks))
    (only,) = caught.value.lines()
    assert line in only


def test_broken_parquet_is_told_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    whole = pm100(tmp_path / "whole.parquet").read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole[:-40])
    cases = {
        cut: "is not a whole Parquet file",
        pm100(tmp_path / "a.parquet", run_time=[-5, 1, 1]): "run_time[0] = '-5': must be a number of seconds",
        pm100(tmp_path / "b.parquet", submit_time=["x", "", ""]): "submit_time[0] = 'x': must be an ISO 8601",
        pm100(tmp_path / "c.parquet", node_power_consumption=[[-9.0], [1.0], []]): "must be a mean power in W",
        fdata(tmp_path / "d.parquet", avgpcon=["hot", "1", "1"]): "avgpcon[0] = 'hot': must be a mean power in W",
        pm100(tmp_path / "e.parquet", num_cores_alloc=["many", "1", "1"]): "[0] = 'many': must be a number of CPUs",
    }
    for path, line in cases.items():
        with pytest.raises(InputError) as caught:
            read_trace(path)
        (only,) = caught.value.lines()
        assert only.startswith(str(path))
        assert line in only


def test_parquet_of_another_source_and_of_too_many_rows_is_refused(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("pyarrow")
    from public_traces_support import parquet

    with pytest.raises(UnsupportedError, match=r"Parquet of no known source: must be PM100 or F-DATA.*'a'"):
        read_trace(parquet(tmp_path / "x.parquet", {"a": [1]}))
    monkeypatch.setattr("carbonopt.io.traces.parquet.MOST_ROWS", 2)
    with pytest.raises(InputError, match=r"3 rows, .*must have from 1 to 2 rows"):
        read_rows(pm100(tmp_path / "y.parquet"), {"run_time": ("run_time",)})


def test_json_with_a_byte_order_mark_and_no_job_that_ran(tmp_path: Path) -> None:
    path = tmp_path / "log"
    killed = [job | {"status": "Killed"} for job in json.loads(philly())]
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(killed).encode())
    with pytest.raises(InputError, match="holds no job that ran to an end: 5 of 5 jobs left out: 5 killed"):
        read_trace(path)
