"""Values that a loop sets and its own bounds never let through, and conditions that end what is never taken back."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.number_text import render_quantity
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Actuation, Design, Loop, Relay
from coherence.language.names import used_names
from coherence.language.schema_kinds import Quantity
from coherence.verify.facts.writers import Writer, interval_of, writers


def answers(ask: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per stated value outside the bounds of its loop, and per `leave` that changes nothing."""
    for writer in _kept_for_ever(subject.design):
        yield _without_effect(ask, writer)
    for loop in subject.design.loops.values():
        for pair in _beyond(loop):
            assert loop.actuation is not None
            yield _clipped(ask, subject, loop, str(loop.actuation.signal), pair)


def _kept_for_ever(design: Design) -> Iterator[Writer]:
    """Yields each loop that alone writes one constant once `enter` holds, and whose being on nothing reads."""
    for path_writers in writers(design).values():
        writer, loop = path_writers[0], path_writers[0].loop
        to = loop.actuation.to if loop.actuation else None
        alone = len(path_writers) == 1 and not loop.rules and loop.name not in used_names(design)
        if alone and writer.relay and writer.kind == "set" and isinstance(to, Quantity) and not to.varies:
            yield writer


def _without_effect(ask: Question, writer: Writer) -> Finding:
    loop, signal = writer.loop, writer.signal
    to = loop.actuation.to if loop.actuation else None
    assert isinstance(loop.trigger, Relay)
    assert loop.trigger.enter is not None
    assert loop.trigger.leave is not None
    enter, leave = loop.trigger.enter, loop.trigger.leave
    message = (
        f"{loop.name} sets {signal} to {to} and nothing sets it back: `leave` changes nothing; "
        f"for two values write rules: [{{when: {enter}, to: ...}}, {{when: {leave}, to: ...}}]"
    )
    places = (leave.place.labelled("without effect"), writer.place.labelled("the only value that is ever written"))
    steps = (
        Step(None, f"{enter}: {loop.name} sets {signal}"),
        Step(None, f"{leave}: {signal} stays as it is"),
    )
    return ask.note(message, places, (loop.name,), arithmetic({}, witness=steps))


def is_clipped(loop: Loop) -> bool:
    """Decides whether a stated value of a loop lies outside its bounds."""
    return any(True for _ in _beyond(loop))


def _beyond(loop: Loop) -> Iterator[tuple[Quantity, Quantity]]:
    """Yields each stated value of a loop that lies outside its bounds, with the bound."""
    actuation = loop.actuation
    if actuation is None or actuation.signal is None or not actuation.bounds:
        return
    for value in (actuation.to, *(rule.to for rule in loop.rules)):
        bound = _nearest_bound(actuation, value) if isinstance(value, Quantity) else None
        if isinstance(value, Quantity) and bound is not None:
            yield value, bound


def _nearest_bound(actuation: Actuation, value: Quantity) -> Quantity | None:
    """Returns the bound that every part of the value lies beyond; None where some of it is within."""
    span, ends = interval_of(actuation), (actuation.bounds[0], actuation.bounds[-1])
    below = span.low is not None and value.high < span.low
    above = span.high is not None and value.low > span.high
    bound = ends[0] if below else ends[-1] if above else None
    return bound if isinstance(bound, Quantity) else None


def _clipped(ask: Question, subject: Subject, loop: Loop, signal: str, pair: tuple[Quantity, Quantity]) -> Finding:
    value, bound = pair
    clipped = bound.low if value.high < bound.low else bound.high
    wanted, written = (render_quantity(end, bound.dimension) for end in (value.low, clipped))
    message = f"{loop.name} never sets {signal} to {value}: its bounds hold it at {written}"
    places = (value.place.labelled("never written"), bound.place.labelled("this bound holds it"))
    steps = (Step(None, f"{loop.name} sets {signal} to {wanted}"), Step(None, f"its bounds make {written} of it"))
    numbers = {"set": (value.low, ""), "written": (clipped, "")}
    return ask.conflict(
        message, places, (loop.name,), arithmetic(numbers, witness=steps),
        certain=False, repairs=tuple(_repairs(subject, value, bound)),
    )  # fmt: skip


def _repairs(subject: Subject, value: Quantity, bound: Quantity) -> Iterator[Repair]:
    """Yields the bound that lets the value through."""
    from coherence.findings import repairs

    if value.exact and bound.exact:
        repair = repairs.proposal(repairs.change(subject, bound, value.low))
        yield from [repair] if repair else []
