"""Runs caches of equal slots: least recently used, the farthest next use, and the best of all by search."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Hashable, Sequence


def recently_used(trace: Sequence[Hashable], slots: int, held: Sequence[Hashable] = ()) -> int:
    """Returns fetches of the cache that gives up what was not used for longest; `held`: what it has, oldest first."""
    cached = OrderedDict.fromkeys(held)
    fetched = 0
    for item in trace:
        if item not in cached:
            fetched += 1
            if len(cached) == slots:
                cached.popitem(last=False)
        cached[item] = None
        cached.move_to_end(item)
    return fetched


def farthest(trace: Sequence[Hashable], slots: int, held: Sequence[Hashable] = (), *, takes_slot: bool = False) -> int:
    """Returns fetches of the cache that keeps what is used soonest.

    takes_slot: whether a fetched item takes a slot in any case; else it may be used without being kept.
    """
    later = len(trace)
    following = [later] * len(trace)
    last: dict[Hashable, int] = {}
    for at in range(len(trace) - 1, -1, -1):
        following[at] = last.get(trace[at], later)
        last[trace[at]] = at
    next_use = {item: last.get(item, later) for item in held}
    fetched = 0
    for at, item in enumerate(trace):
        fetched += item not in next_use
        next_use[item] = following[at]
        if len(next_use) > slots:
            others = [one for one in next_use if one != item or not takes_slot]
            del next_use[max(others, key=next_use.__getitem__)]
    return fetched


def where_beaten(*, takes_slot: bool = False) -> str:
    """Returns the first trace, of all 1,093 of up to 7 uses of three items with one and two slots, on which a search
    over contents beats the farthest next use; empty where there is none.
    """
    for length in range(1, 8):
        for trace in itertools.product(range(3), repeat=length):
            for slots in (1, 2) if trace[0] == 0 else ():
                if farthest(trace, slots, takes_slot=takes_slot) != fewest(trace, slots, takes_slot=takes_slot):
                    return f"{trace}, {slots} slots"
    return ""


def fewest(trace: Sequence[Hashable], slots: int, *, takes_slot: bool = False) -> int:
    """Returns the least number of fetches over all that a cache may keep, by search over its contents (small
    traces).

    takes_slot: whether a fetched item takes a slot in any case.
    """
    best: dict[frozenset[Hashable], int] = {frozenset(): 0}
    for item in trace:
        after: dict[frozenset[Hashable], int] = {}
        for contents, cost in best.items():
            have = contents | {item}
            total = cost + (item not in contents)
            for size in range(min(slots, len(have)) + 1):
                for chosen in itertools.combinations(have, size):
                    if takes_slot and item not in chosen:
                        continue
                    key = frozenset(chosen)
                    after[key] = min(after.get(key, total), total)
        best = after
    return min(best.values())


def adversary(slots: int, other: int, phases: int) -> tuple[list[int], list[int]]:
    """Returns (what both hold at first, a trace) that asks a cache of `slots` for what it has just given up.

    Each phase asks for slots - other + 1 new items, then other - 1 times for one that the other cache (of `other`
    slots) can have kept and this one has not.  SOURCE: Sleator and Tarjan 1985.
    """
    contents = OrderedDict.fromkeys(range(slots))
    optimum = set(range(slots - other, slots))
    fresh, trace = slots, []

    def ask(item: int) -> None:
        if item not in contents and len(contents) == slots:
            contents.popitem(last=False)
        contents[item] = None
        contents.move_to_end(item)
        trace.append(item)

    for _ in range(phases):
        possible, requests = set(optimum), []
        for _ in range(slots - other + 1):
            ask(fresh)
            requests.append(fresh)
            fresh += 1
        possible |= set(requests)
        again = []
        for _ in range(other - 1):
            item = min(possible - set(contents))
            ask(item)
            again.append(item)
        optimum = set(again) | {requests[-1]}
        optimum |= set(list(possible - optimum)[: other - len(optimum)])
    return list(range(slots)), trace
