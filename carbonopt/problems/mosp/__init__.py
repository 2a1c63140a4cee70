"""Caspian's multi-objective scheduling and placement: when and on which cluster each job starts."""

from carbonopt.core.registry import Method, PolicyEntry, Problem

_PACKAGE = "carbonopt.problems.mosp"

_POLICIES = {
    "caspian": "Algorithm 1 of the paper: its LP rounding every period, running jobs included",
    "caspian-lp": "the same with lp-rounding",
    "caspian-milp": "the same with milp",
    "caspian-price": "the same with price, small programs whole",
    "caspian-stable": "the same with price, a price on changes, and ties to the plan before",
    "caspian-no-migration": "caspian, where a job that has begun stays on its cluster",
    "caspian-no-suspend": "caspian, where a job that has begun runs to its end",
    "earliest-random": "each job as early as it fits, ties at random (the paper's baseline)",
    "earliest-clean": "the same, ties to the cleanest cluster",
}

PROBLEM = Problem(
    name="mosp",
    title="multi-objective scheduling and placement over clusters (Caspian)",
    methods={
        "milp": Method(f"{_PACKAGE}.methods.milp:milp", "the whole program with HiGHS", exact=True),
        "price": Method(f"{_PACKAGE}.methods.price.method:price", "slot prices for the bound, a search that they guide"),
        "lp-rounding": Method(
            f"{_PACKAGE}.methods.milp:lp_rounding", "LP relaxation, rounded where it places the jobs, then moves"
        ),
        "lp-rounding-caspian": Method(f"{_PACKAGE}.methods.milp:caspian_rounding", "the paper's Algorithms 2 and 3"),
        "greedy-clean": Method(f"{_PACKAGE}.methods.milp:greedy_clean", "earliest start, ties to the cleanest cluster"),
        "greedy-random": Method(
            f"{_PACKAGE}.methods.milp:greedy_random", "earliest start, ties at random (the paper's baseline)"
        ),
        "lp": Method(f"{_PACKAGE}.methods.milp:lp", "LP relaxation: a bound and its certificate", bound_only=True),
    },
    functions={
        "read": f"{_PACKAGE}.data.file:from_dict",
        "schema": f"{_PACKAGE}.data.file:MospFile",
        "choose": f"{_PACKAGE}.methods.milp:choose",
        "check": f"{_PACKAGE}.verify.check_pieces:check",
        "proven_bound": f"{_PACKAGE}.verify.certificate:proven_bound",
        "formulate": f"{_PACKAGE}.methods.milp:formulate",
        "diagnose": f"{_PACKAGE}.methods.diagnose:diagnose",
        "inspect": f"{_PACKAGE}.methods.diagnose:inspect",
        "generate": f"{_PACKAGE}.data.generate:generate",
        "convert": f"{_PACKAGE}.data.convert:convert",
        "simulate": f"{_PACKAGE}.online.run:simulate",
        "plot": "carbonopt.plotting.mosp_load:plot_mosp_load",
    },
    compared=("milp", "price", "lp-rounding", "lp-rounding-caspian", "greedy-clean", "greedy-random", "lp"),
    shown={"carbon_kg": "carbon kg", "deadlines_met_share": "deadlines met", "churn": "churn"},
    quick="greedy-clean",
    policies={name: PolicyEntry(summary) for name, summary in _POLICIES.items()},
)
