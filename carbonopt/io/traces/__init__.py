"""Public traces: one module each, and one line here. A file is read as the first source that it matches."""

from carbonopt.io.traces.azure import AZURE
from carbonopt.io.traces.fdata import FDATA
from carbonopt.io.traces.helios import HELIOS
from carbonopt.io.traces.openb import OPENB
from carbonopt.io.traces.pai import PAI
from carbonopt.io.traces.philly import PHILLY
from carbonopt.io.traces.pm100 import PM100
from carbonopt.io.traces.source import TraceSource

SOURCES: dict[str, TraceSource] = {source.name: source for source in (PAI, OPENB, HELIOS, AZURE, PHILLY, PM100, FDATA)}
