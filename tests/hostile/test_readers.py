"""Files that no reader may choke on: one line a fault, exit code 2, within bounds."""

import gzip
import json
import os
import re

import pytest
from cli_support import errors, run
from conftest import TINY

from carbonopt.bench.bks import read_bks
from carbonopt.bench.results import read_results
from carbonopt.core import files
from carbonopt.core.errors import InputError
from carbonopt.io.queues.read import read_queue
from carbonopt.io.sacct import read_sacct
from carbonopt.io.trace import read_trace

HEADER = "JobID|Submit|Elapsed|AllocCPUS|State\n"
RAW_HEADER = "JobID|Submit|ElapsedRaw|AllocCPUS|State\n"
RUN = {
    "instance_sha256": "a",
    "method_asked": "milp",
    "seed": 0,
    "time_limit": 1,
    "bound": 0,
    "objective": 0,
    "sense": "min",
    "instance": "i",
    "method": "milp",
    "status": "optimal",
    "wall_seconds": 1,
}


@pytest.mark.parametrize("digits", [300, 4400])
def test_a_job_of_a_span_of_many_digits_is_a_fault_of_its_line(tmp_path, digits):
    path = tmp_path / "sacct.txt"
    for header, span in ((HEADER, "9" * digits + "-00:00:01"), (RAW_HEADER, "9" * digits)):
        path.write_text(f"{header}7|2024-03-01T10:00:00|{span}|4|COMPLETED\n")
        with pytest.raises(InputError, match=r"line 2: Elapsed.*must be a") as caught:
            read_sacct(path)
        assert len(caught.value.lines()) == 1


TRACE = "arrival_time,length,cpus\n"


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("jobs.csv", TRACE + "0,1e300,2\n", r"length = '1e300': must be at most 3.6e\+09 seconds"),
        ("jobs.csv", TRACE + "1e300,60,2\n", r"arrival_time = '1e300': must be at most 3.6e\+12 seconds"),
        ("jobs.csv", TRACE + "0,60,1e300\n", r"cpus = '1e300': must be at most 1e\+30"),
        ("jobs.swf", "1 60 5 1e308 4 -1 -1 4 9000 -1 1 1 1 -1 1 -1 -1 -1\n", r"run_time = '1e308': must be .*3.6e\+09"),
        ("sacct.txt", HEADER + "7|2024-03-01T10:00:00|01:00:00|1e300|COMPLETED\n", "AllocCPUS = '1e300': must be"),
    ],
)
def test_a_job_beyond_what_an_instance_holds_is_a_fault_of_its_line(tmp_path, name, line, words):
    """Without it, `convert` writes files that no command reads, and slots overflow."""
    (tmp_path / name).write_text(line)
    with pytest.raises(InputError, match=words):
        read_trace(tmp_path / name, "seconds")


@pytest.mark.parametrize(
    ("number", "words"),
    [("1" + "0" * 400, "must be at most 1e[+]12"), ("9" * 5000, "more than 4300 digits"), ("1e400", "whole number")],
)
def test_a_parameter_of_many_digits_is_a_fault_of_its_file(tmp_path, number, words):
    (tmp_path / "p.toml").write_text(f"[search]\nmoves_per_job = {number}\n")
    (told,) = errors("solve", TINY["crowd"], "-m", "price", "--params", tmp_path / "p.toml")
    assert re.search(words, told)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        (json.dumps(RUN).replace('"seed": 0', '"seed": ' + "9" * 5000), "4300 digits"),
        (json.dumps(RUN | {"instance_sha256": {}}), "is no finished run"),
        (json.dumps(RUN | {"bound": "x"}), "is no finished run"),
        (json.dumps(RUN | {"objective": float("nan")}), "is no finished run"),
        (json.dumps(RUN | {"seed": True}), "is no finished run"),
        ('  "schema_version": 1,', "is no finished run"),
    ],
)
def test_a_line_that_is_no_run_is_told_with_its_number(tmp_path, line, words):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(RUN) + "\n" + line + "\n")
    with pytest.raises(InputError, match=f"line 2: .*{words}"):
        read_results(path)
    (told,) = errors("bench", TINY["crowd"], "-m", "lp", "-o", path)
    assert words in told


@pytest.mark.parametrize("entry", [{}, [1], None, {"instance_sha256": "a", "sense": "min", "objective": 1}])
def test_an_entry_that_is_none_of_best_known_values_is_told_before_the_work(tmp_path, entry):
    path = tmp_path / "bks.json"
    path.write_text(json.dumps({"name": entry}))
    with pytest.raises(InputError, match="name: is no entry"):
        read_bks(path)
    (told,) = errors("bench", TINY["crowd"], "-m", "lp", "-o", tmp_path / "r.jsonl", "--bks", path)
    assert "is no entry" in told


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(bytes(4 * 2**20)))
    monkeypatch.setattr(files, "LARGEST_BYTES", 2**20)
    with pytest.raises(InputError, match="holds more than 1 MiB"):
        files.read_bytes(path, 2**20)


@pytest.mark.parametrize("name", ["vmtable.csv.gz", "cluster_job_log.gz", "job_table.parquet"])
def test_a_bomb_of_a_trace_is_not_unpacked(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(bytes(4 * 2**20)))
    monkeypatch.setattr("carbonopt.io.trace.LARGEST_TRACE", 2**20)
    with pytest.raises(InputError, match="holds more than 1 MiB"):
        read_trace(path)


def test_a_bomb_of_four_gigabytes_is_refused(tmp_path):
    chunk = gzip.compress(bytes(2**20))
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(chunk * 4096)
    assert "holds more than 64 MiB" in errors("info", path)[0]


def test_devices_and_pipes_do_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    assert errors("info", tmp_path / "pipe.json") == [f"{tmp_path / 'pipe.json'}: is empty"]
    assert "holds more than 64 MiB" in errors("info", "/dev/zero")[0]
    assert errors("info", "/dev/null") == ["/dev/null: is empty"]


def test_a_pipe_that_sends_an_instance_is_read():
    reading, writing = os.pipe()
    os.write(writing, TINY["crowd"].read_bytes())
    os.close(writing)
    assert run("info", f"/dev/fd/{reading}").exit_code == 0
    os.close(reading)


SLURM = {"job_id": 7, "job_state": ["PENDING"], "cpus": 4, "time_limit": 90}
MANY = "9" * 400


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ({"tres_req_str": f"cpu=1,gres/gpu={MANY}"}, "must have a number of GPUs, from 0 to 1e"),
        ({"array_job_id": 7, "array_task_string": f"0-{MANY}"}, "array"),
        ({"array_job_id": 7, "array_task_string": "9" * 5000}, "array"),
    ],
)
def test_a_queue_of_numbers_of_many_digits_is_a_fault_of_its_job(tmp_path, job, words):
    (tmp_path / "squeue.json").write_text(json.dumps({"jobs": [SLURM | job]}))
    with pytest.raises(InputError, match=words):
        read_queue(tmp_path / "squeue.json")


@pytest.mark.parametrize("field", ["parallelism", "activeDeadlineSeconds"])
def test_a_job_of_kubernetes_keeps_to_its_whole_numbers(tmp_path, field):
    pod = {"spec": {"containers": [{"resources": {"requests": {"cpu": "2"}}}]}}
    spec = {"activeDeadlineSeconds": 3600, "template": pod, field: 10**400}
    raw = {"kind": "Job", "metadata": {"name": "etl", "namespace": "data"}, "spec": spec}
    (tmp_path / "jobs.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match=f"{field} = .*: must be less than"):
        read_queue(tmp_path / "jobs.json")
