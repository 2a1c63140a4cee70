"""Outputs: whole or as they were, never over an input, never outside the folder that was asked for."""

import json
import os
import resource
import shutil
import subprocess
import sys
from functools import partial

import pytest
from cli_support import errors, run
from conftest import TINY

import carbonopt as co
from carbonopt.core.files import file_name
from carbonopt.core.tablefile import write_table

FULL = 4096
"""Bytes that a file may have in a process whose disk is full."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(TINY["crowd"], "i.json")
    co.solve(co.read("i.json"), "greedy-clean").write("s.json")
    return tmp_path


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))


def _command_on_a_full_disk(*arguments):
    command = [sys.executable, "-m", "carbonopt", *arguments]
    return subprocess.run(command, preexec_fn=_limited, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["program.lp", "program.mps", "front.csv", "figure.png"])
def test_a_full_disk_is_told_and_loses_nothing(folder, name):
    big = co.generate("mosp", jobs=60, slots=48, seed=1) if name.startswith("program") else co.read("i.json")
    big.write("big.json")
    (folder / name).write_text("old")
    commands = {
        "program.lp": ["export", "big.json"],
        "program.mps": ["export", "big.json"],
        "figure.png": ["plot", "i.json", "s.json"],
        "front.csv": ["compare", "i.json", "-m", "lp"],
    }
    if name == "front.csv":
        import pandas as pd

        from carbonopt.core.errors import InputError

        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, before[1]))
        try:
            with pytest.raises(InputError, match="cannot be written"):
                write_table(name, pd.DataFrame({"a": range(9000)}))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    else:
        done = _command_on_a_full_disk(*commands[name], "-o", name)
        assert done.returncode == 2, done
        assert "cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
    assert (folder / name).read_text() == "old"
    assert not list(folder.glob(".*part*"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "i.json", "-m", "lp", "-o", "i.json"),
        ("solve", "i.json", "-m", "lp", "-o", "./i.json"),
        ("solve", "i.json", "--start", "s.json", "-o", "s.json"),
        ("solve", "i.json", "-m", "lp", "--log-file", "i.json"),
        ("compare", "i.json", "-m", "lp", "-o", "i.json"),
        ("bench", "i.json", "-m", "lp", "-o", "i.json"),
        ("bench", "i.json", "-m", "lp", "-o", "r.jsonl", "--bks", "i.json"),
        ("convert", "mosp", "--trace", "jobs.csv", "--carbon", "c.csv", "--time-unit", "hours", "-o", "c.csv"),
        ("convert", "mosp", "--trace", "jobs.json", "--carbon", "c.csv", "--time-unit", "hours", "-o", "jobs.json"),
        ("reproduce", "green-3", "i.json", "-o", "i.json"),
        ("extend", "i.json", "-o", "i.json"),
    ],
)
def test_an_output_that_is_an_input_is_refused(folder, arguments):
    (folder / "c.csv").write_text("2023-11-14T00:00:00Z,400\n2023-11-14T01:00:00Z,300\n")
    (folder / "jobs.json").write_text("arrival_time,length,cpus\n0,1,1\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert errors(*arguments)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "r.jsonl"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "i.json", "-m", "lp", "-o", "t.xlsx"),
        ("solve", "i.json", "-m", "lp", "-o", "s.csv"),
        ("bench", "i.json", "-m", "lp", "--bks", "bks.csv"),
        ("plot", "i.json", "s.json", "-o", "f.json"),
    ],
)
def test_an_output_named_after_what_is_not_written_is_refused(folder, arguments):
    assert "must end in" in errors(*arguments)[-1]


def test_a_name_that_is_a_path_stays_in_its_folder(folder):
    raw = json.loads((folder / "i.json").read_text())
    inner = folder / "inner"
    inner.mkdir()
    for number, name in enumerate(
        ("../../victim", f"{folder.resolve()}/victim", "a\0b", "a" * 400, "..", "\u202e$(x)`y`;\n")
    ):
        (folder / "named.json").write_text(json.dumps(raw | {"name": name}))
        done = run("bench", "named.json", "-m", "milp", "-o", inner / f"{number}.jsonl", "--bks", inner / "bks.json")
        assert done.exit_code == 0
        assert file_name(name).isascii()
    assert len(list((inner / "solutions").iterdir())) == 6
    assert {path.name for path in folder.iterdir()} == {"i.json", "s.json", "named.json", "inner"}


def test_no_cell_is_a_formula(tmp_path):
    import pandas as pd

    write_table(tmp_path / "t.csv", pd.DataFrame({"job": ["=1+1", "@a", "\x1b[31m", "fine"], "x": [-1.0, 2, 3, 4]}))
    assert (tmp_path / "t.csv").read_text() == "job,x\n'=1+1,-1.0\n'@a,2.0\n\\x1b[31m,3.0\nfine,4.0\n"


def test_a_figure_of_names_with_control_characters_is_well_formed(folder):
    from xml.dom import minidom

    raw = json.loads((folder / "i.json").read_text())
    raw["clusters"]["name"][0] = raw["name"] = "\x1b]0;t\x07$x_{"
    (folder / "i.json").write_text(json.dumps(raw))
    co.solve(co.read("i.json"), "greedy-clean").write("s.json")
    assert run("plot", "i.json", "s.json", "-o", "f.svg").exit_code == 0
    assert minidom.parse("f.svg").documentElement.tagName == "svg"


@pytest.mark.slow
@pytest.mark.parametrize("most_bytes", [64, FULL])
def test_a_full_disk_is_told_by_reproduce_and_loses_nothing(folder, most_bytes):
    """The figure fits into neither, the table into the second alone."""
    for name in ("f.csv", "f.svg"):
        (folder / name).write_text("old")
    command = [sys.executable, "-m", "carbonopt", "reproduce", "gaia-2", "-o", "f.csv", "--plot", "f.svg"]
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    done = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "f.svg").read_text() == "old"
    assert (folder / "f.csv").read_text() == "old" or (folder / "f.csv").read_text().endswith("\n")
    assert {path.name for path in folder.iterdir()} <= {"i.json", "s.json", "f.csv", "f.svg", "f.partial.csv"}


@pytest.mark.filterwarnings("always")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize("factor", [1, 1e-6])
def test_a_log_that_cannot_be_kept_is_told_in_one_line(folder, factor):
    """HiGHS loses it silently, whether costs are scaled or not."""
    raw = json.loads((folder / "i.json").read_text())
    raw["carbon"]["g_per_kwh"] = [[1000 * factor * g for g in row] for row in raw["carbon"]["g_per_kwh"]]
    (folder / "i.json").write_text(json.dumps(raw))
    done = run("solve", "i.json", "-m", "milp", "--log-file", "/dev/full")
    assert done.exit_code == 0
    assert done.stderr == "warning: /dev/full: the log cannot be kept: No space left on device\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "i.json", "-m", "lp", "-o", "p.json"),
        ("solve", "i.json", "-m", "lp", "--log-file", "p.json"),
        ("compare", "i.json", "-m", "lp", "-o", "p.csv"),
        ("export", "i.json", "-o", "p.lp"),
    ],
)
def test_a_pipe_that_nobody_reads_is_told_and_stays(folder, arguments):
    pipe = folder / arguments[-1]
    os.mkfifo(pipe)
    assert len(errors(*arguments)) == 1
    assert pipe.is_fifo()


def test_a_pipe_that_is_read_gets_the_whole_file(folder):
    os.mkfifo("p.json")
    reader = os.open("p.json", os.O_RDONLY | os.O_NONBLOCK)
    assert run("solve", "i.json", "-m", "lp", "-o", "p.json").exit_code == 0
    assert json.loads(os.read(reader, 2**16))["method"] == "lp"
    os.close(reader)
