import pandas as pd
import pytest

from carbonopt.plotting.elastic_gaps import plot_elastic_gaps
from carbonopt.plotting.figure import new_axes

TABLE = pd.DataFrame({"capacity": [10, 10, 20, 20], "seed": [1, 2, 1, 2], "gap": [0.1, 0.2, 0.04, None]})


def test_dots_and_means_in_per_cent():
    axis = plot_elastic_gaps(TABLE, "capacity")
    dots, mean = axis.lines
    assert dots.get_ydata() == pytest.approx([10, 20, 4])
    assert mean.get_xdata().tolist() == [10, 20]
    assert mean.get_ydata() == pytest.approx([15, 4])
    assert axis.get_xlabel() == "capacity [servers]"


def test_on_axes_that_are_there():
    axis = new_axes()[0]
    assert plot_elastic_gaps(TABLE, "seed", ax=axis) is axis
    assert axis.get_xlabel() == "seed"
