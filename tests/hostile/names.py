"""Names from files: what they hold reaches no terminal, table, path or figure as a command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hostile.drawn import NAMES
from hostile.found import Found

TINY = Path(__file__).parents[2] / "instances" / "tiny"
INSTANCES = ("mosp-tiny_crowd-j0003-t002-z2-s00", "elastic-tiny_halves-j0002-t001-A-s00")
COMMANDS = (
    ["info", "i.json"],
    ["info", "i.json", "--json"],
    ["compare", "i.json", "-m", "lp,milp", "-o", "t.csv"],
    ["solve", "i.json", "-m", "milp", "-o", "s.json"],
    ["bench", "i.json", "-m", "milp", "-o", "r.jsonl", "--bks", "bks.json"],
    ["diagnose", "i.json"],
    ["export", "i.json", "-o", "p.lp"],
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
        if Path("t.csv").exists() and any(line[:1] in "=+-@" for line in Path("t.csv").read_text().splitlines()):
            raise Found("a table begins a line with a formula", instance=raw)


def _named(rng: random.Random, raw: dict[str, Any]) -> None:
    old, new = raw["jobs"]["name"][0], rng.choice(NAMES)
    part = rng.choice(["name", "job", "zone", "both"])
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
