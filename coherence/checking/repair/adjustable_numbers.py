"""Lists the adjustable numbers of a design: settings of its policies, each with its place and its range.

An adjustable number is one of a call, timer, limit or loop, or the number of copies of a component.  What the world
does is none: how long an activity takes, how a call fails, what arrives, what a promise asks for.  A part says of each
of its parameters whether a repair may change it, and within which range; what it forbids is none either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from coherence.base import units
from coherence.base.number_text import render_decimal, render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE, Dimension
from coherence.findings import repairs
from coherence.findings.finding import Edit
from coherence.findings.question_input import Subject
from coherence.language import catalogue
from coherence.language.design import Actuation, Call, Component, Limit, Loop, Pause, Relay, Timer
from coherence.language.document import Scalar, Table
from coherence.language.expressions.tree import Compare, Number, walk
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.sentences import SensorLink

MOST = Fraction(10**12)
COUNTS = ("tries", "misses", "copies")
STEPS = ("actuation.by", "rules.by")
Policy = Call | Timer | Limit | Loop | Component


@dataclass(frozen=True)
class AdjustableNumber:
    """One number: whose it is, its key there, its value (SI), and the lowest and highest that it may take.

    `quantity` is None for a number inside an expression.  `anchor` is where a default of a part is written out.
    """

    owner: str
    key: str
    place: Place
    value: Fraction
    dimension: Dimension
    low: Fraction
    high: Fraction | None
    whole: bool
    quantity: Quantity | None = None
    anchor: Place | None = None

    def edit(self, subject: Subject, value: Fraction) -> Edit | None:
        """Returns the edit that writes another value (SI); None where it cannot stand there."""
        if self.anchor is not None:
            text = render_decimal(value) if self.dimension == ONE else render_quantity(value, self.dimension)
            return repairs.insert(subject, self.anchor, *_nested(self.key, text))
        if self.quantity is not None and self.quantity.place == self.place:
            return repairs.change(subject, self.quantity, value)
        return repairs.rewrite(subject, self.place, value, self.dimension)


def _nested(key: str, text: str) -> tuple[str, str]:
    first, _, inner = key.partition(".")
    return (first, f"{{{inner}: {text}}}") if inner else (first, text)


def adjustable_numbers(subject: Subject) -> tuple[AdjustableNumber, ...]:
    """Returns every adjustable number of a design, in the order in which the design names its policies."""
    return tuple(number for number, allowed in _all(subject) if allowed or allowed is None)


def forbidden(subject: Subject) -> frozenset[Place]:
    """Returns the places of numbers that a part does not let a repair change."""
    return frozenset(number.place for number, allowed in _all(subject) if allowed is False)


def _all(subject: Subject) -> Iterator[tuple[AdjustableNumber, bool | None]]:
    """Yields each number with what its part says of changing it (None: nothing)."""
    for section, owner, policy in _policies(subject):
        part = policy.part.text if isinstance(policy.part, Word) else ""
        for key, stated in _settings(policy):
            allowed, low, high = _rule(section, part, key)
            if section == "components" and key != "copies" and allowed is None:
                continue  # what the world does
            for number in _numbers_in(subject, owner, key, stated, policy):
                if number.place.file in subject.sources or number.anchor is not None:
                    least = number.low if low is None else low
                    least = max(least, Fraction(1)) if key in COUNTS else least
                    yield replace(number, low=least, high=number.high if high is None else high), allowed


def _policies(subject: Subject) -> Iterator[tuple[str, str, Policy]]:
    design = subject.design
    yield from (("calls", call.name, call) for call in design.calls)
    yield from (("timers", name, timer) for name, timer in design.timers.items())
    yield from (("limits", name, limit) for name, limit in design.limits.items())
    yield from (("loops", name, loop) for name, loop in design.loops.items())
    yield from (("components", name, component) for name, component in design.components.items())


def _settings(policy: Policy) -> Iterator[tuple[str, object]]:
    """Yields (key, value) of every setting that may hold numbers."""
    match policy:
        case Call():
            yield from (("deadline", policy.deadline), ("per_try", policy.per_try))
            yield from (("tries", tries) for tries in policy.tries)
            pause = policy.pause
            yield from (
                [("pause.base", pause.base), ("pause.cap", pause.cap)]
                if isinstance(pause, Pause)
                else [("pause", pause)]
            )
        case Timer():
            for key in ("after", "first", "every", "misses", "reply_within", "renew"):
                yield key, getattr(policy, key)
        case Limit():
            yield from ((key, getattr(policy, key)) for key in ("at_most", "at_least", "but_at_least", "window"))
        case Loop():
            yield from _of_loop(policy)
        case Component():
            yield "copies", policy.copies
            yield from policy.constants.items()


def _of_loop(loop: Loop) -> Iterator[tuple[str, object]]:
    if loop.timescale is not None:
        for key in ("period", "hold_down", "hold_up", "cooldown"):
            yield f"timescale.{key}", getattr(loop.timescale, key)
    if loop.target is not None:
        yield from (("target.setpoint", loop.target.setpoint), ("target.tolerance", loop.target.tolerance))
        yield from (("target.sensor", link) for link in loop.target.sensor)
    relay = loop.trigger
    conditions = (relay.enter, relay.leave) if isinstance(relay, Relay) else (relay,)
    yield from (("trigger", condition) for condition in conditions)
    for rule in loop.rules:
        yield from (("rules", rule.when), ("rules.by", rule.by), ("rules", rule.to))
    if loop.actuation is not None:
        yield from _of_actuation(loop.actuation)


def _of_actuation(actuation: Actuation) -> Iterator[tuple[str, object]]:
    yield from (("actuation.by", actuation.by), ("actuation.to", actuation.to))
    yield from (("actuation.bounds", bound) for bound in actuation.bounds)
    for rate in actuation.rate:
        yield from (("actuation.rate", rate.by), ("actuation.rate", rate.percent), ("actuation.rate", rate.per))


def _numbers_in(subject: Subject, owner: str, key: str, stated: object, policy: Policy) -> Iterator[AdjustableNumber]:
    """Yields the adjustable numbers in one setting; a range stands for the unknown and is not adjustable."""
    zero = Fraction(0)
    if isinstance(stated, SensorLink):
        stated = stated.duration
    if isinstance(stated, Quantity) and stated.exact and not stated.varies:
        place = _own(subject, stated)
        anchor = None if place.file in subject.sources else _anchor(subject, key, policy)
        least, most = (-MOST, zero) if stated.low < 0 else (zero, _most(stated.text, stated.low))
        whole = stated.dimension == ONE and stated.low.denominator == 1 and "%" not in stated.text
        if whole and key in STEPS and stated.low:  # a loop that no longer acts is no repair of it
            least, most = (least, -Fraction(1)) if stated.low < 0 else (Fraction(1), most)
        yield AdjustableNumber(owner, key, place, stated.low, stated.dimension, least, most, whole, stated, anchor)
    elif isinstance(stated, Formula) and stated.place.file in subject.sources:
        for number in _numbers(stated):
            place = stated.at(number.span)
            if place != stated.place or len(stated.text) == number.span[1] - number.span[0]:
                text = stated.text[number.span[0] : number.span[1]]
                yield AdjustableNumber(
                    owner, key, place, number.value, number.dimension, zero, _most(text, number.value), text.isdecimal()
                )


def _most(text: str, value: Fraction) -> Fraction | None:
    """Returns the highest value that a share may take: 1, or None for what is no share."""
    return Fraction(1) if "%" in text and value <= 1 else None


def _numbers(formula: Formula) -> Iterator[Number]:
    """Thresholds of a condition; any number of an expression.  What is asked to be equal names a state."""
    for node in walk(formula.tree):
        if isinstance(node, Compare) and node.op not in ("==", "!="):
            yield from (side for side in (node.left, node.right) if isinstance(side, Number))
    if not any(isinstance(node, Compare) for node in walk(formula.tree)):
        yield from (node for node in walk(formula.tree) if isinstance(node, Number))


def _own(subject: Subject, quantity: Quantity) -> Place:
    """Returns the place of the number alone: of `scrape 30 s` the last words."""
    place, text = quantity.place, quantity.text.strip()
    old = repairs.text_at(subject.sources, place)
    if old is None or old == text or subject.design.imported or not old.endswith(text):
        return place
    return Place(place.file, place.line, place.end_column - len(text), place.line, place.end_column)


def _anchor(subject: Subject, key: str, policy: Policy) -> Place | None:
    """Returns where a part's default can be overridden: beside `uses:`, unless its table is written there already."""
    part, first = policy.part, key.partition(".")[0]
    if not isinstance(part, Word) or part.place.file not in subject.sources or key.count(".") > 1:
        return None
    if "." in key and _written(getattr(policy, first, None), subject.sources):
        return None
    return None if subject.design.imported or key == "actuation.rate" else part.place


def _written(record: object, sources: Mapping[str, str]) -> bool:
    """Returns whether any value of the table stands in the reader's own text."""
    values = [getattr(record, name, None) for name in getattr(record, "fields", ())]
    return any(getattr(getattr(value, "place", None), "file", "") in sources for value in values)


@cache
def _rule(section: str, part: str, key: str) -> tuple[bool | None, Fraction | None, Fraction | None]:
    """Returns (may a repair change it, lowest, highest) of a part's parameter, None where the part does not say."""
    if not part:
        return None, None, None
    declared = catalogue.part(catalogue.SECTION_FOLDER[section], part).get("parameters")
    parameter = declared.get(key) if isinstance(declared, Table) else None
    if not isinstance(parameter, Table):
        return None, None, None
    repair, span = parameter.get("repair"), parameter.get("range")
    free = repair.text != "no" if isinstance(repair, Scalar) else None
    low, high = _range(span.text) if isinstance(span, Scalar) else (None, None)
    return free, low, high


def _range(text: str) -> tuple[Fraction | None, Fraction | None]:
    ends = [end.strip() for end in text.split("..")]
    try:
        return units.quantity(ends[0])[0], units.quantity(ends[-1])[0] if len(ends) == 2 else None
    except units.UnitError:
        return None, None
