"""A loop that sets a field against a loop that leaves it alone, sets it, steps it, or scales it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import names as paths
from coherence import units
from coherence.expressions import names as used
from coherence.expressions.tree import Logic, Tree
from coherence.finding import Finding, Repair, Step
from coherence.model import Interval
from coherence.phrases import Promise
from coherence.subject import Certificate, rational
from coherence.verify.patterns._pair import Numbers, Pair, every
from coherence.verify.patterns._scalers import apart
from coherence.verify.range_claims import bounds, claimed
from coherence.verify.ranges import truth
from coherence.verify.writers import Writer

ZERO_IS_OFF = ("kubernetes_hpa",)  # at 0 members the autoscaler is disabled and moves nothing


def unset(pair: Pair) -> Iterator[Finding]:
    """What is left alone is left alone: the other one is the only writer."""
    quiet = pair.of_kind("unset")
    other = pair.rival(quiet)
    if other.kind == "unset":
        return
    script = Certificate({"before": "Real", "after": "Real"}, ("(= after before)",), "(= after before)").script()
    yield pair.proved(f"{quiet.name} leaves {pair.signal} alone: {other.name} is its only writer", {}, script)


def setters(pair: Pair) -> Iterator[Finding]:
    """Two loops that set the field: they rest together only at the same value."""
    one, other = pair.values(pair.one), pair.values(pair.other)
    if pair.one.to is not None and pair.one.to == pair.other.to:
        yield _equal(pair, one)
    elif asked := _mode_missing(pair):
        yield asked
    elif _resolved_by_rank(pair):
        yield pair.undecided(
            f"the later rank of {pair.one.name} and {pair.other.name} decides {pair.signal} at each instant"
        )
    elif (found := apart(pair)) is not None:
        yield found
    else:
        yield _differ(pair, one, other)


def _equal(pair: Pair, value: Interval) -> Finding:
    low = value.low or Fraction(0)
    script = Certificate({"x": "Real"}, (f"(= x {rational(low)})",), f"(= x {rational(low)})").script()
    return pair.proved(f"{pair.one.name} and {pair.other.name} set {pair.signal} to the same value", {}, script)


def _differ(pair: Pair, one: Interval, other: Interval) -> Finding:
    """Ranges that overlap: the two values may differ."""
    if one.low is None or other.low is None:
        return pair.undecided(f"needs the values that {pair.one.name} and {pair.other.name} set")
    first, second = one.low, other.high if other.high is not None and other.high != one.low else other.low
    if first == second:
        first = one.high if one.high is not None else first
    message = f"{pair.one.name} and {pair.other.name} set {pair.signal}, and their values may differ"
    steps = [
        Step(None, f"{pair.one.name} sets {pair.shown(first)}"),
        Step(None, f"{pair.other.name} sets {pair.shown(second)}"),
    ]
    numbers: Numbers = {pair.one.name: (first, pair.unit), pair.other.name: (second, pair.unit)}
    return pair.conflict(message, numbers, steps, proposals=[pair.unset(pair.one), pair.unset(pair.other)])


def _mode_missing(pair: Pair) -> Finding | None:
    """How often a bare `set` writes decides between a fight and one write."""
    silent = [writer for writer in (pair.one, pair.other) if not writer.mode]
    return pair.undecided(f"needs mode of {silent[0].name} (always, on change or once)") if silent else None


def _resolved_by_rank(pair: Pair) -> bool:
    """Both act on conditions, at the same instants, in a stated order: the later one has the last word."""
    one, other = pair.one, pair.other
    ranks = (one.loop.rank, other.loop.rank)
    ordered = all(ranks) and ranks[0] != ranks[1] and one.period is not None and one.period == other.period
    return bool(ordered) and (one.condition is not None or other.condition is not None)


def against_scaler(pair: Pair) -> Iterator[Finding]:
    """A loop that sets the field against one that moves it as its signal asks."""
    setter, scaler = pair.of_kind("set"), pair.of_kind("scale")
    value, reach = pair.values(setter), pair.values(scaler)
    if value.exact and value == reach:
        yield _pinned(pair, setter, scaler)
    elif asked := _mode_missing(pair):
        yield asked
    elif scaler.loop.part and scaler.loop.part.text in ZERO_IS_OFF and value.exact and value.low == 0:
        yield pair.undecided(
            f"at 0 {scaler.name} is disabled and does not fight, but nothing raises {pair.signal} again"
        )
    elif (found := apart(pair)) is not None:
        yield found
    else:
        yield _undone(pair, setter, scaler, value, reach)


def _pinned(pair: Pair, setter: Writer, scaler: Writer) -> Finding:
    value = setter.values.low or Fraction(0)
    v = rational(value)
    script = Certificate(
        {"wanted": "Real", "x": "Real"},
        (f"(= x (ite (< wanted {v}) {v} (ite (> wanted {v}) {v} wanted)))",),
        f"(= x {v})",
    ).script()
    return pair.proved(
        f"{scaler.name} can only choose {pair.shown(value)}, which {setter.name} sets",
        {"value": (value, pair.unit)},
        script,
    )


def _undone(pair: Pair, setter: Writer, scaler: Writer, value: Interval, reach: Interval) -> Finding:
    """Inside the bounds: whenever the signal asks for another value, each undoes the other."""
    fixed = value.low if value.low is not None else reach.low
    other = reach.high if reach.high is not None and reach.high != fixed else reach.low
    set_to = pair.shown(fixed) if fixed is not None else "its value"
    asked = pair.shown(other) if other is not None else "another value"
    message = (
        f"{setter.name} sets {pair.signal} to {set_to} again and again, {scaler.name} moves it as its signal asks: "
        f"they undo each other whenever that is not {set_to}"
    )
    witness = [
        Step(Fraction(0), f"{pair.signal} is {set_to}; the signal of {scaler.name} asks for {asked}"),
        Step(scaler.period, f"{scaler.name} writes {asked}"),
        Step(None, f"{setter.name} writes {set_to} again ({every(setter)})"),
        Step(None, f"{scaler.name} writes {asked} again ({every(scaler)})"),
    ]
    numbers = {f"{setter.name} sets": (fixed, pair.unit)} if fixed is not None else {}
    numbers |= {
        f"{scaler.name} {end}": (v, pair.unit)
        for end, v in (("at least", reach.low), ("at most", reach.high))
        if v is not None
    }
    assumptions = [f"the signal of {scaler.name} can ask for another value than {set_to}"]
    assumptions += [f"the condition of {setter.name} can hold meanwhile"] if setter.condition is not None else []
    return pair.conflict(
        message, numbers, witness, assumptions=assumptions, proposals=[pair.unset(setter), once(pair, setter)]
    )


def once(pair: Pair, setter: Writer) -> Repair | None:
    """Write one time instead of always."""
    mode = setter.loop.actuation.mode if setter.loop.actuation else None
    return pair.rewrite(mode.place, "once") if mode is not None and mode.text == "always" else None


def against_step(pair: Pair) -> Iterator[Finding]:
    """A loop that always sets the field against one that steps it: fixed only while the step's condition is false."""
    setter, step = pair.of_kind("set"), pair.of_kind("step")
    value = pair.values(setter)
    if setter.condition is not None or setter.mode != "always" or not value.exact or value.low is None:
        return
    if step.values == value or step.loop.rules or step.condition is None or step.relay:
        return
    holds = truth(pair.facts.tree(step.condition), {**pair.facts.values, pair.signal: value})
    if holds is False or not (holds or _outside(pair, step.condition)):
        return
    shown = pair.shown(value.low)
    message = f"{setter.name} sets {pair.signal} to {shown} again and again, {step.name} steps it away while its trigger holds"
    witness = [
        Step(None, f"the trigger of {step.name} holds: it steps {pair.signal} away from {shown}"),
        Step(None, f"{setter.name} writes {shown} again ({every(setter)})"),
    ]
    assumptions = () if holds else (f"the trigger of {step.name} can hold while {pair.signal} is {shown}",)
    yield pair.conflict(
        message,
        {f"{setter.name} sets": (value.low, pair.unit)},
        witness,
        assumptions=assumptions,
        proposals=[pair.unset(setter), once(pair, setter)],
    )


def _outside(pair: Pair, condition: Tree) -> bool:
    """Is the condition about outside things alone, which may take any value?"""
    declared = paths.things(pair.subject.design)
    return all("." in path and path.partition(".")[0] not in declared for path in used(pair.facts.tree(condition)))


def transient(pair: Pair, writer: Writer) -> Iterator[Finding]:
    """A loop that writes now and then: its value lasts until the other one writes."""
    other, value = pair.rival(writer), pair.values(writer)
    if other.mode in ("once", "on change") or value.low is None:
        return
    promised = [promise for promise in pair.subject.design.promises.values() if _about(pair, promise)]
    broken = [promise for promise in promised if _holds(pair, promise, value) is False]
    if broken:
        yield from (_dips(pair, writer, other, promise, value.low) for promise in broken)
    elif other.kind == "set":
        yield from _overwritten(pair, writer, other)
    elif promised and all(_holds(pair, promise, value) for promise in promised):
        yield _kept(pair, writer, promised, value)
    else:
        yield _passing(pair, writer, other, value)


def _about(pair: Pair, promise: Promise) -> bool:
    """A promise about this field alone."""
    if promise.kind not in ("always", "never") or promise.condition is None:
        return False
    return set(used(pair.facts.tree(promise.condition.tree))) == {pair.signal}


def _claim(pair: Pair, promise: Promise) -> Tree:
    assert promise.condition is not None
    tree = pair.facts.tree(promise.condition.tree)
    return tree if promise.kind == "always" else Logic("not", (tree,))


def _holds(pair: Pair, promise: Promise, value: Interval) -> bool | None:
    return truth(_claim(pair, promise), {pair.signal: value})


def _dips(pair: Pair, writer: Writer, other: Writer, promise: Promise, value: Fraction) -> Finding:
    lasts = f"for up to {units.seconds(other.period)}" if other.period else f"until {other.name} acts"
    message = f"{promise.text}: broken {lasts} when {writer.name} writes {pair.shown(value)}"
    back = pair.values(other).low
    witness = [
        Step(
            Fraction(0),
            f"{pair.signal} is {pair.shown(back) if back is not None else 'as promised'}; {writer.name} writes {pair.shown(value)}",
        )
    ]
    witness += [
        Step(other.period, f"{other.name} brings it back" + (f" to {pair.shown(back)}" if back is not None else ""))
    ]
    places = (*pair.places(), promise.place.labelled("this promise breaks meanwhile"))
    numbers: Numbers = {f"{writer.name} writes": (value, pair.unit)}
    numbers = {**numbers, "lasts at most": (other.period, "s")} if other.period else numbers
    proposals = [pair.unset(writer), _to(pair, writer, back)]
    return pair.conflict(
        message, numbers, witness, places=places, certain=True, proposals=proposals, also=(promise.name,)
    )


def _to(pair: Pair, writer: Writer, value: Fraction | None) -> Repair | None:
    from coherence.repairs import proposal, rewrite

    return proposal(rewrite(pair.subject, writer.place, value, pair.dimension)) if value is not None else None


def _kept(pair: Pair, writer: Writer, promised: list[Promise], value: Interval) -> Finding:
    claim = (
        Logic("and", tuple(_claim(pair, promise) for promise in promised))
        if len(promised) > 1
        else _claim(pair, promised[0])
    )
    script = claimed(claim, {pair.signal: Interval(value.low, value.high)})
    return pair.proved(
        f"{writer.name} writes {pair.signal} at times, and every promise about it holds meanwhile", {}, script
    )


def _overwritten(pair: Pair, writer: Writer, other: Writer) -> Iterator[Finding]:
    """A value that another loop overwrites at once never takes effect."""
    mine, theirs = pair.values(writer), pair.values(other)
    if mine == theirs and mine.exact:
        yield _equal(pair, mine)
    elif writer.mode == "once" or mine.low is None or theirs.low is None or other.condition is not None:
        yield pair.note(
            f"what {writer.name} writes to {pair.signal} lasts until {other.name} writes ({every(other)})", {}
        )
    else:
        message = f"what {writer.name} writes to {pair.signal} never lasts: {other.name} sets {pair.shown(theirs.low)} again {every(other)}"
        steps = [
            Step(Fraction(0), f"{writer.name} writes {pair.shown(mine.low)}"),
            Step(other.period, f"{other.name} writes {pair.shown(theirs.low)}"),
        ]
        numbers: Numbers = {writer.name: (mine.low, pair.unit), other.name: (theirs.low, pair.unit)}
        proposals = [pair.unset(writer), pair.unset(other), _to(pair, other, mine.low)]
        yield pair.conflict(message, numbers, steps, proposals=proposals)


def _passing(pair: Pair, writer: Writer, other: Writer, value: Interval) -> Finding:
    """No promise about the field: inside the other's bounds nothing happens, outside it is brought back."""
    reach = pair.values(other)
    assert value.low is not None
    inside = all(reach.clip(end) == end for end in (value.low, value.high) if end is not None)
    if inside and other.kind == "scale":
        x = f"(and (<= {rational(value.low)} x) (<= x {rational(value.high or value.low)}))"
        kept = bounds("x", reach)
        script = Certificate({"x": "Real"}, (x,), f"(and {' '.join(kept)})" if kept else "true").script()
        return pair.proved(
            f"{writer.name} writes {pair.signal} at times, inside what {other.name} may choose", {}, script
        )
    lasts = f"for up to {units.seconds(other.period)}" if other.period else f"until {other.name} acts"
    return pair.note(
        f"{writer.name} moves {pair.signal} outside the bounds of {other.name} {lasts}; no promise is about it", {}
    )
