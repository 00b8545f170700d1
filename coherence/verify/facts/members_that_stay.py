"""Says what an answer takes for granted that counts members as staying: no place goes away, no update replaces them."""

from __future__ import annotations

from coherence.language.design import Design
from coherence.language.expressions import names
from coherence.language.words import STATES
from coherence.verify.facts.design_facts import REMAINS

LOST, DRAINED = "lost", "drained"  # of places
EXTRA, OF_UPDATES = STATES["extra"], ("rolling_update_surge", "rolling_update_unavailable")
UPDATED = "no update of {} takes members away meanwhile"


def may_go(design: Design) -> bool:
    """Decides whether some place may go away."""
    return any(kind in given for given in design.places.values() for kind in (LOST, DRAINED))


def is_updated(design: Design, thing: str) -> bool:
    """Decides whether updates replace members of a thing, by a limit on extra ones or one whose part is of updates."""
    for limit in design.limits.values():
        for path in names(limit.counts.tree) if limit.counts is not None else ():
            head, _, word = path.partition(".")
            if head == thing and (word in EXTRA or (limit.part is not None and limit.part.text in OF_UPDATES)):
                return True
    return False


def unmoved(design: Design, thing: str) -> tuple[str, ...]:
    """Returns what is assumed where members that go with their places, or for updates, are not counted."""
    stated = ((REMAINS, may_go(design)), (UPDATED, is_updated(design, thing)))
    return tuple(words.format(thing) for words, needed in stated if needed)
