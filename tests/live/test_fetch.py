"""The client against a server on this machine that plays recorded answers."""

from __future__ import annotations

import json
import os
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from carbonopt.cli.main import app
from carbonopt.io.carbon import read_carbon
from carbonopt.io.times import moment
from carbonopt.live.fetch import SourceError, fetch_signal

pytest.importorskip("httpx")

HOURS = [f"2026-11-24T{hour:02d}:00:00Z" for hour in range(3)]
MAPS = {"zone": "DE", "forecast": [{"carbonIntensity": 300 + at, "datetime": time} for at, time in enumerate(HOURS)]}
WATTTIME = {
    "data": [{"point_time": time, "value": 1000} for time in HOURS],
    "meta": {"region": "CAISO_NORTH", "signal_type": "co2_moer", "units": "lbs_co2_per_mwh", "generated_at": HOURS[0]},
}
NESO = {"data": [{"from": time, "to": time, "intensity": {"forecast": 90, "actual": None}} for time in HOURS]}
SECRET = "not-to-be-printed"


class Player:
    """A server that gives its answers in turn, the last one for ever, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any, dict[str, str]]] = []
        self.asked: list[tuple[str, dict[str, str]]] = []
        player = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                player.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                status, body, headers = player.answers[0]
                if len(player.answers) > 1:
                    player.answers.pop(0)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def plays(self, *answers: Any) -> None:
        self.answers = [answer if isinstance(answer, tuple) else (200, answer, {}) for answer in answers]


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Iterator[Player]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("ELECTRICITY_MAPS_API_KEY", "WATTTIME_USER", "WATTTIME_PASSWORD"):
        monkeypatch.setenv(name, SECRET)
    made = Player()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def fetch(player: Player, source: str, zone: str, path: Path, waits: list[float] | None = None, **options: Any) -> Any:
    wait = (lambda _: None) if waits is None else waits.append
    return fetch_signal(source, zone, path, url=player.url, wait=wait, max_age_minutes=0, **options)


def test_each_source_is_asked_as_documented_and_read(player: Player, tmp_path: Path) -> None:
    player.plays(MAPS)
    assert fetch(player, "electricity-maps", "DE", tmp_path / "a.json").came_from == "source"
    assert player.asked[-1][0] == "/v3/carbon-intensity/forecast?zone=DE"
    assert player.asked[-1][1]["auth-token"] == SECRET
    assert read_carbon(tmp_path / "a.json").g_per_kwh.tolist() == [[300, 301, 302]]
    player.plays({"token": "t"}, WATTTIME)
    fetch(player, "watttime", "CAISO_NORTH", tmp_path / "b.json")
    (login, given), (data, headers) = player.asked[-2:]
    assert login == "/v3/login"
    assert given["authorization"] == "Basic " + b64encode(f"{SECRET}:{SECRET}".encode()).decode()
    assert data == "/v3/forecast?region=CAISO_NORTH&signal_type=co2_moer"
    assert headers["authorization"] == "Bearer t"
    assert read_carbon(tmp_path / "b.json").labels["CAISO_NORTH"]["kind"] == "marginal"
    player.plays(NESO)
    fetch(player, "neso", "SW1/../x", tmp_path / "c.json", now=moment(1_795_000_000_000_000_000))
    assert player.asked[-1][0].endswith("/fw48h/postcode/SW1%2F..%2Fx")
    assert "auth-token" not in player.asked[-1][1]


def test_busy_and_broken_servers_are_asked_again_and_waits_grow(player: Player, tmp_path: Path) -> None:
    waits: list[float] = []
    player.plays((503, {}, {}), (429, {}, {"Retry-After": "7"}), (500, {}, {"Retry-After": "99999"}), MAPS)
    assert fetch(player, "electricity-maps", "DE", tmp_path / "a.json", waits).came_from == "source"
    assert waits == [1, 7, 60]


@pytest.mark.parametrize(
    ("answer", "told", "asked"),
    [
        ((500, {}, {}), "status 500 after 4 attempts", 4),
        ((404, {}, {}), "status 404", 1),
        ((401, {}, {}), "status 401: the source does not accept ELECTRICITY_MAPS_API_KEY", 1),
        ((302, {}, {"Location": "https://elsewhere.example"}), "status 302", 1),
        ((200, b"<html>", {}), "the answer is no signal", 1),
        ((200, {"zone": "DE", "forecast": []}, {}), "without a row", 1),
    ],
)
def test_the_last_file_stays_where_the_source_gives_no_signal(
    player: Player, answer: Any, told: str, asked: int, tmp_path: Path
) -> None:
    player.plays(answer)
    with pytest.raises(SourceError, match=told) as error:
        fetch(player, "electricity-maps", "DE", tmp_path / "a.json")
    assert SECRET not in str(error.value)
    assert len(player.asked) == asked
    assert not (tmp_path / "a.json").exists()
    (tmp_path / "a.json").write_text(json.dumps(MAPS))
    done = fetch(player, "electricity-maps", "DE", tmp_path / "a.json")
    assert (done.came_from, told in done.problem) == ("last file", True)
    assert json.loads((tmp_path / "a.json").read_text()) == MAPS


def test_a_dead_server_and_a_young_file(player: Player, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no answer"):
        fetch_signal("neso", "GB", tmp_path / "a.json", url="http://127.0.0.1:9", wait=lambda _: None)
    player.plays(NESO)
    first = fetch_signal("neso", "GB", tmp_path / "a.json", url=player.url)
    again = fetch_signal("neso", "GB", tmp_path / "a.json", url=player.url)
    assert (first.came_from, again.came_from, len(player.asked)) == ("source", "cache", 1)
    os.utime(tmp_path / "a.json", (0, 0))
    assert fetch_signal("neso", "GB", tmp_path / "a.json", url=player.url).came_from == "source"


def test_the_command(player: Player, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player.plays(MAPS)
    call = ["fetch-signal", "electricity-maps", "DE", "-o", str(tmp_path / "a.json"), "--url", player.url]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0
    assert SECRET not in done.output
    monkeypatch.delenv("ELECTRICITY_MAPS_API_KEY")
    refused = CliRunner().invoke(app, [*call, "--max-age-minutes", "0"])
    assert refused.exit_code == 2
    assert "the environment has no ELECTRICITY_MAPS_API_KEY" in refused.output
    unknown = CliRunner().invoke(app, ["fetch-signal", "entsoe", "DE", "-o", str(tmp_path / "b.json")])
    assert unknown.exit_code == 2
    assert "must be 'electricity-maps', 'watttime' or 'neso'" in unknown.output
