"""Whether an ML cluster instance has a schedule, and what to know of its size."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.options import Options
from carbonopt.core.report import Diagnosis, Finding
from carbonopt.core.status import Status
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.program import estimate_size


def diagnose(instance: MlClusterInstance, options: Options) -> Diagnosis:
    """Look for a schedule in which every job ends in time, and for a proof that there is none.

    That jobs fit alone, and all together from the first arrival on, is checked when an instance is made.
    """
    for method in ("tiresias", "fixed-1", "price"):
        outcome = PROBLEM.run(method, instance, options)
        if outcome.schedule is not None:
            return Diagnosis(True, "a schedule in which every job ends in time")
    if outcome.status is Status.INFEASIBLE:
        return Diagnosis(False, "prices at which any schedule would cost more than one can", (_finding(instance),))
    return Diagnosis(None, "the time ran out" if options.remaining <= 0 else "no schedule was found, and no proof")


def inspect(instance: MlClusterInstance) -> dict[str, Any]:
    """Return the size of the program, and a warning where the cluster is short."""
    columns, nonzeros = estimate_size(instance)
    features = instance.features()
    warnings = []
    if (features["load"] or 0.0) > 1:
        warnings.append(f"the work is {features['load']:.3g} times what the GPUs can do while jobs arrive: they queue")
    return {"program_columns": columns, "program_nonzeros": nonzeros, "warnings": warnings}


def _finding(instance: MlClusterInstance) -> Finding:
    """Tell the shortage in its terms: GPU hours, or the JCT budget."""
    jobs = instance.jobs
    limit = instance.limits.mean_jct_hours
    alone = float(instance.fastest_minutes.mean()) / 60
    if limit is not None:
        text = (
            f"the mean completion time cannot be {limit:g} h: alone on the cluster the jobs take {alone:.4g} h "
            f"on average, and {instance.cluster.gpus} GPUs are too few for all of them"
        )
        return Finding(text, needed=alone, available=limit)
    least = float(np.sum(jobs.work_gpu_minutes)) / 60
    text = f"jobs of {least:g} 1-GPU hours cannot all end by the end of the signal at {instance.horizon_minutes:g} min"
    return Finding(text, needed=least)
