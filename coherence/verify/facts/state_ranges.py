"""Finds the interval of everything that a design names in any one state."""

from __future__ import annotations

from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import hull
from coherence.verify.facts.writers import Writer, initial, interval_of


def stated(facts: DesignFacts) -> dict[str, Interval]:
    """Returns the range of every name; what is only set, under conditions, may still be what it began with."""
    ranges = dict(facts.values)
    for path, writers in facts.written.items():
        begins = any(initial(writer) is not None for writer in writers)
        sets = [writer for writer in writers if writer.kind == "set"]
        if sets and not begins and all(w.kind in ("set", "unset") and w.condition is not None for w in writers):
            ends = [interval_of(writer.loop.actuation) for writer in sets if writer.loop.actuation is not None]
            ranges[path] = hull([*ends, *([ranges[path]] if path in ranges else [])])
    return ranges


def whole(facts: DesignFacts) -> frozenset[str]:
    """Returns paths that take whole numbers only: members, what whole laws write, whole steps from a whole start."""
    written = {path for path, found in facts.written.items() if found and all(map(_whole, found))}
    return frozenset(written | {path for path in facts.whole if path.endswith(".copies")})


def _whole(writer: Writer) -> bool:
    if not writer.whole or writer.kind in ("ignore", "unset"):
        return False
    first = initial(writer)
    return writer.kind == "scale" or (first is not None and first.exact)
