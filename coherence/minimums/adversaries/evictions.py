"""Models of caches that do not know what comes: each request is for what was just given up, or drawn by chance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from coherence.minimums.adversaries.search import Adversary, Chooser
from coherence.minimums.bound import Inputs
from coherence.minimums.bounds._stationary import stationary
from coherence.minimums.eviction import farthest
from coherence.minimums.floors import Number

PHASES = 3


def online(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A policy gives up any item; then it is asked for new ones, and for what the other cache can still have."""
    assert bound
    slots, other = int(inputs["slots"]), int(inputs["other"])
    if "offline_optimum" in dropped:
        return Fraction(1)  # beside another that knows as little
    if "no_forecast" in dropped and slots == other and choose((False, True)):
        return Fraction(1)  # it gives up what is asked for last
    if "equal_items" in dropped and slots > 1 and choose((False, True)):
        return Fraction(1)  # all but one cost nothing
    held, theirs, trace, new = list(range(slots)), set(range(slots - other, slots)), list[int](), slots

    def ask(item: int) -> None:
        trace.append(item)
        if item not in held:
            held.remove(choose(held)) if len(held) == slots else None
            held.append(item)

    for _ in range(PHASES):
        possible, again = set(theirs), set[int]()
        for _ in range(slots - other + 1):
            ask(new)
            possible.add(new)
            new += 1
        last = trace[-1]
        for _ in range(other - 1):
            item = min(possible - set(held))
            ask(item)
            again.add(item)
        theirs = again | {last}
        theirs |= set(sorted(possible - theirs)[: other - len(theirs)])
    return Fraction(len(trace), farthest(trace, other, list(range(slots - other, slots))))


def drawn(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each request is one of k + 1 items, by chance: the share of time in each state of both caches."""
    assert bound
    slots = int(inputs["slots"])
    if "offline_optimum" in dropped or ("no_forecast" in dropped and choose((False, True))):
        return Fraction(1)
    if "equal_items" in dropped and slots > 1 and choose((False, True)):
        return Fraction(1)
    place = choose(range(slots))  # of those that are held, in the order of their coming, that gives way
    recent = choose((False, True))  # a use counts as coming again
    fetched = {"mine": 0.0, "best": 0.0}

    def moves(state: tuple[tuple[int, ...], frozenset[int]]) -> list[tuple[Any, float]]:
        """Asks for each item once a second; the best cache fetches as all items have been asked for since it did."""
        held, seen = state
        targets = []
        for item in range(slots + 1):
            still = [one for one in held if one != item] if recent else list(held)
            after = (*still, item) if len(still) < slots else held
            if item not in held:
                after = (*held[:place], *held[place + 1 :], item)
            targets.append(((after, seen | {item} if len(seen | {item}) <= slots else frozenset({item})), 1.0))
        return targets

    for (held, seen), share in stationary((tuple(range(slots)), frozenset({0})), moves).items():
        fetched["mine"] += share * len(set(range(slots + 1)) - set(held))
        fetched["best"] += share * (len(set(range(slots + 1)) - seen) if len(seen) == slots else 0)
    return fetched["mine"] / fetched["best"]


def _sizes(*pairs: tuple[int, int]) -> tuple[Inputs, ...]:
    return tuple({"slots": Fraction(slots), "other": Fraction(other)} for slots, other in pairs)


NOT_KNOWN = ("no_forecast", "offline_optimum", "equal_items")
ADVERSARIES = (
    Adversary(
        "a cache that is asked for what it gave up",
        {"eviction_ratio": _sizes((1, 1), (2, 2), (3, 3), (2, 1), (3, 2), (4, 2))},
        online,
        NOT_KNOWN,
    ),
    Adversary(
        "a cache asked by chance",
        {"randomised_eviction_ratio": tuple({"slots": Fraction(k)} for k in (1, 2, 3))},
        drawn,
        NOT_KNOWN,
    ),
)
