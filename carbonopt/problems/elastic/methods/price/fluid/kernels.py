"""Loops of the interior point method: one pass over jobs, their slots and their levels each.

Names as in `interior`. `th` are the barrier's weights share / reduced; `weight` is their sum over a pair,
`mean_work` and `mean_servers` the means under them; `kap` couples the levels of a pair through its
convexity row, and `open_share` is 1 - kap weight.
"""

from __future__ import annotations

from typing import NamedTuple

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.fluid.band import Band, Levels


class PairWork(NamedTuple):
    """Work space of each pair (job, slot), shape (Q,) each.

    Attributes
    ----------
    couple
        How the pair couples its job to its slot.
    weight, mean_work, mean_servers
        Sum of the barrier's weights over the pair's levels; means of work and servers under them.
    open_share, kap
        What the convexity row leaves of the weights, and by how much it couples the levels.
    step0, conv0
        Parts of a step that do not depend on the step of the prices.
    """

    couple: FloatArray
    weight: FloatArray
    mean_work: FloatArray
    mean_servers: FloatArray
    open_share: FloatArray
    kap: FloatArray
    step0: FloatArray
    conv0: FloatArray


@kernel
def residuals(
    band: Band,
    levels: Levels,
    profile: IntArray,
    share: FloatArray,
    reduced: FloatArray,
    idle: FloatArray,
    convexity: FloatArray,
    mu: FloatArray,
    prices: FloatArray,
    dual_gap: FloatArray,
    idle_gap: FloatArray,
    work: FloatArray,
    load: FloatArray,
) -> float:
    """Return the carbon of `share`; set the residuals of dual and convexity rows, work and load."""
    carbon = 0.0
    load[:] = 0.0
    for j in range(len(mu)):
        p = profile[j]
        done = 0.0
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            t = band.slot[q]
            filled = 0.0
            for i in range(band.first_column[q], band.first_column[q + 1]):
                k = band.level[i]
                c = levels.carbon[p, t, k]
                w = levels.work[p, k]
                s = levels.servers[p, k]
                dual_gap[i] = c - w * mu[j] + s * prices[t] + convexity[q] - reduced[i]
                filled += share[i]
                done += share[i] * w
                load[t] += share[i] * s
                carbon += share[i] * c
            idle_gap[q] = 1.0 - filled - idle[q]
        work[j] = done
    return carbon


@kernel
def assemble(
    band: Band,
    levels: Levels,
    profile: IntArray,
    share: FloatArray,
    reduced: FloatArray,
    idle: FloatArray,
    convexity: FloatArray,
    job_weight: FloatArray,
    slot_weight: FloatArray,
    pivot: FloatArray,
    pairs: PairWork,
    schur: FloatArray,
) -> None:
    """Set the pivots of the jobs, and the Schur complement over slots: (t, d) couples slots t and t + d."""
    schur[:] = 0.0
    for t in range(len(slot_weight)):
        schur[t, 0] = slot_weight[t]
    for j in range(len(job_weight)):
        p = profile[j]
        a = job_weight[j]
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            one = 0.0
            by_work = 0.0
            by_servers = 0.0
            for i in range(band.first_column[q], band.first_column[q + 1]):
                th = share[i] / reduced[i]
                one += th
                by_work += th * levels.work[p, band.level[i]]
                by_servers += th * levels.servers[p, band.level[i]]
            pairs.mean_work[q] = by_work / one
            pairs.mean_servers[q] = by_servers / one
            omega = convexity[q] / idle[q]
            pairs.open_share[q] = 1.0 / (1.0 + omega * one)
            pairs.kap[q] = omega * pairs.open_share[q]
            pp = pairs.mean_work[q] * pairs.mean_work[q] * one * pairs.open_share[q]
            pw = pairs.mean_work[q] * pairs.mean_servers[q] * one * pairs.open_share[q]
            ww = pairs.mean_servers[q] * pairs.mean_servers[q] * one * pairs.open_share[q]
            for i in range(band.first_column[q], band.first_column[q + 1]):  # about the means: no cancellation
                th = share[i] / reduced[i]
                k = band.level[i]
                w = levels.work[p, k] - pairs.mean_work[q]
                m = levels.servers[p, k] - pairs.mean_servers[q]
                pp += th * w * w
                pw += th * w * m
                ww += th * m * m
            pairs.weight[q] = one
            a += pp
            pairs.couple[q] = pw
            schur[band.slot[q], 0] += ww
        pivot[j] = a
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            factor = pairs.couple[q] / a
            for r in range(q, band.first_pair[j + 1]):
                schur[band.slot[q], band.slot[r] - band.slot[q]] -= factor * pairs.couple[r]


@kernel
def right_hand_side(
    band: Band,
    levels: Levels,
    profile: IntArray,
    share: FloatArray,
    reduced: FloatArray,
    convexity: FloatArray,
    pivot: FloatArray,
    pairs: PairWork,
    dual_gap: FloatArray,
    idle_gap: FloatArray,
    share_target: FloatArray,
    idle_target: FloatArray,
    job_right: FloatArray,
    slot_right: FloatArray,
) -> None:
    """Eliminate levels, convexity rows and jobs: add their part to the right-hand sides of jobs and slots."""
    for j in range(len(pivot)):
        p = profile[j]
        right = job_right[j]
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            e0 = 0.0
            ep = 0.0
            ew = 0.0
            for i in range(band.first_column[q], band.first_column[q + 1]):
                k = band.level[i]
                e = (share_target[i] - share[i] * dual_gap[i]) / reduced[i]
                e0 += e
                ep += e * (levels.work[p, k] - pairs.mean_work[q])
                ew += e * (levels.servers[p, k] - pairs.mean_servers[q])
            pairs.step0[q] = e0
            pairs.conv0[q] = (idle_target[q] - convexity[q] * idle_gap[q]) / convexity[q] * pairs.kap[q]
            common = e0 * pairs.open_share[q] - pairs.weight[q] * pairs.conv0[q]
            right -= ep + pairs.mean_work[q] * common
            slot_right[band.slot[q]] += ew + pairs.mean_servers[q] * common
        job_right[j] = right
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            slot_right[band.slot[q]] += pairs.couple[q] * right / pivot[j]


@kernel
def back_substitute(
    band: Band,
    levels: Levels,
    profile: IntArray,
    share: FloatArray,
    reduced: FloatArray,
    pivot: FloatArray,
    pairs: PairWork,
    dual_gap: FloatArray,
    idle_gap: FloatArray,
    share_target: FloatArray,
    job_right: FloatArray,
    d_prices: FloatArray,
    d_mu: FloatArray,
    d_share: FloatArray,
    d_reduced: FloatArray,
    d_idle: FloatArray,
    d_convexity: FloatArray,
) -> None:
    """Turn the step of the slot prices into the steps of everything else."""
    for j in range(len(pivot)):
        p = profile[j]
        total = job_right[j]
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            total += pairs.couple[q] * d_prices[band.slot[q]]
        step = total / pivot[j]
        d_mu[j] = step
        for q in range(band.first_pair[j], band.first_pair[j + 1]):
            price = d_prices[band.slot[q]]
            drawn = pairs.weight[q] * (pairs.mean_work[q] * step - pairs.mean_servers[q] * price)
            rise = pairs.conv0[q] + pairs.kap[q] * (pairs.step0[q] + drawn)
            d_convexity[q] = rise
            filled = 0.0
            for i in range(band.first_column[q], band.first_column[q + 1]):
                k = band.level[i]
                d_reduced[i] = dual_gap[i] - levels.work[p, k] * step + levels.servers[p, k] * price + rise
                d_share[i] = (share_target[i] - share[i] * d_reduced[i]) / reduced[i]
                filled += d_share[i]
            d_idle[q] = idle_gap[q] - filled


@kernel
def longest_step(values: FloatArray, change: FloatArray) -> float:
    """Return the largest factor of `change` that keeps `values` at least 0; at most 1e30."""
    longest = 1e30
    for i in range(len(values)):
        if change[i] < 0.0:
            longest = min(longest, -values[i] / change[i])
    return longest


@kernel
def product(values: FloatArray, others: FloatArray) -> float:
    """Return the scalar product, in one thread and always in the same order."""
    total = 0.0
    for i in range(len(values)):
        total += values[i] * others[i]
    return total
