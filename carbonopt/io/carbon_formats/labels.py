"""What a carbon signal is: two signals of one grid and hour can differ widely, so the label is part of the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from carbonopt.core.errors import Fault

AVERAGE = "average"
SHORT_RUN = "short-run marginal"
LONG_RUN = "long-run marginal"
KINDS = (AVERAGE, SHORT_RUN, LONG_RUN)
"""What a file that holds several may be asked for."""


@dataclass(frozen=True)
class Labels:
    """What a source says about its values; empty where it does not say.

    Parameters
    ----------
    source
        Who publishes them.
    kind
        ``average`` or ``marginal``, the latter with ``short-run`` or ``long-run`` before it where the source tells.
    scope
        ``lca`` (life cycle) or ``direct`` (combustion only).
    status
        ``measured``, ``estimated``, ``modelled`` or ``forecast``; several with commas between them.
    issued_at
        When a forecast was issued.
    model_date
        Dates of the source's models, with commas between them.
    unit, time_zone
        As read, before conversion to g/kWh and UTC.
    filled
        How missing values were filled, and which: empty where none was.
    """

    source: str = ""
    kind: str = ""
    scope: str = ""
    status: str = ""
    issued_at: str = ""
    model_date: str = ""
    unit: str = ""
    time_zone: str = ""
    filled: str = ""

    def told(self) -> dict[str, str]:
        """Return the labels that are known."""
        return {name: value for name, value in asdict(self).items() if value}


UNLABELLED = Labels()
"""Of a source that says nothing."""


def joined(several: Iterable[Labels]) -> Labels:
    """Return the labels of data that come from rows or files with these labels."""
    told = [asdict(labels) for labels in dict.fromkeys(several)]
    return Labels(**{name: ", ".join(dict.fromkeys(row[name] for row in told if row[name])) for name in told[0]})


def mixing_faults(labelled: Iterable[tuple[str, Labels]]) -> list[Fault]:
    """Return a fault for `kind` and for `scope` where (file, labels) tell different ones."""
    found: dict[str, dict[str, str]] = {"kind": {}, "scope": {}}
    for file, labels in labelled:
        for name, files in found.items():
            for value in filter(None, getattr(labels, name).split(", ")):
                files.setdefault(value, file)
    return [
        Fault(
            f"labels.{name}",
            f"must be one for all zones and times, unless mixed (--mixed) names {name!r}",
            ", ".join(f"{value} in {file}" for value, file in files.items()),
        )
        for name, files in found.items()
        if len(files) > 1
    ]
