"""Solutions in the text format of the ICON challenge 2014.

The file has the number of machines, and for each of them, in the order of the instance, its id, the number of its
events, and one line an event: 1 and the slot at whose beginning the machine is switched on, or 0 and the slot at whose
end it is switched off. Then it has the number of tasks, and one line a task, in the order of the instance: its id,
its machine and the slot in which it starts.

So 0 names the last slot in which a machine is on: a machine that is on until the end of a day of 288 slots is switched
off in slot 287. A machine that is switched off in slot t may be on again in slot t + 2, not before.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.options import Schedule
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.data.numbers import Numbers
from carbonopt.problems.ecas.data.schedule import from_schedule

ON = 1
"""Event: switched on at the beginning of the slot."""
OFF = 0
"""Event: switched off at the end of the slot."""


def to_text(instance: EcasInstance, schedule: Schedule) -> str:
    """Return a schedule that the checker passed in the challenge's format.

    Parameters
    ----------
    instance
        Whose machines and jobs have whole numbers as names, as those of the challenge.
    schedule
        Columns ``job``, ``machine``, ``start`` and ``end``.

    Raises
    ------
    InputError
        If a name is no whole number, or a machine is switched off and on again between two slots.
    """
    faults = [*_name_faults("machines.name", instance.machines.name), *_name_faults("jobs.name", instance.jobs.name)]
    if faults:
        raise InputError(faults)
    stretches = _stretches(schedule)
    lines = [str(len(instance.machines))]
    for name in instance.machines.name:
        own = stretches.get(name, [])
        lines += [name, str(2 * len(own))]
        for start, end in own:
            lines += [f"{ON} {start}", f"{OFF} {end - 1}"]
    machine, start_of = from_schedule(instance, schedule)
    lines.append(str(len(instance.jobs)))
    for name, m, start in zip(instance.jobs.name, machine, start_of, strict=True):
        lines.append(f"{name} {instance.machines.name[m]} {start}")
    return "\n".join(lines) + "\n"


def read_schedule(instance: EcasInstance, path: Path) -> Schedule:
    """Return the schedule in a file of the challenge's format: its runs, then when machines are on.

    Nothing of the schedule is checked beyond the format: that is what the checker is for.

    Raises
    ------
    InputError
        Naming the number in the file that is wrong.
    """
    numbers = Numbers(path)
    rows: list[tuple[str | None, str, int, int]] = []
    _require_count(numbers, "machines", len(instance.machines))
    for name in instance.machines.name:
        _require_id(numbers, "machine", name)
        rows += [(None, name, start, end) for start, end in _read_stretches(numbers, name)]
    _require_count(numbers, "tasks", len(instance.jobs))
    runs: list[tuple[str | None, str, int, int]] = []
    for name, duration in zip(instance.jobs.name, instance.jobs.duration.tolist(), strict=True):
        _require_id(numbers, "task", name)
        machine = str(numbers.whole(f"machine of task {name}"))
        start = numbers.whole(f"start of task {name}")
        runs.append((name, machine, start, start + duration))
    numbers.end()
    columns = zip(*runs, *rows, strict=True) if runs or rows else ((), (), (), ())
    return {name: list(column) for name, column in zip(("job", "machine", "start", "end"), columns, strict=True)}


def _name_faults(field: str, names: tuple[str, ...]) -> list[Fault]:
    words = "must be a whole number to be written in the challenge's format"
    wrong = [k for k, name in enumerate(names) if not (name.isascii() and name.isdigit())]
    return [Fault(f"{field}[{k}]", words, shown(names[k])) for k in wrong[:1]]


def _stretches(schedule: Schedule) -> dict[str, list[tuple[int, int]]]:
    """Return by machine the first slot of each stretch in which it is on and the slot behind, in the order of time."""
    found: dict[str, list[tuple[int, int]]] = {}
    for job, machine, start, end in zip(*(schedule[name] for name in ("job", "machine", "start", "end")), strict=True):
        if job is None:
            found.setdefault(machine, []).append((start, end))
    for machine, own in found.items():
        own.sort()
        for (_, end), (start, _) in pairwise(own):
            if end == start:
                words = f"machine {machine!r} is switched off and on again before slot {start}"
                raise InputError(Fault("schedule", f"{words}: the challenge's format has no such thing, leave it on"))
    return found


def _require_count(numbers: Numbers, what: str, count: int) -> None:
    found = numbers.whole(f"number of {what}")
    if found != count:
        raise numbers.error(f"must be {count}: the instance has so many {what}", str(found))


def _require_id(numbers: Numbers, what: str, name: str) -> None:
    found = str(numbers.whole(f"id of {what} {name}"))
    if found != name:
        raise numbers.error(f"must be {name}: {what}s stand in the order of the instance", found)


def _read_stretches(numbers: Numbers, name: str) -> list[tuple[int, int]]:
    """Return the stretches that a machine's events make; they may come in any order."""
    events = []
    for _ in range(numbers.whole(f"number of events of machine {name}")):
        action = numbers.whole(f"event of machine {name}")
        if action not in (ON, OFF):
            raise numbers.error(f"must be {ON} (on) or {OFF} (off): event of machine {name}", str(action))
        events.append((numbers.whole(f"slot of an event of machine {name}"), action))
    events.sort(key=lambda event: (event[0], -event[1]))  # on before off: a machine may be on for one slot
    actions = [action for _, action in events]
    if actions != [ON, OFF] * (len(events) // 2):
        raise numbers.error(f"machine {name} must be switched on and off in turn, first on and at last off", None)
    slots = [slot for slot, _ in events]
    for off, on in zip(slots[1::2], slots[2::2], strict=False):
        if on <= off + 1:
            raise numbers.error(f"machine {name} is switched on in slot {on}, but was on in slot {on - 1}", None)
    return [(on, off + 1) for on, off in zip(slots[::2], slots[1::2], strict=True)]
