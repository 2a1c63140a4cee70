"""Algorithm 1 in its variants, against a plain walk through all units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic_support import FLUID_KINDS, by_hand, changed, random_instance, reference

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.greedy import VARIANTS, allocate

METHODS = {
    "corrected": "carbonflex-greedy",
    "printed": "carbonflex-greedy-printed",
    "fluid": "carbonflex-greedy-fluid",
}


def units_in_order(instance: ElasticInstance, closed: bool) -> list[tuple[int, int, int]]:
    """Return (job, slot, unit) by throughput per carbon, then by deadline, a unit never before the one below it."""
    keys = []
    for j in range(len(instance.jobs)):
        profile = instance.profile_of_job[j]
        deadline = instance.jobs.arrival[j] + instance.jobs.length[j] + instance.jobs.slack[j]
        for t in range(instance.jobs.arrival[j], min(instance.time.slots, instance.jobs.window_end[j] + closed)):
            ratio = np.inf
            for u in range(len(instance.profiles[profile])):
                carbon = instance.intensity[t] * instance.units.kwh[profile, u]
                ratio = min(ratio, instance.units.gain[profile, u] / carbon if carbon else np.inf)
                keys.append((-ratio, deadline, j, t, u))
    return [(j, t, u) for _, _, j, t, u in sorted(keys)]


def walked(instance: ElasticInstance, variant: str) -> dict[tuple[int, int], float]:
    """Return the servers that a plain walk gives each (job, slot), by share of the slot; empty if one is unfinished."""
    units, jobs = instance.units, instance.jobs
    left = list(jobs.length if variant == "fluid" else jobs.required)
    free = list(instance.cluster.limit if variant == "corrected" else instance.cluster.capacity)
    level: dict[tuple[int, int], int] = {}
    servers: dict[tuple[int, int], float] = {}
    closed: set[tuple[int, int]] = set()
    for j, t, u in units_in_order(instance, variant == "printed"):
        p = instance.profile_of_job[j]
        need, gain = units.servers[p, u], units.gain[p, u]
        if left[j] <= 1e-12 or level.get((j, t), 0) != u or (j, t) in closed:
            continue
        part = min(1.0, free[t] / need, left[j] / gain) if variant == "fluid" else 1.0
        others = instance.cluster.capacity[t] - free[t] - servers.get((j, t), 0.0)
        scale = instance.profiles[p].k_min + u
        refused = {"printed": others + scale >= instance.cluster.capacity[t]}
        if refused.get(variant, need > free[t] if variant == "corrected" else part <= 1e-12):
            continue
        free[t] -= part * need
        left[j] -= part * gain
        level[j, t] = u + 1
        servers[j, t] = servers.get((j, t), 0.0) + part * need
        if part < 1:
            closed.add((j, t))
    return servers if max(left, default=0.0) <= 1e-9 else {}


@pytest.mark.parametrize("variant", ["printed", "fluid"])
@pytest.mark.parametrize("kind", FLUID_KINDS)
def test_it_is_the_walk_through_all_units(variant: str, kind: str) -> None:
    """The corrected variant trims afterwards, so its own test is below."""
    model = "fluid" if variant == "fluid" else "integer"
    complete = 0
    for seed in range(12):
        instance = random_instance(seed, kind, 2 + seed % 5, 4 + seed, model=model)
        found, expected = allocate(instance, variant), walked(instance, variant)
        assert bool(expected) == (len(found.unfinished) == 0)
        if expected:
            complete += 1
            schedule = found.schedule(instance)
            share = np.array(schedule.get("share", [1.0] * len(schedule["job"])))
            servers: dict[tuple[int, int], float] = dict.fromkeys(expected, 0.0)
            index = {name: j for j, name in enumerate(instance.jobs.name)}
            for name, t, k, part in zip(schedule["job"], schedule["slot"], schedule["servers"], share, strict=True):
                servers[index[name], t] += k * part
            assert servers == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert complete or variant == "printed"


@pytest.mark.parametrize("kind", FLUID_KINDS)
def test_the_corrected_variant_is_the_walk_less_what_the_last_slot_does_not_need(kind: str) -> None:
    for seed in range(20):
        instance = random_instance(seed, kind, 2 + seed % 5, 4 + seed % 9, model="integer")
        found, walk = allocate(instance, "corrected"), walked(instance, "corrected")
        assert bool(walk) == (len(found.unfinished) == 0)
        for j in range(len(instance.jobs)) if walk else ():
            slots = [t for i, t in walk if i == j]
            schedule = dict(zip(found.slot[found.job == j], found.unit[found.job == j], strict=True))
            for t in slots:
                top = found.unit[(found.job == j) & (found.slot == t)].max(initial=-1)
                given = instance.profiles[instance.profile_of_job[j]].k_min + top if t in schedule else 0
                assert given == walk[j, t] if t != max(slots) else given <= walk[j, t]


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_it_returns_is_feasible_and_no_better_than_the_optimum(variant: str) -> None:
    for kind in ("unit", "decreasing", "general"):
        for seed in range(15):
            raw = reference.random_instance(seed, kind)
            optimum, _ = reference.brute_force(raw)
            instance = from_dict(raw)
            if variant == "fluid":
                instance = instance.with_model("fluid")
                lp = co.solve(instance, "lp")
                optimum = lp.objective
            solution = co.solve(instance, METHODS[variant])
            assert solution.status in ("feasible", "unknown")
            assert "violations" not in solution.info
            if solution.has_solution:
                assert solution.objective >= optimum * (1 - 1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
def test_machine_code_and_plain_python_agree(variant: str) -> None:
    for seed in range(5):
        instance = random_instance(seed, "general", 9, 12, model="fluid" if variant == "fluid" else "integer")
        found = []
        for steps in (0, 1e12):
            with loops(steps):
                result = allocate(instance, variant)
            found.append([*(a.tolist() for a in (result.job, result.slot, result.unit, result.part, result.left))])
        assert found[0] == found[1]


class TestByHand:
    def test_ties_go_by_deadline_across_profiles(self) -> None:
        """Both base units have ratio 1 in slot 0; `b`, second in the file and of another profile, is due first.

        `a` may wait for slot 1, `b` may not: by file or profile order `a` takes the only server of slot 0, and
        `b` stays unfinished.
        """
        instance = by_hand(1, [1, 2], (0, 1, 1, [1, 0.5]), (0, 1, 0, [1]))
        for variant in ("corrected", "fluid"):
            found = allocate(instance, variant)
            assert found.job.tolist() == [0, 1]
            assert found.slot.tolist() == [1, 0]
            assert not len(found.unfinished)

    def test_ties_of_one_profile_go_by_deadline_and_not_by_file(self) -> None:
        instance = by_hand(1, [1, 2, 3], (0, 1, 2, [1]), (0, 1, 1, [1]), (0, 1, 0, [1]))
        assert allocate(instance, "corrected").slot.tolist() == [2, 1, 0]

    def test_equal_carbon_of_two_slots_is_a_tie_too(self) -> None:
        """`b` is due first and takes the earlier of its two slots; the later file place of `b` does not matter."""
        instance = by_hand(1, [1, 1, 1], (0, 1, 2, [1, 0.5]), (0, 1, 1, [1]))
        assert allocate(instance, "corrected").slot.tolist() == [1, 0]

    def test_servers_that_the_last_slot_does_not_need_are_given_up(self) -> None:
        """Taken: slot 1 (1 + .9), slot 0 (1): 2.9 of 2. Slot 1 is last; its second server can go."""
        solution = co.solve(by_hand(3, [2, 1], (0, 2, 0, [1, 0.9])), "carbonflex-greedy")
        assert solution.columns == {"job": ["a", "a"], "slot": [0, 1], "servers": [1, 1]}
        assert solution.objective == pytest.approx(3)

    def test_only_servers_of_the_last_slot(self) -> None:
        """The other way round the spare server stands in slot 0, which came first."""
        solution = co.solve(by_hand(3, [1, 2], (0, 2, 0, [1, 0.9])), "carbonflex-greedy")
        assert solution.columns == {"job": ["a", "a"], "slot": [0, 1], "servers": [2, 1]}

    def test_a_block_of_servers_counts_with_its_energy(self) -> None:
        """k_min = 2 at 1 kWh each: 1 / (2 x CI) for the block, .6 / CI for the third server."""
        instance = changed(
            by_hand(3, [10, 11], (0, 1.5, 0, [1, 0.6])),
            {("profiles", "a", "k_min"): 2, ("profiles", "a", "marginal_watts"): [2000, 1000]},
        )
        solution = co.solve(instance, "carbonflex-greedy")
        assert solution.columns == {"job": ["a"], "slot": [0], "servers": [3]}
        assert solution.objective == pytest.approx(30)

    def test_a_unit_waits_for_the_one_below_it(self) -> None:
        """The second server is the more efficient, and comes only with the first."""
        instance = changed(
            by_hand(2, [3, 2], (0, 1, 1, [1, 1]), (0, 1, 1, [1])),
            {("profiles", "a", "marginal_watts"): [1000, 10]},
        )
        solution = co.solve(instance, "carbonflex-greedy")
        assert solution.has_solution
        assert max(solution.columns["servers"]) <= 2
        found = allocate(instance, "fluid")
        for j, t, u in zip(found.job, found.slot, found.unit, strict=True):
            below = (found.job == j) & (found.slot == t) & (found.unit == u - 1)
            assert u == 0 or below.any()

    def test_the_fluid_variant_takes_parts(self) -> None:
        instance = by_hand(1.5, [1, 2], (0, 1.25, 0, [1]), (0, 0.5, 1, [1]), model="fluid")
        solution = co.solve(instance, "carbonflex-greedy-fluid")
        assert solution.objective == pytest.approx(1.5 * 1 + 0.25 * 2)

    def test_free_carbon_comes_first(self) -> None:
        solution = co.solve(by_hand(1, [5, 0, 5], (0, 1, 2, [1])), "carbonflex-greedy")
        assert (solution.columns["slot"], solution.objective) == ([1], 0)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_no_jobs(self, variant: str) -> None:
        model = "fluid" if variant == "fluid" else "integer"
        solution = co.solve(by_hand(1, [5, 0], model=model), METHODS[variant])
        assert (solution.status, solution.objective) == ("feasible", 0)

    def test_the_closed_window_ends_with_the_horizon(self) -> None:
        instance = by_hand(2, [2, 3], (0, 1, 0, [1]), (1, 1, 0, [1]))
        assert co.solve(instance, "carbonflex-greedy-printed").objective == pytest.approx(5)

    @pytest.mark.parametrize("method", ["carbonflex-greedy", "carbonflex-greedy-printed"])
    def test_a_price_on_switching_is_charged_not_optimised(self, method: str) -> None:
        fields: dict[str, Any] = {"objective": {"switching_g_per_server": 10}}
        solution = co.solve(by_hand(3, [1, 3, 1], (0, 2, 1, [1]), **fields), method)
        assert solution.columns["slot"] == [0, 2]
        assert (solution.status, solution.bound) == ("feasible", None)
        assert solution.objective == pytest.approx(2 + 4 * 10)
