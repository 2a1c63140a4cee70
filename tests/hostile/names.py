"""Names from files: what they hold reaches no terminal, table, path or figure as a command."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from typer.testing import CliRunner

import carbonopt as co
from carbonopt.cli.main import app
from hostile.drawn import NAMES
from hostile.found import Found

TINY = Path(__file__).parents[2] / "instances" / "tiny"
TONIGHT = TINY.parent / "tonight"
INSTANCES = (
    "mosp-tiny_crowd-j0003-t002-z2-s00",
    "elastic-tiny_scaling-j0001-t003-A-s00",
    "mlcluster-tiny_gpuqueue-j0002-t003-A-s00",
    "purchasing-tiny_reservedpulls_3-j0002-t002-A-s00",
    "ecas-tiny_stayson-j0002-t003-none-s00",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a formula of a cell in spreadsheets."""
PLAN = ("--carbon", "night.csv", "--now", "2026-11-24T21:00", "-t", "5", "-m", "greedy-clean")
SHELL = ("a; touch victim #", "$(touch victim)", "'; touch victim; '", "`touch victim`", "-o/etc/passwd")
"""Names that are harmful where a shell takes them as they are."""
COMMANDS = (
    ["info", "i.json"],
    ["info", "i.json", "--json"],
    ["compare", "i.json", "-m", "lp,milp", "-o", "t.csv"],
    ["solve", "i.json", "-m", "milp", "-o", "s.json"],
    ["bench", "i.json", "-m", "milp", "-o", "r.jsonl", "--bks", "bks.json"],
    ["diagnose", "i.json"],
    ["diagnose", "i.json", "--json"],
    ["export", "i.json", "-o", "p.lp"],
    ["export", "i.json", "-o", "p.mps"],
    ["simulate", "i.json", "-o", "sim.json"],
    ["extend", "i.json", "-o", "extended.json"],
    ["pareto", "i.json", "-o", "front.csv"],
    ["check", "i.json", "other.json", "--json"],
    ["solve", "i.json", "-m", "milp", "--start", "other.json"],
    ["check", "i.json", "other.json"],
    ["plot", "i.json", "other.json", "-o", "f.svg"],
    ["compare", "i.json", "-m", "lp", "-o", "t.html"],
    ["compare", "i.json", "-m", "lp", "-o", "t.tex"],
    ["regret", "i.json", "-t", "5", "-o", "t.csv"],
    ["report", "r.jsonl", "-o", "page.html"],
)
QUEUES = (
    ["plan", "squeue.json", *PLAN, "--gantt", "f.svg"],
    ["plan", "squeue.json", *PLAN, "--csv"],
    ["plan", "squeue.json", *PLAN],
    ["plan", "pods.json", *PLAN, "--json"],
    *(["apply", "plan.json", "--to", to] for to in ("slurm", "kubernetes", "kueue", "appwrapper")),
)
"""Commands on jobs of a scheduler."""


def attempt(rng: random.Random) -> None:
    """Put a harmful name into an instance, run a command on it, and look at all that comes out.

    Raises
    ------
    Found
        If a control character gets out, a file is written elsewhere, or the command ends in a traceback.
    """
    command = rng.choice(COMMANDS + QUEUES)
    raw = _queue(rng, command) if command in QUEUES else _instance(rng)
    with TemporaryDirectory() as outer, _inside(Path(outer, "a", "b")) as folder:
        _write(raw, command)
        if "other.json" in command:
            with contextlib.suppress(co.InputError):
                co.solve(co.read("i.json"), "milp").write("other.json")
        before = set(Path(outer).rglob("*"))
        done = CliRunner().invoke(app, command)
        if Path("f.svg").exists():
            _require_xml(Path("f.svg"), raw)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise Found(f"{' '.join(command)}: {done.exception!r}", instance=raw)
        out = done.stdout + done.stderr
        bad = [c for c in out if not c.isprintable() and c != "\n"]
        if bad:
            raise Found(f"{' '.join(command)}: {bad[0]!r} reaches the terminal", instance=raw)
        if command[0] == "apply" and done.exit_code == 0:
            _require_quoted(done.stdout, raw)
        for page in Path().glob("*.html"):
            if "<script>x" in page.read_text():
                raise Found(f"{page.name} holds a script of a file", instance=raw)
        new = set(Path(outer).rglob("*")) - before
        away = [path for path in new if folder not in path.parents]
        if away:
            raise Found(f"{' '.join(command)}: {away[0]} is written outside of its folder", instance=raw)
        for table in Path().glob("*.csv"):
            with table.open(newline="") as lines:
                rows = list(csv.reader(lines))
            bad = [cell for row in rows for cell in row if cell[:1] in FORMULA and not _is_number(cell)]
            if bad:
                raise Found(f"{table.name}: a cell is a formula: {bad[0]!r}", instance=raw)


def _write(raw: dict[str, Any], command: list[str]) -> None:
    """Write what a command reads, with the harmful name in it."""
    if command not in QUEUES:
        Path("i.json").write_text(json.dumps(raw))
        if command[0] == "report":
            CliRunner().invoke(app, ["bench", "i.json", "-m", "milp", "-o", "r.jsonl"])
        return
    Path("night.csv").write_bytes((TONIGHT / "forecast_21h.csv").read_bytes())
    Path("pods.json" if "items" in raw or "kind" in raw else "squeue.json").write_text(json.dumps(raw))
    if command[0] == "apply":
        queue = "pods.json" if Path("pods.json").exists() else "squeue.json"
        CliRunner().invoke(app, ["plan", queue, *PLAN, "-o", "plan.json"])


def _queue(rng: random.Random, command: list[str]) -> dict[str, Any]:
    """Return a queue some of whose texts are harmful."""
    name = "squeue" if "squeue.json" in command or command[-1] == "slurm" else "jobs_kubernetes"
    raw: dict[str, Any] = json.loads((TONIGHT / f"{name}.json").read_text())
    for job in raw.get("jobs") or raw.get("items") or [raw]:
        texts = [field for field in ("name", "user_name", "partition", "cluster") if isinstance(job.get(field), str)]
        place = job if texts else job["metadata"]
        if rng.random() < 0.5:
            place[rng.choice(texts or ["name", "namespace"])] = rng.choice(
                [*NAMES, "a; touch victim #", "$(touch victim)"]
            )
    return raw


def _require_quoted(out: str, raw: dict[str, Any]) -> None:
    """Raise if a line of `apply` is more than one command to a shell."""
    for line in out.splitlines():
        try:
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            found = [word for word in words if set(word) <= set("();<>|&")]
        except ValueError as error:
            raise Found(f"apply prints a line that no shell reads: {line!r}", instance=raw) from error
        if found and line.startswith(("scontrol", "kubectl", "sbatch", "scancel")):
            raise Found(f"apply prints a line of several commands: {line!r}", instance=raw)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell
    return True


def _require_xml(path: Path, raw: dict[str, Any]) -> None:
    """Raise if a figure is no well-formed XML, or holds a script."""
    try:
        page = minidom.parse(str(path))
    except ExpatError as error:
        raise Found(f"{path.name} is not well-formed: {error}", instance=raw) from error
    if page.getElementsByTagName("script"):
        raise Found(f"{path.name} holds a script", instance=raw)


def _instance(rng: random.Random) -> dict[str, Any]:
    """Return an instance with a harmful name."""
    raw: dict[str, Any] = json.loads((TINY / f"{rng.choice(INSTANCES)}.json").read_text())
    _named(rng, raw)
    return raw


def _named(rng: random.Random, raw: dict[str, Any]) -> None:
    old, new = raw["jobs"]["name"][0], rng.choice(NAMES)
    part = rng.choice(["name", "job", "both"] + ["zone"] * bool(raw["carbon"]["zones"]))
    if part in ("name", "both"):
        raw["name"] = new
    if part in ("job", "both"):
        raw["jobs"]["name"] = [new if name == old else name for name in raw["jobs"]["name"]]
    if part == "zone":
        zone = raw["carbon"]["zones"][0]
        text = json.dumps(raw).replace(json.dumps(zone), json.dumps(new))
        raw |= json.loads(text)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True)
    with contextlib.chdir(folder), contextlib.redirect_stderr(io.StringIO()):
        assert os.getcwd()
        yield folder
