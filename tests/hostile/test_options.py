"""Options and inputs of commands that end in words, and never in a file that no command reads."""

import subprocess
import sys

import pytest
from cli_support import errors, run
from conftest import TINY

from carbonopt.core.errors import PolicyError
from carbonopt.simulation.load import load_policy

CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n" + "".join(
    f"2022-06-01T{hour:02d}:00:00Z,DE,{100 + hour}\n" for hour in range(24)
)
ICON = "5\n2\n2\n0 100 1.5 0.5\n10 20\n1 80 1 0.25\n11 21\n1\n7 2 1 4 600\n3 4\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "carbon.csv").write_text(CARBON)
    (tmp_path / "jobs.csv").write_text("arrival_time,length,cpus\n0,3600,2\n1800,5400,1\n")
    (tmp_path / "forecast.txt").write_text("4\n0 0.1\n1 0.2\n2 -0.1\n3 0.3\n")
    return tmp_path


@pytest.mark.parametrize("hours", ["1e-300", "1e-9", "1e300"])
@pytest.mark.parametrize("problem", ["mosp", "elastic", "mlcluster"])
def test_slots_that_nobody_can_count_are_refused(folder, problem, hours):
    arguments = ["convert", problem, "--trace", "jobs.csv", "--carbon", "carbon.csv", "--time-unit", "seconds"]
    (told,) = errors(*arguments, "--slot-hours", hours, "-o", "i.json")
    assert "must be from 1e-06 to 1e+06 hours" in told
    assert not (folder / "i.json").exists()


@pytest.mark.parametrize("problem", ["mosp", "elastic"])
@pytest.mark.parametrize("option", ["--capacity", "--load"])
def test_no_command_writes_an_instance_that_none_reads(folder, problem, option):
    arguments = ["convert", problem, "--trace", "jobs.csv", "--carbon", "carbon.csv", "--time-unit", "seconds"]
    value = "1e300" if option == "--capacity" else "1e-300"
    assert all("must be at most" in line for line in errors(*arguments, option, value, "-o", "i.json"))
    assert not (folder / "i.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("10 20", "1e300 20", "capacity of a machine"),
        ("10 20", "9223372036854775808 20", "capacity of a machine"),
        ("7 2 1 4", "1e300 2 1 4", "id of a task"),
        ("0 100", "nan 100", "id of a machine"),
    ],
)
def test_numbers_of_the_challenge_beyond_what_is_counted_are_told_by_their_place(folder, old, new, words):
    (folder / "instance.txt").write_text(ICON.replace(old, new))
    (told,) = errors("convert", "ecas", "--icon", ".", "-o", "i.json")
    assert "must be a whole number" in told or "must be at most 9007199254740991" in told
    assert words in told


def test_an_instance_beyond_memory_is_refused_before_it_is_drawn():
    (told,) = errors("generate", "ecas", "--machines", "99999999999", "-o", "i.json")
    assert "are free" in told


def test_an_error_of_forecasts_beyond_all_numbers_is_refused():
    (told,) = errors("simulate", TINY["reservedpulls_3"], "--forecast", "error=1e300")
    assert "forecast error = 1e+300: must be" in told


@pytest.mark.parametrize("method", ["milp", "price"])
def test_a_seed_may_be_any_whole_number(method):
    assert run("solve", TINY["crowd"], "-m", method, "--seed", "9" * 25).exit_code == 0


@pytest.mark.parametrize(
    "code",
    ["raise SystemExit(7)", "import sys; sys.exit(0)", "raise BaseException('x')", "raise RuntimeError('\\x1b[31m')"],
)
def test_a_policy_file_that_ends_python_is_told(folder, code):
    (folder / "p.py").write_text(code)
    with pytest.raises(PolicyError, match=r"p\.py: cannot be imported"):
        load_policy("p.py:P")


@pytest.mark.parametrize("policies", ["p.py:P", "no-wait,p.py:P"])
def test_a_policy_file_that_raises_an_interrupt_is_an_interrupt(folder, policies):
    """It ended the command in silence with exit code 0; which of the two it was, nobody can tell."""
    (folder / "p.py").write_text("raise KeyboardInterrupt")
    done = run("simulate", TINY["reservedpulls_3"], "-p", policies)
    assert done.exit_code == 130
    assert "interrupted" in done.stderr or "no-wait" in done.stdout


def test_closed_streams_lose_no_answer(folder):
    command = f'"{sys.executable}" -m carbonopt solve "{TINY["crowd"]}" -m lp -o s.json <&- >&- 2>&-'
    assert subprocess.run(command, shell=True, check=False, cwd=folder).returncode == 0
    assert (folder / "s.json").exists()
