"""One event-driven engine for every problem; policies are small classes."""

from carbonopt.simulation.corrected import CorrectedForecast
from carbonopt.simulation.engine import SimulationProgress, run
from carbonopt.simulation.forecast import Forecast, ForecastModel, SignalForecast, parse_forecast
from carbonopt.simulation.forecast_error import ErrorForecast
from carbonopt.simulation.forecast_table import TableForecast
from carbonopt.simulation.load import load_policy
from carbonopt.simulation.log import ENDED, Log
from carbonopt.simulation.named import make_policy
from carbonopt.simulation.policy import Policy
from carbonopt.simulation.signal import StepSignal
from carbonopt.simulation.state import ActionError, State
from carbonopt.simulation.workload import Pool, Workload

__all__ = [
    "ENDED",
    "ActionError",
    "CorrectedForecast",
    "ErrorForecast",
    "Forecast",
    "ForecastModel",
    "Log",
    "Policy",
    "Pool",
    "SignalForecast",
    "SimulationProgress",
    "State",
    "StepSignal",
    "TableForecast",
    "Workload",
    "load_policy",
    "make_policy",
    "parse_forecast",
    "run",
]
