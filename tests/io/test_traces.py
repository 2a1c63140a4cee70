"""Job logs in the Standard Workload Format and from Slurm, and which reader a file goes to."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest

from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.registry import problem_of
from carbonopt.io.jobs import JobTrace
from carbonopt.io.sacct import read_sacct
from carbonopt.io.swf import read_swf
from carbonopt.io.trace import guess_format, read_trace

SWF = """\
; Version: 2.2
;  UnixStartTime: 0
  1     0   10  3600    4  -1 -1    4  7200 -1  1  3 1 -1 1 -1 -1 -1

  2  1800    0   5400.5 -1 -1 -1    8  7200 -1  0  3 1 -1 1 -1 -1 -1
"""
DAY = "2024-03-01"
HEADER = "JobID|JobName|Submit|Start|End|Elapsed|AllocCPUS|ReqCPUS|State\n"
JOB = "10|a|2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T12:05:00|02:00:00|4|6|COMPLETED\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def swf(**fields: object) -> str:
    """Return a line of a completed job with other values in some fields."""
    values = {"job": 1, "submit": 0, "wait": 0, "run": 60, "allocated": 1, "cpu": -1, "memory": -1, "requested": 1}
    values |= {"time": 60, "mem": -1, "status": 1} | {f"more{i}": -1 for i in range(7)}
    return " ".join(map(str, (values | fields).values())) + "\n"


def faults(read: object, path: Path) -> list[str]:
    assert callable(read)
    with pytest.raises(InputError) as caught:
        read(path)
    lines = caught.value.lines()
    assert all(line.startswith(str(path)) for line in lines)
    return [line.removeprefix(str(path)) for line in lines]


def quiet(path: Path, **options: str) -> JobTrace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_trace(path, **options)


class TestStandardWorkloadFormat:
    @pytest.mark.parametrize(
        ("header", "zero"),
        [
            ("", ""),
            ("; UnixStartTime: 0\n", ""),
            ("; UnixStartTime: -1\n", ""),
            (";UnixStartTime:1654041600\n", "2022-06-01T00:00:00Z"),
            ("; Note: 5\n\n;  unixstarttime : 1654041600\n", "2022-06-01T00:00:00Z"),
        ],
    )
    def test_the_header_tells_when_the_log_begins(self, tmp_path: Path, header: str, zero: str) -> None:
        assert read_swf(write(tmp_path / "log.swf", header + swf())).zero == zero

    @pytest.mark.parametrize("value", ["", "June", "1e9", "9" * 400, "10000000001", "1.5"])
    def test_a_beginning_that_is_no_date_is_told_in_a_line(self, tmp_path: Path, value: str) -> None:
        path = write(tmp_path / "log.swf", f"; Version: 2\n; UnixStartTime: {value}\n" + swf())
        (line,) = faults(read_swf, path)
        assert line.startswith(", line 2: UnixStartTime")
        assert "must be whole seconds since 1970" in line

    def test_submit_time_run_time_and_processors(self, tmp_path: Path) -> None:
        trace = read_swf(write(tmp_path / "log.swf", SWF))
        assert trace.arrival_hours.tolist() == [0, 0.5]
        assert trace.length_hours.tolist() == [1, 5400.5 / 3600]
        assert trace.cpus.tolist() == [4, 8], "those requested, where those allocated are unknown"
        assert trace.rows.tolist() == [3, 5]
        assert trace.provenance() == {}

    def test_gzip_and_windows_line_ends(self, tmp_path: Path) -> None:
        path = tmp_path / "log.swf.gz"
        path.write_bytes(gzip.compress(SWF.replace("\n", "\r\n").encode()))
        assert len(read_trace(path)) == 2

    def test_comments_in_any_encoding(self, tmp_path: Path) -> None:
        path = tmp_path / "log.swf"
        path.write_bytes("; Universität\n".encode("latin-1") + swf().encode())
        assert len(read_swf(path)) == 1

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"status": 5}, "cancelled"),
            ({"status": 5, "run": 0}, "cancelled"),
            ({"status": 2}, "pieces of a job"),
            ({"status": 3}, "pieces of a job"),
            ({"status": 4}, "pieces of a job"),
            ({"run": 0}, "without run time"),
            ({"run": -1}, "without run time"),
            ({"submit": -1}, "without submit time"),
            ({"allocated": -1, "requested": -1}, "without processors"),
            ({"allocated": 0, "requested": 0}, "without processors"),
        ],
    )
    def test_what_is_left_out_is_counted_and_told(self, tmp_path: Path, fields: dict[str, int], reason: str) -> None:
        path = write(tmp_path / "log.swf", swf() + swf(**fields) + swf(status=0) + swf(status=-1))
        with pytest.warns(UserWarning, match=rf"log\.swf: 1 of 4 jobs left out: 1 {reason}"):
            trace = read_swf(path)
        assert trace.rows.tolist() == [1, 3, 4], "failed jobs ran, too"
        assert trace.provenance() == {"trace_jobs_left_out": {reason: 1}}

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            (swf(submit=-2), "submit_time = '-2': must be a number of seconds, at least 0, or -1 where it is unknown"),
            (swf(run="1:00"), "run_time = '1:00': must be a number of seconds, at least 0, or -1 where it is unknown"),
            (swf(run="nan"), "run_time = 'nan': must be a number of seconds, at least 0, or -1 where it is unknown"),
            (swf(allocated="inf"), "allocated_processors = 'inf': must be a number, at least 0, or -1"),
            (swf(status="x"), "status = 'x': must be a number, at least 0, or -1"),
            ("1 2 3\n", "'1 2 3': must have 18 numbers, has 3"),
            (swf().strip() + " 7\n", "must have 18 numbers, has 19"),
            ("arrival_time,length,cpus\n", "'arrival_time,length,cpus': must have 18 numbers, has 1"),
        ],
    )
    def test_a_wrong_line(self, tmp_path: Path, line: str, told: str) -> None:
        [found] = faults(read_swf, write(tmp_path / "log.swf", "; a comment\n" + swf() + line))
        assert found.startswith(", line 3: ")
        assert told in found

    def test_every_fault_at_once(self, tmp_path: Path) -> None:
        found = faults(read_swf, write(tmp_path / "log.swf", swf(submit="x") + swf(run=-7, status="y")))
        assert [line.split(" = ")[0] for line in found] == [
            ", line 1: submit_time", ", line 2: run_time", ", line 2: status",
        ]  # fmt: skip

    def test_nothing_that_ran(self, tmp_path: Path) -> None:
        [found] = faults(read_swf, write(tmp_path / "a.swf", "; nothing\n"))
        assert found == ": is empty: must hold one line of 18 numbers for each job"
        [found] = faults(read_swf, write(tmp_path / "b.swf", swf(status=5) + swf(run=0)))
        assert found.startswith(": holds no job that ran to an end: 2 of 2 jobs left out: 1 cancelled, 1 without run")


class TestSlurm:
    def test_submit_elapsed_and_allocated_cpus(self, tmp_path: Path) -> None:
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
    def test_forms_of_elapsed(self, tmp_path: Path, elapsed: str, hours: float) -> None:
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
    def test_other_columns(self, tmp_path: Path, header: str, row: str) -> None:
        trace = read_trace(write(tmp_path / "jobs.txt", f"{header}\n{row}\n"))
        assert (trace.length_hours.tolist(), trace.cpus.tolist()) == ([2], [4])

    def test_steps_are_part_of_their_jobs_and_tasks_of_arrays_are_jobs(self, tmp_path: Path) -> None:
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
    def test_what_has_not_ended_is_left_out(self, tmp_path: Path, state: str, reason: str) -> None:
        other = JOB.replace("COMPLETED", state).replace("T10:00:00", "T07:00:00").replace("02:00:00", "Unknown")
        path = write(tmp_path / "jobs.txt", HEADER + other + JOB)
        with pytest.warns(UserWarning, match=f"1 of 2 jobs left out: 1 {reason}"):
            trace = read_sacct(path)
        assert trace.arrival_hours.tolist() == [0], "hours count from the first job that ran"

    @pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "OUT_OF_ME+", "PREEMPTED", "DEADLINE"])
    def test_what_ended_badly_ran_all_the_same(self, tmp_path: Path, state: str) -> None:
        assert len(read_sacct(write(tmp_path / "jobs.txt", HEADER + JOB.replace("COMPLETED", state)))) == 1

    def test_what_failed_before_its_start_did_not_run(self, tmp_path: Path) -> None:
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
    def test_a_wrong_cell(self, tmp_path: Path, change: tuple[str, str], told: str) -> None:
        [found] = faults(read_sacct, write(tmp_path / "jobs.txt", HEADER + JOB + JOB.replace(*change)))
        assert found.startswith(", line 3: ")
        assert told in found

    def test_every_fault_at_once(self, tmp_path: Path) -> None:
        bad = JOB.replace("2024-03-01T10:00:00", "?").replace("02:00:00", "?").replace("|4|6|", "|?|?|")
        found = faults(read_sacct, write(tmp_path / "jobs.txt", HEADER + bad))
        assert [line.split(" = ")[0] for line in found] == [
            f", line 2: {name}" for name in ("Submit", "Elapsed", "AllocCPUS")
        ]

    def test_an_end_before_the_start(self, tmp_path: Path) -> None:
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
    def test_a_wrong_table(self, tmp_path: Path, text: str, told: list[str]) -> None:
        found = faults(read_sacct, write(tmp_path / "jobs.txt", text))
        assert all(word in line for word, line in zip(told, found, strict=True))


class TestFormat:
    @pytest.mark.parametrize(
        ("name", "text", "expected"),
        [
            ("log.swf", "1 2", "swf"),
            ("LOG.SWF.GZ", "1 2", "swf"),
            ("log.txt", "\n; Version: 2", "swf"),
            ("jobs.csv", "State|JobID\n", "sacct"),
            ("jobs.txt", "arrival_time,length,cpus\n", "gaia"),
            ("jobs.txt", "", "gaia"),
        ],
    )
    def test_it_is_told_by_the_name_or_the_first_line(
        self, tmp_path: Path, name: str, text: str, expected: str
    ) -> None:
        assert guess_format(write(tmp_path / name, text)) == expected

    def test_it_may_be_said(self, tmp_path: Path) -> None:
        path = write(tmp_path / "log.txt", swf(run=7200))
        assert read_trace(path, format="swf").length_hours.tolist() == [2]
        with pytest.raises(UnsupportedError, match="unknown trace format 'csv': must be 'gaia', 'swf' or 'sacct'"):
            read_trace(path, format="csv")

    def test_only_a_trace_in_csv_needs_a_unit(self, tmp_path: Path) -> None:
        log, table = (
            write(tmp_path / "log.swf", swf(run=7200)),
            write(tmp_path / "a.csv", "arrival_time,length,cpus\n0,2,1\n"),
        )
        assert read_trace(log, "seconds").length_hours.tolist() == [2]
        with pytest.raises(
            UnsupportedError, match=r"--time-unit hours: .*log\.swf is in seconds, as every swf file is"
        ):
            read_trace(log, "hours")
        assert read_trace(table, "hours").length_hours.tolist() == [2]
        with pytest.raises(UnsupportedError, match="--time-unit is missing"):
            read_trace(table)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        for name in ("a.csv", "a.swf", "a.txt"):
            with pytest.raises(InputError, match="no such file"):
                read_trace(tmp_path / name, "seconds")


def test_ids_survive_to_the_schedule(tmp_path):
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
