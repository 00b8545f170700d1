"""Asks a Prometheus for missing facts: ranges of what was measured, and of what was not why, and what was tried.

Nothing that a server answers is trusted: what is no number, negative or beyond reason makes no range, and starts that
never ended make none either, for the longest of the others is not the longest.  A range holds all samples, or a stated
share of them.

SOURCE: Prometheus documentation, Histograms and summaries: `le` is an inclusive upper bound, buckets are cumulative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.causal.telemetry.http_config import NO_LOGIN, HttpLogin
from coherence.causal.telemetry.prometheus import ReadLimits, ServerRead, series_of, server_read
from coherence.causal.telemetry.prometheus_answers import QueryRefusedError, Series
from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget
from coherence.checking.measured.facts import kind_modules

LIMITS = ReadLimits(answer_seconds=30, seconds=120, answer_bytes=16 << 20, series=200_000, points=1_000_000)
STEPS = 500  # of a window, for what changes over time
MOST = Fraction(10**15)
LONGEST = Fraction(10**9)  # s: 30 years
ZERO, WHOLE = Fraction(0), Fraction(1)
SAME = 1e-9  # counts of buckets that differ by this share are one


@dataclass(frozen=True)
class Measured:
    """What a query says of a fact: from low to high, of so many samples, and of how many there were in all."""

    low: Fraction
    high: Fraction
    samples: int
    query: FactQuery
    others: int = 0


@dataclass(frozen=True)
class Answered:
    """A fact with what was measured; None with the reasons of every query that was tried."""

    fact: AskedFact
    measured: Measured | None
    tried: tuple[tuple[FactQuery, str], ...] = ()


@dataclass(frozen=True)
class Settings:
    """When and what is measured: the end of the window (s since 1970), the share of samples that a range holds, and
    the queries of the user by the names of facts.
    """

    end: float
    share: Fraction = WHOLE
    own: Mapping[str, str] | None = None
    limits: ReadLimits = LIMITS
    login: HttpLogin = NO_LOGIN


class NoRangeError(Exception):
    """Why the answer to a query gives no range, in words."""


def measured_facts(
    url: str, facts: Mapping[AskedFact, FactTarget], settings: Settings, step: Callable[[], object] = lambda: None
) -> tuple[Answered, ...]:
    """Returns what a Prometheus knows of each fact.  Raises UsageError where it cannot be read; `step` counts facts."""
    read, answers = server_read(url, settings.limits, settings.login), []
    for fact, target in facts.items():
        answers.append(_answered(read, fact, target, settings))
        step()
    return tuple(answers)


def queries_of(fact: AskedFact, target: FactTarget, settings: Settings) -> tuple[FactQuery, ...]:
    """Returns what is asked for a fact: the query of the user, else the usual ones."""
    own = (settings.own or {}).get(fact.name)
    if own is not None:
        return (FactQuery(own, "your query", "any"),)
    return tuple(kind_modules()[fact.kind].queries(fact, target))


def _answered(read: ServerRead, fact: AskedFact, target: FactTarget, settings: Settings) -> Answered:
    """Returns what the first query with samples says; one that a server refuses does not stop the others."""
    tried: list[tuple[FactQuery, str]] = []
    for query in queries_of(fact, target, settings):
        try:
            measured = _measured(read, query, target, settings)
            _refuse_absurd(measured, fact.unit)
        except NoRangeError as error:
            tried.append((query, str(error)))
            continue
        except QueryRefusedError as error:
            tried.append((query, f"refused: {error}"))
            continue
        return Answered(fact, measured, tuple(tried))
    return Answered(fact, None, tuple(tried))


def _measured(read: ServerRead, query: FactQuery, target: FactTarget, settings: Settings) -> Measured:
    end = math.floor(settings.end)
    if query.reading == "over time":
        step = max(15, -(-target.window // STEPS))
        values = _of_one(series_of(read, query.promql, end - target.window, end, step))
        return _range(query, values, settings.share)
    series = series_of(read, query.promql, end, end, 1)
    if not series:
        raise NoRangeError("no samples")
    bounds = [dict(labels).get("le") for labels in series]
    if query.reading == "histogram" or (query.reading == "any" and all(bounds)):
        return _of_buckets(query, {le or "": points[-1][1] for le, points in zip(bounds, series.values(), strict=True)},
                           settings.share)  # fmt: skip
    samples = _range(query, [points[-1][1] for points in series.values()], settings.share)
    return replace(samples, others=_others(read, query, end, samples.samples))


def _of_one(series: Series) -> list[float]:
    if len(series) > 1:
        raise NoRangeError(f"{len(series)} series, where one is asked for")
    return [float(level) for points in series.values() for level in points[:, 1]]


def _range(query: FactQuery, values: list[float], share: Fraction) -> Measured:
    """Returns the least and the largest value of a share of the samples, the shares left out equal on both sides."""
    if not values:
        raise NoRangeError("no samples")
    wrong = [value for value in values if not math.isfinite(value) or value < 0]
    if wrong:
        raise NoRangeError(f"{len(wrong)} of {len(values)} samples are no amounts, such as {wrong[0]:g}")
    ordered, scale = sorted(values), Fraction(query.scale)
    cut = math.floor((WHOLE - share) / 2 * len(ordered))
    within = ordered[cut : len(ordered) - cut]
    return Measured(Fraction(within[0]) * scale, Fraction(within[-1]) * scale, len(values), query)


def _others(read: ServerRead, query: FactQuery, end: int, measured: int) -> int:
    """Returns how many of all there were have no value."""
    if not query.of_all:
        return 0
    counts = [points[-1][1] for points in series_of(read, query.of_all, end, end, 1).values()]
    if len(counts) != 1 or not math.isfinite(counts[0]) or not 0 <= counts[0] < 1e9:
        raise NoRangeError(f"of how many is not known: {query.of_all} gives no one number")
    return max(0, int(counts[0]) - measured)


def _of_buckets(query: FactQuery, buckets: Mapping[str, float], share: Fraction) -> Measured:
    """Returns the bounds of the buckets that hold a share of the samples."""
    counts = sorted(_bucket(le, count) for le, count in buckets.items())
    total = counts[-1][1]
    if counts[-1][0] != math.inf:
        raise NoRangeError('the buckets lack le="+Inf"')
    if total <= 0:
        raise NoRangeError("no samples")
    slack = SAME * total
    if any(after < before - slack for (_, before), (_, after) in itertools.pairwise(counts)):
        raise NoRangeError("the counts of larger buckets are smaller: these are no cumulative buckets")
    cut = float((WHOLE - share) / 2) * total
    high = next(bound for bound, count in counts if count >= total - cut - slack)
    low = max((bound for bound, count in counts if count <= cut + slack and bound < high), default=0.0)
    if high == math.inf:
        beyond = total - counts[-2][1] if len(counts) > 1 else total
        raise NoRangeError(f"{_count(beyond)} of {_count(total)} samples are above the largest bucket")
    scale = Fraction(query.scale)
    return Measured(_exact(max(low, 0.0)) * scale, _exact(high) * scale, max(1, round(total)), query)


def _bucket(le: str, count: float) -> tuple[float, float]:
    try:
        bound = float(le)
    except ValueError:
        bound = math.nan
    if math.isnan(bound):
        raise NoRangeError("a series has no `le` that is a number: this is no histogram")
    if not math.isfinite(count) or count < 0:
        raise NoRangeError(f"the bucket {le} holds {count:g} samples")
    return bound, count


def _exact(bound: float) -> Fraction:
    """Returns the decimal that the server wrote."""
    return Fraction(repr(bound))


def _count(number: float) -> str:
    return f"{max(1, round(number)):,}"


def _refuse_absurd(measured: Measured, unit: str) -> None:
    """Raises NoRangeError for what no system has."""
    most = LONGEST if unit == "s" else MOST
    if measured.high > most:
        raise NoRangeError(f"{float(measured.high):.3g} {unit} is beyond reason".replace("  ", " "))
    if unit == "s" and measured.high == 0:
        raise NoRangeError("all samples are 0")


def unasked(facts: Mapping[AskedFact, FactTarget]) -> Iterator[Answered]:
    """Yields the facts of which nobody was asked."""
    yield from (Answered(fact, None) for fact in facts)


__all__ = ["Answered", "Measured", "Settings", "measured_facts", "queries_of", "unasked"]
