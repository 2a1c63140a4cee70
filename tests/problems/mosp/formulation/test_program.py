import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.milp.highs import solve
from carbonopt.problems.mosp.formulation.objective import placement_value, single_term
from carbonopt.problems.mosp.formulation.program import build, build_normalizer, estimate_size, possible_placements


def test_columns_are_the_places_where_a_job_fits_alone(tiny):
    placements = possible_placements(tiny["resources"])
    assert sorted(zip(placements.job, placements.cluster, placements.start, strict=True)) == [
        (0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_columns_and_entries_agree_with_a_plain_count(random_instance, seed):
    instance = random_instance(seed, "carbon")
    jobs, capacity = instance.jobs, instance.clusters.capacity
    expected = [
        (i, j, t)
        for i in range(len(jobs))
        for j in range(len(instance.clusters))
        for t in range(jobs.arrival[i], instance.time.slots - jobs.duration[i] + 1)
        if instance.eligible[i, j] and (jobs.demand[i][:, None] <= capacity[j, :, t : t + jobs.duration[i]]).all()
    ]
    form = build(instance, placement_value(instance))
    found = form.placements
    assert list(zip(found.job, found.cluster, found.start, strict=True)) == expected
    columns, nonzeros = estimate_size(instance)
    assert len(found) <= columns
    assert form.program.nonzeros <= nonzeros + len(jobs)
    dense = np.zeros((*capacity.shape, len(expected)))
    for k, (i, j, t) in enumerate(expected):
        dense[j, :, t : t + jobs.duration[i], k] += jobs.demand[i][:, None]
    arrays = form.program.arrays()
    from scipy.sparse import csc_array

    matrix = csc_array((arrays.values, arrays.rows, arrays.starts), shape=(form.program.rows, form.program.columns))
    ours = matrix.toarray()[form.capacity.slice][:, form.x.slice]
    assert np.array_equal(ours, dense.reshape(-1, len(expected)))


def test_the_value_of_a_placement_by_hand(tiny):
    value = placement_value(tiny["tradeoff"])
    job, cluster, start = np.zeros(4, int), np.zeros(4, int), np.arange(4)
    assert value.of(job, cluster, start) == pytest.approx([0.6, 0.5, 0.45, 0.5])
    assert value.table(0, start)[0] == pytest.approx([0.6, 0.5, 0.45, 0.5])


def test_caspian_terms_by_hand(tiny):
    instance = tiny["caspian"]
    at = (np.zeros(2, int), np.zeros(2, int), np.arange(2))
    assert single_term(instance, 1).of(*at) == pytest.approx([1e-5, 2e-5])
    assert single_term(instance, 2).of(*at) == pytest.approx([1, 1])
    assert single_term(instance, 3).of(*at) == pytest.approx([1 / 2, 1 / 3])


def test_normalizers_use_the_papers_plain_lp():
    """A job that is too large as a whole still counts by fractions in Zbar, and is no column elsewhere."""
    instance = co.read("instances/tiny/mosp-tiny_caspian-j0001-t002-DE-s00.json")
    raw = instance.to_dict()
    raw["jobs"]["demand"]["gpu"] = [2]
    from carbonopt.problems.mosp.data.file import from_dict

    large = from_dict(raw)
    assert len(possible_placements(large)) == 0
    form = build_normalizer(large, single_term(large, 2))
    assert solve(form.program, Options()).objective == pytest.approx(1.0)  # half of it in each of two slots


def test_formulate_names_its_blocks_and_exports(tiny, tmp_path):
    program = co.formulate(tiny["crowd"])
    assert list(program.variables) == ["x"]
    assert list(program.constraints) == ["placement", "capacity"]
    program.to_lp(tmp_path / "crowd.lp")
    assert "x(z,dirty,20231114T0000)" in (tmp_path / "crowd.lp").read_text()
    assert not co.formulate(tiny["crowd"], form="lp").arrays().integer.any()
    with pytest.raises(co.UnsupportedError, match="unknown form"):
        co.formulate(tiny["crowd"], form="dual")


def test_too_large_is_refused_before_anything_is_built(monkeypatch, tiny):
    import carbonopt.milp.program as program

    monkeypatch.setattr(program, "INDEX_LIMIT", 3)
    with pytest.raises(co.TooLargeError, match="12 columns"):
        co.solve(tiny["crowd"], "milp")
    table = co.compare(tiny["crowd"], ["milp", "greedy-clean"])
    assert table["status"].tolist() == ["error", "feasible"]


def test_where_jobs_may_stay_out_placement_has_one_side(tiny, tmp_path):
    program = co.formulate(tiny["caspian"])
    assert program.arrays().row_lower.max() == -np.inf
    program.to_lp(tmp_path / "z.lp")
    job = tiny["caspian"].jobs.name[0]
    assert f"placement({job}):" in (tmp_path / "z.lp").read_text()


def test_a_log_file_that_cannot_be_written_is_an_error(tiny, tmp_path):
    with pytest.raises(co.InputError, match="cannot be written"):
        co.solve(tiny["crowd"], "milp", log_file=tmp_path / "none" / "x.log")
