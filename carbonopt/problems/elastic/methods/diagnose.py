"""Whether an elastic instance has a schedule, and if not, which jobs and slots say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.core.report import Diagnosis, Finding
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.formulation.program import estimate_size
from carbonopt.problems.elastic.methods.greedy import allocate
from carbonopt.problems.elastic.methods.price.fluid.method import prove_shortage

SHOWN_JOBS = 5
"""Jobs that a finding lists by name, at most."""
LEAST_PRICE = 1e-6
"""A price up to this is a solver's tolerance, and proves nothing."""


def diagnose(instance: ElasticInstance, options: Options) -> Diagnosis:
    """Look for a schedule in which every job completes, and for a proof that there is none."""
    if not len(allocate(instance, "corrected").unfinished):
        return Diagnosis(True, "a schedule in which every job completes")
    alone = tuple(stuck_jobs(instance))
    if alone:
        return Diagnosis(False, "jobs that cannot complete even alone", alone)
    proof = prove_shortage(instance, options)
    if proof.status is Status.INFEASIBLE:
        assert proof.shortage_prices is not None
        assert proof.work_prices is not None
        findings = tuple(_findings(instance, proof.shortage_prices, proof.work_prices))
        words = f"a dual solution of the LP: at least {proof.shortage:g} slots of work cannot be done"
        return Diagnosis(False, words, findings)
    if options.remaining <= 0:
        return Diagnosis(None, "the time ran out")
    if instance.model == "fluid":
        solved = proof.status is Status.OPTIMAL
        if solved:
            return Diagnosis(True, "the LP has a solution")
        return Diagnosis(None, "rounding leaves it open")
    from carbonopt.problems.elastic.methods.milp import milp

    outcome = milp(replace(instance, switching_g_per_server=0.0), options)
    if outcome.status is Status.INFEASIBLE:
        words = "HiGHS's search tree: parts of slots would do, whole ones do not (the fluid model has a schedule)"
        return Diagnosis(False, words)
    if outcome.schedule is not None:
        return Diagnosis(True, "a schedule in which every job completes")
    return Diagnosis(None, "the fluid model has a schedule; time ran out before one of whole servers was found")


def inspect(instance: ElasticInstance) -> dict[str, Any]:
    """Return the size of the program, and a warning for each job that cannot complete even alone."""
    columns, nonzeros = estimate_size(instance)
    return {
        "program_columns": columns,
        "program_nonzeros": nonzeros,
        "warnings": [finding.message for finding in stuck_jobs(instance)],
    }


def stuck_jobs(instance: ElasticInstance) -> list[Finding]:
    """Return a finding for each job whose window cannot hold its work, with the cluster to itself."""
    jobs, units = instance.jobs, instance.units
    cumulative = np.zeros((units.gain.shape[0], units.gain.shape[1] + 1))
    np.cumsum(units.gain, axis=1, out=cumulative[:, 1:])
    servers = np.cumsum(np.where(units.servers > 0, units.servers, np.inf), axis=1)
    findings = []
    for number in range(len(instance.profiles)):
        level = (servers[number][None, :] <= instance.cluster.limit[:, None]).sum(axis=1)
        if instance.model == "fluid":  # parts of a slot at a level above the capacity count in proportion
            share = np.minimum(1.0, instance.cluster.limit[:, None] / servers[number][None, :])
            most = (share * cumulative[number, 1:]).max(axis=1)
        else:
            most = cumulative[number, level]
        sums = np.concatenate([[0.0], np.cumsum(most)])
        here = np.flatnonzero(instance.profile_of_job == number)
        possible = sums[jobs.window_end[here]] - sums[jobs.arrival[here]]
        for j in here[possible * (1 + 4e-9) < jobs.required[here]]:
            text = (
                f"job {jobs.name[j]!r} needs {jobs.length[j]:g} slots of work; alone on the cluster it can do "
                f"{sums[jobs.window_end[j]] - sums[jobs.arrival[j]]:g} in slots "
                f"{jobs.arrival[j]}-{jobs.window_end[j] - 1}"
            )
            window = (int(jobs.arrival[j]), int(jobs.window_end[j]) - 1)
            findings.append(Finding(text, jobs=(jobs.name[j],), slots=(window,)))
    return findings


def _findings(instance: ElasticInstance, prices: FloatArray, mu: FloatArray) -> list[Finding]:
    """Tell a shortage in jobs and slots: stretches of priced slots, and the jobs that must use them."""
    jobs = instance.jobs
    scarce = prices > LEAST_PRICE
    wanting = np.flatnonzero(mu > LEAST_PRICE)
    findings = []
    for first, last in _stretches(scarce):
        inside = wanting[(jobs.arrival[wanting] <= last) & (jobs.window_end[wanting] > first)]
        if not len(inside):
            continue
        held = inside[(jobs.arrival[inside] >= first) & (jobs.window_end[inside] <= last + 1)]
        told = held if len(held) else inside
        available = float(instance.cluster.capacity[first : last + 1].sum())
        needed = float((jobs.length * instance.units.servers[instance.profile_of_job, 0])[told].sum())
        if needed <= available:  # scarce only together with other slots
            continue
        names = [jobs.name[j] for j in told]
        listed = ", ".join(repr(name) for name in names[:SHOWN_JOBS])
        more = f" and {len(names) - SHOWN_JOBS} more" if len(names) > SHOWN_JOBS else ""
        where = f"slot {first}" if first == last else f"slots {first}-{last}"
        only = "have their windows inside" if len(held) else "must run in part in"
        text = (
            f"jobs {listed}{more} {only} {where}: {needed:g} server-slots of work at the least scale, "
            f"{available:g} are there"
        )
        window = (int(first), int(last))
        findings.append(Finding(text, tuple(names), slots=(window,), needed=needed, available=available))
    return findings or [_together(instance, scarce, wanting)]


def _together(instance: ElasticInstance, scarce: BoolArray, wanting: IntArray) -> Finding:
    """Tell a shortage that no stretch of slots shows alone: what takes part in the proof."""
    names = [instance.jobs.name[j] for j in wanting]
    stretches = _stretches(scarce)
    listed = ", ".join(repr(name) for name in names[:SHOWN_JOBS])
    more = f" and {len(names) - SHOWN_JOBS} more" if len(names) > SHOWN_JOBS else ""
    where = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in stretches[:SHOWN_JOBS])
    text = f"jobs {listed}{more} cannot all complete: slots {where} are too full for what the others leave"
    return Finding(text, tuple(names), slots=tuple(stretches))


def _stretches(marked: Any) -> list[tuple[int, int]]:
    """Return first and last slot of each run of True."""
    edges: IntArray = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(np.int64), [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
