"""Jobs that greedy insertion leaves without a place find one by force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.algorithms.kernel import loops
from carbonopt.core.options import Options
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.methods.price.eject_kernels import force, take_back
from carbonopt.problems.ecas.methods.price.kernels import settle
from carbonopt.problems.ecas.methods.price.parameters import RepairParameters
from carbonopt.problems.ecas.methods.price.repair import repaired
from carbonopt.problems.ecas.methods.price.search import filled
from carbonopt.problems.ecas.methods.price.tables import NOWHERE, State, Tables, by_energy, schedule_of, tables_of
from carbonopt.problems.ecas.methods.price.words import unpacked
from carbonopt.problems.ecas.verify.check import check

[RAW, *_] = load_module(ROOT / "instances/tiny_ecas.py").tiny_instances()


def trap(slots: int = 4) -> EcasInstance:
    """One machine of 3 units that two jobs fill to the last unit.

    Job a has 2 units in all 4 slots. Job b has 3 units in 1 slot and must run in slot 0: none fits beside the other.
    """
    raw: dict[str, Any] = RAW | {
        "time": RAW["time"] | {"slots": slots},
        "price_per_kwh": [1.0] * slots,
        "jobs": {
            "name": ["a", "b"],
            "arrival": [0, 0],
            "duration": [3, 1],
            "deadline": [slots, 1],
            "power_kw": [1, 1],
            "use": {"cpu": [2, 3]},
        },
    }
    return from_dict(raw)


def begun(instance: EcasInstance) -> tuple[Tables, Any, State]:
    tables = tables_of(instance, 3.0)
    with loops(steps=1):
        ranking = by_energy(tables)
        return tables, ranking, filled(instance, tables, ranking, Options())


def test_one_job_forces_the_other_out_by_hand() -> None:
    """The larger one comes first and starts in slot 0, where only the small one may run; then it starts in slot 1."""
    instance = trap()
    tables, ranking, state = begun(instance)
    assert state.machine.tolist() == [0, NOWHERE]
    with loops(steps=1):
        assert repaired(tables, state, ranking, Options(), RepairParameters()) == 0
    assert state.start.tolist() == [1, 0]
    assert check(instance, schedule_of(instance, state)).violations == ()


def test_it_gives_up_where_there_is_no_schedule() -> None:
    tables, ranking, state = begun(trap(slots=3))
    with loops(steps=1):
        assert repaired(tables, state, ranking, Options(), RepairParameters()) >= 1
    assert co.solve(trap(slots=3), "greedy").status == "unknown"
    assert co.diagnose(trap(slots=3)).feasible is False


def test_what_is_forced_is_undone() -> None:
    tables, _, state = begun(trap())
    before = [np.copy(part) for part in state]
    with loops(steps=1):
        out = np.zeros(2, dtype=np.int64)
        cost, count = force(tables, state, np.ones(2), 1, 0, 0, np.inf, out)
        assert (cost, count, out[0], state.machine[0]) == (1, 1, 0, NOWHERE)
        take_back(tables, state, 1, 0, 0, out, count)
    assert all((part == old).all() for part, old in zip(state, before, strict=True))


@for_each(seed=range(1, 4))
def test_full_machines(seed: int) -> None:
    """Machines so full that insertion fails: whatever comes out obeys the windows, and its books agree."""
    instance = co.generate("ecas", jobs=25, machines=2, slots=48, load=0.7, seed=seed)
    assert isinstance(instance, EcasInstance)
    tables, ranking, state = begun(instance)
    repaired(tables, state, ranking, Options(seed=seed), RepairParameters())
    load = np.zeros((2, instance.time.slots, len(instance.resources)), dtype=np.int64)
    for j in np.flatnonzero(state.machine != NOWHERE):
        end = state.start[j] + instance.jobs.duration[j]
        load[state.machine[j], state.start[j] : end] += instance.jobs.use[j]
        assert instance.jobs.arrival[j] <= state.start[j]
        assert end <= instance.jobs.deadline[j]
    free = instance.machines.capacity[:, None, :] - load
    assert (free == unpacked(tables.fields, state.free.transpose(0, 2, 1))[:, :, :-1]).all()
    patterns = state.on.copy()
    for m in range(2):
        settle(tables, state, m)
    assert (patterns == state.on).all()
    assert (load <= instance.machines.capacity[:, None, :]).all()


@pytest.mark.parametrize("name", ["sample01", "sample02", "sample03", "sample06"])
def test_the_small_samples_of_the_challenge(name: str, data_folder: Any) -> None:
    folder = data_folder / "icon2014" / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    from carbonopt.problems.ecas.data.convert import convert

    solution = co.solve(convert(folder), "greedy", time_limit=None)
    assert solution.has_solution
