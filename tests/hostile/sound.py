"""Sound files of everything that is read, to be damaged, and who reads each."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from public_traces_support import (
    ACME,
    AZURE,
    HELIOS,
    JOBS_HEADER,
    OPENB,
    PAI_JOBS,
    PAI_TASKS,
    TASKS_HEADER,
    fdata,
    pai,
    philly,
    pm100,
)

import carbonopt as co
from carbonopt.bench.bks import read_bks
from carbonopt.bench.results import read_results
from carbonopt.core.parameters import read_parameters
from carbonopt.core.time import TimeGrid
from carbonopt.forecasts.files import read_archive
from carbonopt.io.carbon import read_carbon
from carbonopt.io.forecast import read_forecast
from carbonopt.io.prices import read_prices
from carbonopt.io.profiles import read_scaling
from carbonopt.io.queues.read import read_queue
from carbonopt.io.schedule import solution_of
from carbonopt.io.trace import read_trace
from carbonopt.planning.apply import script
from carbonopt.planning.file import plan_of
from carbonopt.problems.ecas.data.convert import convert as convert_icon

ROOT = Path(__file__).parents[2]
TINY = ROOT / "instances" / "tiny"
TONIGHT = ROOT / "instances" / "tonight"
HOURS = [f"2023-11-14T{hour:02d}:00:00Z" for hour in range(3)]


def day(slots: int) -> TimeGrid:
    """Return hours of the day that the files are of."""
    return TimeGrid(slots, 1.0, datetime(2023, 11, 14, tzinfo=UTC))


GRID = day(3)
SACCT = """JobID|Submit|Elapsed|AllocCPUS|State
1|2024-06-11T10:20:00|1-02:00:00|1|COMPLETED
2|2024-06-11T12:20:00|01:00:00|2|CANCELLED by 7
"""
SWF = "; Version: 2.2\n; UnixStartTime: 1718000000\n1 60 5 7200 4 -1 -1 4 9000 -1 1 1 1 -1 1 -1 -1 -1\n"
GAIA = "arrival_time,length,cpus\n0,3600,2\n1800,5400,1\n"
CARBON = "2023-11-14T00:00:00Z,400\n2023-11-14T01:00:00Z,300\n"
EXPORT = "Datetime (UTC),Country,Zone name,Zone id,Carbon intensity gCO₂eq/kWh (Life cycle)\n" + "".join(
    f"{time[:10]} {time[11:19]},Germany,Germany,DE,{300 + at}\n" for at, time in enumerate(HOURS)
)
WATTTIME = {
    "data": [{"point_time": time, "value": 1000.0 + at} for at, time in enumerate(HOURS)],
    "meta": {"region": "CAISO", "signal_type": "co2_moer", "units": "lbs_co2_per_mwh", "generated_at": HOURS[0]},
}
PRICES = "datetime,zone,price [EUR/MWh]\n" + "".join(f"{time},DE,{-20 + 30 * at}\n" for at, time in enumerate(HOURS))
FORECAST = "issue_time,target_time,carbon_intensity_g_per_kwh,member,zone\n" + "".join(
    f"{HOURS[0]},{time},{300 + at},m{member},DE\n" for member in range(2) for at, time in enumerate(HOURS)
)
SCALING = "nodes,throughput,power\n1,1.0,50\n2,1.9,100\n3,2.7,155\n"
COLUMNS = (
    "JOBID|NAME|USER|STATE|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME|PRIORITY\n"
    "7_[0-3]|a b|ada|PENDING|4|1-02:00:00|2026-11-24T10:00:00|N/A|1.5\n"
    "8|c|bob|RUNNING|1|30:00|2026-11-24T10:00:00|2026-11-24T11:00:00|2\n"
)
ICON = "5\n2\n2\n0 100 1.5 0.5\n10 20\n1 80 1 0.25\n11 21\n1\n7 2 1 4 600\n3 4\n"
ICON_PRICES = "4\n0 0.1\n1 0.2\n2 -0.1\n3 0.3\n"
PARAMETERS = "[search]\nmoves_per_job = 10\n"
RUN = (
    '{"date": "2026-11-23", "instance_sha256": "a", "method_asked": "lp", "seed": 0, "time_limit": 1.0, '
    '"instance": "i", "method": "lp", "status": "optimal", "sense": "min", "objective": null, "bound": 0.7, '
    '"wall_seconds": 0.2}\n'
)
BKS = '{"i": {"instance_sha256": "a", "sense": "min", "objective": {"value": 1.0}, "bound": null}}'


@cache
def crowd() -> co.Instance:
    """Return a shipped instance of mosp."""
    return co.read(next(TINY.glob("mosp-tiny_crowd*")))


@cache
def plan_text() -> str:
    """Return the file of a plan of tonight's jobs."""
    made = co.plan(
        TONIGHT / "squeue.json", [TONIGHT / "forecast_21h.csv"], now="2026-11-24T22:00", tz="Europe/Berlin",
        clusters=["hpc=DE:192:4"], method="greedy-clean",
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        made.write(Path(folder, "plan.json"))
        return Path(folder, "plan.json").read_text()


@cache
def solution_text() -> str:
    """Return a solution file with a certificate."""
    return json.dumps(co.solve(crowd(), "price", time_limit=None).to_dict())


def _checked(path: Path) -> Any:
    return co.check(crowd(), co.read_solution(path))


def _checked_table(path: Path) -> Any:
    return co.check(crowd(), solution_of(crowd(), path))


def _solved(path: Path) -> Any:
    return co.solve(crowd(), "price", time_limit=None, params=read_parameters(path))


def _applied(path: Path) -> Any:
    return script(plan_of(path), "slurm")


def _icon(path: Path) -> Any:
    (path.parent / "forecast.txt").write_text(ICON_PRICES)
    return convert_icon(path.parent)


def _trace(path: Path) -> Any:
    return read_trace(path, "seconds")


def _pai(path: Path) -> Any:
    """Read a table of PAI beside a sound one of the other kind."""
    (path.parent / "sound").mkdir()
    jobs, tasks = pai(path.parent / "sound")
    return read_trace([path, jobs if "task" in path.name else tasks], format="pai")


def _made(make: Callable[[Path], Path]) -> bytes | None:
    """Return a Parquet file's bytes, None where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        return None
    with TemporaryDirectory() as folder:
        return make(Path(folder, "made")).read_bytes()


SIGNALS = {
    "watttime.json": '{"data": [{"point_time": "2024-06-01T00:00Z", "value": 900}, {"point_time": "2024-06-01T01:00Z", '
    '"value": 800}], "meta": {"region": "CAISO", "signal_type": "co2_moer", "units": "lbs_co2_per_mwh"}}',
    "maps.json": '{"zone": "DE", "history": [{"carbonIntensity": 300, "datetime": "2024-06-01T00:00Z", '
    '"emissionFactorType": "direct"}, {"carbonIntensity": 310, "datetime": "2024-06-01T01:00Z"}]}',
    "neso.json": '{"data": [{"from": "2024-06-01T00:00Z", "intensity": {"forecast": 100, "actual": 90}}, '
    '{"from": "2024-06-01T00:30Z", "intensity": {"forecast": 90, "actual": 80}}]}',
    "sdk.json": '{"Emissions": [{"Location": "east", "Time": "2024-06-01T00:00Z", "Rating": "50"}, '
    '{"Location": "east", "Time": "2024-06-01T01:00Z", "Rating": "60"}]}',
    "wattnet.json": '[{"series": [{"values": [["2024-06-01T00:00Z", 70], ["2024-06-01T01:00Z", 75]]}]}]',
    "CISO.csv": "UTC time,version,carbon_intensity\n2024-06-01T00:00Z,1,200\n2024-06-01T01:00Z,1,210\n",
    "eia.csv": "BA,UTC time,CO2 Emissions Intensity for Consumed Electricity\n"
    "CISO,2024-06-01T01:00Z,0.5\nCISO,2024-06-01T02:00Z,0.6\n",
    "cambium.csv": "Project\nCambium\ntimestamp,srmer_co2e\n2024-06-01 00:00:00,560\n2024-06-01 01:00:00,570\n",
}

Sound = Callable[[], str | bytes | None]


def _all(sound: str | bytes | None) -> Sound:
    return lambda: sound


READERS: dict[str, tuple[Callable[[Path], Any], Sound]] = {
    "sacct.txt": (lambda path: read_trace(path), lambda: SACCT),
    "jobs.swf": (lambda path: read_trace(path), lambda: SWF),
    "jobs.csv": (_trace, lambda: GAIA),
    "carbon.csv": (read_carbon, lambda: CARBON),
    "pods.csv": (_trace, lambda: OPENB),
    "helios.csv": (_trace, lambda: HELIOS),
    "kalos.csv": (_trace, lambda: ACME),
    "vmtable.csv": (_trace, lambda: AZURE),
    "cluster_job_log": (_trace, lambda: philly()),
    "pai_job_table.csv": (_pai, lambda: JOBS_HEADER + PAI_JOBS),
    "pai_task_table.csv": (_pai, lambda: TASKS_HEADER + PAI_TASKS),
    "pm100.parquet": (_trace, lambda: _made(pm100)),
    "fdata.parquet": (_trace, lambda: _made(fdata)),
    **{name: (read_carbon, _all(text)) for name, text in SIGNALS.items()},
    "export.csv": (read_carbon, lambda: EXPORT),
    "prices.csv": (lambda path: read_prices([path], GRID, ["DE"]), lambda: PRICES),
    "forecast.csv": (lambda path: read_forecast(path, GRID, "DE"), lambda: FORECAST),
    "archive.csv": (lambda path: read_archive(path, time=GRID), lambda: FORECAST),
    "archive.json": (lambda path: read_archive(path, time=GRID), lambda: json.dumps(WATTTIME)),
    "scaling.csv": (read_scaling, lambda: SCALING),
    "squeue.json": (read_queue, (TONIGHT / "squeue.json").read_text),
    "squeue.txt": (read_queue, lambda: COLUMNS),
    "pods.json": (read_queue, (TONIGHT / "jobs_kubernetes.json").read_text),
    "plan.json": (_applied, plan_text),
    "params.toml": (_solved, lambda: PARAMETERS),
    "solution.json": (_checked, solution_text),
    "schedule.csv": (_checked_table, lambda: "job,cluster,start\nx,A,0\ny,A,1\nz,B,0\n"),
    "instance.txt": (_icon, lambda: ICON),
    "results.jsonl": (read_results, lambda: RUN),
    "bks.json": (read_bks, lambda: BKS),
}
