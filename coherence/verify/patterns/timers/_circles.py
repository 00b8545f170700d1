"""Finds events that never come, since each way to them leads back to itself: two starts that wait for each other."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.sentences import Promise
from coherence.verify.events import event_ways
from coherence.verify.events.graph import Causes, Chain, EventLink
from coherence.verify.patterns.timers import _overrun


def never_begins(
    question: Question, subject: Subject, promise: Promise, by_event: Causes, event: str
) -> Finding | None:
    """Returns the conflict of an event that waits for itself; None where something else may bring it about.

    What a call begins waits for its caller, of whom the graph of events says nothing.
    """
    every = [_closed(event, chain, by_event) for chain in event_ways.chains(event, by_event)]
    callees = {call.callee.text for call in subject.design.calls if call.callee is not None}
    if not all(chain and callees.isdisjoint(map(_thing, chain)) for chain in every):
        return None
    chain = min(every, key=len)
    passed = " -> ".join(link.name for link in reversed(chain) if link.kind in ("timer", "activity"))
    steps = tuple(Step(None, f"{link.effect} only after {link.cause}") for link in reversed(chain))
    places: list[Place] = [
        *_overrun.link_places(reversed(chain)),
        promise.place.labelled(f"promised here: {promise.name}"),
    ]
    assumed = tuple(dict.fromkeys(text for each in every for link in each for text in link.assumptions))
    return question.conflict(
        f"'{event}' never comes: it waits for itself ({passed})", places,
        (*dict.fromkeys(_overrun.deciding(chain)), promise.name),
        arithmetic({"waits in the circle": (len(chain), "")}, witness=steps),
        certain=True, assumptions=assumed,
    )  # fmt: skip


def _closed(event: str, chain: Chain, by_event: Causes) -> Chain:
    """Returns a way back with the link that leads from its first cause to an event on it; empty where it is none."""
    events = [event, *(link.cause for link in chain)]
    return next(((*chain, link) for link in by_event.get(events[-1], ()) if link.cause in events), ())


def _thing(link: EventLink) -> str:
    return link.effect.partition(".")[0]
