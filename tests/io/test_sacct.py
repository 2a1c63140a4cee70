"""Job logs from Slurm."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from trace_support import faults, write

from carbonopt.core.registry import problem_of
from carbonopt.io.jobs import JobTrace
from carbonopt.io.sacct import read_sacct
from carbonopt.io.trace import read_trace

DAY = "2024-03-01"
HEADER = "JobID|JobName|Submit|Start|End|Elapsed|AllocCPUS|ReqCPUS|State\n"
JOB = "10|a|2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T12:05:00|02:00:00|4|6|COMPLETED\n"


def quiet(path: Path, **options: str) -> JobTrace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_trace(path, **options)


def test_submit_elapsed_and_allocated_cpus(tmp_path: Path) -> None:
    later = JOB.replace("10|a|2024-03-01T10", "11|b|2024-03-01T13").replace("02:00:00", "1-01:30:00")
    trace = read_sacct(write(tmp_path / "jobs.txt", HEADER + later + JOB))
    assert trace.arrival_hours.tolist() == [3, 0]
    assert trace.length_hours.tolist() == [25.5, 2]
    assert trace.cpus.tolist() == [4, 4]
    assert trace.rows.tolist() == [2, 3]
    assert trace.provenance() == {"trace_zero": "2024-03-01T10:00:00"}


@pytest.mark.parametrize(
    ("elapsed", "hours"), [("00:30", 1 / 120), ("45:00", 0.75), ("100:00:00", 100), ("2-00:00:36", 48.01)]
)
def test_forms_of_elapsed(tmp_path: Path, elapsed: str, hours: float) -> None:
    trace = read_sacct(write(tmp_path / "jobs.txt", HEADER + JOB.replace("02:00:00", elapsed)))
    assert trace.length_hours.tolist() == [pytest.approx(hours, rel=1e-14)]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("JobIDRaw|JobID|State|NCPUS|ElapsedRaw|Submit", "7|7|COMPLETED|4|7200|2024-03-01T10:00:00"),
        ("jobid|state|ncpus|start|end|submit", f"7|TIMEOUT|4|{DAY}T11:00:00|{DAY}T13:00:00|{DAY}T10:00:00"),
        ("JobID|State|AllocCPUS|ReqCPUS|Elapsed|Submit|", "7|FAILED|0|4|02:00:00|2024-03-01T10:00:00|"),
        ("JobID|JobName|State|ReqCPUS|Elapsed|Submit", '7|say "hi|NODE_FAIL|4|02:00:00|2024-03-01T10:00:00'),
    ],
    ids=["raw", "start and end", "parsable", "a quotation mark"],
)  # fmt: skip
def test_other_columns(tmp_path: Path, header: str, row: str) -> None:
    trace = read_trace(write(tmp_path / "jobs.txt", f"{header}\n{row}\n"))
    assert (trace.length_hours.tolist(), trace.cpus.tolist()) == ([2], [4])


def test_steps_are_part_of_their_jobs_and_tasks_of_arrays_are_jobs(tmp_path: Path) -> None:
    names = ["10", "10.batch", "10.extern", "10.0", "11_1", "11_1.batch", "11_2", "12+0", "12+1", "12+0.batch"]
    rows = "".join(JOB.replace("10|", f"{name}|", 1) for name in names)
    assert read_sacct(write(tmp_path / "jobs.txt", HEADER + rows)).rows.tolist() == [2, 6, 8, 9, 10]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("CANCELLED by 1001", "cancelled"),
        ("CANCELLED+", "cancelled"),
        ("PENDING", "pending"),
        ("RUNNING", "running"),
        ("REQUEUED", "requeued"),
        ("", "without state"),
    ],
)
def test_what_has_not_ended_is_left_out(tmp_path: Path, state: str, reason: str) -> None:
    other = JOB.replace("COMPLETED", state).replace("T10:00:00", "T07:00:00").replace("02:00:00", "Unknown")
    path = write(tmp_path / "jobs.txt", HEADER + other + JOB)
    with pytest.warns(UserWarning, match=f"1 of 2 jobs left out: 1 {reason}"):
        trace = read_sacct(path)
    assert trace.arrival_hours.tolist() == [0], "hours count from the first job that ran"


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "OUT_OF_ME+", "PREEMPTED", "DEADLINE"])
def test_what_ended_badly_ran_all_the_same(tmp_path: Path, state: str) -> None:
    assert len(read_sacct(write(tmp_path / "jobs.txt", HEADER + JOB.replace("COMPLETED", state)))) == 1


def test_what_failed_before_its_start_did_not_run(tmp_path: Path) -> None:
    never = JOB.replace("COMPLETED", "FAILED").replace("|4|6|", "|0|0|")
    with_elapsed = HEADER + JOB + never.replace("02:00:00", "00:00:00")
    assert quiet(write(tmp_path / "a.txt", with_elapsed)).left_out == {"without run time": 1}
    without = (HEADER + JOB + never.replace("2024-03-01T10:05:00", "None")).replace("Elapsed", "Other")
    assert quiet(write(tmp_path / "b.txt", without)).left_out == {"without run time": 1}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("2024-03-01T10:00", "10:00"), "Submit = '10:00:00': must be a time such as 2023-11-14T00:00:00"),
        (("2024-03-01T10:00", "2024-13-01T10:00"), "Submit = '2024-13-01T10:00:00': must be a time such as"),
        (("02:00:00", "2 h"), "Elapsed = '2 h': must be a time such as 1-02:30:00"),
        (("|4|6|", "|0|0|"), "AllocCPUS = '0': must be a number, more than 0"),
        (("|4|6|", "|x|-1|"), "AllocCPUS = 'x': must be a number, more than 0"),
        (("|4|6|", "|inf|1|"), "AllocCPUS = 'inf': must be a number, more than 0"),
        (("10|a", "10|a|b"), "must have 9 cells, has 10"),
    ],
)
def test_a_wrong_cell(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    [found] = faults(read_sacct, write(tmp_path / "jobs.txt", HEADER + JOB + JOB.replace(*change)))
    assert found.startswith(", line 3: ")
    assert told in found


def test_every_fault_at_once(tmp_path: Path) -> None:
    bad = JOB.replace("2024-03-01T10:00:00", "?").replace("02:00:00", "?").replace("|4|6|", "|?|?|")
    found = faults(read_sacct, write(tmp_path / "jobs.txt", HEADER + bad))
    assert [line.split(" = ")[0] for line in found] == [
        f", line 2: {name}" for name in ("Submit", "Elapsed", "AllocCPUS")
    ]


def test_an_end_before_the_start(tmp_path: Path) -> None:
    text = (HEADER + JOB).replace("Elapsed", "Other").replace("2024-03-01T12:05:00", "2024-03-01T09:05:00")
    [found] = faults(read_sacct, write(tmp_path / "jobs.txt", text))
    assert found == ", line 2: End = '2024-03-01T09:05:00': must not be before Start"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["is empty"]),
        (HEADER, ["has a header but no rows"]),
        (HEADER.replace("Submit", "Sub"), ["has a header but no rows"]),
        ((HEADER + JOB).replace("Submit", "Sub").replace("State", "St"), ["Submit", "State"]),
        ((HEADER + JOB).replace("CPUS", "Cores"), ["AllocCPUS"]),
        ((HEADER + JOB).replace("Elapsed", "Other").replace("Start", "Begin"), ["Start"]),
        (HEADER + JOB.replace("10|", "10.batch|"), ["holds steps only"]),
        (HEADER + JOB.replace("COMPLETED", "RUNNING"), ["holds no job that ran to an end: 1 of 1"]),
    ],
)  # fmt: skip
def test_a_wrong_table(tmp_path: Path, text: str, told: list[str]) -> None:
    found = faults(read_sacct, write(tmp_path / "jobs.txt", text))
    assert all(word in line for word, line in zip(told, found, strict=True))


def test_ids_survive_to_the_schedule(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    rows = [
        "7|{}|01:00:00|1|COMPLETED",
        "8_2|{}|01:00:00|1|CANCELLED",
        "7|{}|01:00:00|1|COMPLETED",
        "9|{}|01:00:00|1|FAILED",
    ]
    lines = ["JobID|Submit|Elapsed|AllocCPUS|State", *(row.format("2024-03-01T10:00:00") for row in rows)]
    path.write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="1 cancelled"):
        trace = read_sacct(path)
    assert trace.ids == ("7", "7 (run 2)", "9")
    carbon = tmp_path / "DE.csv"
    hours = [f"2024-03-{1 + hour // 24:02d}T{hour % 24:02d}:00:00Z,{100 + hour}" for hour in range(72)]
    carbon.write_text("\n".join(hours))
    for problem in ("mosp", "elastic", "purchasing", "mlcluster"):
        with pytest.warns(UserWarning, match="1 cancelled"):
            instance = problem_of(problem).role("convert")(path, [carbon])
        assert instance.jobs.name == trace.ids
