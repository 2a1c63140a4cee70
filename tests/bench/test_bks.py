"""Best-known values: what is entered, what is refused, and that nothing in the files can be changed unseen."""

import json
import random
import shutil
from dataclasses import replace

import pytest
from cli_support import errors, run
from conftest import ROOT

import carbonopt as co
from carbonopt.bench.bks import FOLDERS, sealed, update
from carbonopt.bench.bks_verify import verify
from carbonopt.core.jsonfile import write_json

NAMES = [
    "mosp-tiny_crowd-j0003-t002-z2-s00",
    "elastic-tiny_scaling-j0001-t003-A-s00",
    "purchasing-tiny_split_1-j0002-t001-A-s00",
    "mlcluster-tiny_twogpus-j0001-t002-A-s00",
    "ecas-tiny_stayson-j0002-t003-none-s00",
]
CORRUPTIONS = 200


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return a folder with an instance of each problem, and ``bks.json`` beside them."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "tiny").mkdir()
    for name in NAMES:
        shutil.copy(ROOT / f"instances/tiny/{name}.json", folder / "tiny")
        instance = co.read(folder / f"tiny/{name}.json")
        assert update(folder / "bks.json", instance, co.solve(instance, "price")) == ["objective", "bound"]
    return folder


def faults_of(folder):
    """Return what `verify` finds, or the lines with which it refuses the file."""
    try:
        return [fault for _, faults in verify(folder / "bks.json") for fault in faults]
    except co.InputError as error:
        return error.lines()


def test_values_under_normalizers_of_the_file_are_refused(tmp_path):
    """Who may choose what each part is divided by has the largest sum: 3 of any schedule."""
    (tmp_path / "tiny").mkdir()
    name = "mosp-tiny_caspian-j0001-t002-DE-s00"
    shutil.copy(ROOT / f"instances/tiny/{name}.json", tmp_path / "tiny")
    instance = co.read(tmp_path / f"tiny/{name}.json")
    solution = co.solve(instance, "price")
    report = co.check(instance, solution)
    assert (report.violations, report.assumes) == ((), ("normalizers",))
    with pytest.raises(co.CarbonoptError, match="its objective is of the normalizers that the solution claims"):
        update(tmp_path / "bks.json", instance, solution)
    bars = dict(zip(("z1", "z2", "z3"), solution.info["normalizers"].values(), strict=True))
    fixed = replace(instance, objective=replace(instance.objective, normalizers=tuple(bars.values())))
    fixed.write(tmp_path / f"tiny/{name}.json")
    again = co.solve(fixed, "price")
    assert co.check(fixed, again).assumes == ()
    assert update(tmp_path / "bks.json", fixed, again) == ["objective", "bound"]


@pytest.mark.slow
def test_each_changed_digit_is_found(library):
    assert faults_of(library) == []
    files = [library / "bks.json", *(path for kind in FOLDERS.values() for path in (library / kind).iterdir())]
    rng = random.Random(18)
    for _ in range(CORRUPTIONS):
        path = rng.choice(files)
        text = path.read_text()
        at = rng.choice([place for place, sign in enumerate(text) if sign.isdigit()])
        digit = rng.choice([digit for digit in "0123456789" if digit != text[at]])
        path.write_text(text[:at] + digit + text[at + 1 :])
        assert faults_of(library), f"{path.name}: {text[at - 30 : at + 30]!r}, {digit} at 30"
        path.write_text(text)
    assert faults_of(library) == []


@pytest.mark.parametrize("field", FOLDERS)
def test_a_value_that_no_file_shows_is_found_though_its_hashes_are_right(library, tmp_path, field):
    shutil.copytree(library, tmp_path / "library")
    path = tmp_path / "library/bks.json"
    known = json.loads(path.read_text())
    record = known[NAMES[0]][field]
    forged = {**known[NAMES[0]], field: {**record, "value": record["value"] * (1 - 1e-6)}}
    write_json(path, known | {NAMES[0]: sealed(forged)})
    (fault,) = faults_of(path.parent)
    assert "is said, the file shows" in fault


def test_a_changed_instance_and_a_lost_file_are_found(library, tmp_path):
    shutil.copytree(library, tmp_path / "library")
    instance = tmp_path / f"library/tiny/{NAMES[0]}.json"
    raw = json.loads(instance.read_text())
    raw["carbon"]["g_per_kwh"][0][0] += 1
    instance.write_text(json.dumps(raw))
    assert faults_of(tmp_path / "library") == ["the instance is another one (its hash differs)"]
    shutil.copy(library / f"tiny/{NAMES[0]}.json", instance)
    (tmp_path / f"library/bounds/{NAMES[0]}.json").unlink()
    (fault,) = faults_of(tmp_path / "library")
    assert "no such file" in fault


def test_a_record_says_who_what_and_when(library):
    for entry in json.loads((library / "bks.json").read_text()).values():
        for field in FOLDERS:
            record = entry[field]
            assert record["version"] == co.__version__
            assert record["method"] == "price"
            assert record["date"]
            assert record["machine"]
            assert (library / record["file"]).is_file()


def test_submitting_says_what_is_better_than_what_by_whom(tmp_path):
    (tmp_path / "tiny").mkdir()
    shutil.copy(ROOT / f"instances/tiny/{NAMES[0]}.json", tmp_path / "tiny")
    instance = co.read(tmp_path / f"tiny/{NAMES[0]}.json")
    for method in ("greedy-clean", "price"):
        co.solve(instance, method).write(tmp_path / f"{method}.json")
    bks = ("--bks", tmp_path / "bks.json")
    assert (
        "objective 0.8 is entered: none was known" in run("bks", "submit", tmp_path / "greedy-clean.json", *bks).stdout
    )
    better = run("bks", "submit", tmp_path / "price.json", *bks)
    assert better.exit_code == 0
    assert "objective 0.7 is entered: was 0.8 by greedy-clean" in better.stdout
    again = run("bks", "submit", tmp_path / "greedy-clean.json", *bks)
    assert again.exit_code == 1
    assert "objective is not better: 0.7 by price is known" in again.stdout
    done = run("bks", "verify", tmp_path / "bks.json")
    assert (done.exit_code, "1 instances rechecked, 0 wrong" in done.stdout) == (0, True)


def test_what_cannot_be_shown_is_not_entered(tmp_path):
    shutil.copytree(ROOT / "instances/tiny", tmp_path / "tiny")
    solution = co.solve(co.read(tmp_path / f"tiny/{NAMES[0]}.json"), "greedy-clean")
    for changed in ({"objective": 0.1}, {"versions": {}}, {"instance_sha256": "0" * 64}, {"instance": "../none"}):
        write_json(tmp_path / "s.json", solution.to_dict() | changed)
        done = run("bks", "submit", tmp_path / "s.json", "--bks", tmp_path / "bks.json")
        assert done.exit_code in (1, 2)
        assert done.stderr.startswith("error: ")
    assert not (tmp_path / "bks.json").exists()
    (told,) = errors("bks", "verify", tmp_path / "bks.json")
    assert "no such file" in told
