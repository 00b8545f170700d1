"""Rows about systems whose causal truth is known: coverage of intervals, exact sums, right refusals, false alarms.

The truth of a share is the true coefficient times the realised mean of the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.harness import Row
from bench.known_systems import KnownSystem, known_systems
from bench.known_systems.changing import change, shifted, steady
from coherence.base.errors import UsageError
from coherence.causal.answers.intervals import Estimate
from coherence.causal.attribution.changes import change_points
from coherence.causal.attribution.loops_off import loop_split
from coherence.causal.attribution.queries import do
from coherence.causal.attribution.split import split
from coherence.causal.attribution.variance import variance
from coherence.causal.attribution.windows import compare
from coherence.causal.fitting.effects import CauseShare
from coherence.causal.fitting.fit import fit, supported

SEEDS, MANY, LENGTH = 200, 1000, 2000  # many: where a run takes milliseconds, so that chance decides less
SLOW = frozenset({"null", "retry_timeout", "barrier_max", "saturating_queue"})
LOW, HIGH = 0.93, 0.97
LONG = 4000


def rows() -> Iterator[Row]:
    """All rows."""
    sums = [0.0]
    for name in known_systems():
        yield from _kind(name, sums)
    yield Row("shares + unexplained - measured loss, largest over every kind", max(sums), "<= 1e-9", "relative")
    yield from _nulls()
    yield from _loops()
    yield from _windows(sums)
    yield from _regimes()
    yield from _variances()


def inside(truth: float, found: Estimate) -> bool:
    """Is the truth in the interval?  Numbers that nothing makes uncertain may differ by rounding."""
    slack = 1e-9 * max(abs(truth), 1.0)
    return found.low - slack <= truth <= found.high + slack


def _shares(
    made: KnownSystem,
) -> tuple[dict[str, CauseShare], Estimate, float, list[frozenset[str]], frozenset[frozenset[str]]]:
    fitted = fit(made.series, made.graph)
    found = split(made.series, fitted, made.loss, constants=made.constants)
    told = found.attribution
    refused = [frozenset(share.members) for share in told.shares if share.refused]
    met = frozenset(frozenset(one.players) for one in found.interactions)
    return {share.cause: share for share in told.shares}, told.unexplained, told.error, refused, met


def _kind(name: str, sums: list[float]) -> Iterator[Row]:
    """Coverage of one kind's shares with its remainder, over all of them; refusals and interactions in every run."""
    hits: list[bool] = []
    refusals = interactions = 0
    made = known_systems()[name](0, LENGTH)
    seeds = SEEDS if name in SLOW else MANY
    for seed in range(seeds):
        made = known_systems()[name](seed, LENGTH)
        shares, rest, error, refused, met = _shares(made)
        sums.append(error)
        refusals += set(refused) == set(made.together)
        interactions += set(made.interactions) <= met
        hits += [inside(truth, shares[cause].amount) for cause, truth in made.shares.items() if cause in shares]
        if not any(made.loss in group for group in made.together) and rest.error > 1e-9 * abs(rest.value):
            hits.append(inside(made.remainder, rest))
    label = name.replace("_", " ")
    if hits:
        yield from _coverage(f"{label}: coverage of shares, {seeds} seeds", float(np.mean(hits)), len(hits))
    what = "refused, and only what must be" if made.together else "nothing refused"
    yield Row(f"{label}: {what}", refusals / seeds, ">= 1", "of runs")
    if made.interactions:
        yield Row(f"{label}: the pair is named", interactions / seeds, ">= 1", "of runs")


def _coverage(what: str, found: float, count: int) -> Iterator[Row]:
    yield Row(f"{what}: lower bound", found, f">= {LOW}", f"of {count}", "95 % asked")
    yield Row(f"{what}: upper bound", found, f"<= {HIGH}", f"of {count}", "95 % asked")


def _nulls() -> Iterator[Row]:
    """Twenty autocorrelated signals that do nothing: is any of them blamed?  By Bonferroni over the family at 1 %."""
    blamed = discovered = 0
    for seed in range(SEEDS):
        made = known_systems()["null"](seed, LENGTH)
        fitted = fit(made.series, made.graph)
        node = fitted.nodes["loss"]
        p = dict(zip((cause for cause, _ in node.equation.columns), node.p.tolist(), strict=True))
        blamed += any(value <= 0.01 / len(p) for cause, value in p.items() if cause != "a")
        found = supported(fitted)
        discovered += any(told for (cause, _), told in found.items() if cause != "a")
    peer = f"false-discovery rule at 5 % of all pairs: {discovered / SEEDS:.3f}"
    yield Row("any of 20 autocorrelated nulls blamed (family at 1 %)", blamed / SEEDS, "<= 0.01", "of runs", peer)


def _loops() -> Iterator[Row]:
    hits, queries = [], []
    for seed in range(SEEDS):
        made = known_systems()["lagged_feedback"](seed, LENGTH)
        fitted = fit(made.series, made.graph)
        hits.append(inside(made.off["retry"], loop_split(made.series, fitted, "load", ["retry"]).without))
        own = float(made.series["retries"][1:].mean() - 0.5 * made.series["load"][1:].mean())
        queries.append(inside(0.5 * 2.0 + own, do(made.series, fitted, {"load": 2.0}, on=["retries"])[0].level))
    yield from _coverage("lagged feedback: loss with the loop off", float(np.mean(hits)), SEEDS)
    yield from _coverage("lagged feedback: do(load = 2)", float(np.mean(queries)), SEEDS)


def _windows(sums: list[float]) -> Iterator[Row]:
    pairs = {
        "mechanism and input": partial(change),
        "input alone": partial(change, strength=0.8),
        "neither": partial(change, strength=0.8, demand=0.0),
    }
    for name, make in pairs.items():
        hits: list[bool] = []
        false = missed = 0
        made = make(0, LENGTH)
        for seed in range(MANY):
            made = make(seed, LENGTH)
            found = compare(made.before, made.after, made.graph, "loss")
            sums.append(found.error)
            told = {one.signal for one in found.mechanisms if one.changed}
            false += bool(told - made.changed)
            missed += bool(made.changed - told)
            amounts = {(one.cause, one.kind): one.amount for one in found.contributions}
            hits += [inside(truth, amounts[key]) for key, truth in made.contributions.items() if key in amounts]
        yield from _coverage(f"two windows, {name} changed: contributions", float(np.mean(hits)), len(hits))
        yield Row(f"two windows, {name}: a mechanism wrongly called changed", false / MANY, "<= 0.03", "of runs")
        if made.changed:
            yield Row(f"two windows, {name}: the change missed", missed / MANY, "<= 0.01", "of runs")


def _regimes() -> Iterator[Row]:
    for rho, length in {0.0: 1000, 0.6: 2000, 0.8: 4000, 0.95: 10_000}.items():
        false = asked = found = 0
        for seed in range(SEEDS):
            values, place = shifted(seed + 1000, length, rho=rho)
            try:
                false += bool(change_points(steady(seed, length, rho=rho)))
                asked += 1
                found += any(abs(row - place) <= 0.02 * length for row, _ in change_points(values))
            except UsageError:
                continue
        if asked:
            what = f"change of level, {length} samples of autocorrelation {rho:g}"
            yield Row(f"{what}: false alarms", false / asked, "<= 0.05", f"of {asked} runs")
            yield Row(f"{what}: two deviations found within 2 %", found / asked, ">= 0.95", f"of {asked} runs")


def _variances() -> Iterator[Row]:
    made = [known_systems()["mediated"](seed, LONG) for seed in range(20)]
    worst = max(variance(fit(one.series, one.graph), "loss").error for one in made)
    yield Row("variance shares: sum - variance", worst, "<= 1e-9", "relative")
