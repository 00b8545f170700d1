"""Decides pairs of which one loop writes now and then (`once`, `on change`), until the other writer acts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, arithmetic, rational
from coherence.language.expressions.tree import Logic
from coherence.language.sentences import Promise
from coherence.model.model import Interval
from coherence.verify.facts.range_claims import bounds, claimed
from coherence.verify.facts.ranges import point
from coherence.verify.facts.writers import TRANSIENT, Writer
from coherence.verify.patterns.writers._pair import Numbers, WriterPair, every
from coherence.verify.patterns.writers._setters import equal


def transient(pair: WriterPair, writer: Writer) -> Iterator[Finding]:
    """Yields the answer about such a writer and a loop that acts again and again."""
    other, value = pair.rival(writer), pair.values(writer)
    if other.mode in TRANSIENT or value.low is None or value.high is None:
        return
    promised = pair.promises()
    broken = [(promise, bad) for promise in promised if (bad := _breaking(pair, promise, value)) is not None]
    if broken:
        yield from (_dips(pair, writer, promise, bad) for promise, bad in broken)
    elif other.kind == "set":
        yield _overwritten(pair, writer, other)
    elif promised and all(pair.holds(promise, _way_back(value, pair.values(other))) for promise in promised):
        yield _holds_meanwhile(pair, writer, promised, _way_back(value, pair.values(other)))
    elif other.kind == "scale" and writer.mode == "on change" and pair.values(other) != value:
        yield _thrown_back(pair, writer, other, value)
    else:
        yield _passing(pair, writer, other, value)


def _way_back(value: Interval, reach: Interval) -> Interval:
    """Returns all values from what is written to wherever the other writer takes it again."""
    lows, highs = (value.low, reach.low), (value.high, reach.high)
    low = None if None in lows else min(end for end in lows if end is not None)
    return Interval(low, None if None in highs else max(end for end in highs if end is not None))


def _breaking(pair: WriterPair, promise: Promise, value: Interval) -> Fraction | None:
    """Returns an end of the range of what is written with which the promise is broken."""
    ends = (end for end in (value.low, value.high) if end is not None)
    return next((end for end in ends if pair.holds(promise, point(end)) is False), None)


def _lasts(other: Writer) -> str:
    return f"for up to {render_seconds(other.period)}" if other.period else f"until {other.name} acts"


def _dips(pair: WriterPair, writer: Writer, promise: Promise, value: Fraction) -> Finding:
    """Answers that the promise about the field is broken until the other writer acts."""
    other, back = pair.rival(writer), pair.values(pair.rival(writer)).low
    message = f"{promise.text}: broken {_lasts(other)} when {writer.name} writes {pair.shown(value)}"
    before = pair.shown(back) if back is not None else "as promised"
    witness = [
        Step(Fraction(0), f"{pair.signal} is {before}; {writer.name} writes {pair.shown(value)}"),
        Step(other.period, f"{other.name} brings it back" + (f" to {pair.shown(back)}" if back is not None else "")),
    ]
    numbers: Numbers = {f"{writer.name} writes": (value, pair.unit)}
    numbers = {**numbers, "lasts at most": (other.period, "s")} if other.period else numbers
    places = (*pair.places(), promise.place.labelled("this promise breaks meanwhile"))
    proposals = [repair for repair in (pair.unset(writer), _to(pair, writer, back)) if repair is not None]
    return pair.question.conflict(
        message, places, (*pair.names, promise.name), arithmetic(numbers, witness=witness),
        certain=pair.holds(promise, pair.values(writer)) is False, repairs=proposals,
    )  # fmt: skip


def _to(pair: WriterPair, writer: Writer, value: Fraction | None) -> Repair | None:
    if value is None:
        return None
    return repairs.proposal(repairs.rewrite(pair.subject, writer.place, value, pair.dimension))


def _holds_meanwhile(pair: WriterPair, writer: Writer, promised: list[Promise], value: Interval) -> Finding:
    claims = tuple(pair.claim(promise) for promise in promised)
    script = claimed(Logic("and", claims) if len(claims) > 1 else claims[0], {pair.signal: value})
    message = f"{writer.name} writes {pair.signal} at times, and every promise about it holds meanwhile"
    return pair.proved(message, {}, script, promised)


def _thrown_back(pair: WriterPair, writer: Writer, other: Writer, value: Interval) -> Finding:
    """Answers that each write throws away what an autoscaler chose, until that acts again."""
    reach = pair.values(other)
    written, chosen = next(
        ((a, b) for a in (value.low, value.high) for b in (reach.high, reach.low) if None not in (a, b) and a != b),
        (value.low, reach.low),
    )
    shown = pair.shown(written) if written is not None else "its value"
    drop = f"{pair.shown(chosen)} -> {shown}" if chosen is not None else f"to {shown}"
    message = f"whenever {writer.name} writes, it throws back what {other.name} chose: {pair.signal} {drop} "
    message += f"until {other.name} acts again" + (f" ({render_seconds(other.period)})" if other.period else "")
    witness = [
        Step(Fraction(0), f"{other.name} has moved {pair.signal}; {writer.name} writes: {drop}"),
        Step(other.period, f"{other.name} moves it again, as fast as its rate limits let it"),
    ]
    stated = {
        f"{writer.name} writes": written,
        f"{other.name} at most": reach.high,
        f"{other.name} at least": reach.low,
    }
    numbers: Numbers = {name: (number, pair.unit) for name, number in stated.items() if number is not None}
    numbers = {**numbers, "lasts at least": (other.period, "s")} if other.period else numbers
    assumptions = [f"{writer.name} writes again after {other.name} has acted"]
    return pair.conflict(
        message, arithmetic(numbers, witness=witness), assumptions=assumptions, proposals=[pair.unset(writer)]
    )


def _overwritten(pair: WriterPair, writer: Writer, other: Writer) -> Finding:
    """Answers that a value that another loop overwrites at its next write never takes effect."""
    mine, theirs = pair.values(writer), pair.values(other)
    if mine == theirs and mine.exact:
        return equal(pair)
    if writer.mode == "once" or mine.low is None or theirs.low is None or other.condition is not None:
        lasts = f"lasts until {other.name} writes ({every(other)})"
        return pair.note(f"what {writer.name} writes to {pair.signal} {lasts}", {})
    again = f"{other.name} sets {pair.shown(theirs.low)} again {every(other)}"
    message = f"what {writer.name} writes to {pair.signal} never lasts: {again}"
    witness = [
        Step(Fraction(0), f"{writer.name} writes {pair.shown(mine.low)}"),
        Step(other.period, f"{other.name} writes {pair.shown(theirs.low)}"),
    ]
    numbers: Numbers = {writer.name: (mine.low, pair.unit), other.name: (theirs.low, pair.unit)}
    proposals = [pair.unset(writer), pair.unset(other), _to(pair, other, mine.low)]
    return pair.conflict(message, arithmetic(numbers, witness=witness), proposals=proposals)


def _passing(pair: WriterPair, writer: Writer, other: Writer, value: Interval) -> Finding:
    """Answers that no promise is about the field: one write inside the other's bounds is no fight, one outside is
    brought back."""
    reach = pair.values(other)
    inside = all(reach.clip(end) == end for end in (value.low, value.high) if end is not None)
    if inside and other.kind == "scale" and value.low is not None and value.high is not None:
        within = bounds("x", reach)
        written = f"(and (<= {rational(value.low)} x) (<= x {rational(value.high)}))"
        script = Certificate({"x": "Real"}, (written,), f"(and true {' '.join(within)})").script()
        message = f"{writer.name} writes {pair.signal} at times, inside what {other.name} may choose"
        return pair.proved(message, {}, script)
    where = f"moves {pair.signal} outside the bounds of {other.name} {_lasts(other)}"
    return pair.note(f"{writer.name} {where}; no promise is about it", {})
