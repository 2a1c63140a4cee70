"""benchmarks/peers/ecas_gap.py: every line runs or says why not, and what is proven agrees. Times are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import ecas_gap
import ecas_gap_cpsat
import pytest

import carbonopt as co
from carbonopt.problems.ecas.data.instance import EcasInstance

CP_SAT = ("cp-sat-interval", "cp-sat-4")
PEERS = Path(ecas_gap.__file__).parent


def generated(**changes: int) -> EcasInstance:
    instance = co.generate("ecas", **{"jobs": 4, "machines": 2, "slots": 8, "load": 0.2, "seed": 1} | changes)
    assert isinstance(instance, EcasInstance)
    return instance


@pytest.mark.slow
def test_the_smoke_run(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert ecas_gap.main(["--smoke", "-o", str(path)]) == 0
    [found] = json.loads(path.read_text())["instances"]
    lines = {line["name"]: line for line in found["results"]}
    assert list(lines) == list(ecas_gap.CASES)
    best = lines["milp"]["objective"]
    assert lines["milp"]["status"] == "optimal"
    for name, line in lines.items():
        if find_spec("ortools") is None and name in CP_SAT:
            assert line["status"] == "ortools is not installed"
            continue
        assert line["objective"] is None or line["objective"] >= best * (1 - 1e-6)
        assert line["bound"] is None or line["bound"] <= best * (1 + 1e-6)
        assert line["cpu_s"] > 0


SCRIPT = """
import json, sys
import carbonopt as co
from ecas_gap_cpsat import cp_sat_interval
found = [cp_sat_interval(co.read(path), 20.0) for path in sys.argv[1:]]
assert "ortools" in sys.modules and "highspy" not in sys.modules
print(json.dumps(found))
"""


@pytest.mark.skipif(find_spec("ortools") is None, reason="needs ortools")
def test_cp_sat_has_the_optimum_of_milp(tmp_path: Path) -> None:
    instances = [generated(seed=seed, negative_slots=seed - 1) for seed in (1, 2, 3)]
    paths = [str(tmp_path / f"{number}.json") for number in range(len(instances))]
    for instance, path in zip(instances, paths, strict=True):
        instance.write(path)
    command = [sys.executable, "-c", SCRIPT, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PEERS)
    for instance, found in zip(instances, json.loads(done.stdout), strict=True):
        optimum = co.solve(instance, "milp", mip_rel_gap=0.0).objective
        assert found["status"] == "optimal"
        assert found["objective"] == pytest.approx(optimum, abs=1e-4)
        assert optimum - 1e-4 <= found["bound"] <= optimum + 1e-9


def test_how_often_a_machine_can_be_on() -> None:
    """Every second slot of 8 or 9; no more often than there are jobs, unless being on earns something."""
    assert ecas_gap_cpsat.periods(generated(jobs=20)) == 4
    assert ecas_gap_cpsat.periods(generated(jobs=20, slots=9)) == 5
    assert ecas_gap_cpsat.periods(generated(jobs=2)) == 2
    assert ecas_gap_cpsat.periods(generated(jobs=2, negative_slots=1)) == 4


def test_what_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        ecas_gap.main(["--cases", "price,nothing"])
    assert "unknown case 'nothing'" in capsys.readouterr().err
    co.generate("mosp", preset="bench", jobs=5, slots=12).write(tmp_path / "m.json")
    with pytest.raises(SystemExit, match="must be of ecas, not of mosp"):
        ecas_gap.main(["--instance", str(tmp_path / "m.json")])
