"""Prices of electricity: units and currencies of each format, and one line for each fault."""

import json

import numpy as np
import pytest
from carbon_support import PLAIN, hours, write
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.cli.main import app
from carbonopt.core.time import TimeGrid, parse_utc
from carbonopt.io.prices import read_prices
from carbonopt.io.reading import Reading

GRID = TimeGrid(3, 1.0, parse_utc("2022-01-01T00:00Z"))
SECONDS = [1_640_995_200 + 3600 * hour for hour in range(3)]


def rows(header, form, values=(100, -50, 20)):
    times = [f"2022-01-01T0{hour}:00:00Z" for hour in range(len(values))]
    return "\n".join(
        [header, *(form.format(time=time, value=value) for time, value in zip(times, values, strict=True))]
    )


def charts(**changes):
    return json.dumps({"unix_seconds": SECONDS, "price": [100, -50, 20], "unit": "EUR / MWh", **changes})


FILES = {
    "plain.csv": (rows("datetime,zone,price_eur_per_mwh", "{time},DE,{value}"), "EUR"),
    "kwh.csv": (rows("datetime,zone,price_gbp_per_kwh", "{time},DE,{value}", (0.1, -0.05, 0.02)), "GBP"),
    "ember.csv": (rows("Country,ISO3 Code,Datetime (UTC),Price (EUR/MWhe)", "Germany,DE,{time},{value}"), "EUR"),
    "DE.csv": (rows("time,Day-ahead Price [EUR/MWh]", "{time},{value}"), "EUR"),
    "lmp.csv": (rows("Interval Start,Interval End,Location,LMP,Energy", "{time},x,DE,{value},1"), "USD"),
    "DE.json": (charts(), "EUR"),
}


@pytest.mark.parametrize("name", FILES)
def test_units_and_currencies(name, tmp_path):
    text, currency = FILES[name]
    price = read_prices([write(tmp_path / name, text)], GRID, ["DE"])
    assert price.per_kwh == pytest.approx(np.array([[0.1, -0.05, 0.02]]))
    assert (price.currency, price.zones) == (currency, ("DE",))


def test_quarters_of_an_hour_are_averaged_by_time(tmp_path):
    quarters = "".join(f"2022-01-01T00:{15 * k:02d}Z,{value}\n" for k, value in enumerate((0, 40, 80, -40)))
    path = write(tmp_path / "DE.csv", "datetime,price_eur_per_mwh\n" + quarters)
    price = read_prices([path], TimeGrid(1, 1.0, GRID.start), ["any"])
    assert price.per_kwh.tolist() == [[pytest.approx(0.02)]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2", r"must have one column of prices, such as price_eur_per_kwh or LMP: none found"),
        ("datetime,price\n1,2", r"price: must name its currency and unit"),
        ("datetime,price_eur_per_mwh,price_eur_per_kwh\n1,2,3", r"one column of prices.*2 found"),
        ("price_eur_per_mwh,b\n1,2", r"datetime = .*must be one column of the header"),
        (rows("datetime,price_eur_per_mwh", "{time},{value}", (1, "x", 3)), r"line 3.*must be a finite number"),
        (rows("datetime,price_eur_per_mwh", "{time},{value}", (1, "inf", 3)), r"line 3.*must be a finite number"),
        (rows("datetime,price_eur_per_mwh", "{time},{value}", (1, "", 3)), r"line 3.*must be a finite number"),
        (rows("datetime,price_eur_per_mwh", "{time},{value}", (1, 2)), r"must stay inside the data"),
        (
            rows("datetime,zone,price_eur_per_mwh", "{time},FR,{value}") + "\n2022-01-01T00:00Z,ES,1",
            r"two times or more",
        ),
        (charts(unit="EUR"), r"must have unix_seconds and price"),
        (charts(price=[1]), r"lists of one length"),
        (charts(unix_seconds=[1.5, 2, 3]), r"unix_seconds\[0\] = 1\.5: must be whole seconds|unix_seconds, row 0"),
        (charts(price=[], unix_seconds=[]), r"must not be empty"),
        (charts(price=[1, None, 3]), r"must be a finite number"),
        ("{", r"JSON"),
    ],
)
def test_a_broken_file_is_told_in_one_line(text, told, tmp_path):
    with pytest.raises(co.InputError, match=told) as error:
        read_prices([write(tmp_path / "price.csv", text)], GRID, ["DE"])
    assert len(error.value.faults) == 1


def test_a_gap_is_filled_by_name_alone_and_zones_and_currencies_must_fit(tmp_path):
    path = write(tmp_path / "DE.csv", rows("datetime,price_eur_per_mwh", "{time},{value}", (1, "", 3)))
    assert read_prices([path], GRID, ["DE"], Reading(fill="interpolate")).per_kwh[0, 1] == pytest.approx(0.002)
    one, two = (write(tmp_path / name, FILES[name][0]) for name in ("plain.csv", "kwh.csv"))
    with pytest.raises(co.InputError, match="zone = 'PL': has no price: the files have 'DE'"):
        read_prices([one], GRID, ["DE", "PL"])
    two.write_text(two.read_text().replace("DE", "PL"))
    with pytest.raises(co.InputError, match=r"currency = EUR in .*, GBP in .*must be one"):
        read_prices([one, two], GRID, ["DE", "PL"])


JOBS = "JobID|Submit|Start|End|NCPUS|State\n1|2022-01-01T00:00:00|2022-01-01T01:00:00|2022-01-01T02:00:00|1|COMPLETED\n"


def run(*call):
    return CliRunner().invoke(app, [str(part) for part in call])


def test_convert_and_pareto_weigh_cost_and_carbon(tmp_path):
    """Carbon rises, and prices fall, with the hour of the day: the weights choose the end of the window."""
    jobs = write(tmp_path / "jobs.txt", JOBS)
    carbon = write(tmp_path / "DE.csv", PLAIN + hours(*range(100, 110)))
    price = write(tmp_path / "price.csv", rows("datetime,price_eur_per_kwh", "{time},{value}", range(5, -5, -1)))
    given = ["convert", "mosp", "--trace", jobs, "--carbon", carbon, "--slots", 10, "-o", tmp_path / "a.json"]
    assert run(*given, "--price", price, "--energy-weight", 1).exit_code == 0
    instance = co.read(tmp_path / "a.json")
    assert instance.provenance["energy_price"] == {"currency": "EUR", "files": ["price.csv"]}
    solution = co.solve(instance)
    assert solution.metrics["energy_cost"] == pytest.approx(0.01 * -1)  # the wait of a short job ends at slot 7
    done = run("pareto", tmp_path / "a.json", "--quantities", "carbon_kg,energy_cost", "--levels", 3, "--json")
    assert done.exit_code == 0
    found = [row["metrics"] for row in json.loads(done.stdout)["rows"]]
    assert [row["energy_cost"] for row in found] == sorted(row["energy_cost"] for row in found)
    assert found[0]["energy_cost"] == pytest.approx(-0.04)
    assert found[-1]["carbon_kg"] == pytest.approx(0.001)
    refused = run(*given[:-1], tmp_path / "b.json", "--energy-weight", 1)
    assert refused.exit_code == 2
    assert "needs --price FILE" in refused.output


def test_a_plan_states_both_and_weighs_them(tmp_path):
    folder = co.__path__[0] + "/../instances/tonight"
    call = ["plan", f"{folder}/squeue.json", "--carbon", f"{folder}/forecast_21h.csv", "--now", "2026-11-24T22:00"]
    call += ["--tz", "Europe/Berlin", "--cluster", "hpc=DE:192:4", "--json", "--wait-hours", 12]
    alone = json.loads(run(*call).stdout)
    assert "energy_cost" not in alone
    times = np.datetime64("2026-11-24T00:00") + np.arange(120) * np.timedelta64(1, "h")
    text = "".join(f"{time}Z,{-50 if hour % 24 == 3 else 100}\n" for hour, time in enumerate(times))
    price = write(tmp_path / "price.csv", "datetime,price_eur_per_mwh\n" + text)
    stated = json.loads(run(*call, "--price", price).stdout)
    weighed = json.loads(run(*call, "--price", price, "--energy-weight", 1000).stdout)
    assert stated["kg"] == pytest.approx(alone["kg"], rel=1e-3)
    assert weighed["energy_cost"] < stated["energy_cost"]
    assert weighed["kg"] >= stated["kg"] * (1 - 1e-3)
    assert weighed["currency"] == "EUR"
    refused = run(*call, "--energy-weight", 1)
    assert refused.exit_code == 2
    assert "needs prices (--price FILE)" in refused.output
