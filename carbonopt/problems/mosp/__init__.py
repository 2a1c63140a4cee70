"""Caspian's multi-objective scheduling and placement: when and on which cluster each job starts."""

from carbonopt.core.registry import Method, Problem

_ROOM = "carbonopt.problems.mosp"

PROBLEM = Problem(
    name="mosp",
    title="multi-objective scheduling and placement over clusters (Caspian)",
    methods={
        "milp": Method(f"{_ROOM}.methods:milp", "the whole program with HiGHS", exact=True),
        "lp-rounding": Method(
            f"{_ROOM}.methods:lp_rounding", "LP relaxation, rounded where it places the jobs, then moves"
        ),
        "lp-rounding-caspian": Method(f"{_ROOM}.methods:caspian_rounding", "the paper's Algorithms 2 and 3"),
        "greedy-clean": Method(f"{_ROOM}.methods:greedy_clean", "earliest start, ties to the cleanest cluster"),
        "greedy-random": Method(
            f"{_ROOM}.methods:greedy_random", "earliest start, ties at random (the paper's baseline)"
        ),
        "lp": Method(f"{_ROOM}.methods:lp", "LP relaxation: a bound and its certificate", bound_only=True),
    },
    functions={
        "read": f"{_ROOM}.file:from_dict",
        "schema": f"{_ROOM}.file:MospFile",
        "choose": f"{_ROOM}.methods:choose",
        "check": f"{_ROOM}.check:check",
        "proven_bound": f"{_ROOM}.certificate:proven_bound",
        "formulate": f"{_ROOM}.methods:formulate",
        "diagnose": f"{_ROOM}.diagnose:diagnose",
        "inspect": f"{_ROOM}.diagnose:inspect",
        "generate": f"{_ROOM}.generate:generate",
        "convert": f"{_ROOM}.convert:convert",
        "plot": "carbonopt.plotting.mosp_load:plot_mosp_load",
    },
    compared=("milp", "lp-rounding", "lp-rounding-caspian", "greedy-clean", "greedy-random", "lp"),
    shown={"carbon_kg": "carbon kg", "deadlines_met_share": "deadlines met"},
    quick="greedy-clean",
)
