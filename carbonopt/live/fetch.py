"""Fetch a signal into a file: cached by its age, tried again where the source is busy, and kept where it is down."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from carbonopt.core.errors import CarbonoptError, InputError, UnsupportedError, one_of, shown
from carbonopt.core.files import write_bytes
from carbonopt.io.series import read_series
from carbonopt.live.sources import WHAT, Question, Source, keys_of, source_of

ATTEMPTS = 4
FIRST_WAIT_SECONDS = 1.0
"""Before the second attempt; each further wait is twice as long."""
LONGEST_WAIT_SECONDS = 60.0
"""Whatever the source asks for."""
TIMEOUT_SECONDS = 20.0
"""Of an attempt."""
BUSY = 429


class SourceError(CarbonoptError):
    """A source that gave no signal; the message holds neither key nor answer."""


@dataclass(frozen=True)
class Fetched:
    """Where a signal is, how it came there (``source``, ``cache`` or ``last file``), and what went wrong, if it did."""

    path: Path
    came_from: str
    problem: str = ""


def fetch_signal(
    source: str,
    zone: str,
    path: str | os.PathLike[str],
    what: str = "forecast",
    *,
    max_age_minutes: float = 15.0,
    url: str | None = None,
    now: datetime | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> Fetched:
    """Fetch a signal into a file that `carbonopt.io.carbon.read_carbon` reads.

    Parameters
    ----------
    source
        Name of one of `carbonopt.live.sources.SOURCES`.
    zone
        As the source calls it.
    path
        The file. It is the cache, too: where it is younger than `max_age_minutes`, nothing is asked for; and where
        the source does not answer, it stays as it is.
    what
        ``forecast`` or ``history``, of a day.
    max_age_minutes
        Age up to which the file is taken as it is; 0 asks in any case.
    url
        Of a mirror, instead of the source's own.
    now
        The present moment; None for the clock's.
    wait
        Called with the seconds between two attempts.

    Raises
    ------
    SourceError
        If the source gives no signal, and there is no file from before.
    UnsupportedError
        For an unknown source, a missing key, and where httpx is not installed.
    """
    known = source_of(source)
    if what not in WHAT:
        raise UnsupportedError(f"what = {shown(what)}: must be {one_of(WHAT)}")
    target = Path(path)
    if target.exists() and 0 <= time.time() - target.stat().st_mtime < 60 * max_age_minutes:
        return Fetched(target, "cache")
    question = known.question(zone, what, now or datetime.now(UTC), keys_of(known))
    try:
        content = _checked(_asked(known, question, (url or known.url).rstrip("/"), wait))
    except SourceError as error:
        if not target.exists():
            raise
        return Fetched(target, "last file", str(error))
    write_bytes(target, content)
    return Fetched(target, "source")


def _asked(source: Source, question: Question, url: str, wait: Callable[[float], object]) -> bytes:
    """Return the source's answer."""
    try:
        import httpx
    except ImportError:
        raise UnsupportedError("fetching signals needs httpx: pip install 'carbonopt[live]'") from None
    headers = dict(question.headers)
    try:
        with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS) as client:
            if source.login:
                token = _answer(client, Question(source.login, login=question.login), {}, source, wait)
                headers["Authorization"] = f"Bearer {_token(token, source)}"
            return bytes(_answer(client, question, headers, source, wait).content)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise UnsupportedError(f"url = {shown(url)}: must begin with https://") from None


def _token(answer: Any, source: Source) -> str:
    try:
        return str(answer.json()["token"])
    except (ValueError, KeyError, TypeError):
        raise SourceError(f"{source.login} gave no token") from None


def _answer(
    client: Any, question: Question, headers: dict[str, str], source: Source, wait: Callable[[float], object]
) -> Any:
    """Return an answer of status 200, after as many attempts as it takes and there are."""
    import httpx

    problem = ""
    for attempt in range(ATTEMPTS):
        asked = 0.0
        try:
            login = question.login if question.path == source.login else None
            response = client.get(question.path, params=dict(question.params), headers=headers, auth=login)
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise
        except httpx.TransportError as error:
            problem = f"no answer ({type(error).__name__})"
        else:
            if response.status_code == httpx.codes.OK:
                return response
            problem = f"status {response.status_code}"
            if response.status_code in (401, 403):
                keys = " and ".join(source.keys) or "no key"
                raise SourceError(f"{question.path}: {problem}: the source does not accept {keys}")
            if response.status_code != BUSY and response.status_code < 500:
                raise SourceError(f"{question.path}: {problem}")
            asked = _retry_after(response.headers.get("Retry-After", ""))
        if attempt + 1 < ATTEMPTS:
            wait(min(LONGEST_WAIT_SECONDS, max(asked, FIRST_WAIT_SECONDS * 2**attempt)))
    raise SourceError(f"{question.path}: {problem} after {ATTEMPTS} attempts")


def _retry_after(text: str) -> float:
    return float(text) if text.isdecimal() else 0.0


def _checked(content: bytes) -> bytes:
    """Return an answer that is a signal."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "answer.json")
        path.write_bytes(content)
        try:
            read_series(path)
        except InputError as error:
            first = error.faults[0]
            raise SourceError(f"the answer is no signal: {first.field} {first.problem}".replace("  ", " ")) from None
    return content
