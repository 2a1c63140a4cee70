"""A Slurm of one's own: slurmctld and slurmd on loopback, with all their files in one folder."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = ("slurmctld", "slurmd", "scontrol", "squeue", "sbatch", "scancel")
MOST_POLLS = 150
SECONDS_BETWEEN_POLLS = 0.2
CONFIGURATION = """
ClusterName=night
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=bf_interval=1,sched_min_interval=0,batch_sched_delay=0
NodeName=one NodeAddr=127.0.0.1 NodeHostname={host} CPUs=256 RealMemory=100
PartitionName=hpc Nodes=one Default=YES
"""


def why_not() -> str:
    """Return why no Slurm can be started here; empty where one can."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"Slurm is not installed: {', '.join(missing)} missing (Debian and Ubuntu: slurm-wlm)"
    return "" if os.geteuid() == 0 else "slurmd runs jobs as root alone"


class Slurm:
    """Starts with ``with``, and stops at its end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "TZ": "UTC"}
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Slurm:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        values = {"host": socket.gethostname().split(".")[0], "ports": _free_ports(), "user": getpass.getuser()}
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(folder=self.folder, **values))
        for call in (["slurmctld", "-D", "-i"], ["slurmd", "-D", "-N", "one"]):
            with (self.folder / f"{call[0]}.out").open("wb") as out:
                self._daemons.append(subprocess.Popen(call, env=self.environment, stdout=out, stderr=out))
        try:
            self.wait_for(lambda: "idle" in self.call("sinfo", "--noheader", "--format=%T", check=False))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("scancel", f"--user={getpass.getuser()}", check=False)
            self.wait_for(lambda: not self.call("squeue", "--noheader", check=False).strip())
        finally:
            for daemon in reversed(self._daemons):
                daemon.terminate()
            for daemon in reversed(self._daemons):
                try:
                    daemon.wait(2)
                except subprocess.TimeoutExpired:  # slurmctld waits for its peers; nothing of its state is needed
                    daemon.kill()
                    daemon.wait()

    def call(self, *words: str, check: bool = True) -> str:
        """Run a program of Slurm's; return what it prints."""
        done = subprocess.run(
            words, env=self.environment, cwd=self.folder, check=check, capture_output=True, text=True, timeout=60
        )
        return done.stdout

    def submit(self, *options: str, script: str) -> str:
        """Submit a script; return the job's number."""
        file = self.folder / "job.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        where = (f"--chdir={self.folder}", "--output=/dev/null")
        return self.call("sbatch", "--parsable", *where, *options, str(file)).strip().partition(";")[0]

    def show(self, job: str) -> dict[str, str]:
        """Return the fields that ``scontrol show job`` prints of a job."""
        text = self.call("scontrol", "--oneliner", "show", "job", job)
        return dict(word.split("=", 1) for word in text.split() if "=" in word)

    def queue(self, name: str) -> Path:
        """Write what ``squeue --json`` prints to a file."""
        file = self.folder / name
        text = self.call("squeue", "--json")
        assert json.loads(text)["jobs"]
        file.write_text(text)
        return file

    def wait_for(self, condition: Callable[[], Any]) -> None:
        """Poll until a condition holds."""
        for _ in range(MOST_POLLS):
            if condition():
                return
            time.sleep(SECONDS_BETWEEN_POLLS)
        logs = "".join(file.read_text(errors="replace")[-2000:] for file in self.folder.glob("*.log"))
        raise AssertionError(f"Slurm did not come to it in {MOST_POLLS} polls:\n{logs}")


def _free_ports() -> list[int]:
    with socket.socket() as first, socket.socket() as second:
        for one in (first, second):
            one.bind(("127.0.0.1", 0))
        return [first.getsockname()[1], second.getsockname()[1]]
