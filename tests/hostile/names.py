"""Names from files: what they hold reaches no terminal, table, path or figure as a command."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from hostile.drawn import NAMES
from hostile.found import Found

TINY = Path(__file__).parents[2] / "instances" / "tiny"
INSTANCES = (
    "mosp-tiny_crowd-j0003-t002-z2-s00",
    "elastic-tiny_scaling-j0001-t003-A-s00",
    "mlcluster-tiny_gpuqueue-j0002-t003-A-s00",
    "purchasing-tiny_reservedpulls_3-j0002-t002-A-s00",
    "ecas-tiny_stayson-j0002-t003-none-s00",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a formula of a cell in spreadsheets."""
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
)


def attempt(rng: random.Random) -> None:
    """Put a harmful name into an instance, run a command on it, and look at all that comes out.

    Raises
    ------
    Found
        If a control character gets out, a file is written elsewhere, or the command ends in a traceback.
    """
    from typer.testing import CliRunner

    import carbonopt as co
    from carbonopt.cli.main import app

    raw = json.loads((TINY / f"{rng.choice(INSTANCES)}.json").read_text())
    _named(rng, raw)
    command = rng.choice(COMMANDS)
    with TemporaryDirectory() as outer, _inside(Path(outer, "a", "b")) as folder:
        Path("i.json").write_text(json.dumps(raw))
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
