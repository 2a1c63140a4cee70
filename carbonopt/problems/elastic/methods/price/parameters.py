"""What a user may set of method `price`."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class AscentParameters(Parameters):
    """The subgradient ascent that gives the first slot prices.

    Parameters
    ----------
    iterations
        Pricings of all jobs at most. More give better prices, and so a narrower band.
    first_gap
        Distance to the optimum that the first steps assume, relative. A larger one makes longer steps.
    last_gap
        Assumed distance at which the ascent ends, relative. A smaller one takes more pricings.
    """

    iterations: int = number(120, least=1)
    first_gap: float = number(0.05, above=0)
    last_gap: float = number(1e-5, above=0)


@dataclass(frozen=True)
class SmoothingParameters(Parameters):
    """Newton's method on the smoothed bound, for long horizons.

    Parameters
    ----------
    least_units
        Units in all windows from which on the first prices are made so. Below it the ascent makes them.
    gap_share
        Relative gap that it aims at, over the one that is asked for. More ends earlier.
    least_gap
        Relative gap that it aims at, at least.
    first_spread
        Spread of costs over which a step is taken in part, over the median break price. More is smoother at first.
    shrink
        What a maximum leaves of the spread, at least. Less takes fewer and harder maximisations.
    aim
        Share of the target at which the last spread aims. Less gives prices that are more exact than asked.
    levels
        Spreads at most.
    headroom
        Capacity that is kept free, over the relative gap that is aimed at: room for loads that are not exact.
    rough_excess
        Load above capacity, relative, at which the spread shrinks. Less takes more Newton steps a spread.
    newton_steps
        Newton steps of one maximisation at most.
    trust
        Largest change of a price in a step, over the spread. More is faster and fails more often.
    """

    least_units: float = number(2e6, least=0)
    gap_share: float = number(0.5, above=0, most=1)
    least_gap: float = number(1e-5, above=0)
    first_spread: float = number(0.5, above=0)
    shrink: float = number(0.4, above=0, below=1)
    aim: float = number(0.7, above=0, most=1)
    levels: int = number(30, least=1)
    headroom: float = number(0.02, least=0, below=1)
    rough_excess: float = number(1e-2, above=0)
    newton_steps: int = number(40, least=1)
    trust: float = number(3.0, above=0)


@dataclass(frozen=True)
class BandParameters(Parameters):
    """The band of levels on which the interior point method works.

    Parameters
    ----------
    width
        Reduced cost up to which a level enters the first band, over the median break price. A wider band takes longer
        and closes in fewer rounds.
    narrow_width
        The same around smoothed prices, at least.
    spreads
        Width around smoothed prices, over their last spread.
    rounds
        Bands that are tried, each wider than the one before.
    widest_round
        Round after which a band that cannot do all the work takes every level.
    iterations
        Of the interior point method in one band, at most.
    exact_gap
        Relative gap at which a fluid optimum counts as found.
    exact_columns
        Levels of a band above which the gap that is asked for is enough.
    chunk
        Open shares that one linear program of the last step makes whole. More leave fewer fractions and take longer.
    """

    width: float = number(0.2, above=0)
    narrow_width: float = number(0.02, above=0)
    spreads: float = number(10.0, above=0)
    rounds: int = number(8, least=1)
    widest_round: int = number(3, least=1)
    iterations: int = number(200, least=1)
    exact_gap: float = number(1e-7, least=0)
    exact_columns: int = number(2_000_000, least=0)
    chunk: int = number(30_000, least=1)


@dataclass(frozen=True)
class ColumnParameters(Parameters):
    """Column generation over whole-job plans: the bound of the integer model.

    Parameters
    ----------
    time_share
        Of the time that is left, what the bound may take. More leaves less for schedules.
    rounds
        Master programs at most.
    patience
        Rounds in which the bound hardly rises, after which it is left as it is, once the master is near it.
    far_gap
        Relative gap between master and bound above which they are not near: long jobs have so many plans that the
        first masters overload slots, at prices that say nothing.
    center_shares
        Shares of the best prices in the mixtures with the master's at which plans are priced. Each is one pricing of
        all jobs in a round.
    first_perturbations
        Prices around the fluid model's at which plans are made before the first master.
    noise
        Change of a perturbed price at most, relative.
    shift
        What a perturbation adds to a price at most, over `noise` and the price of work.
    overload_penalty
        Cost of load above a capacity in the master, over the largest cost of a server in a slot.
    gap
        Relative gap between master and bound at which generation ends.
    labels
        Labels in one list of a job's pricing. More weaken fewer bounds and take more memory.
    label_steps
        Steps that lead to labels, of one job.
    """

    time_share: float = number(0.6, above=0, most=1)
    rounds: int = number(200, least=1)
    patience: int = number(3, least=1)
    far_gap: float = number(0.01, least=0)
    center_shares: tuple[float, ...] = number((0.0, 0.5, 0.8, 0.95), least=0, below=1)
    first_perturbations: int = number(10, least=0)
    noise: float = number(0.2, least=0, below=1)
    shift: float = number(0.35, least=0)
    overload_penalty: float = number(20.0, above=1)
    gap: float = number(3e-6, least=0)
    labels: int = number(4096, least=1)
    label_steps: int = number(1 << 17, least=1)


@dataclass(frozen=True)
class BalanceParameters(Parameters):
    """The annealing that chooses one plan a job so that loads meet the capacities.

    Parameters
    ----------
    perturbations
        Prices around the best ones at which plans are made before each balancing. More make a larger pool.
    most_excess
        Excess of a plan in the pool, over the price of work. More makes a larger pool of worse plans.
    temperature
        What an excess may cost, over the price of work. More finds loads that fit better, at more carbon.
    first_weight, last_weight
        Weights of squared deviations of loads from capacities at the start and at the end, over the price of work.
    stages
        Weights between them.
    sweeps
        Moves a job of the first balancing.
    growth
        Moves of a balancing over those of the one before.
    swap_share
        Share of the moves that exchange two slots of a job; the others replace its plan by one of the pool.
    patience
        Balancings without a better schedule after which the method ends.
    """

    perturbations: int = number(40, least=0)
    most_excess: float = number(1.5, above=0)
    temperature: float = number(1.5e-4, above=0)
    first_weight: float = number(7e-6, above=0)
    last_weight: float = number(4.0, above=0)
    stages: int = number(40, least=2)
    sweeps: float = number(8_000.0, above=0)
    growth: float = number(1.5, least=1)
    swap_share: float = number(0.8, least=0, most=1)
    patience: int = number(6, least=1)


@dataclass(frozen=True)
class RepairParameters(Parameters):
    """Ruin and recreate under hard capacities, of what balancing leaves.

    Parameters
    ----------
    sweeps
        Moves a job.
    start_temperature, end_temperature
        Of the first move and of the last, over the price of work. A higher one leaves local optima more easily.
    tournament
        Jobs or slots among which the worst is drawn. More look for larger excess.
    most_removed
        Jobs that one move takes out at most. More change more at once, and succeed less often.
    tries
        Draws of further jobs that run in the slot.
    most_price_factor
        Slot prices count up to this factor when a job is put back; drawn anew for each move.
    excess_share
        Share of the moves that begin with a job of large excess; the others begin where priced room is left.
    """

    sweeps: int = number(10, least=0)
    start_temperature: float = number(0.02, above=0)
    end_temperature: float = number(0.001, above=0)
    tournament: int = number(48, least=0)
    most_removed: int = number(4, least=2)
    tries: int = number(12, least=0)
    most_price_factor: float = number(1.3, least=0)
    excess_share: float = number(0.6, least=0, most=1)


@dataclass(frozen=True)
class PriceParameters(Parameters):
    """Parameters of method `price`.

    Parameters
    ----------
    ascent, smoothing, band
        Of the fluid optimum, which both models begin with.
    columns, balance, repair
        Of the integer model.
    """

    ascent: AscentParameters = field(default_factory=AscentParameters)
    smoothing: SmoothingParameters = field(default_factory=SmoothingParameters)
    band: BandParameters = field(default_factory=BandParameters)
    columns: ColumnParameters = field(default_factory=ColumnParameters)
    balance: BalanceParameters = field(default_factory=BalanceParameters)
    repair: RepairParameters = field(default_factory=RepairParameters)
