"""CarbonFlex's elastic allocation: how many servers each elastic job gets in each slot."""

from carbonopt.core.registry import Method, PolicyEntry, Problem, Warmup

_SWITCHING = ("switching price",)
"""Of the methods whose bound or schedule holds where the slots of a job are coupled, and of all policies."""

PROBLEM = Problem(
    name="elastic",
    package=__name__,
    title="elastic server allocation on one cluster (CarbonFlex)",
    methods={
        "price": Method(
            ".methods.price.method:price",
            "slot prices: exact for the fluid model, plans by column generation for the integer one",
            parameters=".methods.price.parameters:PriceParameters",
            takes_start=True,
            certificate="partly",
        ),
        "milp": Method(
            ".methods.milp:milp",
            "the whole program with HiGHS",
            exact=True,
            respects=_SWITCHING,
            takes_start=True,
            certificate="partly",
        ),
        "carbonflex-greedy": Method(
            ".methods.greedy:carbonflex_greedy",
            "the paper's Algorithm 1, corrected",
            {"variant": "corrected"},
            respects=_SWITCHING,
        ),
        "carbonflex-greedy-printed": Method(
            ".methods.greedy:carbonflex_greedy",
            "Algorithm 1 as the paper prints it",
            {"variant": "printed"},
            respects=_SWITCHING,
        ),
        "carbonflex-greedy-fluid": Method(
            ".methods.greedy:carbonflex_greedy",
            "Algorithm 1 with units pro rata",
            {"variant": "fluid"},
            needs="model 'fluid'",
            respects=_SWITCHING,
        ),
        "polymatroid-greedy": Method(
            ".methods.polymatroid:polymatroid_greedy",
            "slot by slot with max flow as independence oracle: optimal, and proves infeasibility",
            exact=True,
            needs="unit gain: every unit does 1 slot of work for the same energy, whole lengths and capacities",
            certificate="no",
        ),
        "lp-rounding": Method(
            ".methods.rounding:lp_rounding",
            "the fluid optimum, rounded to whole servers",
            parameters=".methods.rounding:RoundingParameters",
            certificate="yes",
        ),
        "lp": Method(
            ".methods.milp:lp",
            "the whole LP with HiGHS: the fluid optimum, a bound for the integer model",
            bound_only=True,
            respects=_SWITCHING,
            certificate="yes",
        ),
    },
    roles={
        "read": ".data.file:from_dict",
        "schema": ".data.file:ElasticFile",
        "choose": ".methods.milp:choose",
        "check": ".verify.check:check",
        "proven_bound": ".verify.certificate:proven_bound",
        "formulate": ".methods.milp:formulate",
        "diagnose": ".methods.diagnose:diagnose",
        "extend": ".methods.extend:extend",
        "inspect": ".methods.diagnose:inspect",
        "stuck": ".methods.diagnose:stuck_jobs",
        "generate": ".data.generate:generate",
        "convert": ".data.convert:convert",
        "simulate": ".online.run:simulate",
        "covering": ".online.covering:covering",
        "inform": ".online.past:inform",
        "learn": ".online.learn:learned",
        "plot": "carbonopt.plotting.elastic_load:plot_elastic_load",
    },
    compared=("price", "carbonflex-greedy", "carbonflex-greedy-printed", "lp-rounding", "lp"),
    shown={
        "carbon_kg": "carbon kg",
        "mean_servers": "mean servers",
        "mean_delay_slots": "mean delay slots",
        "churn": "churn",
    },
    quick="carbonflex-greedy",
    policies={
        "carbon-agnostic": PolicyEntry(
            ".online.baselines:CarbonAgnostic", "first come, first served, at k_min", respects=_SWITCHING
        ),
        "lowest-window": PolicyEntry(
            ".online.baselines:LowestWindow",
            "GAIA's Lowest-Window: starts where a run emits least",
            respects=_SWITCHING,
        ),
        "wait-awhile": PolicyEntry(
            ".online.baselines:WaitAwhile",
            "runs in the cleanest 30 % of the coming day, and where slack ends",
            respects=_SWITCHING,
        ),
        "carbon-scaler": PolicyEntry(
            ".online.baselines:CarbonScaler", "each job alone scales over its window by its plan", respects=_SWITCHING
        ),
        "vcc": PolicyEntry(
            ".online.vcc:Vcc", "a cap on the servers of each hour, made a day ahead", respects=_SWITCHING
        ),
        "vcc-scaling": PolicyEntry(".online.vcc:VccScaling", "the same cap, filled by scaling", respects=_SWITCHING),
        "cap": PolicyEntry(
            ".online.cap:Cap",
            "CAP's quota of servers, by the present intensity; its theorem is about a makespan without deadlines",
            respects=_SWITCHING,
        ),
        "carbonflex": PolicyEntry(
            ".online.carbonflex:CarbonFlex",
            "provisions as the oracle did in the most similar known states",
            respects=_SWITCHING,
        ),
        "replan": PolicyEntry(
            ".online.replan:Replan", "plans all jobs anew each slot, at slot prices", respects=_SWITCHING
        ),
    },
    warmups=(
        Warmup({"model": "fluid"}, methods=("price", "carbonflex-greedy-fluid", "lp-rounding")),
        Warmup(
            {"model": "integer", "jobs": 200, "capacity": 40},
            methods=("price", "carbonflex-greedy"),
            policies=("replan",),
        ),
    ),
)
