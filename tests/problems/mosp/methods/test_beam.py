"""Beams over slots: exact where no state is lost, and a bound where some are."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.algorithms.prices import Ascent
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.beam import beam as beam_module
from carbonopt.problems.mosp.methods.price.beam.beam import Beam
from carbonopt.problems.mosp.methods.price.beam.choose import choose
from carbonopt.problems.mosp.methods.price.beam.improve import Improver, is_small
from carbonopt.problems.mosp.methods.price.beam.parameters import BeamParameters, PartParameters
from carbonopt.problems.mosp.methods.price.beam.part import disturbed, whole_room, whole_units
from carbonopt.problems.mosp.methods.price.beam.profiles import are_few, make_profiles
from carbonopt.problems.mosp.methods.price.beam.relaxation import make_paths
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.places import make_places
from carbonopt.problems.mosp.methods.price.search_parameters import PlaceParameters
from carbonopt.problems.mosp.methods.price.state import at_places, new_state

BARS = (2.0, 3.0, 0.5)
BEAMS = BeamParameters()


def test_profiles_of_two_units_over_two_slots():
    profiles = make_profiles(2, 2)
    assert profiles.units.tolist() == [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]]
    assert profiles.later.tolist() == [0, 0, 1, 0, 1, 3]
    assert profiles.after_start(1, 1).tolist() == [1, 3, 4, -1, -1, -1]
    for _ in range(2):  # the second time it is known
        assert profiles.after_start(2, 1).tolist() == [2, 4, 5, -1, -1, -1]
    assert profiles.after_start(1, 2).tolist() == [3, -1, -1, -1, -1, -1]


def test_whole_units_of_demands():
    units, unit = whole_units(np.array([[1.0], [3.0]]))
    assert (units.tolist(), unit) == ([1, 3], 1.0)
    units, unit = whole_units(np.array([[0.25], [0.75]]))
    assert (units.tolist(), unit) == ([1, 3], 0.25)
    assert whole_units(np.array([[0.3], [0.7]])) is None
    assert whole_units(np.array([[1.0, 1.0]])) is None
    assert whole_room(np.array([2.0, 2.999999, 3 * (1 + 1e-9), 1e30]), 1.0, 5).tolist() == [2, 2, 3, 5]


def started(instance, prices=None):
    """Return the dual function, an improver and an empty schedule of an instance."""
    dual = Dual(instance, placement_value(instance, BARS))
    prices = np.zeros(dual.limit.size) if prices is None else prices
    places = make_places(dual, prices, PlaceParameters())
    empty = new_state(instance, dual, places, 1e-3, 1e-3, 12)
    return dual, Improver(instance, dual, prices, empty, BEAMS), empty, dual.safe(prices)


def given(instance, empty, dual, improver):
    """Return the schedule of a greedy, as a state."""
    place = np.full(len(instance.jobs), -1)
    return at_places(empty, place, dual, improver.prices, fill=True)


@pytest.mark.slow
@pytest.mark.parametrize(("load", "objective"), [(0.7, "carbon"), (1.3, "carbon"), (0.7, "caspian"), (1.3, "caspian")])
def test_a_proof_ends_at_the_optimum(load, objective):
    proven = 0
    for seed in range(12):
        instance = co.generate(
            "mosp", preset="bench", jobs=11, clusters=2, slots=12, seed=seed, load=load, objective=objective
        )
        dual, improver, empty, bound = started(instance)
        state, sign = given(instance, empty, dual, improver), 1 if objective == "carbon" else -1
        assert is_small(instance, dual, BEAMS)
        optimum = sign * optimum_of(instance, objective)
        if instance.objective.rejection_cost == np.inf and (state.place < 0).any():
            continue
        for found, new in improver.prove(state, Options(seed=seed, mip_rel_gap=1e-6)):
            assert new <= optimum + 1e-9 * abs(optimum)
            assert found.best_total >= optimum - 1e-9 * abs(optimum)
            assert (found.capacity_left >= 0).all()
            state, bound = found, max(bound, new)
        assert state.best_total == pytest.approx(optimum, rel=2e-6)
        assert state.best_total - bound <= 1e-6 * abs(state.best_total)
        proven += 1
    assert proven >= 8


def optimum_of(instance, objective):
    """Return the optimum by HiGHS, of caspian's objective with the normalizers of this file."""
    if objective == "carbon":
        return co.solve(instance, "milp", mip_rel_gap=0, time_limit=None).objective
    fixed = from_dict(with_bars(instance.to_dict()))
    return co.solve(fixed, "milp", mip_rel_gap=0, time_limit=None).objective


def with_bars(raw):
    raw["objective"]["normalizers"] = dict(zip(("z1", "z2", "z3"), BARS, strict=True))
    return raw


@pytest.mark.parametrize("width", [1, 3, 20])
def test_what_is_dropped_bounds_what_is_lost(width):
    swept_instances = 0
    for seed in range(8):
        instance = co.generate("mosp", preset="bench", jobs=14, clusters=2, slots=16, seed=seed, load=0.6)
        dual, improver, empty, bound = started(instance)
        state = given(instance, empty, dual, improver)
        if (state.place < 0).any():
            continue
        optimum = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None).objective
        for batch in (None, 5):
            beam = Beam(improver._all(state.best_total - bound), state.best_total + 1e-9, BEAMS, Options())
            assert beam.root(50) <= optimum + 1e-9
            found = beam.go(width, 3, batch)
            assert found.bound <= optimum + 1e-9
        swept_instances += 1
    assert swept_instances >= 3


def test_interpreted_and_compiled_kernels_agree():
    instance = small_instance()
    found = []
    for steps in (0, np.inf):
        with loops(steps):
            dual, improver, empty, _ = started(instance)
            state = given(instance, empty, dual, improver)
            proofs = improver.prove(state, Options(mip_rel_gap=1e-9))
            found.append([(new.best_total, proven) for new, proven in proofs])
    assert found[0] == found[1]


def small_instance():
    """Return six jobs of one or two slots on one cluster of three units."""
    raw = co.generate("mosp", preset="bench", jobs=6, clusters=1, slots=10, seed=1, load=0.7).to_dict()
    for table, field, values in (("jobs", "demand", [1, 2, 1, 3, 2, 1]), ("clusters", "capacity", [3])):
        name = next(iter(raw[table][field]))
        raw[table][field][name] = [float(x) for x in values]
    raw["jobs"]["duration"] = [1, 2, 2, 1, 1, 2]
    return from_dict(raw)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_part_keeps_the_room_of_all_other_jobs(noise):
    instance = co.generate("mosp", preset="bench", jobs=150, clusters=4, slots=24, seed=3)
    dual = Dual(instance, placement_value(instance, BARS))
    ascent = Ascent(dual.hard, dual.soft, np.zeros(dual.limit.size), scale=0.05)
    ascent.smooth([0.01, 0.001, 1e-4], 150)
    dual, improver, empty, _ = started(instance, ascent.prices)
    state, rng = given(instance, empty, dual, improver), np.random.default_rng(0)
    total = state.best_total
    for _ in range(20):
        choice = choose(state, improver.units, improver.unit, dual.shape, BEAMS, BEAMS.large, rng)
        assert len(choice.cluster) <= 3
        assert (choice.idle >= 0).all()
        assert (choice.room >= choice.idle).all()
    sizes = {name: replace(getattr(BEAMS, name), first_noise=noise) for name in ("small", "medium")}
    improver.params = replace(BEAMS, parts_per_job=1, **sizes)
    for found in improver.parts(state, rng, Options(time_limit=None), noisy=True):
        assert (found.capacity_left >= 0).all()
        assert found.best_total <= total * (1 + 1e-8)
        total = found.best_total
    assert total < state.best_total


def test_noise_falls_and_ends():
    size = PartParameters(first_noise=0.1, last_noise=0.001)
    assert [size.noise(done) for done in (0.0, 0.5, 0.94)] == pytest.approx([0.1, 0.01, 0.1 * 0.01**0.94])
    assert size.noise(0.95) == 0
    assert PartParameters().noise(0.0) == 0


def test_noise_begins_to_fall_in_each_try():
    size = PartParameters(first_noise=0.1, last_noise=0.001, tries=4)
    fallen = {0.0: 0.0, 0.04: 0.2, 0.08: 0.0, 0.28: 0.2, 0.32: 0.4, 0.66: 0.7}
    assert [size.noise(done) for done in fallen] == pytest.approx([0.1 * 0.01**share for share in fallen.values()])
    assert size.noise(0.95) == 0
    assert [size.number_of_try(done) for done in (0.0, 0.1, 0.5)] == [0, 1, 4]
    assert PartParameters().number_of_try(0.5) == 0


def test_each_try_begins_at_the_same_schedule_and_the_best_goes_on(monkeypatch):
    instance = small_instance()
    dual, improver, empty, _ = started(instance)
    state = given(instance, empty, dual, improver)
    improver.params = replace(BEAMS, parts_per_job=4)
    begun, made = [], iter([5.0, 4.0, 7.0, 6.0] + 20 * [3.0])

    def with_new_part(self, state, *_):
        begun.append(state.best_total)
        return SimpleNamespace(best_total=next(made) - 100)

    monkeypatch.setattr(Improver, "_size", lambda self: PartParameters(first_noise=0.1, tries=2))
    monkeypatch.setattr(Improver, "_with_new_part", with_new_part)
    found = improver.parts(state, np.random.default_rng(0), Options(time_limit=None), noisy=True)
    assert [each.best_total for each in found][:5] == [-95, -96, -96, -96, -97]
    assert begun[:5] == [state.best_total, -95, state.best_total, -93, -96]


def test_noise_is_the_same_for_all_jobs_of_a_type():
    """Else their order by deadline would be wrong."""
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=5, load=0.4)
    dual, improver, empty, _ = started(instance)
    state, rng = given(instance, empty, dual, improver), np.random.default_rng(0)
    assert (state.place >= 0).all()
    choice = choose(state, improver.units, improver.unit, dual.shape, BEAMS, BEAMS.large, rng)
    part = improver._part(choice, 1e6)
    noisy = disturbed(part, 0.5, rng)
    there = np.isfinite(part.program.cost)
    assert (np.isfinite(noisy.program.cost) == there).all()
    first = part.program.first
    changes = noisy.program.cost[there] - part.program.cost[there]
    cluster, slot, job = np.nonzero(there)
    kind = (cluster * there.shape[1] + slot) * len(first) + np.searchsorted(first, job, side="right")
    for of_kind in np.unique(kind):
        assert np.ptp(changes[kind == of_kind]) < 1e-9
    assert changes.std() == pytest.approx(0.5 * np.pi / np.sqrt(6), rel=0.3)  # of Gumbel's distribution
    slots = dual.shape[2]
    assert part.cost_of(state.place[part.job], slots) == pytest.approx(state.jobs.cost[part.job].sum())
    nowhere = np.full(len(part.job), -1)
    assert part.cost_of(nowhere, slots) == len(part.job) * part.program.rejection_cost


def test_a_schedule_has_its_own_room_where_rounding_leaves_less_than_none():
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=5, load=0.8)
    dual, improver, empty, _ = started(instance)
    state, rng = given(instance, empty, dual, improver), np.random.default_rng(0)
    state.capacity_left[:] = -1e-8
    for _ in range(20):
        choice = choose(state, improver.units, improver.unit, dual.shape, BEAMS, BEAMS.large, rng)
        assert (choice.idle == 0).all()
        assert (choice.room >= 0).all()


def test_profiles_without_room_are_never_read(monkeypatch):
    """Their values are not filled: beams with any numbers there find the same."""
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=5, load=0.8)
    dual, improver, empty, _ = started(instance)
    state = given(instance, empty, dual, improver)
    closed = 0
    for seed in range(10):
        choice = choose(
            state, improver.units, improver.unit, dual.shape, BEAMS, BEAMS.large, np.random.default_rng(seed)
        )
        part = improver._part(choice, 1e6)
        cost = float(state.jobs.cost[choice.job].sum())
        closed += int((~part.program.open).sum())
        found = []
        for filled in (0.0, np.nan, -1e6):

            def paths(program, filled=filled):
                made = make_paths(program)
                made.value[:, :-1] = filled
                made.stage[:] = filled
                return made

            monkeypatch.setattr(beam_module, "make_paths", paths)
            beam = Beam(part, cost * (1 + 1e-9), BEAMS, Options())
            bound = beam.root(10)
            result = beam.go(100, 2)
            found.append((bound, result.bound, None if result.start is None else result.start.tolist()))
        assert found[0] == found[1] == found[2]
    assert closed > 1000


def test_equal_jobs_of_caspian_start_together():
    for seed in range(8):
        raw = co.generate(
            "mosp", preset="bench", jobs=8, clusters=2, slots=12, seed=seed, objective="caspian"
        ).to_dict()
        for field in ("arrival", "duration", "deadline"):
            raw["jobs"][field] = [raw["jobs"][field][i // 4] for i in range(8)]
        raw["jobs"]["demand"]["gpu"] = [1 + i // 4 for i in range(8)]
        instance = from_dict(with_bars(raw))
        dual, improver, empty, bound = started(instance)
        state, optimum = (
            given(instance, empty, dual, improver),
            -co.solve(instance, "milp", mip_rel_gap=0, time_limit=None).objective,
        )
        for found, new in improver.prove(state, Options(mip_rel_gap=1e-8)):
            state, bound = found, max(bound, new)
        assert bound <= optimum + 1e-9
        assert state.best_total == pytest.approx(optimum, abs=1e-6)


def test_profiles_that_no_number_stands_for_are_refused():
    assert are_few(9, 5, 2002)
    assert not are_few(9, 5, 2001)
    assert not are_few(2, 40, 50_000)
    assert not are_few(1, 10**15, 10**18)  # at once
    assert are_few(0, 10**15, 1)
    instance = co.generate("mosp", preset="bench", jobs=8, clusters=1, slots=80, seed=1)
    raw = instance.to_dict()
    raw["jobs"]["duration"][0], raw["jobs"]["arrival"][0], raw["jobs"]["deadline"][0] = 64, 0, 80.0
    instance = from_dict(raw)
    assert not is_small(instance, Dual(instance, placement_value(instance, BARS)), BEAMS)


def test_without_time_nothing_is_claimed():
    instance = co.generate("mosp", preset="bench", jobs=11, clusters=2, slots=12, seed=1, objective="caspian")
    dual, improver, empty, bound = started(instance)
    state = given(instance, empty, dual, improver)
    options = Options()
    beam = Beam(improver._all(state.best_total - bound), state.best_total, BEAMS, options)
    beam.root(5)
    beam.options = Options(time_limit=0.0)
    found = beam.go(100)
    assert found.start is None
    assert found.bound == -np.inf
