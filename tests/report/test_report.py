"""The report of a campaign: its numbers by hand, and the page in a real browser."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from cli_support import errors, run
from conftest import TINY
from PIL import Image

from carbonopt.report.rows import conditions_shown, read_rows, report_rows
from carbonopt.report.tables import gap_table, shifted_mean

KEPT = Path(__file__).parent / "report.png"
WIDTH, HEIGHT, BLOCK = 1000, 1500, 20
"""Of the screenshot, and of the blocks that are compared [pixels]."""
TOLERANCE = 1.5
"""Root of the mean square of the difference of blocks, of 255."""
FONT = "Campaign 0123456789"
WIDTH_OF_FONT = 176
"""Of `FONT` in the kept picture [pixels]: with letters of other widths all lines are elsewhere."""
HOSTILE = "</script><img src=x onerror=alert(1)>&amp;\x1b[31m"
CHROMIUM = shutil.which("chromium")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to open the page in")


def row(instance, method, objective, bound, **more):
    return {
        "instance": instance,
        "problem": "mosp",
        "instance_sha256": instance,
        "method": method,
        "method_asked": method,
        "seed": 0,
        "time_limit": 5.0,
        "sense": "min",
        "status": "feasible",
        "objective": objective,
        "bound": bound,
        "wall_seconds": 1.0,
        "trajectory": [[0.5, objective, bound]],
        **more,
    }


ROWS = [
    row("a", "exact", 10.0, 10.0, status="optimal"),
    row("a", "quick", 20.0, None),
    row("a", "bound", None, 9.0, status="optimal", trajectory=None),
    row("b", "exact", None, None, status="crashed", message="signal 11", trajectory=None),
    row("b", "quick", 8.0, 6.0),
    row(HOSTILE, HOSTILE, 4.0, 4.0, problem=HOSTILE, message=HOSTILE),
]


def written(folder, rows=ROWS):
    path = folder / "r.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


@pytest.fixture
def results(tmp_path):
    return written(tmp_path)


def test_gaps_by_hand(results):
    """Gaps to the best bounds 10 and 6: exact 0 and no schedule, quick 1/2 and 1/4."""
    table = gap_table(report_rows(read_rows([results]))).set_index("method")
    exact, quick, bound = (table.loc[name] for name in ("exact", "quick", "bound"))
    assert exact["mean gap [%]"] == pytest.approx(100 * ((0.001 * 1.001) ** 0.5 - 0.001))
    assert (exact["median gap [%]"], exact["worst gap [%]"], exact["failed"]) == (50, 100, 1)
    assert quick["mean gap [%]"] == pytest.approx(100 * shifted_mean([0.5, 0.25], 1e-3))
    assert (quick["median gap [%]"], quick["worst gap [%]"]) == (37.5, 50)
    assert bound["mean gap [%]"] != bound["mean gap [%]"]
    assert bound["mean seconds"] == pytest.approx(1)


def test_a_refused_run_is_no_run_without_a_schedule(tmp_path):
    """It has failed, not searched in vain, and its 0 seconds are none of the method's."""
    rows = [
        row("a", "m", None, None, status="error", wall_seconds=0.0, message="too large"),
        row("b", "m", None, 1.0, status="time_limit", wall_seconds=3.0),
        row("c", "m", 2.0, 1.0, wall_seconds=3.0),
    ]
    table = gap_table(report_rows(read_rows([written(tmp_path, rows)])))
    assert table[["runs", "failed", "no schedule"]].to_numpy().tolist() == [[3, 1, 1]]
    assert table["mean seconds"].tolist() == [pytest.approx(3)]
    for each in rows:
        each |= {"instance_sha256": "a", "objective": None, "status": "error"}
    only = gap_table(report_rows(read_rows([written(tmp_path, rows[:1])])))
    assert only[["mean gap [%]", "mean seconds"]].isna().to_numpy().all()


def test_a_run_without_a_time_limit_stops_at_its_work_limit(tmp_path):
    rows = [
        row("a", "m", 2.0, 1.0, status="time_limit", time_limit=None, work_limit=1.0, machine="Linux x86_64, 2 CPUs")
    ]
    rows[0]["date"] = "2026-11-25"
    read = read_rows([written(tmp_path, rows)])
    assert report_rows(read)[0]["status"] == "work_limit"
    told = conditions_shown(read)
    assert told["work limit [units]"] == "1"
    assert (told["made"], told["on"]) == ("2026-11-25", "Linux x86_64, 2 CPUs")


def test_the_table_is_printed_in_each_format(results):
    assert run("report", results, "--table", "csv").stdout.startswith("problem,method,mean gap [%],")
    assert "| mosp | quick | 35.3614 |" in run("report", results, "--table", "md").stdout
    latex = run("report", results, "--table", "latex").stdout
    assert [line for line in latex.splitlines() if line.endswith("rule")] == ["\\toprule", "\\midrule", "\\bottomrule"]
    assert "mean gap [\\%]" in latex


def test_what_is_no_campaign_is_told_in_one_line(results, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(row("c", "quick", 1.0, 1.0, time_limit=6.0)) + "\n")
    (told,) = errors("report", results, other)
    assert told == f"{other}: holds runs with time_limit 6.0, and not with 5.0: they cannot be compared"
    assert errors("report", tmp_path / "no.jsonl") == [f"{tmp_path / 'no.jsonl'}: no such file"]
    other.write_text("")
    assert "holds no finished run" in errors("report", other)[0]
    assert errors("report", results, "-o", results)
    (told,) = errors("report", results, "--online", results, "-o", tmp_path / "r.html")
    assert "must be a table" in told


def test_numbers_beyond_reason_make_a_page(tmp_path):
    pytest.importorskip("plotly", reason="Plotly is not installed: pip install 'carbonopt[report]'")
    path = tmp_path / "r.jsonl"
    rows = [row("a", "m", 1e-300, 1e300), row("a", "n", 0.0, 0.0, wall_seconds=-5.0), row("b", "m", 1e308, None)]
    rows.append(row("c", "m", None, None, wall_seconds=1e308, date=3, message=[1], problem=None, solution=7))
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert run("report", path, "-o", tmp_path / "r.html").exit_code == 0
    assert run("report", path).exit_code == 0


def test_a_run_in_two_files_counts_once(results):
    assert len(read_rows([results, results])) == len(ROWS)


def page(results, *more):
    pytest.importorskip("plotly", reason="Plotly is not installed: pip install 'carbonopt[report]'")
    done = run("report", results, "-o", results.with_name("r.html"), *more)
    assert done.exit_code == 0, done.stderr
    return results.with_name("r.html")


def opened(path, script="", hash=""):
    """Return the page as a browser shows it after a script has run; the browser may log no error."""
    played = path.with_name("played.html")
    played.write_text(path.read_text() + f"<script>{script}</script>")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000", "--enable-logging=stderr"]
    command = [CHROMIUM, *flags, "--dump-dom", f"file://{played}{hash}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    return re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL)


def cells(dom, table):
    content = re.search(rf'<table id="{table}">(.*?)</table>', dom, re.DOTALL)[1]
    lines = re.findall(r"<tr>(.*?)</tr>", content, re.DOTALL)
    parts = ([re.sub("<.*?>", "", cell) for cell in re.findall("<td.*?>(.*?)</td>", line)] for line in lines[1:])
    return [[html.unescape(cell) for cell in part] for part in parts]


@pytest.mark.slow
@in_browser
def test_the_page_opens_without_errors_and_shows_the_numbers(results):
    path = page(results)
    outside = re.sub(r"<script>.*?</script>", "", path.read_text(), flags=re.DOTALL)
    assert "://" not in outside  # nothing is loaded
    dom = opened(path)
    assert "<img" not in dom  # names are text
    shown = cells(dom, "gaps")
    frame = gap_table(report_rows(read_rows([results])))
    assert [line[:2] for line in shown] == frame[["problem", "method"]].to_numpy().tolist()
    quick = next(line for line in shown if line[1] == "quick")
    assert quick[2:] == ["35.36 %", "37.50 %", "50.00 %", "1", "2", "0", "0", "0"]
    exact = next(line for line in shown if line[1] == "exact")
    assert exact[2:] == ["3.06 %", "50.00 %", "100.00 %", "1", "2", "1", "0", "1"]
    assert len(cells(dom, "runs")) == len(ROWS)
    assert cells(dom, "best")[1] == ["mosp", "exact", "3.06 %, 1 s", "quick", "35.36 %, 1 s", "32.3 points", "1 of 2"]
    assert dom.count("main-svg") >= 2


@pytest.mark.slow
@in_browser
def test_filters_sorting_and_links_work(results):
    path = page(results)
    play = """
      $("problem").value = "mosp"; $("problem").dispatchEvent(new Event("change"));
      $("methods").querySelector("input[value=bound]").click();
      $("instance").value = "B"; $("instance").dispatchEvent(new Event("input"));
      $("runs").tHead.rows[0].cells[3].click(); $("runs").tHead.rows[0].cells[3].click();
    """
    dom = opened(path, play)
    assert [line[2:4] for line in cells(dom, "runs")] == [["b", "quick"], ["b", "exact"]]
    assert [line[1] for line in cells(dom, "gaps")] == ["quick", "exact"]
    assert "2 of 6 runs" in dom
    dom = opened(path, '$("instance").value = "zzz"; $("instance").oninput(); $("all").click();')
    assert len(cells(dom, "runs")) == len(ROWS)
    dom = opened(path, hash="#run=4")
    assert "Run 4: b, exact, seed 0" in dom
    assert "signal 11" in dom
    dom = opened(path, hash="#problem=mosp&status=failed&methods=%5B%22exact%22%5D")
    assert [line[2:4] for line in cells(dom, "runs")] == [["b", "exact"]]


def shot(path, name, script=""):
    """Return the brightness of blocks of `BLOCK` x `BLOCK` pixels of the page after a script has run, 0 to 255."""
    played = path.with_name("played.html")
    played.write_text(path.read_text() + f"<script>{script}</script>")
    picture = path.with_name(name)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000", "--hide-scrollbars"]
    window = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}"]
    subprocess.run([CHROMIUM, *flags, *window, f"file://{played}"], capture_output=True, check=True, timeout=120)
    return blocks(picture)


def width_of_font(path):
    """Return how wide the page's letters are here [pixels]."""
    script = f"""
      const box = document.createElement("span"); box.textContent = "{FONT}"; document.body.append(box);
      document.body.dataset.width = Math.round(box.getBoundingClientRect().width);
    """
    return int(re.search(r'data-width="(\d+)"', opened(path, script))[1])


def blocks(picture):
    """Return the mean brightness of each block of a picture: letters differ between machines, places do not."""
    grey = np.asarray(Image.open(picture).convert("L"), dtype=float)
    rows, columns = (size // BLOCK for size in grey.shape)
    whole = grey[: rows * BLOCK, : columns * BLOCK]
    return whole.reshape(rows, BLOCK, columns, BLOCK).mean(axis=(1, 3))


def difference(one, other):
    """Return the root of the mean square of the difference of two pictures of the same size."""
    return float(np.sqrt(((one - other) ** 2).mean()))


@pytest.mark.slow
@in_browser
def test_the_page_looks_as_it_did_when_it_was_looked_at(tmp_path):
    """`python tests/report/test_report.py` draws the picture anew: look at it before it is kept."""
    path = page(written(tmp_path, ROWS[:-1]))
    if width_of_font(path) != WIDTH_OF_FONT:
        pytest.skip("the kept picture has other fonts than this machine")
    kept = blocks(KEPT)
    assert difference(shot(path, "whole.png"), kept) < TOLERANCE
    hidden = 'document.querySelectorAll(".js-plotly-plot")[0].style.visibility = "hidden";'
    assert difference(shot(path, "hidden.png", hidden), kept) > TOLERANCE


@pytest.mark.slow
def test_schedules_and_the_price_of_being_online_are_drawn(tmp_path):
    results = tmp_path / "r.jsonl"
    assert run("bench", TINY["crowd"], "-m", "price", "--solutions", tmp_path / "s", "-o", results).exit_code == 0
    online = tmp_path / "p.csv"
    online.write_text("policy,due_to_lengths,due_to_heuristic\nno-wait,0.1,\ncarbon-time,0.2,-0.1\n")
    text = page(results, "--online", online).read_text()
    data = json.loads(re.search('id="data">(.*?)</script>', text)[1])
    assert set(data["pictures"][0]["images"]) == {
        "Load",
        "Runs of all jobs",
        "Prices that prove the bound, over the carbon signal",
    }
    assert data["online"][0] == {"policy": "no-wait", "parts": {"lengths": 0.1, "heuristic": None}}
    assert not data["faults"]
    (tmp_path / "s").rename(tmp_path / "gone")
    data = json.loads(re.search('id="data">(.*?)</script>', page(results).read_text())[1])
    assert not data["pictures"]
    assert "no such file" in data["faults"][0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        drawn = page(written(Path(folder), ROWS[:-1]))
        shot(drawn, "kept.png")
        print(f"WIDTH_OF_FONT = {width_of_font(drawn)}")
        KEPT.write_bytes((Path(folder) / "kept.png").read_bytes())
