"""The rules of the ICON challenge 2014, by the text of problem 059 of CSPLib alone, on the three files themselves.

Shares no code with the package. Raises ValueError, which names the broken rule, or returns the cost.

- Every task runs once, on a machine that exists, not before its earliest start, and ends by its latest end.
- At no time do the tasks on a machine use more of a resource than it has.
- A machine is on wherever a task runs on it. It is off before the day and after it.
- An event (1, t) switches a machine on that was off in t - 1; an event (0, t) switches off, behind t, one that is on.
- Cost: power of tasks and idle power of machines that are on, times price, times hours; each event its cost.
"""

from __future__ import annotations

from pathlib import Path


def numbers(path: Path) -> list[float]:
    return [float(word) for word in path.read_text().split()]


def cost(folder: Path, prices: str = "forecast.txt") -> float:
    data = iter(numbers(folder / "instance.txt"))
    minutes, resources = next(data), int(next(data))
    machines = {}
    for _ in range(int(next(data))):
        key, idle, up, down = (next(data) for _ in range(4))
        machines[int(key)] = (idle, up, down, [next(data) for _ in range(resources)])
    tasks = {}
    for _ in range(int(next(data))):
        key, duration, earliest, latest, power = (next(data) for _ in range(5))
        tasks[int(key)] = (int(duration), earliest, latest, power, [next(data) for _ in range(resources)])
    periods, *table = numbers(folder / prices)
    price = table[1::2]
    if len(price) != periods or periods * minutes != 24 * 60:
        raise ValueError("the prices are not those of one day")
    slots = len(price)

    answer = iter((folder / "solution.txt").read_text().splitlines())
    if int(next(answer)) != len(machines):
        raise ValueError("number of machines")
    is_on = {}
    switching = 0.0
    for key, (_, up, down, _) in machines.items():
        if int(next(answer)) != key:
            raise ValueError("order of machines")
        is_on[key] = [False] * (slots + 1)  # one slot behind the day, in which it must be off
        events = [tuple(map(int, next(answer).split(" "))) for _ in range(int(next(answer)))]
        running = False
        begun = last = -2
        for action, slot in events:
            if not 0 <= slot < slots:
                raise ValueError("event outside of the day")
            if action == 1:
                if running or slot <= last + 1:
                    raise ValueError(f"machine {key} is on already")
                running, begun, switching = True, slot, switching + up
            else:
                if not running or slot < begun:
                    raise ValueError(f"machine {key} is off already")
                running, last, switching = False, slot, switching + down
                is_on[key][begun : slot + 1] = [True] * (slot + 1 - begun)
        if running:
            raise ValueError(f"machine {key} is on after the day")

    load = {(key, slot): [0.0] * resources for key in machines for slot in range(slots)}
    kw = [0.0] * slots
    if int(next(answer)) != len(tasks):
        raise ValueError("number of tasks")
    for key, (duration, earliest, latest, power, use) in tasks.items():
        task, machine, start = map(int, next(answer).split(" "))
        if task != key or machine not in machines:
            raise ValueError("order of tasks, or unknown machine")
        if start < earliest or start + duration > latest:
            raise ValueError(f"window of task {key}")
        for slot in range(start, start + duration):
            if not is_on[machine][slot]:
                raise ValueError(f"machine {machine} is off while task {key} runs")
            kw[slot] += power
            load[machine, slot] = [a + b for a, b in zip(load[machine, slot], use, strict=True)]
    if next(answer, None) is not None:
        raise ValueError("lines are left over")
    for (machine, slot), used in load.items():
        if any(a > b for a, b in zip(used, machines[machine][3], strict=True)):
            raise ValueError(f"capacity of machine {machine} in {slot}")
    idle = sum(machines[key][0] * price[slot] for key in machines for slot in range(slots) if is_on[key][slot])
    return (idle + sum(a * b for a, b in zip(kw, price, strict=True))) * minutes / 60 + switching
