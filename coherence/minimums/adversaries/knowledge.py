"""Models of who knows what: calls that join two, timestamps of events, sides of a partition, liars among replicas."""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number

PARTS = 8


def called(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Calls join any two members, who tell each other all; with a copy to everybody one tells all others at once."""
    assert bound
    n, calls = int(inputs["n"]), 0
    known = [{member} for member in range(n)]
    while any(len(items) < n for items in known):
        calls += 1
        choose.passed(calls)
        if "unicast" in dropped:
            teller = choose(range(n))
            known = [items | known[teller] for items in known]
            continue
        caller, callee = choose(list(itertools.combinations(range(n), 2)) if calls > 1 else [(0, 1)])
        known[caller] = known[callee] = known[caller] | known[callee]
    return calls


def stamped(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Timestamps of some numbers: each number puts all events in line, and one event is before another exactly if it
    is in all of them.  Process i sends first, and hears at its end of all sends but the next one's."""
    assert bound
    n = int(inputs["n"])
    entries = choose(range(1, n + 1))
    if "any_pattern" in dropped or ("componentwise" in dropped and entries == 2):
        return entries  # sends of one only; or a number and a list of those it does not follow, however long
    choose.passed(entries)
    events = [("send", i) for i in range(n)] + [("end", i) for i in range(n)]
    before = {(("send", i), ("end", j)) for i in range(n) for j in range(n) if i != j or n < 3}
    places = [_in_line(choose, events, before) for _ in range(entries)]
    for first, second in itertools.permutations(events, 2):
        if ((first, second) in before) != all(place[first] < place[second] for place in places):
            raise HopelessError
    return entries


def _in_line(
    choose: Chooser, events: list[tuple[str, int]], before: set[tuple[tuple[str, int], tuple[str, int]]]
) -> dict[tuple[str, int], int]:
    """Returns a line that keeps the order of causes."""
    left, place = list(events), dict[tuple[str, int], int]()
    while left:
        first = choose([event for event in left if not any((other, event) in before for other in left)])
        left.remove(first)
        place[first] = len(place)
    return place


def divided(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """One side ends a write after some time, the other then a read; no message passes before the partition is over."""
    assert bound
    duration = Fraction(inputs["duration"])
    written, read = (duration * choose(range(PARTS + 1)) / PARTS for _ in range(2))
    if "both_sides_answer" in dropped:
        return written  # the side that reads sends its clients to the other one
    if written + read < duration and "last_write_read" not in dropped:
        raise HopelessError  # the read shows what was there before the write
    return written + read


def lied_to(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A first leader proposes two values and tells each replica one of them; liars show whichever they like.

    After two delays so many as may be waited for have decided one value; the next leader must not choose the other.
    """
    assert bound
    n, f = int(inputs["replicas"]), int(inputs["failures"])
    steps = choose((1, 2, 3))
    if steps == 1:
        raise HopelessError  # nobody has heard what the others were told
    if steps == 2:
        liars = f if "arbitrary_faults" not in dropped else 0
        late = f if "late_messages" not in dropped else 0
        for voted in range(n - f, n + 1):  # took the value, the first leader among them if it lies
            honest_rest = n - voted
            hidden = min(max(0, late - 1), voted - liars)  # of those who took it; the first leader is not asked either
            shown = voted - liars - hidden
            against = honest_rest + max(0, liars - 1)
            if liars and shown <= against and honest_rest:
                raise HopelessError
    return steps * Fraction(inputs["delay"])


def left(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Some of the replicas stop, any that may; one that has the value must be left."""
    assert bound
    assert not dropped
    replicas, failures = choose(range(1, 8)), int(inputs["failures"])
    if any(
        set(range(replicas)) <= set(gone) for gone in itertools.combinations(range(replicas), min(failures, replicas))
    ):
        raise HopelessError
    return replicas


def _counts(**lists: tuple[int, ...]) -> tuple[Inputs, ...]:
    (name, values), *_ = lists.items()
    return tuple({name: Fraction(value)} for value in values)


ADVERSARIES = (
    Adversary("calls that join two", {"gossip_calls": _counts(n=(1, 2, 3, 4, 5))}, called, ("unicast",)),
    Adversary(
        "timestamps of a few numbers",
        {"clock_entries": _counts(n=(2, 3))},
        stamped,
        ("any_pattern", "componentwise"),
    ),
    Adversary(
        "two sides of a partition",
        {"partition_answer_time": ({"duration": Fraction(40)},)},
        divided,
        ("last_write_read", "both_sides_answer"),
    ),
    Adversary(
        "a leader that proposes two values",
        {
            "byzantine_delay": tuple(
                {"replicas": Fraction(n), "failures": Fraction(f), "delay": Fraction(1)}
                for n, f in ((4, 1), (7, 2), (8, 2), (9, 2), (13, 3), (14, 3))
            )
        },
        lied_to,
        ("arbitrary_faults", "late_messages"),
    ),
    Adversary("replicas that are left", {"surviving_replicas": _counts(failures=(0, 1, 3))}, left),
)
