"""Solve jobs that stand in pandas tables, with types that mypy --strict checks."""

import numpy as np
import pandas as pd

import carbonopt as co

HOURS = pd.date_range("2024-05-01", periods=24, freq="h", tz="Europe/Berlin")


def night_and_day() -> co.MospInstance:
    """Return six jobs on two clusters, in zones whose clean hours differ."""
    angle = 2 * np.pi * np.arange(24) / 24
    carbon = pd.DataFrame({"DE": 400 + 150 * np.cos(angle), "CA-ON": 60 + 20 * np.sin(angle)}, index=HOURS)
    clusters = pd.DataFrame(
        {"zone": ["DE", "CA-ON"], "capacity.gpu": [4, 2], "watts_per_unit.gpu": [300.0, 300.0]},
        index=["berlin", "toronto"],
    )
    jobs = pd.DataFrame({"arrival": [0, 0, 2, 4, 6, 8], "duration": 4, "demand.gpu": [1, 2, 1, 2, 1, 2]})
    jobs["deadline"] = jobs["arrival"] + 12
    return co.MospInstance.from_frames("night-and-day", carbon=carbon, clusters=clusters, jobs=jobs)


def mean_wait(instance: co.MospInstance, solution: co.Solution) -> float:
    """Return how long jobs wait on average [slots]."""
    start = solution.schedule.set_index("job")["start"]
    return float(np.mean(start.loc[list(instance.jobs.name)].to_numpy() - instance.jobs.arrival))


def main() -> None:
    """Solve, check, and print what one would want to know."""
    instance = night_and_day()
    solution = co.solve(instance, time_limit=10.0)
    program = co.formulate(instance)
    print(instance, solution, program, sep="\n")
    print(f"jobs wait {mean_wait(instance, solution):.1f} slots on average")
    assert co.check(instance, solution).feasible


if __name__ == "__main__":
    main()
