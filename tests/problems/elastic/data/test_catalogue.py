import numpy as np
import pytest

import carbonopt as co
from carbonopt.problems.elastic.data.catalogue import (
    CLASSES,
    MIXES,
    SERIAL_SHARES,
    WORKLOADS,
    amdahl,
    class_profile,
    profile_mix,
    read_profile,
)
from carbonopt.problems.elastic.data.instance import Profile


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in WORKLOADS])
def test_every_class_scales_strictly_less_from_server_to_server(name):
    profile = class_profile(name)
    assert profile.k_min == 1
    assert profile.k_max == (1 if name == "no-scaling" else 16 if name.startswith("cpu") else 8)
    assert (np.diff(profile.marginal_throughput) < 0).all()
    assert (profile.marginal_watts == (300 if name.startswith("gpu") else 100)).all()


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_of_table_3_has_its_class_its_traffic_and_its_power(name):
    load, profile = WORKLOADS[name], class_profile(name)
    assert profile.k_max == {"cpu": 16, "gpu": 8}[load.kind]
    assert (profile.marginal_throughput == amdahl(SERIAL_SHARES[load.elasticity], profile.k_max)).all()
    sizes = {"cpu": 1, "gpu": 2}[load.kind]  # that a server more adds to an exchange a second
    assert profile.marginal_gbps[0] == 0
    assert profile.marginal_gbps[1:] == pytest.approx(sizes * load.megabytes * 8 / 1000)
    assert (profile.marginal_watts == load.watts).all()
    assert (class_profile(name, watts=50.0).marginal_watts == 50).all()


def test_traffic_takes_the_papers_power_where_a_profile_tells_it():
    with_traffic = co.generate("elastic", jobs=26, profiles="cpu-table-3,gpu-table-3", seed=1)
    assert with_traffic.cluster.network_watts_per_gbps == 0.1
    assert {profile.name for profile in with_traffic.profiles} == set(WORKLOADS)
    assert co.generate("elastic", jobs=5, seed=1).cluster.network_watts_per_gbps == 0


def test_amdahls_law():
    assert amdahl(0.05, 16).sum() == pytest.approx(1 / (0.05 + 0.95 / 16))
    assert amdahl(0.3, 4)[0] == 1


def test_shares_of_a_mix():
    profiles, shares = profile_mix("mix:2,no-scaling:1,cpu-low:1")
    assert [profile.name for profile in profiles] == [*MIXES["mix"], "no-scaling"]
    assert shares.tolist() == [0.125, 0.125, 0.375, 0.125, 0.25]
    [profile], _ = profile_mix({"gpu-low*": 3}, k_max=2, watts=10)
    assert (profile.k_max, profile.marginal_watts.tolist()) == (2, [10, 10])


def test_a_profile_of_ones_own_is_cut_too():
    own = Profile("own", 2, np.array([1, 0.5, 0.4]), np.array([10.0, 4, 4]), np.array([0.0, 1, 1]))
    [profile], _ = profile_mix({own: 1}, k_max=3)
    assert (profile.k_max, profile.marginal_gbps.tolist()) == (3, [0, 1])


def test_a_measured_profile(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text("nodes,throughput,power\n0,0,0\n2,20,110\n3,28,160\n4,33,190\n")
    profile = read_profile(path)
    assert (profile.name, profile.k_min, profile.k_max) == ("job", 2, 4)
    assert profile.marginal_throughput.tolist() == [1, 0.4, 0.25]
    assert profile.marginal_watts.tolist() == [110, 50, 30]
    assert read_profile(path, k_max=3).k_max == 3
    with pytest.raises(co.UnsupportedError, match="k_max = 1: profile 'job' needs at least 2 servers"):
        read_profile(path, k_max=1)
    profiles, shares = profile_mix(f"{path}:3, no-scaling")
    assert [each.name for each in profiles] == ["job", "no-scaling"]
    assert shares.tolist() == [0.75, 0.25]


@pytest.mark.parametrize("name", ["nbody10k", "nbody100k"])
def test_the_measured_n_body_profiles(data_folder, name):
    profile = read_profile(data_folder / f"profiles/{name}.csv")
    assert (profile.name, profile.k_min, profile.k_max) == (name, 1, 7)
    assert 49 < profile.marginal_watts.min() < profile.marginal_watts.max() < 60


@pytest.mark.parametrize(
    ("profiles", "words"),
    [
        (
            "cpu-hgih",
            "unknown profile 'cpu-hgih': must be 'cpu-high', .* 'mix', .* or 'gpu-table-3', or a CSV file",
        ),
        ("cpu-high:x", "the share of 'cpu-high' is 'x': must be a number"),
        ("cpu-high:0", "the share of 'cpu-high' is 0.0: must be above 0"),
        ("cpu-high:nan", "the share of 'cpu-high' is nan: must be above 0"),
        ("cpu-high,", "unknown profile ''"),
        ({"mix": -1}, "the share of 'mix' is -1: must be above 0"),
        ({}, "must name at least one profile"),
    ],
)
def test_bad_mixes(profiles, words):
    with pytest.raises(co.UnsupportedError, match=words):
        profile_mix(profiles)


def test_bad_options_and_files(tmp_path):
    with pytest.raises(co.UnsupportedError, match="k_max = 0: must be at least 1"):
        profile_mix("mix", k_max=0)
    with pytest.raises(co.UnsupportedError, match="watts = -1: must be at least 0"):
        profile_mix("mix", watts=-1)
    with pytest.raises(co.InputError, match=r"missing\.csv: no such file"):
        profile_mix("missing.csv:2")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "job.csv").write_text("nodes,throughput,power\n1,20,110\n")
    with pytest.raises(co.UnsupportedError, match="several are called 'job'"):
        profile_mix({tmp_path / "a/job.csv": 1, tmp_path / "b/job.csv": 1})
