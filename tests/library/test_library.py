"""The library of instances: recipes that make what their hashes say, and public files that are what theirs say."""

import hashlib
import http.server
import json
import shlex
import threading
from dataclasses import replace

import pytest
from cli_support import errors, run

import carbonopt as co
from carbonopt.core.errors import InputError
from carbonopt.library.build import build, build_public
from carbonopt.library.download import DownloadError, download_into
from carbonopt.library.recipes import DIFFICULTIES, INFEASIBLE, Generated, Library, Public, PublicFile, difficulty_of

LIBRARY = Library.shipped()
GENERATED = [recipe for recipe in LIBRARY.recipes.values() if isinstance(recipe, Generated)]
PUBLIC = [recipe for recipe in LIBRARY.recipes.values() if isinstance(recipe, Public)]
TRACE = "arrival_time,length,cpus\n0,3600,1\n1800,7200,2\n"
CARBON = "datetime,zone,carbon_intensity_g_per_kwh\n2023-11-14T00:00Z,A,100\n2023-11-14T01:00Z,A,200\n"


@pytest.mark.parametrize("problem", sorted({recipe.problem for recipe in GENERATED}))
def test_generated_instances_are_those_of_the_recipes(problem):
    for recipe in GENERATED:
        if recipe.problem == problem and recipe.jobs <= 1_000:
            made = build(recipe)
            assert (made.name, len(made.jobs)) == (recipe.name, recipe.jobs)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [recipe for recipe in GENERATED if recipe.jobs > 1_000], ids=lambda r: r.name)
def test_large_instances_too(recipe):
    assert len(build(recipe).jobs) == recipe.jobs


def test_every_problem_has_every_size_and_both_shapes():
    for problem in ("mosp", "purchasing"):
        sizes = {recipe.jobs for recipe in GENERATED if recipe.problem == problem}
        assert sizes == {20, 100, 1_000, 10_000, 100_000}
        assert {"supercomputer" in recipe.name for recipe in GENERATED if recipe.problem == problem} == {True, False}
    assert len(LIBRARY.recipes) == len(GENERATED) + len(PUBLIC)  # names are different
    assert {recipe.difficulty for recipe in LIBRARY.recipes.values()} <= {"", INFEASIBLE, *DIFFICULTIES}


def test_classes_of_difficulty():
    assert [difficulty_of(gap) for gap in (0, 1e-4, 2e-4, 0.01, 0.02, 0.05, 0.06, None)] == [
        "toy", "toy", "easy", "medium", "hard", "hard", "open", "open",
    ]  # fmt: skip


@pytest.mark.parametrize("problem", sorted({recipe.problem for recipe in GENERATED}))
def test_the_command_that_is_shown_makes_the_instance(problem, tmp_path):
    recipe = next(recipe for recipe in GENERATED if recipe.problem == problem)
    told = json.loads(run("instances", "show", recipe.name, "--json").stdout)
    words = shlex.split(told["command"])[1:]
    assert run(*words, "-o", tmp_path / "made.json").exit_code == 0
    assert co.read(tmp_path / "made.json").sha256 == told["sha256"] == recipe.sha256


def test_an_instance_that_is_not_the_one_of_the_recipe_is_refused():
    with pytest.raises(InputError, match=r"sha256 = '?[0-9a-f]{64}'?: must be 0000, as the recipe says"):
        build(replace(GENERATED[0], sha256="0000"))


@pytest.fixture
def server(tmp_path):
    """Serve a folder on this machine; yield its address and the folder."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, directory=str(folder), **kwargs)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}", folder
        served.shutdown()


def published(server, name, text):
    address, folder = server
    (folder / name).write_text(text)
    return PublicFile(f"{address}/{name}", hashlib.sha256(text.encode()).hexdigest())


def test_public_files_are_downloaded_once_and_checked(server, tmp_path):
    files = {"jobs": published(server, "jobs.csv", TRACE), "A": published(server, "A.csv", CARBON)}
    parameters = {"jobs": "{jobs}", "carbon": ["{A}"], "time_unit": "seconds", "wrap": True}
    recipe = Public("mosp-public", "mosp", "", 2, "a test", files, parameters)
    download = download_into(tmp_path / "cache")
    with pytest.raises(InputError, match="sha256") as refused:
        build_public(recipe, download)
    made = str(refused.value).split("sha256 = ")[1][:66].strip("'\" :")
    (server[1] / "jobs.csv").unlink()  # it is in the cache
    instance = build_public(replace(recipe, sha256=made[:64]), download)
    assert (instance.name, len(instance.jobs)) == ("mosp-public", 2)
    other = published(server, "A.csv", CARBON.replace("200", "201"))
    assert other.sha256 != files["A"].sha256
    with pytest.raises(DownloadError, match=r"A\.csv"):
        download_into(tmp_path / "empty")(files["A"])
    with pytest.raises(DownloadError, match=r"jobs\.csv"):
        download_into(tmp_path / "empty")(files["jobs"])


def test_the_command_of_public_data_names_the_files():
    shown = run("instances", "show", "mosp-pai1k", "ecas-icon-sample01").stdout
    words = "carbonopt convert mosp --trace pai_1k.csv --time-unit seconds --wrap"
    assert f"{words} --carbon CA-ON.csv --carbon DE.csv --carbon JP-KN.csv\n" in shown
    assert "carbonopt convert ecas --icon sample01\n" in shown


def test_lists_and_builds(tmp_path):
    shown = run("instances", "list", "--problem", "ecas", "--most-jobs", 100).stdout
    assert "ecas-synthetic045" in shown
    assert "mosp" not in shown
    name = GENERATED[0].name
    assert run("instances", "build", name, "-o", tmp_path).exit_code == 0
    assert co.read(tmp_path / f"{name}.json").sha256 == GENERATED[0].sha256
    assert run("instances", "build", name, "-o", tmp_path / "own.json").exit_code == 0
    assert co.read(tmp_path / "own.json").sha256 == GENERATED[0].sha256
    assert errors("instances", "build", name, GENERATED[1].name, "-o", "own.json") == [
        "--output own.json: 2 instances need a folder"
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "mosp-bench70-j0020-t024-z3-s01"], "did you mean 'mosp-bench070-j0020-t024-z3-s01'?"),
        (["build", PUBLIC[0].name], "is made of public files: use `carbonopt instances fetch`"),
        (["fetch", GENERATED[0].name], "is generated: use `carbonopt instances build`"),
        (["list", "--difficulty", "heavy"], "--difficulty heavy: must be 'toy', 'easy', 'medium', 'hard', 'open' or"),
        (["list", "--problem", "tsp"], "--problem tsp: must be "),
    ],
)
def test_what_there_is_not(words, message):
    assert message in errors("instances", *words)[0]
