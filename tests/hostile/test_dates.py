"""Jobs with dates run at their dates: on the carbon of June in June, or not at all."""

from datetime import UTC, datetime, timedelta
from inspect import signature

import pytest

from carbonopt.core.errors import InputError
from carbonopt.core.registry import problem_names, problem_of
from carbonopt.core.time import parse_utc
from carbonopt.io.window import Window

OF_TRACES = [
    name
    for name in problem_names()
    if "jobs" in signature(problem_of(name).role("convert")).parameters  # others have no submissions
]
JANUARY = datetime(2024, 1, 1, tzinfo=UTC)
ZERO = "2024-06-11T10:20:00"
JOBS = f"""JobID|Submit|Elapsed|AllocCPUS|State
1|{ZERO}|02:00:00|1|COMPLETED
2|2024-06-11T12:20:00|01:00:00|2|COMPLETED
"""


@pytest.fixture
def files(tmp_path):
    """Return a trace of June, and a year of carbon whose every hour has its own intensity."""
    jobs, carbon = tmp_path / "jobs.txt", tmp_path / "A.csv"
    jobs.write_text(JOBS)
    moments = ((JANUARY + timedelta(hours=hour), hour) for hour in range(366 * 24))
    carbon.write_text("".join(f"{moment:%Y-%m-%dT%H:%M:%SZ},{hour}\n" for moment, hour in moments))
    return {"jobs": jobs, "carbon": [carbon]}


@pytest.mark.parametrize("problem", OF_TRACES)
def test_slot_0_is_the_first_submission(files, problem):
    instance = problem_of(problem).role("convert")(**files)
    assert instance.time.start == parse_utc(ZERO)
    hour = (datetime(2024, 6, 11, 10, tzinfo=UTC) - JANUARY).total_seconds() / 3600
    assert instance.carbon.g_per_kwh[0, 0] == pytest.approx(hour + 1 / 3)


@pytest.mark.parametrize("problem", OF_TRACES)
def test_carbon_of_another_year_is_refused(files, problem, tmp_path):
    carbon = tmp_path / "B.csv"
    carbon.write_text(files["carbon"][0].read_text().replace("2024-", "2020-"))
    with pytest.raises(InputError, match="must stay inside the data of zone"):
        problem_of(problem).role("convert")(jobs=files["jobs"], carbon=[carbon])


@pytest.mark.parametrize("problem", OF_TRACES)
def test_who_asks_for_another_beginning_gets_it(files, problem):
    instance = problem_of(problem).role("convert")(**files, start="2024-02-01T00:00Z")
    assert instance.time.start == datetime(2024, 2, 1, tzinfo=UTC)


def test_a_part_of_a_trace_begins_where_it_was_asked_to(files):
    instance = problem_of("purchasing").role("convert")(**files, window=Window(2.0))
    assert instance.time.start == parse_utc(ZERO) + timedelta(hours=2)
    assert instance.jobs.name == ("2",)  # its id in the trace
