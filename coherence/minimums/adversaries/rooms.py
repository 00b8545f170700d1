"""Models of room: which item gives way in a cache, and which bin an item goes into."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs, several
from coherence.minimums.floors import Number
from coherence.minimums.packing import by_volume


def fetched(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Any cached item gives way to what is not cached, or that is used without being kept."""
    last = 1 if bound == "page_faults" and "takes_a_slot" not in dropped else 0  # what was fetched stays
    slots, cached, count = int(inputs["slots"]) * (2 if "equal_items" in dropped else 1), list[Any](), 0
    for item in several(inputs, "trace"):
        if item in cached:
            continue
        count += 1
        choose.passed(count)
        cached = [*cached, item]
        if len(cached) > slots:
            cached.remove(choose(cached[: len(cached) - last]))
    return count


def packed(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each item goes into an open bin with room, or a new one; an item that may be split fills all bins."""
    assert bound
    sizes, capacity, bins = several(inputs, "sizes"), Fraction(inputs["capacity"]), list[Fraction]()
    if "atomic_items" in dropped:
        return by_volume(sizes, capacity)
    for size in sizes:
        if size > capacity:
            raise HopelessError
        chosen = choose([*(k for k, full in enumerate(bins) if full + size <= capacity), len(bins)])
        bins = [*bins, Fraction(0)] if chosen == len(bins) else bins
        bins[chosen] += size
        choose.passed(len(bins))
    return len(bins)


TRACES = ((1, 2, 3, 1, 2, 3), (1, 2, 3, 4, 1, 2, 5, 1, 2, 3), (1, 2, 1, 3, 1, 2))
SIZES = ((51,) * 6, (50, 60, 40, 30, 20), (34, 34, 34), (70, 30, 60, 40))
ITEMS = tuple(cast("Any", {"sizes": sizes, "capacity": 100}) for sizes in SIZES)
ADVERSARIES = (
    Adversary(
        "what gives way in a cache",
        {"cache_fetches": tuple(cast("Any", {"trace": trace, "slots": k}) for trace in TRACES for k in (2, 3))},
        fetched,
        ("equal_items",),
    ),
    Adversary(
        "what gives way in paged memory",
        {"page_faults": tuple(cast("Any", {"trace": trace, "slots": k}) for trace in TRACES for k in (2, 3))},
        fetched,
        ("equal_items", "takes_a_slot"),
    ),
    Adversary(
        "items into bins",
        dict.fromkeys(("bins_needed", "bins_by_volume"), ITEMS),
        packed,
        ("atomic_items",),
    ),
)
