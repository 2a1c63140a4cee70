"""Bounds and proofs of infeasibility are rechecked from the instance and the prices alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from elastic_support import by_hand, random_instance, reference

import carbonopt as co
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.verify.certificate import proven_bound

KINDS = ("unit", "decreasing", "general")
FALSE = "certificate: it does not prove that there is no schedule"


def exact_bound(instance: ElasticInstance, prices: list[float], mu: list[float], carbon: bool = True) -> Fraction:
    """The formula of the page in exact arithmetic, job by job, slot by slot, level by level."""
    cluster, jobs = instance.cluster, instance.jobs
    total = Fraction(0)
    full = 1 + (Fraction(1, 10**9) if instance.model == "fluid" else 0)  # what shares of a slot may add up to
    for j in range(len(jobs)):
        profile = instance.profiles[instance.profile_of_job[j]]
        gbps = [0.0] * len(profile) if profile.marginal_gbps is None else profile.marginal_gbps
        total += Fraction(mu[j]) * Fraction(jobs.required[j])
        for t in range(jobs.arrival[j], jobs.window_end[j]):
            energy, work, best = Fraction(0), Fraction(0), Fraction(0)
            for k in range(len(profile)):
                watts = Fraction(profile.marginal_watts[k])
                watts += Fraction(cluster.network_watts_per_gbps) * Fraction(gbps[k])
                energy += watts / 1000 * Fraction(instance.time.slot_hours)
                work += Fraction(profile.marginal_throughput[k])
                paid = Fraction(prices[t]) * (profile.k_min + k)
                paid += Fraction(instance.intensity[t]) * energy if carbon else 0
                best = max(best, Fraction(mu[j]) * work - paid)
            total -= best * full
    limit = np.floor(cluster.limit) if instance.model == "integer" else cluster.limit  # whole servers: whole loads
    return total - sum(Fraction(p) * Fraction(m) for p, m in zip(prices, limit, strict=True))


def drawn(instance: ElasticInstance, seed: int, largest: float) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    prices, mu = rng.random(instance.time.slots) * largest, rng.random(len(instance.jobs)) * largest
    return {"prices": prices.tolist(), "work_prices": mu.tolist()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
class TestExactRationals:
    def test_a_bound(self, seed: int, kind: str) -> None:
        instance = random_instance(seed, kind, 5, 6)
        certificate = {"kind": "lagrangian", **drawn(instance, seed, 60.0)}
        bound, assumes = proven_bound(instance, certificate, {})
        exact = exact_bound(instance, certificate["prices"], certificate["work_prices"])
        assert (Fraction(bound) <= exact, assumes) == (True, ())
        scale = float(np.sum(certificate["work_prices"] * instance.jobs.length) + np.sum(certificate["prices"]))
        assert float(exact - Fraction(bound)) <= 1e-11 * scale

    def test_a_shortage(self, seed: int, kind: str) -> None:
        instance = random_instance(seed, kind, 5, 6)
        for largest in (0.2, 1.0):
            certificate = {"kind": "shortage", **drawn(instance, seed, largest)}
            exact = exact_bound(instance, certificate["prices"], certificate["work_prices"], carbon=False)
            assert proven_bound(instance, certificate, {})[0] == (np.inf if exact > 0 else None)

    def test_a_shortage_of_whole_servers(self, seed: int, kind: str) -> None:
        """Any prices prove nothing where there is a schedule, and what they do prove needs no carbon."""
        raw = reference.random_instance(seed, kind)
        optimum, _ = reference.brute_force(raw)
        instance = from_dict(raw)
        for largest in (0.0, 1.0, 1e6, 1e30):
            certificate = {"kind": "shortage-plans", "prices": drawn(instance, seed, largest)["prices"]}
            bound, _ = proven_bound(instance, certificate, {})
            assert bound is None or (bound, optimum) == (np.inf, None)

    def test_any_prices_bound_the_optimum(self, seed: int, kind: str) -> None:
        raw = reference.random_instance(seed, kind)
        optimum, _ = reference.brute_force(raw)
        instance = from_dict(raw)
        for largest in (0.0, 1.0, 10.0, 100.0):
            prices = drawn(instance, seed, largest)
            bound, _ = proven_bound(instance, {"kind": "lagrangian", **prices}, {})
            assert optimum is None or bound <= optimum
            shortage = {"kind": "shortage", **drawn(instance, seed, 1.0)}
            assert optimum is None or proven_bound(instance, shortage, {})[0] is None


@pytest.mark.parametrize("method", ["lp", "price"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_bound_carries_a_certificate_that_holds(kind: str, method: str) -> None:
    for seed in range(8):
        instance = random_instance(seed, kind, 6, 9)
        solution = co.solve(instance, method)
        report = co.check(instance, solution)
        assert report.violations == ()
        if solution.status == "infeasible":
            assert report.proven_infeasible
            assert report.proven_bound is None
        else:
            assert not report.proven_infeasible
            assert report.proven_bound == pytest.approx(solution.bound, rel=1e-9, abs=1e-9)


def test_by_hand() -> None:
    """Two jobs of one slot on one server: at 3 g a server-slot, 2 x 4 - (1 + 3) - 3 = 5 = 1 + 4."""
    instance = by_hand(1, [1, 4], (0, 1, 1, [1]), (0, 1, 1, [1]))
    for prices, mu, bound in (
        ([3, 0], [4, 4], 5),
        ([0, 0], [1, 1], 2),
        ([0, 0], [0, 0], 0),
        ([0, 0], [4, 4], 8 - 6),
        ([0, 5], [4, 4], 8 - 6 - 5),
    ):
        certificate = {"kind": "lagrangian", "prices": prices, "work_prices": mu}
        assert proven_bound(instance, certificate, {})[0] == pytest.approx(bound, abs=1e-7)


def numbers(count: int) -> list[Any]:
    """What is not a list of `count` numbers from 0 up."""
    one = [1.0] * (count - 1)
    return [
        None, "none", 1.0, {}, [], one, [1.0] * (count + 1), [*one, -1e-9], [*one, float("nan")],
        [*one, float("inf")], [*one, 1e31], [*one, 10**400], [*one, "1"], [*one, None], [*one, [1.0]],
        [[1.0] * count], [True] * count, [*one, 1j],
    ]  # fmt: skip


class TestTampering:
    instance = random_instance(1, "decreasing", 5, 6, model="integer")
    solution = co.solve(instance, "lp")

    def lines(self, **changes: Any) -> list[str]:
        report = co.check(self.instance, replace(self.solution, **changes))
        return [str(violation) for violation in report.violations]

    def test_what_it_is_tampered_with_is_sound(self) -> None:
        assert self.solution.bound > 0
        assert self.lines() == []

    @pytest.mark.parametrize(("field", "count"), [("prices", 6), ("work_prices", 5)])
    def test_prices_that_are_none(self, field: str, count: int) -> None:
        line = f"certificate: certificate.{field}: must be {count} numbers from 0 to 1e+30"
        for value in numbers(count):
            assert self.lines(certificate=self.solution.certificate | {field: value}) == [line], value

    @pytest.mark.parametrize("field", ["prices", "work_prices"])
    def test_missing(self, field: str) -> None:
        certificate = dict(self.solution.certificate)
        del certificate[field]
        [line] = self.lines(certificate=certificate)
        assert line.startswith(f"certificate: certificate.{field}: must be ")

    @pytest.mark.parametrize("kind", [None, "trust me", 5, ["lagrangian"], {}])
    def test_kind(self, kind: Any) -> None:
        [line] = self.lines(certificate=self.solution.certificate | {"kind": kind})
        shown = "null" if kind is None else repr(kind)
        assert line.startswith(f"certificate: certificate.kind = {shown}: must be 'lagrangian'")
        with pytest.raises(co.InputError):
            proven_bound(self.instance, {}, {})

    @pytest.mark.parametrize("factor", [1 + 1e-7, 1.01, 100])
    def test_a_bound_that_is_too_high(self, factor: float) -> None:
        bound = self.solution.bound * factor
        [line] = self.lines(bound=bound, certificate=self.solution.certificate | {"bound": bound})
        assert line.startswith(f"certificate: the file claims a bound of {bound:.9g}, the prices prove ")

    def test_a_stated_bound_that_is_not_the_claimed_one(self) -> None:
        [line] = self.lines(certificate=self.solution.certificate | {"bound": 1e6})
        assert line.startswith("certificate: it states a bound of 1000000, the solution ")

    def test_worse_prices_prove_less(self) -> None:
        for prices in ([1e6] * 6, [1e30] * 6, [0.0] * 6):
            [line] = self.lines(certificate=self.solution.certificate | {"prices": prices})
            assert "the prices prove " in line

    def test_a_bound_as_high_as_asked_for_is_no_proof_of_infeasibility(self) -> None:
        huge = {"kind": "lagrangian", "prices": [1e30] * 6, "work_prices": [1e30] * 5}
        bound, _ = proven_bound(self.instance, huge, {})
        assert bound is not None
        assert bound <= co.solve(self.instance, "milp").objective


class TestShortage:
    feasible = by_hand(1, [1, 4], (0, 1, 1, [1]), (0, 1, 1, [1]))
    infeasible = by_hand(1, [1, 4], (0, 1, 1, [1]), (0, 1, 1, [1]), (0, 1, 1, [1]))

    def claim(self, instance: ElasticInstance, certificate: dict[str, Any] | None) -> list[str]:
        solution = replace(co.solve(self.infeasible, "price"), certificate=certificate, instance_sha256=instance.sha256)
        return [str(violation) for violation in co.check(instance, solution).violations]

    @pytest.mark.parametrize("method", ["price", "lp", "lp-rounding", "milp", "polymatroid-greedy", "auto"])
    def test_a_true_one(self, method: str) -> None:
        solution = co.solve(self.infeasible, method)
        report = co.check(self.infeasible, solution)
        assert (solution.status, solution.bound, report.violations) == ("infeasible", None, ())
        assert (report.proven_infeasible, report.proven_bound) == (True, None)
        assert solution.certificate["shortage_slots"] == pytest.approx(1, rel=1e-6)

    @pytest.mark.parametrize("price", [0.0, 0.3, 1.0, 1e30])
    def test_a_false_one(self, price: float) -> None:
        for mu in (0.0, 0.5, 1.0):
            certificate = {"kind": "shortage", "prices": [price] * 2, "work_prices": [mu] * 2, "shortage_slots": 1.0}
            assert self.claim(self.feasible, certificate) == [FALSE]

    def test_a_bound_does_not_say_that_there_is_no_schedule(self) -> None:
        certificate = {"kind": "lagrangian", "prices": [3.0, 0.0], "work_prices": [4.0, 4.0]}
        assert self.claim(self.feasible, certificate) == [FALSE]

    def test_work_is_worth_1_at_most(self) -> None:
        certificate = {"kind": "shortage", "prices": [1.0] * 2, "work_prices": [1.0, 1.0, 1 + 1e-9]}
        assert self.claim(self.infeasible, certificate) == [
            "certificate: certificate.work_prices: must be 3 numbers from 0 to 1"
        ]

    def test_of_another_instance(self) -> None:
        solution = co.solve(self.infeasible, "price")
        report = co.check(by_hand(2, [1, 4], *[(0, 1, 1, [1])] * 3), solution)
        assert not report.proven_infeasible
        assert [violation.constraint for violation in report.violations] == ["instance"]

    def test_none(self) -> None:
        """Not a violation, as nothing is said to prove it; `proven_infeasible` tells."""
        assert self.claim(self.feasible, None) == []

    def test_exactly_full_is_no_shortage(self) -> None:
        certificate = {"kind": "shortage", "prices": [1.0, 1.0], "work_prices": [1.0, 1.0]}
        assert proven_bound(self.feasible, certificate, {}) == (None, ())
