"""Carbon signals in the shapes that their sources publish: values, labels, and one line for each fault."""

import json
from copy import deepcopy

import pytest

import carbonopt as co
from carbonopt.core.registry import problem_of
from carbonopt.io.carbon import read_carbon

HOURS = [f"2024-06-01T{hour:02d}:00:00Z" for hour in range(3)]
HALVES = ["2024-06-01T00:00Z", "2024-06-01T00:30Z", "2024-06-01T01:00Z"]


def watttime(signal="co2_moer", **meta):
    rows = [{"point_time": time, "value": 1000.0 + 100 * at} for at, time in enumerate(HOURS)]
    meta = {"region": "CAISO", "signal_type": signal, "units": "lbs_co2_per_mwh", **meta}
    return {"data": rows, "meta": meta}


def electricity_maps(envelope="history", scope="lifecycle"):
    rows = [
        {
            "zone": "DE",
            "carbonIntensity": 300 + at,
            "datetime": time,
            "emissionFactorType": scope,
            "isEstimated": at > 1,
        }
        for at, time in enumerate(HOURS)
    ]
    return {"zone": "DE", envelope: rows}


def em_forecast():
    rows = [{"carbonIntensity": 300 + at, "datetime": time} for at, time in enumerate(HOURS)]
    return {"zone": "DE", "forecast": rows, "updatedAt": HOURS[0]}


def neso():
    actual = [120, 130, None]
    return {
        "data": [
            {"from": time, "to": time, "intensity": {"forecast": 100 + at, "actual": actual[at], "index": "low"}}
            for at, time in enumerate(HALVES)
        ]
    }


def neso_regional():
    regions = [{"regionid": 13, "shortname": "London", "intensity": {"forecast": 90, "index": "low"}}]
    return {"data": [{"from": time, "to": time, "regions": regions} for time in HALVES]}


def neso_postcode(outer=dict):
    own = {"regionid": 13, "shortname": "London", "postcode": "SW1", "data": neso()["data"]}
    return {"data": own if outer is dict else [own]}


def sdk_file():
    rows = [{"Location": "eastus", "Rating": str(50 + at), "Time": time} for at, time in enumerate(HOURS)]
    return {"Emissions": rows}


def sdk_cli():
    rows = zip(HOURS, (50, 51, 52), strict=True)
    return [{"Location": "eastus", "Time": time, "Rating": value, "Duration": "01:00:00"} for time, value in rows]


def sdk_rows():
    rows = zip(HOURS, (50, 51, 52), strict=True)
    return [{"location": "eastus", "timestamp": time, "duration": 60, "value": value} for time, value in rows]


def sdk_forecast():
    return [{"generatedAt": HOURS[0], "windowSize": 60, "forecastData": sdk_rows(), "optimalDataPoints": []}]


def wattnet():
    return [{"series": [{"values": [[time, 70 + at] for at, time in enumerate(HOURS)]}]}]


def watttime_issues():
    data = watttime()["data"]
    later = [{**row, "value": 0.0} for row in data]
    issues = [{"generated_at": HOURS[1], "forecast": later}, {"generated_at": HOURS[0], "forecast": data}]
    return {**watttime(), "data": issues}


def write(folder, raw, name="signal.json"):
    path = folder / name
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw))
    return path


PREAMBLE = "Project,Scenario,Location\nCambium 2023,MidCase,p1\n\n"


def cambium(columns="srmer_co2e_c,srmer_co2e,lrmer_co2e_c,lrmer_co2e"):
    width = len(columns.split(","))
    rows = [f"2024-06-01 0{hour}:00:00," + ",".join(str(100 * i + hour) for i in range(width)) for hour in range(3)]
    return PREAMBLE + "\n".join([f"timestamp,{columns}", *rows])


EIA = "CO2 Emissions Intensity for Consumed Electricity"


POUND = 0.45359237
CASES = {
    "watttime marginal": (
        watttime(model={"date": "2023-03-01"}),
        "CAISO",
        [1000 * POUND, 1100 * POUND, 1200 * POUND],
        {"kind": "marginal", "unit": "lbs_co2_per_mwh", "model_date": "2023-03-01"},
    ),
    "watttime average": (
        watttime("co2_aoer"),
        "CAISO",
        [1000 * POUND, 1100 * POUND, 1200 * POUND],
        {"kind": "average"},
    ),
    "watttime forecast": (
        watttime(generated_at=HOURS[0]),
        "CAISO",
        [1000 * POUND, 1100 * POUND, 1200 * POUND],
        {"status": "forecast", "issued_at": HOURS[0]},
    ),
    "watttime issues": (watttime_issues(), "CAISO", [0, 0, 0], {"status": "forecast", "issued_at": HOURS[1]}),
    "maps v3": (electricity_maps(), "DE", [300, 301, 302], {"scope": "lca", "status": "measured, estimated"}),
    "maps v4": (electricity_maps("data", "direct"), "DE", [300, 301, 302], {"scope": "direct", "kind": "average"}),
    "maps forecast": (em_forecast(), "DE", [300, 301, 302], {"status": "forecast", "issued_at": HOURS[0]}),
    "neso": (neso(), "GB", [120, 130, 102], {"status": "measured, forecast", "kind": "average"}),
    "neso regional": (neso_regional(), "London", [90, 90, 90], {"status": "forecast"}),
    "neso postcode": (neso_postcode(), "London", [120, 130, 102], {"source": "NESO"}),
    "neso region": (neso_postcode(list), "London", [120, 130, 102], {"source": "NESO"}),
    "sdk file": (sdk_file(), "eastus", [50, 51, 52], {"source": "Carbon Aware SDK"}),
    "sdk cli": (sdk_cli(), "eastus", [50, 51, 52], {"unit": "gCO2/kWh"}),
    "sdk rows": (sdk_rows(), "eastus", [50, 51, 52], {"unit": "gCO2/kWh"}),
    "sdk forecast": (sdk_forecast(), "eastus", [50, 51, 52], {"status": "forecast", "issued_at": HOURS[0]}),
    "wattnet": (wattnet(), "signal", [70, 71, 72], {"source": "wattnet"}),
}


@pytest.mark.parametrize("case", CASES)
def test_values_zone_and_labels(case, tmp_path):
    raw, zone, values, labels = CASES[case]
    signal = read_carbon(write(tmp_path, raw), slot_hours=0.5 if "neso" in case else 1)
    assert signal.zones == (zone,)
    assert signal.g_per_kwh[0] == pytest.approx(values, rel=1e-15)
    assert labels.items() <= signal.labels[zone].items()


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("UTC time,creation_time (UTC),version,carbon_intensity,coal", "{time},x,1,{value},3", "measured"),
        ("datetime,carbon_intensity_actual,avg_carbon_intensity_forecast", "{time},9,{value}", "forecast"),
    ],
)
def test_carboncast(header, value, status, tmp_path):
    lines = [header, *(value.format(time=time, value=at) for at, time in enumerate(HOURS))]
    signal = read_carbon(write(tmp_path, "\n".join(lines), "CISO.csv"))
    assert signal.g_per_kwh.tolist() == [[0, 1, 2]]
    assert signal.labels["CISO"]["status"] == status


@pytest.mark.parametrize(("minutes", "slots"), [(5, 18), (15, 6), (30, 3), (60, 1)])
def test_slots_of_many_lengths_keep_the_mean(minutes, slots, tmp_path):
    signal = read_carbon(write(tmp_path, neso()), slot_hours=minutes / 60)
    assert signal.time.slots == slots
    covered = [120, 130, 102] if minutes < 60 else [120, 130]
    assert signal.g_per_kwh.mean() == pytest.approx(sum(covered) / len(covered))


@pytest.mark.parametrize("minutes", [5, 15, 30, 60])
@pytest.mark.parametrize("case", CASES)
def test_slots_of_every_source_keep_the_mean_of_their_time(case, minutes, tmp_path):
    path, step = write(tmp_path, CASES[case][0]), 30 if "neso" in case else 60
    own, signal = read_carbon(path, slot_hours=step / 60), read_carbon(path, slot_hours=minutes / 60)
    covered = signal.time.slots * minutes // step
    assert covered >= 2
    assert signal.g_per_kwh.mean() == pytest.approx(own.g_per_kwh[:, :covered].mean(), rel=1e-14)


def test_average_and_marginal_mix_only_by_name(tmp_path):
    one, two = write(tmp_path, watttime(), "one.json"), write(tmp_path, electricity_maps(), "two.json")
    with pytest.raises(co.InputError, match=r"labels\.kind = .*marginal in .*: must be one"):
        read_carbon(one, two)
    assert read_carbon(one, two, mixed=["kind"]).zones == ("CAISO", "DE")
    with pytest.raises(co.InputError, match=r"labels\.kind"):
        read_carbon(one, two, mixed=["scope"])


def test_life_cycle_and_direct_rows_of_one_zone_do_not_mix(tmp_path):
    raw = electricity_maps()
    raw["history"][1]["emissionFactorType"] = "direct"
    with pytest.raises(co.InputError, match=r"labels\.scope"):
        read_carbon(write(tmp_path, raw))


def broken(raw, path, value):
    raw = deepcopy(raw)
    part = raw
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return raw


BAD = ("no number", None, -5, [], {}, float("nan"), 10**400, True)
PLACES = {
    "maps": (electricity_maps(), ("history", 1, "carbonIntensity"), r"history\[1\]\.value"),
    "watttime": (watttime(), ("data", 1, "value"), r"data\[1\]\.value"),
    "neso": (neso_regional(), ("data", 1, "regions", 0, "intensity", "forecast"), r"data\[\d\]\.regions\[0\]\.value"),
    "wattnet": (wattnet(), (0, "series", 0, "values", 1, 1), r"\[0\]\.series\[0\]\.values\[1\]\.value"),
}


@pytest.mark.parametrize("source", PLACES)
@pytest.mark.parametrize("value", BAD, ids=lambda value: str(value)[:9])
def test_a_bad_value_is_one_line_with_its_place(source, value, tmp_path):
    raw, path, place = PLACES[source]
    if source == "neso":
        raw = json.loads(json.dumps(raw))
    with pytest.raises(co.InputError, match=rf"signal\.json: {place} = .*must be a number of g/kWh") as error:
        read_carbon(write(tmp_path, broken(raw, path, value)))
    assert len(error.value.faults) == 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (watttime("health_damage"), r"meta\.signal_type = 'health_damage': must be co2_moer or co2_aoer"),
        (watttime(units="kg"), r"meta\.units = 'kg': must be lbs_co2_per_mwh"),
        (broken(watttime(), ("data",), 3), r"data = 3: must be a list"),
        (broken(watttime(), ("data", 1), 3), r"data\[1\] = 3: must be an object"),
        (broken(watttime(), ("data", 1, "point_time"), "June"), r"data\[1\]\.time = 'June': must be an ISO 8601 time"),
        (broken(watttime(), ("data", 1, "point_time"), HOURS[0]), r"duplicate of data\[0\]"),
        (broken(watttime(), ("data", 2, "point_time"), "2024-06-01T05:00:00Z"), r"must be \S+ h after"),
        (broken(sdk_file(), ("Emissions", 1, "Location"), ""), r"Emissions\[1\]\.zone = missing: must name a zone"),
        (broken(sdk_file(), ("Emissions", 1, "Rating"), "-1"), r"Emissions\[1\]\.value = missing"),
        (broken(sdk_rows(), (1, "value"), -1), r"\[1\]\.value = missing"),
        (broken(wattnet(), (0, "series", 0, "values", 1), [1]), r"values\[1\] = .*must be \[time, value\]"),
        (electricity_maps("history") | {"history": []}, r"is Electricity Maps' API without a row"),
        (sdk_forecast() * 2, r"2 forecasts: must be one forecast"),
        (wattnet() * 2, r"several series: must be one series"),
        ("{", r"is not JSON: line 1"),
        ("{}", r"is no known JSON of carbon signals"),
        ("[]", r"is no known JSON of carbon signals"),
        (cambium(), r"kind = none was named: holds short-run marginal, long-run marginal rates"),
        (cambium().replace("100,", "-100,", 1), r"kind = none was named"),
        (PREAMBLE, r"line 2: .*must have 3 cells|is no known header"),
        (PREAMBLE + "timestamp,srmer_co2e\n", r"has a header but no rows"),
        (PREAMBLE + "timestamp,srmer_co2e\n2024-06-01,1\n2024-06-01,2", r"must be followed"),
        (f"BA,UTC time,{EIA}\nCISO,{HOURS[0]},1\nCISO,{HOURS[1]},", r"line 3: .*must be a number of g/kWh"),
        (f"BA,UTC time,{EIA}\nCISO,{HOURS[0]},1\nCISO,1/6/2024 1:00,2", r"line 3: .*must be an ISO 8601 time"),
        (f"BA,Region,UTC time,{EIA}\na,b,{HOURS[0]},1", r"must be one column of the header: 2 found"),
        (f"Interval Start,{EIA}\n{HOURS[0]},1", r"Area Id = .*must be one column of the header: none found"),
    ],
)
def test_a_broken_file_is_told_in_one_line(raw, message, tmp_path):
    with pytest.raises(co.InputError, match=message) as error:
        read_carbon(write(tmp_path, raw))
    assert all("signal.json" in line for line in error.value.lines())


JOBS = "JobID|Submit|Start|End|NCPUS|State\n1|2024-07-01T00:00:00|2024-07-01T01:00:00|2024-07-01T02:00:00|1|COMPLETED\n"


@pytest.mark.parametrize("problem", ["mosp", "elastic", "purchasing", "mlcluster"])
@pytest.mark.parametrize("case", CASES)
def test_carbon_of_june_is_refused_for_jobs_of_july(case, problem, tmp_path):
    """It was once shifted to the jobs without a word."""
    carbon = write(tmp_path, CASES[case][0])
    jobs = write(tmp_path, JOBS, "jobs.txt")
    with pytest.raises(co.InputError, match=r"must stay inside the data of zone .*2024-06-01T00:00:00Z to"):
        problem_of(problem).role("convert")(jobs=jobs, carbon=[carbon])


def test_instances_keep_the_labels(tmp_path):
    times = [f"2024-07-{day:02d}T{hour:02d}:00Z" for day in (1, 2) for hour in range(24)]
    rows = [{"zone": "DE", "carbonIntensity": 9, "datetime": time} for time in times]
    carbon = write(tmp_path, {"zone": "DE", "history": rows})
    jobs = write(tmp_path, JOBS, "jobs.txt")
    instance = problem_of("mosp").role("convert")(jobs=jobs, carbon=[carbon], slots=24)
    assert instance.provenance["signals"]["DE"]["kind"] == "average"


@pytest.mark.parametrize(
    ("kind", "intensity", "values"),
    [
        ("short-run marginal", "direct", [0, 1, 2]),
        ("short-run marginal", "lca", [100, 101, 102]),
        ("long-run marginal", "direct", [200, 201, 202]),
        ("long-run marginal", "lca", [300, 301, 302]),
    ],
)
def test_cambium(kind, intensity, values, tmp_path):
    """Its hours are Eastern Standard Time, and its file holds several kinds of rates."""
    signal = read_carbon(write(tmp_path, cambium(), "p1.csv"), kind=kind, intensity=intensity)
    assert signal.g_per_kwh.tolist() == [values]
    assert signal.time.start.isoformat() == "2024-06-01T05:00:00+00:00"
    told = {"kind": kind, "scope": intensity, "unit": "kg/MWh", "source": "Cambium", "status": "modelled"}
    assert told.items() <= signal.labels["p1"].items()


@pytest.mark.parametrize("zone", ["BA", "Region"])
def test_eia_names_an_hour_by_its_end(zone, tmp_path):
    lines = [f"{zone},UTC time,Local date,{EIA}", *(f"CISO,{time},x,{0.5 + at}" for at, time in enumerate(HOURS))]
    signal = read_carbon(write(tmp_path, "\n".join(lines), "a.csv"))
    assert signal.g_per_kwh[0] == pytest.approx([500 * POUND, 1500 * POUND, 2500 * POUND])
    assert signal.time.start.isoformat() == "2024-05-31T23:00:00+00:00"
    assert signal.labels["CISO"]["scope"] == "direct"


def test_gridstatus_says_where_an_hour_begins(tmp_path):
    begins = [f"2024-06-01 0{hour}:00:00+00:00" for hour in range(3)]
    rows = [f"{begin},x,CISO,Balancing Authority,0.5" for begin in begins]
    path = write(tmp_path, "\n".join([f"Interval Start,Interval End,Area Id,Area Type,{EIA}", *rows]), "a.csv")
    signal = read_carbon(path)
    assert signal.zones == ("CISO",)
    assert signal.time.start.isoformat() == "2024-06-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("raw", "asked", "told"),
    [
        (watttime(), {"kind": "average"}, "kind = average: is not what zone 'CAISO' holds: marginal"),
        (electricity_maps(), {"intensity": "direct"}, "intensity = direct: is not what zone 'DE' holds: lca"),
    ],
)
def test_what_was_asked_for_by_name_is_not_given_otherwise(raw, asked, told, tmp_path):
    with pytest.raises(co.InputError, match=told):
        read_carbon(write(tmp_path, raw), **asked)


def test_minus_one_of_the_sdk_is_filled_by_name(tmp_path):
    path = write(tmp_path, broken(sdk_file(), ("Emissions", 1, "Rating"), "-1"))
    assert read_carbon(path, fill="interpolate").g_per_kwh.tolist() == [[50, 51, 52]]
