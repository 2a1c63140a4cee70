"""The runs of Caspian's Figure 6: policies over omega_1, beside both baselines, the bound and what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.problems.mosp import PROBLEM
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective, Objective
from carbonopt.problems.mosp.online.bound import pieces_bound
from carbonopt.simulate import simulate
from carbonopt.simulation import make_policy
from carbonopt.solve import solve

BASELINES = ("earliest-random", "earliest-clean")
DRAWS = 10
"""Seeds of the ties of `earliest-random`, whose carbon is their mean: one draw is off by 2 % (standard deviation)."""
SWEEP = (0.0, 0.25, 0.5, 1.0, 2.0)
"""omega_1 of Figure 6."""
OPTIMIZERS = ("caspian", "caspian-milp")
AS_PRINTED = ("caspian",)
"""Policies that also run as the paper prints them: slots from now, exact deadlines, jobs from the next slot on."""
PAPERS_OWN = "caspian, as printed"
"""Label of the paper's own scheduler, beside which its numbers belong."""
TARDINESS_KG = 3.0
"""Weight of a slot of tardiness in the carbon objective, in kg."""
STRICT_KG = 10.0
"""The same in the bound on the carbon of schedules that meet all deadlines."""
MEASURES = ("carbon_kg", "deadlines_met_share", "completion_ratio", "makespan_slots", "suspensions", "migrations")
PRINTED: Mapping[float, Mapping[str, float]] = MappingProxyType(
    {
        0.0: {"deadlines_met_share": 1.0, "completion_ratio": 0.49, "makespan_slots": 29},
        0.25: {"saving": 0.194},
        0.5: {"saving": 0.332, "deadlines_met_share": 0.983, "completion_ratio": 0.60},
        1.0: {"saving": 0.382, "deadlines_met_share": 0.928, "completion_ratio": 0.72, "makespan_slots": 39},
        2.0: {"saving": 0.424, "deadlines_met_share": 0.85},
    }
)
"""What section V-B says of its LP rounding by omega_1; savings are over the same scheduler at omega_1 = 0 (9)."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One row to make.

    Parameters
    ----------
    policy
        A name of `carbonopt.problems.mosp.PROBLEM.policies`.
    objective
        That it optimises.
    omega
        omega_1 of the caspian objective; NaN under carbon.
    past
        Whose jobs the policy expects to come again; None: it expects nobody.
    printed
        Whether it runs as the paper prints it: policy `caspian-printed` (see `Rolling`).
    """

    policy: str
    objective: Objective
    omega: float = float("nan")
    past: MospInstance | None = None
    printed: bool = False

    @property
    def label(self) -> str:
        """Name of the policy in tables."""
        expecting = ", expecting" if self.past is not None else ""
        printed = ", as printed" if self.printed else ""
        return f"{self.policy}{expecting}{printed}"

    @property
    def changes(self) -> dict[str, Any]:
        """Options of the policy that differ from those of its name."""
        past = {} if self.past is None else {"past": self.past}
        as_printed = PROBLEM.policies["caspian-printed"].settings
        return {**past, **as_printed} if self.printed else past

    @property
    def key(self) -> tuple[str, str, str]:
        """Label, kind of objective and omega_1, to tell rows apart."""
        return self.label, self.objective.kind, f"{self.omega:g}"


def own_objective() -> CarbonObjective:
    """Return the carbon objective of the figure."""
    return CarbonObjective(tardiness_slots=TARDINESS_KG)


def paper_objective(omega: float) -> CaspianObjective:
    """Return the paper's objective at omega_1, the others 1.

    Each period has its own normalizers. Those of the whole day would only scale a number that no figure shows.
    """
    return CaspianObjective(omega, 1.0, 1.0, normalizers=(1.0, 1.0, 1.0))


def cases(
    policies: Sequence[str] = OPTIMIZERS,
    omegas: Sequence[float] = SWEEP,
    expecting: Sequence[str] = (),
    past: MospInstance | None = None,
    as_printed: Sequence[str] = AS_PRINTED,
) -> Iterator[Case]:
    """Yield the baselines, and each policy at every omega_1 and under the carbon objective.

    Those in `as_printed` run at every omega_1 as the paper prints them; those in `expecting` run under the carbon
    objective once more, and expect the jobs of `past`.
    """
    for name in BASELINES:
        yield Case(name, own_objective())
    for policy in policies:
        for omega in omegas:
            yield Case(policy, paper_objective(omega), omega)
        yield Case(policy, own_objective())
    for policy in as_printed:
        for omega in omegas:
            yield Case(policy, paper_objective(omega), omega, printed=True)
    for policy in expecting:
        yield Case(policy, own_objective(), past=past)


def clairvoyant(instance: MospInstance, seed: int = 0) -> float | None:
    """Return what no schedule can be below, in pieces or not, even if it knows all jobs and the signal."""
    relaxed = solve(instance, "lp", seed=seed)
    prices = None if relaxed.certificate is None else np.array(relaxed.certificate["prices"])
    return pieces_bound(instance, prices=prices)[0]


def simulated(instance: MospInstance, case: Case, settings: Mapping[str, Any]) -> Solution:
    """Simulate a policy under an objective.

    Raises
    ------
    RuntimeError
        If it did not complete the jobs.
    """
    policy = make_policy(PROBLEM, case.policy, **case.changes) if case.changes else case.policy
    found = simulate(instance.with_objective(case.objective), policy, **settings)
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if not found.has_solution:
        raise RuntimeError(f"{case.label} on {instance.name} ended {found.status}: {found.info}")
    return found


@dataclass(frozen=True)
class Reference:
    """What the rows of one instance are compared with.

    Parameters
    ----------
    zero_kg
        Carbon of the paper's baseline: its scheduler, as printed, at omega_1 = 0.
    random_kg, clean_kg
        Carbon of earliest starts, that of random ties as the mean of `DRAWS` draws.
    bound
        Of the figure's carbon objective, over all schedules; None if there is none.
    least_kg
        Of carbon, over the schedules that meet all deadlines.
    """

    zero_kg: float
    random_kg: float
    clean_kg: float
    bound: float | None
    least_kg: float | None

    @classmethod
    def of(cls, instance: MospInstance, settings: Mapping[str, Any]) -> Reference:
        """Return the references of an instance."""
        seed = int(settings.get("seed", 0))
        own = own_objective()
        random, clean = BASELINES
        drawn = [simulated(instance, Case(random, own), {**settings, "seed": seed + draw}) for draw in range(DRAWS)]
        strict = CarbonObjective(tardiness_slots=STRICT_KG, completion_slots=0.0)
        zero = simulated(instance, Case("caspian", paper_objective(0.0), 0.0, printed=True), settings)
        return cls(
            float(zero.metrics["carbon_kg"]),
            float(np.mean([found.metrics["carbon_kg"] for found in drawn])),
            float(simulated(instance, Case(clean, own), settings).metrics["carbon_kg"]),
            clairvoyant(instance.with_objective(own), seed),
            clairvoyant(instance.with_objective(strict), seed),
        )

    def row(self, case: Case, found: Solution) -> Row:
        """Return what the figure shows of a run."""
        measured: Row = {name: found.metrics[name] for name in MEASURES}
        if case.policy == BASELINES[0]:
            measured["carbon_kg"] = self.random_kg
        carbon = measured["carbon_kg"]
        comparable = self.bound is not None and case.objective.kind == "carbon" and case.policy not in BASELINES
        return {
            "policy": case.label,
            "objective": case.objective.kind,
            "omega_1": case.omega,
            "saving": 1 - carbon / self.zero_kg,
            "saving_random": 1 - carbon / self.random_kg,
            "saving_clean": 1 - carbon / self.clean_kg,
            **measured,
            "gap_to_clairvoyant": 1 - (self.bound or 0.0) / (found.objective or 1.0) if comparable else float("nan"),
            "most_saving": float("nan") if self.least_kg is None else 1 - self.least_kg / self.zero_kg,
        }
