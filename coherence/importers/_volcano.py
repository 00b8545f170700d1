"""Gangs that wait in queues of Volcano, as jobs of the language: what their queue may use, who starts together.

What a queue deserves is a share of all that nodes have, which no manifest says: who takes from whom is listed.  A gang
that needs more than its queue's capability never starts.  Where the scheduler has no `gang`, its members are let in one
by one and may each hold a part; nodes may then have less than the capability, so that it is a range, from what the
largest gang needs.

SOURCE: Volcano documentation, Queue: capability; Scheduler: plugins gang, proportion, capacity; actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coherence.base import units
from coherence.importers._job_queues import Gang
from coherence.importers._quantities import amount_text, integer, respelled, value_of
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar

KIND = "VolcanoQueue"
UNBOUNDED = "its queue has no capability: what it may use is a share of all nodes"
ONE_BY_ONE = "the scheduler lets in pods of several kinds one by one"


def add_gangs(sketch: Sketch) -> None:
    """Adds the gangs whose queues say how much they may use; lists all others."""
    bounded = []
    for gang in sketch.queues.gangs:
        why = _obstacle(gang, sketch)
        if why:
            words = f"{gang.title}: queue {gang.queue} ({why}: whether and when it is let in is not answered)"
            sketch.not_modelled.append((gang.place, words))
        else:
            bounded.append(gang)
    needed = {(gang.queue, key) for gang in bounded for key in gang.each}
    for queue, caps in sketch.queues.capabilities.items():
        for key in (key for key in caps if (queue, key) not in needed):
            words = f"{KIND} {queue}: capability of {key} (no job that is modelled asks for it)"
            sketch.not_modelled.append((caps[key].place, words))
    for gang in bounded:
        mates = [other for other in bounded if other.queue == gang.queue]
        _add(gang, mates, sketch.queues.capabilities[gang.queue], sketch)


def _obstacle(gang: Gang, sketch: Sketch) -> str:
    """Returns why what becomes of a gang is not known; empty where it is."""
    caps = sketch.queues.capabilities.get(gang.queue)
    if caps is None:
        return "its queue is not in these manifests"
    if gang.mixed and sketch.queues.one_by_one is not None:
        return ONE_BY_ONE
    bound = any(key in caps for key in gang.each)
    return sketch.queues.trees_of_volcano.get(gang.queue, "") or ("" if bound else UNBOUNDED)


def _add(gang: Gang, mates: Sequence[Gang], caps: Mapping[str, Scalar], sketch: Sketch) -> None:
    """Adds one gang, and each capability that it needs some of."""
    single, several = sketch.queues.one_by_one, integer(gang.copies) != 1
    needs: dict[str, Node] = {}
    for key in gang.each:
        if key not in caps:
            words = f"{gang.title}: what it needs of {key} (its queue has no capability of it)"
            sketch.not_modelled.append((gang.each[key].place, words))
            continue
        pool = sketch.names.thing(f"{key} of {gang.queue}", "", KIND)
        count = caps[key] if single is None else _from_largest(caps[key], key, mates)
        sketch.put("components", pool, caps[key].place, {"count": count})
        needs[pool] = gang.each[key]
    values: dict[str, Node | None] = {
        "queue": Scalar(sketch.names.thing(f"{gang.queue} queue", "", KIND), gang.place),
        "needs": entry(gang.place, needs),
        "copies": gang.copies if several else None,
        "gang" if single is None else "barrier": gang.least if several else None,
        "leaves_after": gang.leaves,
    }
    sketch.put("jobs", sketch.names.fresh(f"{gang.thing}_job"), gang.place, values)


def _from_largest(most: Scalar, key: str, mates: Sequence[Gang]) -> Scalar:
    """Returns the capability as what there may be of it: at least what the largest gang needs."""
    whole = [units.quantity(gang.each[key].text)[0] * (integer(gang.least) or 0) for gang in mates if key in gang.each]
    least = max(whole)
    if least >= value_of(most):
        return most
    return respelled(most, f"{amount_text(least, key)} .. {most.text}")
