"""CarbonFlex's elastic allocation: how many servers each elastic job gets in each slot."""

from carbonopt.core.registry import Method, PolicyEntry, Problem

_PACKAGE = "carbonopt.problems.elastic"

_POLICIES = {
    "carbon-agnostic": ("first come, first served, at k_min", "baselines:CarbonAgnostic"),
    "lowest-window": ("GAIA's Lowest-Window: starts where a run emits least", "baselines:LowestWindow"),
    "wait-awhile": ("runs in the cleanest 30 % of the coming day, and where slack ends", "baselines:WaitAwhile"),
    "carbon-scaler": ("each job alone scales over its window by its plan", "baselines:CarbonScaler"),
    "vcc": ("a cap on the servers of each hour, made a day ahead", "vcc:Vcc"),
    "vcc-scaling": ("the same cap, filled by scaling", "vcc:VccScaling"),
    "carbonflex": ("provisions as the oracle did in the most similar known states", "carbonflex:CarbonFlex"),
    "replan": ("plans all jobs anew each slot, at slot prices", "replan:Replan"),
}

PROBLEM = Problem(
    name="elastic",
    title="elastic server allocation on one cluster (CarbonFlex)",
    methods={
        "price": Method(
            f"{_PACKAGE}.methods.milp:price",
            "slot prices: exact for the fluid model, plans by column generation for the integer one",
        ),
        "milp": Method(f"{_PACKAGE}.methods.milp:milp", "the whole program with HiGHS", exact=True),
        "carbonflex-greedy": Method(f"{_PACKAGE}.methods.milp:carbonflex_greedy", "the paper's Algorithm 1, corrected"),
        "carbonflex-greedy-printed": Method(
            f"{_PACKAGE}.methods.milp:carbonflex_greedy_printed", "Algorithm 1 as the paper prints it"
        ),
        "carbonflex-greedy-fluid": Method(
            f"{_PACKAGE}.methods.milp:carbonflex_greedy_fluid", "Algorithm 1 with units pro rata", needs="model 'fluid'"
        ),
        "polymatroid-greedy": Method(
            f"{_PACKAGE}.methods.unit_gain:polymatroid_greedy",
            "slot by slot with max flow as independence oracle: optimal, and proves infeasibility",
            exact=True,
            needs="unit gain: every unit does 1 slot of work for the same energy, whole lengths and capacities",
        ),
        "lp-rounding": Method(f"{_PACKAGE}.methods.rounding:lp_rounding", "the fluid optimum, rounded to whole servers"),
        "lp": Method(
            f"{_PACKAGE}.methods.milp:lp",
            "the whole LP with HiGHS: the fluid optimum, a bound for the integer model",
            bound_only=True,
        ),
    },
    functions={
        "read": f"{_PACKAGE}.data.file:from_dict",
        "schema": f"{_PACKAGE}.data.file:ElasticFile",
        "choose": f"{_PACKAGE}.methods.milp:choose",
        "check": f"{_PACKAGE}.verify.late_windows:check",
        "proven_bound": f"{_PACKAGE}.verify.certificate:proven_bound",
        "formulate": f"{_PACKAGE}.methods.milp:formulate",
        "diagnose": f"{_PACKAGE}.methods.diagnose:diagnose",
        "extend": f"{_PACKAGE}.methods.extend:extend",
        "inspect": f"{_PACKAGE}.methods.diagnose:inspect",
        "generate": f"{_PACKAGE}.data.generate:generate",
        "convert": f"{_PACKAGE}.data.convert:convert",
        "simulate": f"{_PACKAGE}.online.run:simulate",
        "plot": "carbonopt.plotting.elastic_load:plot_elastic_load",
    },
    compared=("price", "carbonflex-greedy", "carbonflex-greedy-printed", "lp-rounding", "lp"),
    shown={
        "carbon_kg": "carbon kg",
        "mean_servers": "mean servers",
        "mean_delay_slots": "mean delay",
        "churn": "churn",
    },
    quick="carbonflex-greedy",
    policies={
        name: PolicyEntry(summary, f"{_PACKAGE}.online.{reference}") for name, (summary, reference) in _POLICIES.items()
    },
)
