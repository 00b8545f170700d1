"""Holds graces against the drain of a thing that is told to end, or else against what it works on then.

What calls of others bring is held against the drain by COH203.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.findings.question_input import rational
from coherence.language.design import Design
from coherence.language.roles import in_role, others_of_an_answer, role, stated_drain
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import event_of
from coherence.verify.events import graph
from coherence.verify.events.drains import NO_NEW_WORK, graces
from coherence.verify.events.endings import ending_with
from coherence.verify.events.graph import EventLink
from coherence.verify.events.orders import EventOrder
from coherence.verify.patterns.timers._overrun import OverrunCase, prolonged, strictly
from coherence.verify.timers.firing import FiringWindow


def cases(design: Design, timers: Collection[str]) -> Iterator[OverrunCase]:
    """Yields how each of these timers that is a grace stands to the end of the work that it may cut."""
    called = {call.callee.text for call in design.calls if call.callee is not None}
    for timer, target, chain in graces(design) if timers else ():
        thing, _, named = target.partition(".")
        ordered = chain[-1].cause.partition(" ")[0].partition(".")[0]
        thing = ordered if ordered in design.components and thing in ending_with(design, ordered) else thing
        longest = timer.then is not None and timer.then.kind == "ends" and timer.then.activity  # how long it may drain
        once = timer.name in timers and timer.every is None and timer.renew is None and not longest
        component = design.components.get(thing)
        if not once or component is None or stated_drain(component, "drain") is not None:
            continue
        if thing in called | {*design.workload} and not in_role(component, "drain"):
            continue
        known, perhaps = _work(design, thing, named)
        since = chain[-1].cause
        certain, whole = (
            EventOrder(since, (_goes_on(design, thing, work, since),), chain) for work in (known, {**known, **perhaps})
        )
        relation, needs = strictly(certain), ""
        order = certain if relation in ("possible", "after") else whole
        if order is whole and (relation := strictly(whole)) in ("possible", "after"):
            relation, needs = "unknown", _role_of(thing, perhaps)
        event = event_of(order.first[0].effect, timer.place)
        yield prolonged(design, OverrunCase(timer.replace(unless=event), order, relation, needs or _missing(order)))


def _work(design: Design, thing: str, named: str) -> tuple[dict[str, Quantity], dict[str, Quantity]]:
    """Returns the activities that an end of a thing, or of one of them, cuts, and those of which that is open."""
    component = design.components[thing]
    if named:
        return {a: span for a, span in (component.takes or {}).items() if a == named}, {}
    if drain := dict(in_role(component, "drain")):
        return drain, {}
    perhaps = {a: q for a, q in others_of_an_answer(design, thing).items() if role(component, a) == ""}
    return dict(in_role(component, "answer")), perhaps


def _goes_on(design: Design, thing: str, work: dict[str, Quantity], since: str) -> EventLink:
    """Returns how long after the order to drain what is under way then ends: as long as all of it, or at once."""
    lasting = [graph.lasting(design, f"{thing}.{activity}") for activity in work]
    if not lasting:
        needs, subject = f"drain time of {thing}", f"{thing}.drain"
        return EventLink("activity", subject, since, f"{subject} ends", FiringWindow(Fraction(0), None), missing=needs)
    whole, reached = _longest([link.window for link in lasting]), _longest([link.reached for link in lasting])
    assumed = dict.fromkeys(text for link in lasting for text in link.assumptions)
    drains = role(design.components[thing], next(iter(work))) == "drain"
    granted = f"'{since}' starts {lasting[0].name}" if drains else NO_NEW_WORK.format(thing)
    return replace(
        lasting[-1], cause=since, window=whole, inner=reached, lower="0.0",
        upper="" if whole.latest is None else rational(whole.latest),
        places=tuple(place for link in lasting for place in link.places),
        missing=next((link.missing for link in lasting if link.missing), ""),
        assumptions=(granted, *assumed),
    )  # fmt: skip


def _longest(windows: list[FiringWindow]) -> FiringWindow:
    """Returns the window from now to the end of activities that follow each other and may have just begun."""
    ends = [window.latest for window in windows]
    return FiringWindow(Fraction(0), None if None in ends else sum((end or Fraction(0) for end in ends), Fraction(0)))


def _role_of(thing: str, perhaps: dict[str, Quantity]) -> str:
    activity, span = next(iter(perhaps.items()))
    return (
        f"needs whether {activity} of {thing} ({span}) is cut by it: `roles: {{{activity}: answer}}` or `apart`, "
        f"or how long {thing} drains: `takes: {{drain: ..}}`"
    )


def _missing(order: EventOrder) -> str:
    return f"needs {order.missing}" if order.missing else ""
