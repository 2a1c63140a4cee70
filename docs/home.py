"""The picture of the first page: one day before and after planning, and what is proven."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import carbonopt as co
from carbonopt.core.display import percent
from carbonopt.core.solution import relative_gap
from carbonopt.plotting.clock import Clock
from carbonopt.plotting.figure import new_axes
from carbonopt.plotting.style import PALETTE, current, legend, style

FOLDERS = ("tiny", "bench", "paper")
CLOSED = 1e-4
"""Gap at which an instance counts as closed: the default of `carbonopt.solve`."""


def kilowatts(day: co.MospInstance, solution: co.Solution) -> Any:
    """Return the power of all jobs in each slot [kW], shape (T,)."""
    jobs, clusters = list(day.jobs.name), list(day.clusters.name)
    power = np.zeros(day.time.slots)
    for name, cluster, start in solution.schedule[["job", "cluster", "start"]].itertuples(index=False):
        job = jobs.index(name)
        watts = day.jobs.demand[job, 0] * day.clusters.watts_per_unit[clusters.index(cluster), 0]
        power[start : start + day.jobs.duration[job]] += watts / 1000
    return power


def picture(day: co.MospInstance, early: co.Solution, best: co.Solution, theme: str) -> bytes:
    """Return the picture as PNG."""
    with style(theme=theme, tz="UTC"):
        above, middle, below = new_axes(3, height=1.7)
        below.remove()
        below = above.figure.add_subplot(3, 1, 3)
        clock = Clock(day.time)
        for zone, values, color in zip(day.carbon.zones, day.carbon.g_per_kwh, PALETTE[2:], strict=False):
            above.stairs(values, clock.edges(), baseline=None, color=color, linewidth=1.6, label=zone)
        above.set_ylabel("carbon intensity\n[gCO2e/kWh]")
        above.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
        for solution, color, label in ((early, PALETTE[1], "as early as possible"), (best, PALETTE[0], "planned")):
            kg = f"{label}: {solution.metrics['carbon_kg']:.1f} kg CO2e"
            load = kilowatts(day, solution)
            middle.stairs(load, clock.edges(), fill=True, alpha=0.45, color=color, label=kg)
        middle.set_ylabel("power of all jobs\n[kW]")
        clock.label(middle)
        middle.tick_params(labelbottom=True)
        legend(middle)
        assert early.objective is not None
        assert best.objective is not None
        assert best.bound is not None
        below.barh([1, 0], [early.objective, best.objective], 0.6, color=[PALETTE[1], PALETTE[0]], alpha=0.7)
        below.set_yticks([1, 0], ["early", "planned"])
        below.set_ylim(-0.6, 1.6)
        proven = f"proven: no schedule is below {best.bound:.2f}"
        below.axvline(best.bound, color=current().colors.ink, linestyle="--", label=proven)
        below.set_xlabel("objective: carbon, tardiness and completion times, weighted [kg CO2e]")
        below.grid(visible=False, axis="y")
        legend(below)
        content = BytesIO()
        above.figure.savefig(content, dpi=160)
    return content.getvalue()


def gaps(instances: Path) -> str:
    """Return the certified gaps of the best known solutions as a Markdown table."""
    known = json.loads((instances / "bks.json").read_text(encoding="utf-8"))
    groups: dict[tuple[str, str], list[float | None]] = {}
    for name, entry in known.items():
        values = [None if entry[part] is None else entry[part]["value"] for part in ("objective", "bound")]
        folder = next(part.parent.name for part in instances.glob(f"*/{name}.json*") if part.parent.name in FOLDERS)
        groups.setdefault((name.partition("-")[0], folder), []).append(relative_gap(*values))
    lines = ["| problem | instances | how many | closed | median gap | largest gap |", "|---|---|--:|--:|--:|--:|"]
    for (problem, folder), found in sorted(groups.items()):
        having = [gap for gap in found if gap is not None]
        closed = sum(gap <= CLOSED for gap in having)
        if having:
            told = f"{percent(median(having))} | {percent(max(having))}"
        else:
            told = "- | -"
        lines.append(f"| `{problem}` | {folder} | {len(found)} | {closed} | {told} |")
    return "\n".join(lines)


def main() -> None:
    """Draw the picture of the README: `python docs/home.py`, from the root of a checkout."""
    day = co.read("instances/paper/mosp-caspian-j0200-t048-z3-s01.json", co.MospInstance)
    content = picture(day, co.solve(day, "greedy-random"), co.solve(day, "lp-rounding"), "light")
    Path("docs/_static/day.png").write_bytes(content)


if __name__ == "__main__":
    main()
