"""Decides pairs of which one loop sets a field repeatedly, and the other leaves, sets, steps or scales it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, arithmetic, rational
from coherence.language import names as paths
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Tree
from coherence.model.model import Interval
from coherence.verify.facts.ranges import truth
from coherence.verify.facts.writers import Writer
from coherence.verify.patterns.writers import _stated_signals
from coherence.verify.patterns.writers._pair import Numbers, WriterPair, every
from coherence.verify.patterns.writers._scalers import HPAS, apart, scaler_of


def unset(pair: WriterPair) -> Iterator[Finding]:
    """What is left alone is left alone: the other one is the only writer."""
    quiet = pair.of_kind("unset")
    other = pair.rival(quiet)
    if other.kind != "unset":
        script = Certificate({"before": "Real", "after": "Real"}, ("(= after before)",), "(= after before)").script()
        promised = [promise for promise in pair.promises() if pair.holds(promise, pair.values(other))]
        yield pair.proved(
            f"{quiet.name} leaves {pair.signal} alone: {other.name} is its only writer", {}, script, promised
        )


def off(pair: WriterPair) -> Finding | None:
    """Returns the proof that the two rest together where one sets what the other one is off at (`off_at`)."""
    for resting, setter in ((pair.first, pair.second), (pair.second, pair.first)):
        stated = resting.loop.actuation.off_at if resting.loop.actuation is not None else None
        own, value = pair.values(resting), pair.values(setter)
        part = resting.loop.part.text if resting.loop.part is not None else ""
        if stated is None or part in HPAS or own.low is None or own.low <= stated.low or setter.kind != "set":
            continue
        if value.exact and value.low == stated.low:
            v = rational(stated.low)
            fact = f"(= after (ite (= before {v}) {v} wanted))"
            names = {"before": "Real", "after": "Real", "wanted": "Real"}
            script = Certificate(names, (fact, f"(= before {v})"), f"(= after {v})").script()
            at = pair.shown(stated.low)
            return pair.proved(f"at {at}, which {setter.name} sets, {resting.name} is off (`off_at`)", {}, script)
    return None


def setters(pair: WriterPair) -> Iterator[Finding]:
    """Two loops that set the field: they rest together only at the same value."""
    first, second = pair.values(pair.first), pair.values(pair.second)
    if (pair.first.to is not None and pair.first.to == pair.second.to) or (first.exact and first == second):
        yield equal(pair)
    elif missing := mode_missing(pair):
        yield missing
    elif _resolved_by_rank(pair):
        both = f"{pair.first.name} and {pair.second.name}"
        yield pair.undecided(f"the later rank of {both} decides {pair.signal} at each instant")
    elif (separate := apart(pair)) is not None:
        yield separate
    else:
        yield _differ(pair, first, second)


def equal(pair: WriterPair) -> Finding:
    """Answers that both set the same value, whatever it is."""
    names = {"value": "Real", "first": "Real", "second": "Real"}
    script = Certificate(names, ("(= first value)", "(= second value)"), "(= first second)").script()
    return pair.proved(f"{pair.first.name} and {pair.second.name} set {pair.signal} to the same value", {}, script)


def _differ(pair: WriterPair, left: Interval, other: Interval) -> Finding:
    """Answers where ranges overlap: the two values may differ."""
    ends = [(a, b) for a in (left.low, left.high) for b in (other.high, other.low) if a is not None and b is not None]
    first, second = next(((a, b) for a, b in ends if a != b), (None, None))
    if first is None or second is None:
        return pair.undecided(f"needs the values that {pair.first.name} and {pair.second.name} set")
    message = f"{pair.first.name} and {pair.second.name} set {pair.signal}, and their values may differ"
    witness = [
        Step(None, f"{pair.first.name} sets {pair.shown(first)}"),
        Step(None, f"{pair.second.name} sets {pair.shown(second)}"),
    ]
    numbers: Numbers = {pair.first.name: (first, pair.unit), pair.second.name: (second, pair.unit)}
    proposals = [pair.unset(pair.first), pair.unset(pair.second)]
    return pair.conflict(message, arithmetic(numbers, witness=witness), proposals=proposals)


def mode_missing(pair: WriterPair) -> Finding | None:
    """Answers that how often a bare `set` writes decides between a fight and one write."""
    silent = [writer for writer in (pair.first, pair.second) if not writer.mode]
    return pair.undecided(f"needs mode of {silent[0].name} (always, on change or once)") if silent else None


def _resolved_by_rank(pair: WriterPair) -> bool:
    """Both act on conditions, at the same instants, in a stated order: the later one has the last word."""
    first, second = pair.first, pair.second
    ranks = (first.loop.rank, second.loop.rank)
    ordered = all(ranks) and ranks[0] != ranks[1] and first.period is not None and first.period == second.period
    return bool(ordered) and (first.condition is not None or second.condition is not None)


def against_scaler(pair: WriterPair) -> Iterator[Finding]:
    """Yields a loop that sets the field against one that moves it as its signal asks."""
    setter, scaler = pair.of_kind("set"), pair.of_kind("scale")
    value, reach = pair.values(setter), pair.values(scaler)
    if value.exact and value == reach:
        yield _pinned(pair, setter, scaler)
    elif missing := mode_missing(pair):
        yield missing
    elif value.exact and value.low == 0 and _off_at_zero(pair, setter, scaler):
        off = f"at 0 {scaler.name} is disabled and does not fight"
        yield pair.undecided(f"{off}; needs what raises {pair.signal} from 0 again")
    elif (separate := apart(pair)) is not None:
        yield separate
    elif (case := _stated(pair, setter, scaler)) is not None:
        yield _stated_signals.answer(case)
    else:
        yield _undone(pair, setter, scaler)


def _stated(pair: WriterPair, setter: Writer, scaler: Writer) -> _stated_signals.StatedPair | None:
    """Returns the two maps in declared order, where the one value and the signal are stated."""
    value, law = pair.values(setter), scaler_of(pair, scaler)
    if isinstance(law, str) or not value.exact or value.low is None:
        return None
    fixed = _stated_signals.Setter(value.low)
    return _stated_signals.stated(pair, *((fixed, law) if setter is pair.first else (law, fixed)))


def _off_at_zero(pair: WriterPair, setter: Writer, scaler: Writer) -> bool:
    """Decides whether 0 members disable the autoscaler: an HPA always, the one of KEDA where its own trigger is idle.

    An HPA at 0 is in implicit maintenance mode; KEDA brings back its minimum, unless the setter is its own cooldown:
    it acts on what KEDA itself reads.
    """
    if scaler.loop.part is None or scaler.loop.part.text not in HPAS:
        return False
    target = scaler.loop.target
    seen = set(used(pair.facts.tree(target.signal.tree))) if target is not None and target.signal is not None else set()
    cooldown = setter.condition is not None and seen & set(used(pair.facts.tree(setter.condition)))
    return scaler.loop.part.text == "kubernetes_hpa" or bool(cooldown)


def _pinned(pair: WriterPair, setter: Writer, scaler: Writer) -> Finding:
    low = pair.values(setter).low or Fraction(0)
    v = rational(low)
    fact = f"(= x (ite (< wanted {v}) {v} (ite (> wanted {v}) {v} wanted)))"
    script = Certificate({"wanted": "Real", "x": "Real"}, (fact,), f"(= x {v})").script()
    message = f"{scaler.name} can only choose {pair.shown(low)}, which {setter.name} sets"
    return pair.proved(message, {"value": (low, pair.unit)}, script)


def _undone(pair: WriterPair, setter: Writer, scaler: Writer) -> Finding:
    """Inside the bounds: whenever the signal asks for another value, each undoes the other."""
    value, reach = pair.values(setter), pair.values(scaler)
    fixed = value.low if value.low is not None else reach.low
    other = reach.high if reach.high is not None and reach.high != fixed else reach.low
    set_to = pair.shown(fixed) if fixed is not None else "its value"
    wanted = pair.shown(other) if other is not None else "another value"
    message = (
        f"{setter.name} sets {pair.signal} to {set_to} again and again, {scaler.name} moves it as its signal asks: "
        f"they undo each other whenever that is not {set_to}"
    )
    witness = [
        Step(Fraction(0), f"{pair.signal} is {set_to}; the signal of {scaler.name} asks for {wanted}"),
        Step(scaler.period, f"{scaler.name} writes {wanted}"),
        Step(None, f"{setter.name} writes {set_to} again ({every(setter)})"),
        Step(None, f"{scaler.name} writes {wanted} again ({every(scaler)})"),
    ]
    stated = {f"{setter.name} sets": fixed, f"{scaler.name} at least": reach.low, f"{scaler.name} at most": reach.high}
    numbers: Numbers = {name: (number, pair.unit) for name, number in stated.items() if number is not None}
    assumptions = [f"the signal of {scaler.name} can ask for another value than {set_to}"]
    assumptions += [f"the condition of {setter.name} can hold meanwhile"] if setter.condition is not None else []
    proposals = [pair.unset(setter), _once(pair, setter)]
    return pair.conflict(message, arithmetic(numbers, witness=witness), assumptions=assumptions, proposals=proposals)


def _once(pair: WriterPair, setter: Writer) -> Repair | None:
    """Write one time instead of always."""
    mode = setter.loop.actuation.mode if setter.loop.actuation else None
    return pair.rewrite(mode.place, "once") if mode is not None and mode.text == "always" else None


def against_step(pair: WriterPair) -> Iterator[Finding]:
    """Yields a loop that always sets the field against one that steps it: fixed only while the step's condition is
    false.
    """
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
    message = (
        f"{setter.name} sets {pair.signal} to {shown} again and again, "
        f"{step.name} steps it away while its trigger holds"
    )
    witness = [
        Step(None, f"the trigger of {step.name} holds: it steps {pair.signal} away from {shown}"),
        Step(None, f"{setter.name} writes {shown} again ({every(setter)})"),
    ]
    evidence = arithmetic({f"{setter.name} sets": (value.low, pair.unit)}, witness=witness)
    assumptions = () if holds else (f"the trigger of {step.name} can hold while {pair.signal} is {shown}",)
    proposals = [pair.unset(setter), _once(pair, setter)]
    yield pair.conflict(message, evidence, assumptions=assumptions, proposals=proposals)


def _outside(pair: WriterPair, condition: Tree) -> bool:
    """Returns whether the condition is about outside things alone, which may take any value."""
    declared = paths.things(pair.subject.design)
    return all("." in path and path.partition(".")[0] not in declared for path in used(pair.facts.tree(condition)))
