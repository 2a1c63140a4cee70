"""Blocks of slots in which jobs are whole: they raise the bound, and never past the optimum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mosp_blocks_support import OPTIONS, by_hand, optimal, priced, three_of_two_units

import carbonopt as co
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.price.blocks import Block, Blocks
from carbonopt.problems.mosp.methods.price.bound_parameters import BlockParameters, CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.state import places_of


def test_jobs_of_two_units_by_hand():
    """Without cliques half of a job runs beside another one: 1.5 jobs each in two slots, at 1.5 + 3 = 4.5."""
    instance = three_of_two_units()
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.zeros((1, 1, 3)), CliqueParameters())
    cliques.prove(np.array([[[0.5, 0.0, 0.0]]]), np.zeros(0))
    assert cliques.proof.bound == pytest.approx(4.5)
    blocks = Blocks(cliques, np.array([0, 1, 2]), 6.0, BlockParameters())
    assert blocks.loss == pytest.approx([0.5, 0.0, 1.0])
    whole = blocks._solved(blocks._at(0, 3), OPTIONS)
    assert whole.rise == pytest.approx(1.5, abs=0.02)
    first = blocks._solved(blocks._at(0, 1), OPTIONS)  # one job for 1, the others for 2 each in slot 1
    assert first.rise == pytest.approx(0.5, abs=0.02)
    assert first.is_solved
    assert whole.is_solved


@pytest.mark.slow
@pytest.mark.parametrize(("load", "objective"), [(0.7, "carbon"), (1.3, "carbon"), (0.9, "caspian")])
@pytest.mark.parametrize("rounds", [1, 5])
def test_no_block_is_past_the_optimum(load, objective, rounds):
    looked_at = 0
    for seed in range(6):
        instance = co.generate(
            "mosp", preset="bench", jobs=14, clusters=2, slots=12, seed=seed, load=load, objective=objective
        )
        best, optimum = optimal(instance)
        if best is None:
            continue
        cliques = priced(instance, rounds)
        gap = optimum - cliques.proof.bound
        for goal in (optimum, optimum + 0.5 * gap):
            blocks = Blocks(cliques, best, goal, BlockParameters())
            for begin in range(0, 9, 2):
                assert blocks._solved(blocks._at(begin, begin + 4), OPTIONS).rise <= gap + 1e-6 * abs(optimum)
            whole = blocks._solved(blocks._at(0, 12), OPTIONS)
            asked = 0.011 * (goal - cliques.proof.bound) + 1e-6 * abs(optimum)
            assert whole.rise == pytest.approx(gap, abs=asked)
        looked_at += 1
    assert looked_at >= 4


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 2])
def test_rises_of_blocks_that_no_job_is_in_both_of_add_up(rounds):
    both = []
    for seed in range(8):
        instance = co.generate("mosp", preset="bench", jobs=26, clusters=1, slots=32, seed=seed, load=0.8)
        best, optimum = optimal(instance)
        if best is None:
            continue
        cliques = priced(instance, rounds)
        gap = optimum - cliques.proof.bound
        blocks = Blocks(cliques, best, optimum, BlockParameters())
        solved = [blocks._solved(blocks._at(begin, begin + 6), OPTIONS) for begin in range(0, 27, 2)]
        for i, one in enumerate(solved):
            for other in solved[i + 1 :]:
                if blocks._is_apart(one, [other]):
                    assert one.rise + other.rise <= gap + 1e-6 * abs(optimum)
                    both.append(min(one.rise, other.rise) / max(gap, 1e-9))
    assert sum(share > 0.1 for share in both) >= 5


def test_no_job_is_in_two_blocks_of_a_bound():
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=1)
    best = co.solve(instance, "greedy-clean")
    cliques = priced(instance, 2)
    place = places_of(instance, best.columns)
    blocks = Blocks(cliques, place, best.objective, BlockParameters(first_slots=4, more_slots=2, most_programs=6))
    bounds = list(blocks.raise_bound(OPTIONS))
    assert bounds == sorted(bounds)
    assert len(bounds) <= 6
    assert not any((a.meets & b.meets).any() for a in blocks.blocks for b in blocks.blocks if a is not b)
    assert cliques.proof.bound < blocks.bound <= best.objective


def test_what_the_best_schedule_loses_is_the_gap_of_prices():
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=1)
    best = co.solve(instance, "greedy-clean")
    cliques = priced(instance, 1)  # without cliques, which lose where they are not full
    assert not len(cliques.proof.numbers)
    blocks = Blocks(cliques, places_of(instance, best.columns), best.objective, BlockParameters())
    assert sum(blocks.loss) == pytest.approx(best.objective - cliques.proof.bound, rel=1e-6)


def known_in(blocks, block):
    """Return the program of a block, and the columns that stand for the best schedule."""
    choices = blocks.choices(block, blocks.inside(block)[0])
    return blocks._program(choices), blocks._known(block, choices)


def test_what_is_known_begins_the_program():
    """The best schedule is a point of each program: its jobs in the block, and the others at their best elsewhere."""
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=2)
    best = co.solve(instance, "greedy-clean")
    blocks = Blocks(priced(instance, 2), places_of(instance, best.columns), best.objective, BlockParameters())
    for begin, end in ((0, 24), (0, 6), (10, 16), (18, 24)):
        block = blocks._at(begin, end)
        program, values = known_in(blocks, block)
        arrays = program.arrays()
        rows = program.activity(values)
        assert (rows >= arrays.row_lower - 1e-9).all()
        assert (rows <= arrays.row_upper + 1e-6).all()
        assert (values >= 0).all()
        assert values.sum() == blocks.cliques.kinds.count[block.meets].sum()
    whole, values = known_in(blocks, blocks._at(0, 24))
    assert whole.arrays().cost @ values == pytest.approx(best.objective)


@pytest.mark.slow
def test_price_reports_the_bound_of_blocks_and_checks():
    instance = co.generate("mosp", preset="bench", jobs=80, clusters=2, slots=24, seed=4)
    params = {"beam": {"parts_per_job": 1}, "search": {"moves_per_job": 200}}
    without = co.solve(instance, "price", work_limit=1e6, seed=1, params=params | {"blocks": {"most_programs": 0}})
    blocks = {"most_programs": 3, "least_rise": 1.0}  # no trees
    with_blocks = co.solve(instance, "price", work_limit=1e6, seed=1, params=params | {"blocks": blocks})
    assert with_blocks.bound > without.bound
    assert with_blocks.info["tree_bound"] == with_blocks.bound > with_blocks.certificate["bound"]
    assert co.check(instance, with_blocks).violations == ()


@pytest.mark.parametrize(("name", "given"), [("time_share", 0), ("first_slots", 0), ("most_programs", -1)])
def test_parameters_out_of_range_are_refused(name, given):
    with pytest.raises(co.InputError, match=f"params.blocks.{name}"):
        co.solve(three_of_two_units(), "price", params={"blocks": {name: given}})


def test_without_gap_there_is_nothing_to_raise():
    cliques = priced(three_of_two_units(), 3)
    assert cliques.proof.bound == pytest.approx(6.0)
    blocks = Blocks(cliques, np.array([0, 1, 2]), 6.5, BlockParameters())
    assert list(blocks.raise_bound(OPTIONS)) == pytest.approx(
        [6.0]
    )  # the optimum, though the best is said to cost more


def test_no_slot_and_no_clique_is_in_two_blocks():
    """Even where no job may run: what idle capacity and a clique that is not full are paid would count twice."""
    instance = co.generate("mosp", preset="bench", jobs=40, clusters=2, slots=24, seed=2)
    best = co.solve(instance, "greedy-clean")
    blocks = Blocks(priced(instance, 3), places_of(instance, best.columns), best.objective, BlockParameters())
    nobody = np.zeros(len(blocks.lowest), dtype=np.bool_)
    assert blocks._is_apart(Block(0, 4, nobody), [Block(4, 8, nobody)])
    assert not blocks._is_apart(Block(0, 5, nobody), [Block(4, 8, nobody)])
    assert not blocks._is_apart(Block(4, 8, nobody), [Block(0, 24, nobody)])
    inside, _ = blocks.inside(blocks._at(0, 24))
    assert len(inside) == len(blocks.cliques.proof.numbers)
    blocks.start_of = blocks.start_of[:0]  # no start may be in a better schedule
    assert not len(blocks.inside(blocks._at(0, 24))[0])


def whole_rise(instance, price, best, goal):
    """Return what one block of all slots adds to the bound of prices of capacity, shape (R, T), and that bound."""
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.array([price], dtype=np.float64), CliqueParameters())
    blocks = Blocks(cliques, np.array(best), goal, BlockParameters())
    return blocks._solved(blocks._at(0, instance.time.slots), OPTIONS).rise, cliques.proof.bound


def test_jobs_that_are_alike_may_start_together():
    """Four jobs of one unit on two: two and two. With one of them in a place, they would cost 1 + 2 + 3 + 4."""
    rise, bound = whole_rise(by_hand(4, [2], [(0, 1, [1], 4)]), [[0.0] * 4], [0, 0, 1, 1], 6.0)
    assert bound == pytest.approx(4.0)
    assert rise == pytest.approx(2.0, abs=0.03)


def test_each_resource_has_its_own_capacity():
    """Three jobs of one and of two units, on three of each: one after the other."""
    rise, bound = whole_rise(by_hand(3, [3, 3], [(0, 1, [1, 2], 3)]), [[0.0] * 3] * 2, [0, 1, 2], 6.0)
    assert bound == pytest.approx(3.0)
    assert rise == pytest.approx(3.0, abs=0.04)
    rise, _ = whole_rise(by_hand(3, [3, 3], [(0, 1, [1, 1], 3)]), [[0.0] * 3] * 2, [0, 1, 2], 6.0)
    assert rise == pytest.approx(0.0, abs=0.04)


def test_a_job_that_may_run_in_two_blocks_counts_once():
    """Two jobs of two slots on one cluster that holds one: where either waits, it does so in both blocks."""
    instance = by_hand(6, [1], [(0, 2, [1], 2)])
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.array([[[0.0] * 6]]), CliqueParameters())
    blocks = Blocks(cliques, np.array([0, 2]), 6.0, BlockParameters(first_slots=1, more_slots=2))
    left, right = blocks._at(0, 2), blocks._at(2, 6)
    assert not blocks._is_apart(left, [right])
    assert list(blocks.raise_bound(OPTIONS))[-1] <= 6.0
    assert blocks.bound == pytest.approx(6.0, abs=0.03)


def test_a_block_is_not_made_longer_into_another_one():
    """A job of two slots may begin in slot 3, so slots 0 to 3 and 4 to 7 are no two blocks: 2 of 3 are proven."""
    instance = by_hand(8, [1], [(0, 2, [1], 2), (4, 1, [1], 2)])
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.array([[[0.0] * 8]]), CliqueParameters())
    params = BlockParameters(first_slots=2, more_slots=2)
    blocks = Blocks(cliques, np.array([0, 2, 4, 5]), 17.0, params)
    assert cliques.proof.bound == pytest.approx(14.0)
    met = 0
    for _ in blocks.raise_bound(OPTIONS):
        for k, block in enumerate(blocks.blocks):
            assert blocks._is_apart(block, blocks.blocks[k + 1 :])
        met += len(blocks.blocks) == 2
    assert met > 1
    assert blocks.bound == pytest.approx(16.0, abs=0.06)


def test_a_longer_block_counts_at_least_as_the_shorter_one(monkeypatch):
    """HiGHS leaves 1 % of the gap open, and a tree that is not solved more."""
    instance = three_of_two_units()
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.zeros((1, 1, 3)), CliqueParameters())
    params = BlockParameters(first_slots=1, more_slots=1, most_programs=2)
    blocks = Blocks(cliques, np.array([0, 1, 2]), 6.0, params)
    rises = iter([0.5, 0.4])
    monkeypatch.setattr(Blocks, "_solved", lambda self, block, options: replace(block, rise=next(rises)))
    assert list(blocks.raise_bound(OPTIONS)) == pytest.approx([3.5, 3.5])  # slots 2, and 1 and 2


def test_a_block_grows_to_the_whole_horizon_also_where_nothing_is_lost(monkeypatch):
    instance = three_of_two_units()
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.zeros((1, 1, 3)), CliqueParameters())
    blocks = Blocks(cliques, np.array([0, 1, 2]), 6.0, BlockParameters(first_slots=1, more_slots=1))
    blocks.loss[:] = 0.0
    solved = []
    monkeypatch.setattr(Blocks, "_solved", lambda self, block, options: solved.append(block) or block)
    list(blocks.raise_bound(OPTIONS))
    assert [(block.begin, block.end) for block in solved] == [(2, 3), (1, 3), (0, 3)]


def test_no_more_is_proven_than_the_best_schedule_costs():
    instance = three_of_two_units()
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.zeros((1, 1, 3)), CliqueParameters())
    blocks = Blocks(cliques, np.array([0, 1, 2]), 6.0, BlockParameters())
    blocks.blocks.append(Block(0, 3, np.ones(1, dtype=np.bool_), rise=100.0))
    assert blocks.bound == 6.0


def test_a_block_that_no_job_may_run_in_has_idle_capacity_only():
    instance = by_hand(5, [1], [(0, 1, [1], 1)])
    value, _ = value_of(instance, OPTIONS)
    cliques = CliqueBound(choices_of(instance, value), np.array([[[0.0, 0.0, 0.0, 0.0, 2.0]]]), CliqueParameters())
    assert cliques.proof.bound == pytest.approx(-1.0)  # 1 for the job, and 2 for a slot that nobody uses
    blocks = Blocks(cliques, np.array([0]), 1.0, BlockParameters())
    last = blocks._at(4, 5)
    assert not last.meets.any()
    assert blocks._solved(last, OPTIONS).rise == pytest.approx(2.0)
