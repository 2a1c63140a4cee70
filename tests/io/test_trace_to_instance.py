"""From a trace to an instance: its dates, the part that is taken, ids, GPUs and measured power, in every problem."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from public_traces_support import HELIOS, OPENB, fdata, philly, pm100
from trace_support import write

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.core.registry import problem_of
from carbonopt.core.time import format_utc
from carbonopt.idle_power import with_idle_power
from carbonopt.io.carbon import read_carbon
from carbonopt.io.trace import read_trace
from carbonopt.io.window import Window

PROBLEMS = ("elastic", "mlcluster", "mosp", "purchasing")
LEFT_OUT = "ignore:.*left out"
pytestmark = pytest.mark.filterwarnings(LEFT_OUT)


def carbon(folder: Path, year: int = 2020, days: int = 366) -> Path:
    """Write hourly intensities of a year, or of its first days."""
    rows = [
        f"{datetime(year, 1, 1, tzinfo=UTC) + timedelta(hours=h):%Y-%m-%dT%H:%MZ},DE,{200 + h % 24}"
        for h in range(24 * days)
    ]
    return write(folder / "carbon.csv", "datetime,zone,carbon_intensity_g_per_kwh\n" + "\n".join(rows) + "\n")


def converted(problem: str, jobs: Path, signal: Path, **options):
    return problem_of(problem).role("convert")(jobs=jobs, carbon=[signal], **options)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_jobs_of_june_begin_in_june_of_a_file_of_the_year(tmp_path: Path, problem: str) -> None:
    jobs = write(tmp_path / "log.csv", HELIOS)
    instance = converted(problem, jobs, carbon(tmp_path))
    assert format_utc(instance.time.start) == "2020-06-09T18:00:00Z"
    assert instance.carbon.g_per_kwh[0, 0] == 218
    assert sorted(instance.jobs.name) == ["11", "12"]


def test_ecas_takes_the_date_and_the_names_of_its_source(tmp_path: Path) -> None:
    source = converted("mosp", write(tmp_path / "log.csv", HELIOS), carbon(tmp_path), capacity=64)
    instance = with_idle_power(source)
    assert format_utc(instance.time.start) == "2020-06-09T18:00:00Z"
    assert instance.jobs.name == ("11", "12")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_carbon_that_ends_too_early_is_refused_with_both_times(tmp_path: Path, problem: str) -> None:
    jobs = write(tmp_path / "log.csv", HELIOS)
    with pytest.raises(InputError) as caught:
        converted(problem, jobs, carbon(tmp_path, days=160))
    (line,) = caught.value.lines()
    assert "2020-06-09" in line
    assert "2020-06-0" in line.replace("2020-06-09T18", "")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_window_of_moments_begins_slot_0(tmp_path: Path, problem: str) -> None:
    jobs = write(tmp_path / "log.csv", HELIOS)
    window = Window("2020-06-09T19:00Z", "2020-06-09T20:00Z")
    instance = converted(problem, jobs, carbon(tmp_path), window=window)
    assert format_utc(instance.time.start) == "2020-06-09T19:00:00Z"
    assert instance.jobs.name == ("12",)
    assert {key: instance.provenance[key] for key in ("jobs_of_other_parts", "from_hours")} == {
        "jobs_of_other_parts": 1,
        "from_hours": 1.0,
    }


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_sample_is_drawn_by_seed(tmp_path: Path, problem: str) -> None:
    rows = "".join(f"{hour},1,1\n" for hour in range(40))
    jobs = write(tmp_path / "jobs.csv", "arrival_time,length,cpus\n" + rows)
    signal = carbon(tmp_path)

    def names(seed: int) -> tuple[str, ...]:
        window = Window(sample=5, seed=seed)
        return converted(problem, jobs, signal, time_unit="hours", window=window).jobs.name

    assert len(names(1)) == 5
    assert names(1) == names(1) != names(2)
    assert converted(problem, jobs, signal, time_unit="hours", window=Window(first=2)).jobs.name == ("row0", "row1")


@pytest.mark.parametrize("problem", ["elastic", "mlcluster"])
def test_a_job_draws_the_same_profile_in_every_window(tmp_path: Path, problem: str) -> None:
    rows = "".join(f"{hour},1,1\n" for hour in range(40))
    jobs = write(tmp_path / "jobs.csv", "arrival_time,length,cpus\n" + rows)
    signal = carbon(tmp_path)
    whole = converted(problem, jobs, signal, time_unit="hours").jobs
    part = converted(problem, jobs, signal, time_unit="hours", window=Window(10, 30)).jobs
    assert part.profile == whole.profile[10:30]
    assert part.name == whole.name[10:30]


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"begin": "noon"}, "--from 'noon': must be hours since the trace's zero, or a moment such as"),
        ({"begin": "2020-01-01"}, "--from 2020-01-01: the trace has no dates: must be hours"),
        ({"end": "-1"}, "--until -1: must be hours since the trace's zero, from 0 to 1e[+]09"),
        ({"end": "nan"}, "--until nan: must be hours"),
        ({"begin": 7}, "no job arrives in this part: from 7 h on, while jobs arrive from 0 h to 1 h"),
        ({"sample": 3}, "sample = 3: must be at most the 2 jobs there are"),
        ({"sample": 0}, "sample = 0: must be at least 1"),
        ({"first": 0}, "first = 0: must be at least 1"),
        ({"sample": 1, "seed": -1}, "seed = -1: must be at least 0"),
    ],
)
def test_a_wrong_window_is_told(tmp_path: Path, window: dict, words: str) -> None:
    jobs = write(tmp_path / "pods.csv", OPENB)
    with pytest.raises((InputError, UnsupportedError), match=words):
        converted("mosp", jobs, carbon(tmp_path), window=Window(**window))


def test_mosp_has_gpus_where_jobs_hold_some(tmp_path: Path) -> None:
    instance = converted("mosp", write(tmp_path / "p.csv", OPENB), carbon(tmp_path), watts=5, gpu_watts=200, gpus=9)
    assert instance.resources == ("cpu", "gpu")
    assert instance.jobs.demand.tolist() == [[12, 0.25], [6, 8]]
    assert instance.clusters.watts_per_unit.tolist() == [[5, 200]]
    assert instance.clusters.capacity[0, 1, 0] == 9


def test_of_philly_gpus_alone_limit(tmp_path: Path) -> None:
    instance = converted("mosp", write(tmp_path / "log", philly()), carbon(tmp_path, 2017, 365))
    assert instance.resources == ("gpu",)
    assert instance.jobs.demand.tolist() == [[4], [2]]


def test_measured_power_reaches_mosp_and_ecas(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source = converted("mosp", pm100(tmp_path / "pm100.parquet"), carbon(tmp_path))
    assert source.resources == ("cpu", "gpu", "kw")
    assert source.jobs.demand[:, 2].tolist() == [1.0, 0.4]
    assert source.clusters.watts_per_unit.tolist() == [[0, 0, 1000]]
    assert source.provenance["measured_power_jobs"] == 2
    # job 1 draws 1 kW in the two cheapest hours of its window, 12 h to 20 h, at 212 and 213 g/kWh; job 2 draws
    # 0.4 kW in its first hour, 13 h, at 213 g/kWh
    solution = co.solve(source, method="milp")
    assert solution.metrics["carbon_kg"] == pytest.approx((212 + 213 + 0.4 * 213) / 1000)
    machines = with_idle_power(source)
    assert machines.resources == ("cpu", "gpu")
    assert machines.jobs.power_kw.tolist() == [1.0, 0.4]
    solved = co.solve(machines, method="milp")
    assert solved.metrics["carbon_kg"] == pytest.approx(solution.metrics["carbon_kg"])


def test_jobs_without_a_measurement_draw_what_their_units_draw(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    instance = converted("mosp", fdata(tmp_path / "f.parquet"), carbon(tmp_path), watts=10)
    assert instance.jobs.demand[:, 1].tolist() == [0.2, 0.48]
    assert instance.provenance["measured_power_jobs"] == 1


@pytest.mark.parametrize("problem", ["elastic", "mlcluster", "purchasing"])
def test_where_power_cannot_be_used_that_is_said(tmp_path: Path, problem: str) -> None:
    pytest.importorskip("pyarrow")
    with pytest.warns(UserWarning, match=f"measured power is not used: {problem} has no power of single jobs"):
        converted(problem, pm100(tmp_path / "pm100.parquet"), carbon(tmp_path))


def test_a_table_may_name_jobs_and_tell_their_power(tmp_path: Path) -> None:
    text = "arrival_time,length,cpus,Job ID,user,GPUs,watts\n0,1,2,a,u,1,\n1,1,4,b,v,,900\n"
    jobs = write(tmp_path / "jobs.csv", text)
    instance = converted("mosp", jobs, carbon(tmp_path), time_unit="hours", watts=10, gpu_watts=100)
    assert instance.jobs.name == ("a", "b")
    assert instance.jobs.demand.tolist() == [[2, 1, 0.12], [4, 0, 0.9]]
    write(jobs, text.replace(",900", ",hot"))
    with pytest.raises(InputError, match="line 3: watts = 'hot': must be a number, at least 0"):
        converted("mosp", jobs, carbon(tmp_path), time_unit="hours")


def test_sacct_tells_gpus_memory_energy_user_start_and_limit(tmp_path: Path) -> None:
    header = "JobID|User|Submit|Start|Elapsed|Timelimit|AllocCPUS|AllocTRES|ConsumedEnergyRaw|Priority|State\n"
    rows = (
        "7|ann|2024-06-11T10:00:00|2024-06-11T11:00:00|02:00:00|1-00:00:00|8|cpu=8,mem=16G,gres/gpu=2|3600000|9|COMPLETED\n"
        "8|bob|2024-06-11T12:00:00|2024-06-11T12:00:00|01:00:00|UNLIMITED|4|cpu=4,mem=4G|0|8|COMPLETED\n"
    )
    trace = read_trace(write(tmp_path / "sacct.txt", header + rows))
    assert (trace.user, trace.gpus.tolist(), trace.memory_gb.tolist()) == (("ann", "bob"), [2, 0], [16, 4])
    assert (trace.started_hours.tolist(), trace.priority.tolist()) == ([1, 2], [9, 8])
    assert (trace.watts[0], trace.limit_hours[0], trace.state) == (500, 24, ("COMPLETED", "COMPLETED"))
    assert np.isnan([trace.watts[1], trace.limit_hours[1]]).all()


def test_swf_tells_start_limit_and_user(tmp_path: Path) -> None:
    line = "1 3600 1800 7200 4 -1 -1 4 9000 -1 1 12 1 -1 1 -1 -1 -1\n"
    trace = read_trace(write(tmp_path / "log.swf", line))
    assert (trace.started_hours.tolist(), trace.limit_hours.tolist(), trace.user) == ([1.5], [2.5], ("12",))


def test_work_in_mlcluster_is_that_of_the_gpus_that_a_job_held(tmp_path: Path) -> None:
    text = "arrival_time,length,cpus,gpus\n0,1,1,1\n1,1,1,4\n2,1,1,0\n"
    instance = converted("mlcluster", write(tmp_path / "jobs.csv", text), carbon(tmp_path), time_unit="hours")
    assert len(instance.jobs) == 2
    assert instance.provenance["jobs_without_gpus_left_out"] == 1
    profile = {part.name: part for part in instance.profiles}[instance.jobs.profile[1]]
    assert instance.jobs.work_gpu_minutes.tolist() == [60, 60 * profile.throughput[3]]


def test_a_workbook_is_told_from_other_binary_files(tmp_path: Path) -> None:
    path = tmp_path / "CISO.xlsx"
    path.write_bytes(b"PK\x03\x04" + bytes(30))
    with pytest.raises(InputError, match="is a workbook or another zip file: save the sheet that is meant as CSV"):
        read_carbon(path)
