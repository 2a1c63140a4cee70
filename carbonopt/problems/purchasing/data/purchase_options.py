"""The CPUs that a run may be on, as schedules name them; codes are positions in `OPTIONS`."""

from __future__ import annotations

OPTIONS = ("reserved", "shared", "on-demand", "spot")
"""Reserved for all of a run, reserved as far as they are free and else on demand, on demand, and spot CPUs."""
RESERVED, SHARED, ON_DEMAND, SPOT = range(len(OPTIONS))
