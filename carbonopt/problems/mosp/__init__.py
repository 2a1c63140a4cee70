"""Caspian's multi-objective scheduling and placement: when and on which cluster each job starts."""

from typing import Any

from carbonopt.core.registry import Method, PolicyEntry, Problem, Warmup

_PRICED = {"method": "auto", "seconds": 2.0}
"""`price`, and HiGHS where the program of a period is so small that it closes it sooner."""
_POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "caspian": ("Algorithm 1 with the paper's LP rounding, running jobs included; deadlines in whole slots", {}),
    "caspian-printed": (
        "the same as the paper prints it: slots counted from now, exact deadlines, jobs planned from the next slot on",
        {"clock": "now", "deadlines": "exact", "notice_slots": 1},
    ),
    "caspian-lp": ("the same with lp-rounding", {"method": "lp-rounding"}),
    "caspian-milp": ("the same with milp", {"method": "milp"}),
    "caspian-price": ("the same with price, small programs whole", _PRICED),
    "caspian-stable": (
        "the same with price, a price on changes, and ties to the plan before",
        {**_PRICED, "change_share": 0.2, "budget_share": 0.002},
    ),
    "caspian-no-migration": ("caspian, where a job that has begun stays on its cluster", {"migration": None}),
    "caspian-no-suspend": ("caspian, where a job that has begun runs to its end", {"suspend": False}),
    "earliest-random": (
        "each job as early as it fits, ties at random",
        {"method": "greedy-random", "suspend": False},
    ),
    "earliest-clean": ("the same, ties to the cleanest cluster", {"method": "greedy-clean", "suspend": False}),
}

_FIXED = ("fixed",)
"""Of all methods: see `carbonopt.problems.mosp.methods.fixed`."""
_STARTS = ("max_starts_per_slot", *_FIXED)
"""Of all methods but `price`, whose search places jobs by capacity alone."""
_LIMITS = ("limits", *_STARTS)
"""Of the methods that solve the whole program: a limit is one row over all jobs."""

_BENCH = {"preset": "bench", "clusters": 3, "slots": 24}
_BRIEF = {
    "bound": {"iterations": 3, "steps": 3},
    "rejections": {"most_branches": 3, "steps": 2},
    "start": {"least_jobs": 30},
    "search": {"moves_per_job": 20, "first_moves": 100, "heavy": {"share": 1.0}},
    "cliques": {"rounds": 2, "few": 100_000},
    "windows": {"most_branches": 3},
    "dives": {"most": 1},
    "neighbourhoods": {"most_in_vain": 0},
    "cuts": {"most_jobs_of_tree": 25, "most_columns": 0},
    "beam": {
        "parts_per_job": 1,
        "root_rounds": 3,
        "proof_widths": [50],
        "proof_rounds": [2],
        "proof_batches": [10],
    },
}
"""So that every part of `price` runs on the instances of `carbonopt compile`, and none for long."""
_REJECTING = _BRIEF | {"bound": {"iterations": 30, "steps": 30}}
"""The same with prices that are good enough for the relaxation to reject jobs."""

PROBLEM = Problem(
    name="mosp",
    package=__name__,
    title="multi-objective scheduling and placement over clusters (Caspian)",
    methods={
        "milp": Method(
            ".methods.milp:milp",
            "the whole program with HiGHS",
            exact=True,
            respects=_LIMITS,
            takes_start=True,
            certificate="no",
        ),
        "price": Method(
            ".methods.price.method:price",
            "slot prices for the bound, a search that they guide",
            parameters=".methods.price.parameters:PriceParameters",
            respects=_FIXED,
            takes_start=True,
            certificate="partly",
        ),
        "lp-rounding": Method(
            ".methods.rounding:lp_rounding",
            "LP relaxation, rounded where it places the jobs, then moves",
            respects=_STARTS,
            takes_start=True,
            certificate="yes",
        ),
        "lp-rounding-caspian": Method(
            ".methods.rounding:caspian_rounding",
            "the paper's Algorithms 2 and 3",
            respects=_STARTS,
            certificate="yes",
        ),
        "greedy-clean": Method(
            ".methods.greedy:greedy",
            "earliest start, ties to the cleanest cluster",
            {"clean_ties": True},
            respects=_STARTS,
        ),
        "greedy-random": Method(
            ".methods.greedy:greedy",
            "earliest start, ties at random",
            {"clean_ties": False},
            respects=_STARTS,
        ),
        "lp": Method(
            ".methods.milp:lp",
            "LP relaxation: a bound and its certificate",
            bound_only=True,
            respects=_LIMITS,
            certificate="yes",
        ),
    },
    roles={
        "read": ".data.file:from_dict",
        "schema": ".data.file:MospFile",
        "choose": ".methods.milp:choose",
        "check": ".verify.check:check",
        "without_objective": ".data.instance:without_objective",
        "proven_bound": ".verify.certificate:proven_bound",
        "formulate": ".methods.milp:formulate",
        "diagnose": ".methods.diagnose:diagnose",
        "inspect": ".methods.diagnose:inspect",
        "stuck": ".methods.diagnose:stuck_jobs",
        "generate": ".data.generate:generate",
        "convert": ".data.convert:convert",
        "limited": ".methods.limited:limited",
        "quantities": ".methods.limited:quantities",
        "simulate": ".online.run:simulate",
        "covering": ".online.covering:covering",
        "covering_bound": ".online.covering:covering_bound",
        "plot": "carbonopt.plotting.mosp_load:plot_mosp_load",
    },
    compared=("milp", "price", "lp-rounding", "lp-rounding-caspian", "greedy-clean", "greedy-random", "lp"),
    shown={"carbon_kg": "carbon kg", "deadlines_met_share": "deadlines met", "churn": "churn"},
    quick="greedy-clean",
    policies={
        name: PolicyEntry(".online.rolling:Rolling", summary, settings)
        for name, (summary, settings) in _POLICIES.items()
    },
    lengths_known=True,
    warmups=(
        Warmup({**_BENCH, "jobs": 24}, params=_BRIEF, mip_rel_gap=0.0),
        Warmup({**_BENCH, "jobs": 60, "load": 1.6}, params=_REJECTING, mip_rel_gap=0.0),
    ),
)
