"""Says what an answer takes for granted that counts members as staying: where they stand, no update replaces them."""

from __future__ import annotations

from coherence.language.design import Design, needed
from coherence.language.expressions import names
from coherence.language.words import STATES

LOST, DRAINED = "lost", "drained"  # of places
EXTRA, OF_UPDATES = STATES["extra"], ("rolling_update_surge", "rolling_update_unavailable")
ELSEWHERE = "{} stands on no place that goes away"
THERE = "no place of {} is gone meanwhile: those that find no place count as missing"
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


def things_on_places(design: Design) -> tuple[str, ...]:
    """Returns things whose members lie on the places of the design: they have rules, or need what places have."""
    offered = {resource for given in design.places.values() for resource in given}
    held = (name for name, thing in design.components.items() if offered & set(needed(thing)))
    return tuple(dict.fromkeys((*design.placement, *held)))


def unless_gone(design: Design, thing: str) -> tuple[str, ...]:
    """Returns what is assumed where as many members may be missing as a cap or a budget lets go, and no more."""
    on_places = thing in things_on_places(design)
    return ((THERE if on_places else ELSEWHERE).format(thing),) if may_go(design) else ()


def unmoved(design: Design, thing: str) -> tuple[str, ...]:
    """Returns what is assumed of members for updates, and of places that go where nothing says that it lies on them.

    Of what lies on them `jobs.losses` counts those that go.
    """
    elsewhere = may_go(design) and thing not in things_on_places(design)
    stated = ((ELSEWHERE, elsewhere), (UPDATED, is_updated(design, thing)))
    return tuple(words.format(thing) for words, said in stated if said)
