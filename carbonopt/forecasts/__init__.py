"""What was forecast when: archives of forecasts, read or made, ensembles of them, and their scores."""

from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.forecasts.ensemble import bootstrap
from carbonopt.forecasts.files import read_archive, write_archive
from carbonopt.forecasts.make import make_archive
from carbonopt.forecasts.predictors import Persistence, Predictor, SeasonalAR, SeasonalNaive
from carbonopt.forecasts.scores import score

__all__ = [
    "ForecastArchive",
    "Persistence",
    "Predictor",
    "SeasonalAR",
    "SeasonalNaive",
    "bootstrap",
    "make_archive",
    "read_archive",
    "score",
    "write_archive",
]
