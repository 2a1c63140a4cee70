"""The page: one file that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from carbonopt.bench.runs import REFUSED, UNANSWERED
from carbonopt.core.display import SMALLEST_SHARE, number
from carbonopt.core.errors import UnsupportedError
from carbonopt.plotting.style import PALETTE
from carbonopt.report.online import online_rows
from carbonopt.report.pictures import pictures
from carbonopt.report.rows import conditions_shown, moments, read_rows, report_rows
from carbonopt.report.tables import GAP_SHIFT, SECONDS_SHIFT, gap_table


def report_page(results: Sequence[Path], online: Sequence[Path], most_pictures: int, title: str) -> str:
    """Return the page of one campaign.

    Parameters
    ----------
    results
        Files of results.
    online
        Tables of ``compare --policies --split``.
    most_pictures
        Solutions that are drawn.
    title
        Of the page.

    Raises
    ------
    InputError
        If a file is not what it should be.
    UnsupportedError
        If plotly is not installed.
    """
    plotly = _plotly()
    records = read_rows(results)
    rows = report_rows(records)
    drawn, faults = pictures(records, most_pictures)
    content = {
        "rows": rows,
        "moments": moments(records),
        "online": online_rows(online),
        "pictures": drawn,
        "faults": faults,
        "palette": PALETTE,
        "gapShift": GAP_SHIFT,
        "secondsShift": SECONDS_SHIFT,
        "tolerance": SMALLEST_SHARE,
        "refused": REFUSED,
        "failed": UNANSWERED,
    }
    return _filled(
        _part("report.html"),
        {
            "title": escape(title),
            "css": _part("report.css"),
            "facts": _facts(rows, conditions_shown(records)),
            "table": _table(rows),
            "gap_shift": f"{100 * GAP_SHIFT:g} %",
            "seconds_shift": f"{SECONDS_SHIFT:g} s",
            "data": json.dumps(content, allow_nan=False).replace("<", "\\u003c"),  # no text of a file ends the script
            "plotly": plotly,
            "js": _part("report.js"),
        },
    )


def _plotly() -> str:
    """Return Plotly's script."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise UnsupportedError("the page needs Plotly: pip install 'carbonopt[report]'") from None
    script: str = get_plotlyjs()
    return script


def _part(name: str) -> str:
    return files("carbonopt.report").joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Put each part in its place, in one pass: what stands in a part is not looked at."""
    first, *rest = template.split("{{")
    pieces = [first]
    for piece in rest:
        name, _, text = piece.partition("}}")
        pieces += [parts[name], text]
    return "".join(pieces)


def _facts(rows: Sequence[Mapping[str, Any]], conditions: Mapping[str, str]) -> str:
    """Return what the campaign was, as items of a list."""
    failed = sum(row["status"] in UNANSWERED for row in rows)
    facts = {
        "runs": str(len(rows)),
        "instances": str(len({(row["problem"], row["instance"]) for row in rows})),
        "methods": str(len({row["method"] for row in rows})),
        "seeds": str(len({row["seed"] for row in rows})),
        "refused, killed or crashed": str(failed),
        **conditions,
    }
    return "".join(f"<li><b>{escape(name)}</b> {escape(text)}</li>" for name, text in facts.items())


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of gaps for browsers that run no scripts."""
    frame = gap_table(rows)
    head = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    lines = (
        "<tr>" + "".join(f"<td>{escape(number(cell, 4))}</td>" for cell in line) + "</tr>"
        for line in frame.itertuples(index=False)
    )
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"
