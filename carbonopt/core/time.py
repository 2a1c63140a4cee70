"""The slots of an instance and what they are in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown


@dataclass(frozen=True)
class TimeGrid:
    """Equal slots 0..slots-1; slot t covers ``[start + t, start + t + 1)`` slot lengths.

    Parameters
    ----------
    slots
        Number of slots T.
    slot_hours
        Length of a slot [h].
    start
        Beginning of slot 0, with its time zone; kept in UTC.
    """

    slots: int
    slot_hours: float = 1.0
    start: datetime = datetime(2023, 1, 1, tzinfo=UTC)

    def __post_init__(self) -> None:
        if self.slots < 1:
            raise InputError(Fault("time.slots", "must be at least 1", shown(self.slots)))
        if not 0 < self.slot_hours < float("inf"):
            raise InputError(Fault("time.slot_hours", "must be a positive number of hours", shown(self.slot_hours)))
        object.__setattr__(self, "start", to_utc(self.start))

    @property
    def hours(self) -> float:
        """Length of the whole horizon [h]."""
        return self.slots * self.slot_hours

    def slot_start(self, slot: int) -> datetime:
        """Return the beginning of `slot` in UTC."""
        return self.start + timedelta(hours=slot * self.slot_hours)


def to_utc(moment: datetime) -> datetime:
    """Return `moment` in UTC; one without a time zone is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def format_utc(moment: datetime) -> str:
    """Return `moment` as files hold it, e.g. ``2023-11-14T00:00:00Z``."""
    text = to_utc(moment).isoformat()
    return text.removesuffix("+00:00") + "Z"


def parse_utc(text: str) -> datetime:
    """Return the moment that `text` names (ISO 8601, with or without a time zone) in UTC.

    Raises
    ------
    InputError
        If it names none.
    """
    try:
        return to_utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        words = "must be an ISO 8601 moment such as 2023-11-14T00:00:00Z"
        raise InputError(Fault("start", words, shown(text))) from None


def zone_of_time(name: str) -> tzinfo:
    """Return a time zone by its name, e.g. ``Europe/Berlin``.

    Raises
    ------
    UnsupportedError
        If there is none of that name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        words = "must be one such as 'Europe/Berlin' or 'UTC'"
        raise UnsupportedError(f"unknown time zone {shown(name)}: {words}") from None
