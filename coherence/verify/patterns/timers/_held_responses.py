"""Finds limits on how often a timer fires that hold back a response which is promised to each of its events."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.language.design import Limit
from coherence.language.schema_kinds import Quantity
from coherence.verify.events.graph import Chain
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import always_holds, cap
from coherence.verify.timers.recurrences import counted_timer


@dataclass(frozen=True)
class HeldResponse:
    """A limit on the firings of a timer, how many it lets through in its window (s), and when the next one is due (s).

    The events before it come so far apart that each has had its response.
    """

    limit: Limit
    timer: str
    most: int
    window: Fraction
    apart: Fraction

    @property
    def due(self) -> Fraction:
        return self.apart * self.most


def held_response(facts: DesignFacts, chain: Chain, latest: Fraction, within: Fraction) -> HeldResponse | None:
    """Returns a limit that may hold back the one way to a response, of an event that may come at any time."""
    apart = max(latest, within)
    for link in chain:
        for limit in facts.design.limits.values() if link.kind == "timer" else ():
            held = _held(facts, limit, link.name, apart)
            if held is not None and held.due + within < held.window:
                return held
    return None


def _held(facts: DesignFacts, limit: Limit, timer: str, apart: Fraction) -> HeldResponse | None:
    counted = counted_timer(facts.design, limit)
    holds = limit.when_full is not None and limit.when_full.text in ("reject", "wait") and always_holds(limit)
    if counted is None or counted.name != timer or not holds or not isinstance(limit.window, Quantity):
        return None
    tree = cap(facts, limit)
    low = facts.range(tree).low if tree is not None else None
    if low is None or limit.scope is not None or limit.per is not None or limit.actions:
        return None
    return HeldResponse(limit, timer, max(0, math.floor(low)), limit.window.high, apart)


def message(held: HeldResponse, first: str, second: str, within: Fraction) -> str:
    """Returns the words of a conflict: which event has no response in time."""
    times = "once" if held.most == 1 else f"{held.most} times"
    which = f"one that comes {render_seconds(held.apart)} after the one before it"
    which = which if held.most == 1 else f"number {held.most + 1}, each {render_seconds(held.apart)} after another,"
    return (
        f"{held.limit.name} lets {held.timer} fire {times} in {render_seconds(held.window)}: of '{first}', {which} "
        f"has no '{second}' within {render_seconds(within)}"
    )
