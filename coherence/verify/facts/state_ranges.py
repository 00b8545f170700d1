"""Finds the interval of everything that a design names in any one state."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.ranges import hull
from coherence.verify.facts.writers import Writer, initial, interval_of


def stated(facts: DesignFacts, among: Collection[str] | None = None) -> dict[str, Interval]:
    """Returns the range of every name, or of some alone, so that no other is read.

    What is only set, under conditions, may still be what it began with.
    """
    paths = facts.values if among is None else [path for path in among if path in facts.values]
    ranges = {path: facts.values[path] for path in paths}
    for path, writers in facts.written.items():
        if among is not None and path not in among:
            continue
        begins = any(initial(writer) is not None for writer in writers)
        sets = [writer for writer in writers if writer.kind == "set"]
        if sets and not begins and all(w.kind in ("set", "unset") and w.condition is not None for w in writers):
            ends = [interval_of(writer.loop.actuation) for writer in sets if writer.loop.actuation is not None]
            ranges[path] = hull([*ends, *([ranges[path]] if path in ranges else [])])
    return ranges


def whole(facts: DesignFacts) -> frozenset[str]:
    """Returns paths that take whole numbers only: members, what whole laws write, whole steps from a whole start."""
    written = {path for path, own in facts.written.items() if _in_whole_steps(own) and _begins_whole(own)}
    return frozenset(written | {path for path in facts.whole if path.endswith(".copies")})


def in_whole_steps(facts: DesignFacts) -> frozenset[str]:
    """Returns the paths that take whole numbers only, where each begins with one."""
    return whole(facts) | {path for path, own in facts.written.items() if _in_whole_steps(own)}


def _in_whole_steps(writers: Sequence[Writer]) -> bool:
    return bool(writers) and all(writer.whole and writer.kind not in ("ignore", "unset") for writer in writers)


def _begins_whole(writers: Sequence[Writer]) -> bool:
    """Returns whether a signal of whole steps begins with one number, or is made whole by each of its writers."""
    starts = [start for writer in writers if (start := initial(writer)) is not None]
    scaled = all(writer.kind == "scale" for writer in writers)
    return scaled or (bool(starts) and all(start.exact for start in starts))
