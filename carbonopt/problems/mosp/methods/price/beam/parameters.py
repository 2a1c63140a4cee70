"""What a user may set of the beams of method `price`."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number

NOISY_SHARE = 0.95
"""Share of all parts after which costs have no noise."""
TRY_SHARE = 0.08
"""Share of all parts that each try takes."""
TRY_FALL = 0.4
"""How far the noise falls in a try, of its whole way from the first to the last, by factors."""


@dataclass(frozen=True)
class PartParameters(Parameters):
    """Of the parts of a schedule that a beam makes anew, for one size of instances.

    Parameters
    ----------
    most_profiles
        Profiles of held units, at most. They bound the units that the jobs of a part hold.
    spans
        Numbers of slots of a part, of which one is drawn.
    width
        States that a beam keeps, at most. More find better schedules, and are slower.
    first_noise, last_noise
        Size of the noise in costs at the beginning and at the end [mean costs of a job]; 0 for none.
    tries
        How many times the noise begins to fall, each time from the same schedule. It goes on with the best one found.
    """

    most_profiles: int = number(2_500, least=1)
    spans: tuple[int, ...] = number((8, 12, 16), least=1)
    width: int = number(500, least=1)
    first_noise: float = number(0.0, least=0)
    last_noise: float = number(0.0001, above=0)
    tries: int = number(1, least=1, most=8)

    def number_of_try(self, done: float) -> int:
        """Return the number of the try after a share of all parts, from 0; `tries` where the best one goes on."""
        return min(int(done / TRY_SHARE), self.tries) if self.tries > 1 else 0

    def noise(self, done: float) -> float:
        """Return the size of the noise after a share of all parts: it falls, and there is none in the last ones."""
        if self.first_noise == 0 or done >= NOISY_SHARE:
            return 0.0
        return float(self.first_noise * (self.last_noise / self.first_noise) ** self._fallen(done))

    def _fallen(self, done: float) -> float:
        """Return how far the noise has fallen, of its whole way, after a share of all parts."""
        if self.tries == 1:
            return done
        number = self.number_of_try(done)
        begun = TRY_SHARE * number
        if number < self.tries:
            return TRY_FALL * (done - begun) / TRY_SHARE
        return TRY_FALL + (1 - TRY_FALL) * (done - begun) / (1 - begun)


@dataclass(frozen=True)
class BeamParameters(Parameters):
    """Of the dynamic program over slots, for all jobs or for parts of a schedule.

    Parameters
    ----------
    least_jobs, most_jobs
        Numbers of jobs from which, and up to which, there are beams.
    noisy_time_share, time_share
        Share of the remaining time that beams over parts may take: those before blocks of slots, and those after.
    parts_per_job
        Parts in all, for each job.
    longest_slots
        Duration of the jobs of a part, at most.
    most_clusters, most_jobs_of_part, most_rejected
        Clusters, jobs, and rejected jobs of a part, at most.
    high_regret_share
        Probability with which a part is one around a job of large excess.
    tournament
        Draws of which the job of largest excess is taken.
    most_profiles, most_values, most_steps
        What an instance may have for a beam over all of it: profiles, these x clusters x slots, and these x types of
        jobs.
    root_rounds
        Steps of the ascent of job prices before a proof.
    proof_widths, proof_rounds, proof_batches
        States, steps of the ascent for each batch, and states of a batch of the beams of a proof, one after the other.
        A batch of 0 holds all states.
    growth
        States that there is room for before the worst are dropped [widths].
    batch_growth
        States that may come of a batch [batches].
    most_bytes
        Memory of all states, at most.
    sample
        States for whose mean bound the prices of jobs are raised.
    first_step
        What the first step of an ascent closes [distances to the limit of the beam].
    most_compared
        Cheaper states of the same jobs that a state is compared with, at most.
    small, medium, large
        How large parts are: in instances of which one beam could take all jobs, or of at most `small_jobs` jobs; in
        others of at most `medium_jobs` jobs; and in larger ones, which need many parts.
    small_jobs, medium_jobs
        Number of jobs up to which an instance is small, and up to which it is a medium one.
    """

    least_jobs: int = number(20, least=2)
    most_jobs: int = number(3_000, least=0)
    noisy_time_share: float = number(0.55, above=0, most=1)
    time_share: float = number(0.9, above=0, most=1)
    parts_per_job: int = number(20, least=0)
    longest_slots: int = number(24, least=1)
    most_clusters: int = number(3, least=1)
    most_jobs_of_part: int = number(80, least=2)
    most_rejected: int = number(12, least=0)
    high_regret_share: float = number(0.7, least=0, most=1)
    tournament: int = number(15, least=1)
    most_profiles: int = number(50_000, least=1)
    most_values: float = number(2e7, above=0)
    most_steps: float = number(2e8, above=0)
    root_rounds: int = number(200, least=0)
    proof_widths: tuple[int, ...] = number((2_000, 10_000, 50_000, 20_000, 200_000), least=1)
    proof_rounds: tuple[int, ...] = number((5, 5, 5, 20, 20), least=0)
    proof_batches: tuple[int, ...] = number((0, 0, 0, 1_000, 1_000), least=0)
    growth: int = number(2, least=2)
    batch_growth: int = number(32, least=2)
    most_bytes: int = number(400_000_000, least=1_000_000)
    sample: int = number(32, least=1)
    first_step: float = number(0.3, above=0)
    most_compared: int = number(1_000, least=1)
    small: PartParameters = field(default_factory=lambda: PartParameters(12_000, (12, 16, 24), 1_000, 0.002, tries=4))
    medium: PartParameters = field(default_factory=lambda: PartParameters(12_000, (8, 12, 16), 1_000))
    small_jobs: int = number(300, least=0)
    medium_jobs: int = number(800, least=0)
    large: PartParameters = field(default_factory=PartParameters)
