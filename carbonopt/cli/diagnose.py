"""`carbonopt diagnose`."""

from __future__ import annotations

from pathlib import Path

import typer

from carbonopt.cli import console


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, diagnose)


def diagnose(
    files: console.Files,
    time_limit: console.TimeLimit = 60.0,
    threads: console.Threads = None,
    json_output: console.Json = False,
) -> None:
    """Say whether every job can run, and if not, which jobs, clusters and slots are in the way.

    Exit code 0 once that is known, 1 if the time limit came first.
    """
    import carbonopt as co

    def work(path: Path) -> int:
        instance = co.read(path)
        found = co.diagnose(instance, time_limit=time_limit, threads=threads)
        if json_output:
            console.print_json(
                {
                    "instance": instance.name,
                    "problem": instance.problem,
                    "feasible": found.feasible,
                    "proof": found.proof,
                    "findings": [vars(finding) for finding in found.findings],
                }
            )
        else:
            word = {True: "feasible", False: "infeasible", None: "unknown"}[found.feasible]
            print(f"{path}: {word} ({found.proof})")
            for finding in found.findings:
                print(f"  {finding}")
        return 0 if found.feasible is not None else 1

    console.each_file(files, work)
