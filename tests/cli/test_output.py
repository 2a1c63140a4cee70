"""What the command line writes and where: told before the work if it cannot be, and never mixed up."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import errors, run, write_files
from instance_support import RAW, change

import carbonopt as co


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of files good and bad, which is the current one."""
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


class TestWarnings:
    def test_a_job_that_no_cluster_can_hold_is_a_warning(self, folder: Path) -> None:
        Path("large.json").write_text(json.dumps(change({("jobs", "demand", "gpu", 0): 99})))
        line = "job 'x' needs 99 gpu, the largest cluster that may run it has 4"
        done = run("info", "large.json")
        assert done.exit_code == 0
        assert done.stderr == f"warning: large.json: {line}\n"
        done = run("diagnose", "large.json")
        assert done.exit_code == 0
        assert done.stdout.splitlines()[1] == f"  {line}"

    def test_values_of_a_table_are_not_cut_short(self, folder: Path) -> None:
        zones = [f"zone-{number}" for number in range(40)]
        raw = change({("carbon",): {"zones": zones, "g_per_kwh": [[1] * 4] * 40}, ("clusters", "zone"): zones[:2]})
        Path("zones.json").write_text(json.dumps(raw))
        shown = run("info", "zones.json").stdout
        assert "…" not in shown
        assert all(zone in shown for zone in zones)

    def test_markup_and_escapes_in_names_are_text(self, folder: Path) -> None:
        Path("odd.json").write_text(json.dumps(change({("name",): "[bold]\n\x1b[31m[/x]"})))
        done = run("solve", "odd.json", "-m", "greedy-clean")
        assert done.exit_code == 0
        assert r"[bold]\n\x1b[31m[/x]" in done.stdout


class TestOutput:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["solve", "good.json", "-o"],
            ["solve", "good.json", "--log-file"],
            ["compare", "good.json", "-o"],
            ["generate", "mosp", "--jobs", "5", "-o"],
        ],
    )
    def test_a_folder_that_is_not_there(self, folder: Path, arguments: list[str]) -> None:
        [line] = errors(*arguments, "no/a.json")
        assert line == "no/a.json: cannot be written: there is no folder 'no'"

    @pytest.mark.parametrize(
        "arguments",
        [["export", "good.json", "-o", "no/a.lp"], ["plot", "good.json", "solution.json", "-o", "no/a.png"],
         ["bench", "good.json", "-m", "lp", "--bks", "no/bks.json"]],
    )  # fmt: skip
    def test_other_commands(self, folder: Path, arguments: list[str]) -> None:
        [line] = errors(*arguments)
        assert line.endswith("cannot be written: there is no folder 'no'")

    def test_a_read_only_folder_is_told_before_the_work(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        monkeypatch.setattr(co, "solve", lambda *parameters, **more: pytest.fail("solved in vain"))
        assert errors("solve", "good.json", "-o", "a.json") == [
            "a.json: cannot be written: the folder '.' is read-only"
        ]

    def test_several_files_need_a_folder(self, folder: Path) -> None:
        assert (
            errors("solve", "good.json", "windows.json", "-m", "greedy-clean", "-o", "solution.json")
            == ["solution.json: is a file: several inputs need a folder to write to"] * 2
        )

    def test_several_files_of_one_name_do_not_overwrite_each_other(self, folder: Path) -> None:
        Path("more").mkdir()
        Path("more/good.json").write_text(json.dumps(RAW))
        lines = errors("solve", "good.json", "more/good.json", "windows.json", "-m", "greedy-clean", "-o", "out")
        words = "another input has the same name: both would be written to out/good"
        assert lines == [f"good.json: {words}", f"more/good.json: {words}"]
        assert os.listdir("out") == ["windows.solution.json"]

    def test_files_are_named_after_the_inputs_whatever_the_instances_call_themselves(self, folder: Path) -> None:
        Path("odd.json").write_text(json.dumps(change({("name",): "../../odd"})))
        assert run("solve", "odd.json", "good.json", "-m", "greedy-clean", "-o", "out").exit_code == 0
        assert sorted(os.listdir("out")) == ["good.solution.json", "odd.solution.json"]


class TestPlot:
    def test_a_solution_that_is_not_of_the_instance(self, folder: Path) -> None:
        Path("other.json").write_text(json.dumps(change({("jobs", "name", 0): "z"})))
        [line] = errors("plot", "other.json", "solution.json", "-o", "a.png")
        assert line.startswith("solution.json: instance: the solution was made for 'two' with other data")

    def test_a_solution_without_a_schedule(self, folder: Path) -> None:
        content = json.loads(Path("solution.json").read_text())
        Path("none.json").write_text(json.dumps(content | {"schedule": None, "status": "time_limit"}))
        assert errors("plot", "good.json", "none.json", "-o", "a.png") == [
            "none.json: holds no schedule (status time_limit)"
        ]

    def test_an_overload_is_drawn_with_a_warning(self, folder: Path) -> None:
        content = json.loads(Path("solution.json").read_text())
        content["objective"] += 1
        Path("tampered.json").write_text(json.dumps(content))
        done = run("plot", "good.json", "tampered.json", "-o", "a.png")
        assert done.exit_code == 0
        assert done.stderr.startswith("warning: tampered.json: objective: the file claims ")
        assert Path("a.png").exists()
