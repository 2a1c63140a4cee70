"""Small files in the shape of each public trace, written by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from trace_support import write

JOBS_HEADER = "job_name,inst_id,user,status,start_time,end_time\n"
TASKS_HEADER = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
PAI_JOBS = "a,i1,u1,Terminated,3600,18000\nb,i2,u2,Failed,7200,9000\nc,i3,u1,Terminated,10800,18000\n"
PAI_TASKS = (
    "a,ps,1,Terminated,7200,14400,600,10,0,\n"
    "a,worker,4,Terminated,7200,18000,200,29.3,50,V100\n"
    "b,tensorflow,1,Failed,7200,9000,600,29,100,MISC\n"
    "c,worker,1,Terminated,10800,18000,400,8,25,T4\n"
)
OPENB = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "openb-pod-0000,12000,16384,1,250,,LS,Succeeded,3600,10800,7200\n"
    "openb-pod-0001,6000,12288,8,1000,V100M16|V100M32,BE,Failed,7200,14400,7200\n"
    "openb-pod-0002,4000,4096,0,0,,LS,Running,7200,14400,7200\n"
    "openb-pod-0003,4000,4096,0,0,,LS,Succeeded,7200,9000,\n"
)
HELIOS = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "11,u1,vcA,1,4,1,COMPLETED,2020-06-09 18:00:00,2020-06-09 18:30:00,2020-06-09 20:30:00,7200,1800\n"
    "12,u2,vcA,8,32,1,FAILED,2020-06-09 19:30:00,2020-06-09 19:30:00,2020-06-09 20:00:00,1800,0\n"
    "13,u2,vcB,1,1,1,CANCELLED,2020-06-09 19:40:00,2020-06-09 19:40:00,2020-06-17 14:15:21,675233,0\n"
)
ACME = (
    "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,"
    "end_time,fail_time,stop_time,duration,queue,gpu_time\n"
    "dlc1,u7,8,64,960,1000,100.0,Other,COMPLETED,2023-05-17 11:00:00+08:00,2023-05-17 11:01:00+08:00,"
    "2023-05-17 13:01:00+08:00,,,7260,60.0,464640.0\n"
)
AZURE = (
    "v1,s1,d1,0,3600,99.0,3.4,10.1,Delay-insensitive,4,8\n"
    "v2,s1,d1,300,7500,99.0,3.4,10.1,Interactive,>24,>64\n"
    "v3,s2,d2,600,2591700,99.0,3.4,10.1,Unknown,2,4\n"
    "v4,s2,d2,3900,3900,99.0,3.4,10.1,Unknown,2,4\n"
    "v5,s2,d2,3900,7500,99.0,3.4,10.1,Delay-insensitive,2,4\n"
)


def attempt(start: str | None, end: str | None, gpus: int = 2) -> dict[str, Any]:
    """Return an attempt of a Philly job on one host."""
    return {"start_time": start, "end_time": end, "detail": [{"ip": "m1", "gpus": [f"gpu{i}" for i in range(gpus)]}]}


def philly(**first: Any) -> str:
    """Return Philly's list of jobs with other values in the first."""
    job = {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": "application_1",
        "attempts": [
            attempt("2017-10-07 01:00:00", "2017-10-07 02:00:00"),
            attempt("2017-10-07 03:00:00", "2017-10-07 05:00:00", 4),
        ],
        "submitted_time": "2017-10-07 00:30:00",
        "user": "u1",
    }
    one = [attempt("2017-10-07 02:30:00", "2017-10-07 03:00:00")]
    others = [
        job | {"jobid": "application_2", "submitted_time": "2017-10-07 02:30:00", "attempts": one},
        job | {"jobid": "application_3", "status": "Killed"},
        job | {"jobid": "application_4", "attempts": []},
        job | {"jobid": "application_5", "attempts": [attempt("2017-10-07 01:00:00", None)]},
    ]
    return json.dumps([job | first, *others])


def parquet(path: Path, columns: dict[str, Any]) -> Path:
    """Write columns as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)
    return path


NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)


def pm100(path: Path, **columns: Any) -> Path:
    """Write three jobs of PM100, one cancelled, with other values in some columns."""
    hour = timedelta(hours=1)
    values = {
        "job_id": [1, 2, 3],
        "user_id": [7, 7, 8],
        "submit_time": [NOON, NOON + hour, NOON + hour],
        "start_time": [NOON, NOON + 2 * hour, NOON + hour],
        "run_time": [7200, 3600, 0],
        "time_limit": [1440, 60, 60],
        "job_state": ["COMPLETED", "FAILED", "CANCELLED"],
        "num_cores_alloc": [128, 32, 32],
        "num_gpus_alloc": [4, 0, 0],
        "mem_alloc": [237, 8, 8],
        "priority": [100, 90, 90],
        "node_power_consumption": [[900.0, 1100.0], [400.0], []],
    }
    return parquet(path, values | columns)


def fdata(path: Path, **columns: Any) -> Path:
    """Write three jobs of F-DATA, one without power, with other values in some columns."""
    hour = timedelta(hours=1)
    values = {
        "jid": ["j1", "j2", "j3"],
        "usr": ["u1", "u1", "u2"],
        "adt": [NOON, NOON + hour, NOON + hour],
        "sdt": [NOON, NOON + hour, None],
        "edt": [NOON + 2 * hour, NOON + 3 * hour, None],
        "elpl": [86400.0, 7200.0, 600.0],
        "nnumr": [2, 1, 1],
        "cnumr": [96, 48, 48],
        "cnumat": [96, 48, 0],
        "mszl": [28 * 2.0**30, 2.0**64, 2.0**30],
        "pri": [127, 127, 127],
        "econ": [400.0, None, None],
        "avgpcon": [200.0, None, None],
        "exit state": ["completed", "failed", "failed"],
    }
    return parquet(path, values | columns)


def pai(folder: Path, jobs: str = PAI_JOBS, tasks: str = PAI_TASKS) -> list[Path]:
    """Write PAI's two tables with headers in files beside them, as they are published."""
    write(folder / "pai_job_table.header", JOBS_HEADER)
    write(folder / "pai_task_table.header", TASKS_HEADER)
    return [write(folder / "pai_job_table.csv", jobs), write(folder / "pai_task_table.csv", tasks)]
