"""Measured scaling profiles: what is read, and every fault with file, line, field, value and what is right."""

import pytest

from carbonopt.core.errors import InputError
from carbonopt.io.profiles import read_scaling

HEADER = "nodes,throughput,power\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "measured.csv"


def read(path, rows):
    path.write_text(HEADER + rows)
    return read_scaling(path)


def faults(path, rows):
    with pytest.raises(InputError) as caught:
        read(path, rows)
    found = caught.value.lines()
    assert all(line.startswith(f"{path}") for line in found)
    return [line.removeprefix(f"{path}").removeprefix(", ") for line in found]


def test_rows_in_any_order_without_that_of_no_nodes(path):
    profile = read(path, "3,250,31\n0,0,0\n2,180,20\n4,300,31\n")
    assert profile.name == "measured"
    assert profile.nodes.tolist() == [2, 3, 4]
    assert profile.throughput.tolist() == [180, 250, 300]
    assert profile.watts.tolist() == [20, 31, 31]


def test_linear_scaling_may_be_rounded(path):
    """0.4 - 0.3 is a little more than 0.3 - 0.2."""
    assert len(read(path, "1,0.1,1\n2,0.2,2\n3,0.3,3\n4,0.4,4\n").nodes) == 4


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("1,10,5\n2,10,6\n", ["line 3: throughput = '10': must be above 10.0, that of one node less"]),
        ("1,10,5\n2,9,6\n3,15,7\n", ["line 3: throughput = '9': must be above 10.0, that of one node less"]),
        ("1,9,5\n2,25,6\n", ["line 3: throughput = '25': must be at most 18.0: no node adds more than the one before"]),
        ("1,10,5\n2,15,4\n3,17,6\n", ["line 3: power = '4': must be at least 5.0, that of one node less"]),
        ("1,10,5\n2,15,6\n4,18,8\n", ["line 4: nodes = '4': must be 3: there is no row for 3 nodes"]),
        ("1,10,5\n\n5,15,6\n", ["line 4: nodes = '5': must be 2: there is no row for 2 to 4 nodes"]),
        ("1,10,5\n1,10,5\n", ["line 3: nodes = '1': is a duplicate of line 2"]),
        ("0,0,0\n", ["line 2: nodes = '0': must not be the only number of nodes"]),
        ("0,0,40\n1,10,45\n", ["line 2: power = '40': must be 0: power is that of the job's own nodes"]),
        (
            "1.5,10,5\n2,x,-6\n",
            [
                "line 2: nodes = '1.5': must be a whole number, at least 0",
                "line 3: throughput = 'x': must be a finite number, at least 0",
                "line 3: power = '-6': must be a finite number of watts, at least 0",
            ],
        ),
    ],
)  # fmt: skip
def test_faults(path, rows, told):
    assert faults(path, rows) == told


def test_a_missing_column(path):
    path.write_text("nodes,throughput\n1,2\n")
    with pytest.raises(InputError, match="power = 'nodes,throughput': must be one column of the header: none found"):
        read_scaling(path)
