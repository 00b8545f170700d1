"""Decides whether a timer that ends an activity fires while it runs, where the timer does not run from its start.

Both may run from one event: a save that starts 10 s after a warning, and is cut 2 min after it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.language.design import Design, Timer
from coherence.language.entries.actions import ENDS, ORDERLY, acted_on, action_in
from coherence.language.roles import in_role, whole_life
from coherence.verify.events import graph, orders
from coherence.verify.events.graph import Causes, EventLink
from coherence.verify.events.orders import EventOrder
from coherence.verify.timers.firing import NOW, FiringWindow


def with_ends_of_things(design: Design, links_to: Causes) -> Causes:
    """Returns the links, and how things end as a whole: with their drain, or as timers end them (`kill node`).

    What is ordered to end in its own time (`stop node`) ends with its drain; without one nothing says when.
    """
    drains = {
        name: f"{name}.{own[-1][0]} ends" for name, c in design.components.items() if (own := in_role(c, "drain"))
    }
    added: dict[str, list[EventLink]] = {}
    for thing, drained in drains.items():
        effect, assumed = f"{thing} ends", f"'{drained}' is the end of {thing}"
        added[effect] = [EventLink("begins", effect, drained, effect, NOW, assumptions=(assumed,))]
    for timer in design.timers.values():
        if timer.then is None or action_in(timer.then.text) != ENDS:
            continue
        thing, orderly = acted_on(timer.then.text), timer.then.text.partition(" ")[0] in ORDERLY
        if orderly and thing in drains:
            continue
        question = f"takes: {{drain: ...}} of {thing} ('{timer.then.text}' waits for what is under way)"
        effect, fires, places = f"{thing} ends", f"{timer.name} fires", (timer.then.place,)
        window = FiringWindow(Fraction(0), None) if orderly else NOW
        added.setdefault(effect, []).append(
            EventLink("begins", effect, fires, effect, window, places=places, missing=question if orderly else "")
        )
    whole = {effect for effect in added if "." in effect or whole_life(design, effect.removesuffix(" ends"))}
    return {**links_to, **{effect: tuple(links) for effect, links in added.items() if effect not in whole}}


def ending_with(design: Design, thing: str) -> tuple[str, ...]:
    """Returns a thing, what it runs on, and what that runs on: it ends with each of them."""
    things = [thing]
    while (component := design.components.get(things[-1])) is not None and component.runs_on is not None:
        if component.runs_on.text in things:
            break
        things.append(component.runs_on.text)
    return tuple(things)


def with_decided_ends(design: Design, links_to: Causes) -> Causes:
    """Returns the links, of which a timer is an end for certain where it fires after each start of the activity."""
    return {
        effect: tuple(kept for link in links if (kept := _decided(design, link, links_to)) is not None)
        for effect, links in links_to.items()
    }


def _decided(design: Design, link: EventLink, links_to: Causes) -> EventLink | None:
    """Returns the link as it is, as an end for certain, or None where it comes before the activity in every run."""
    timer = design.timers.get(link.cause.removesuffix(" fires"))
    if link.kind != graph.MAY_END or not link.missing or timer is None or not _is_sure(timer, link.effect, design):
        return link
    begins = f"{link.effect.removesuffix(' ends')} starts"
    ways = orders.alternatives(begins, link.cause, links_to)
    met = [order for together in ways for order in together]
    tied = [order for order in met if order is not None and not order.again]
    if not tied or len(tied) < len(met):
        return link
    relations = {orders.relation(order) for order in tied}
    if relations == {"after"} and all(_strictly_after(order) for order in tied):
        return None
    surely = all(_comes_surely(design, each) for order in tied for each in order.first)
    if relations != {"before"} or not surely:
        return link
    assumed = tuple(dict.fromkeys(text for order in tied for each in order.first for text in each.assumptions))
    return replace(link, kind="begins", missing="", assumptions=(*link.assumptions, *assumed))


def _strictly_after(order: EventOrder) -> bool:
    first, second = order.reached
    return second.latest is not None and first.earliest > second.latest


def _is_sure(timer: Timer, effect: str, design: Design) -> bool:
    """Decides whether nothing but the end itself keeps a timer from firing once each time."""
    lifted = timer.unless is not None and graph.key_of(timer.unless, design) != effect
    return not (lifted or timer.every or timer.misses or timer.sees or timer.renew or timer.per)


def _comes_surely(design: Design, link: EventLink) -> bool:
    """Decides whether what a link says comes about whenever its cause does."""
    timer = design.timers.get(link.name) if link.kind == "timer" else None
    return link.kind in ("begins", "activity") or (timer is not None and _is_sure(timer, "", design))
