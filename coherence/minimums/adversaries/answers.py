"""Models of what must be heard: of liars, of holders of data, of shards, on rings and along paths of clocks."""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number

ORDERS = 24  # of names on a ring, beside the falling one
NEW, OLD, LATER = 1, 0, -1  # what a shard answers; it waits for the end of a write


def silenced(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Half of the processes that may fail hear from some others each; the rest of them may be those it hears from."""
    assert bound
    failures = int(inputs["failures"])
    hearers = (failures + 1) // 2
    counts = [choose(range(failures + 1)) for _ in range(hearers)]
    free = "omitted_messages" in dropped or "deterministic_policy" in dropped  # who is to be silent is not known
    if not free and any(count <= failures - hearers for count in counts):
        raise HopelessError  # all that it hears from fail for it alone, and it cannot tell what the others decide
    return len({*counts}) and max(counts) if "unicast" in dropped else sum(counts)  # one message reaches all hearers


def heard_from(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Holders send to each other in any order; a holder that was not heard from has what changes the answer."""
    assert bound
    holders = int(inputs["n"])
    known, messages = [{holder} for holder in range(holders)], 0
    needed = {holders - 1} if "unknown_places" in dropped else set(range(holders))  # the owner of a key, or all
    while not known[0] >= needed:
        if "not_monotone" in dropped or "late_messages" in dropped:
            return messages  # it stays true; or who has something would have said so by now
        moved = choose([None, *itertools.permutations(range(holders), 2)])
        if moved is None:
            raise HopelessError
        known[moved[1]] |= known[moved[0]]
        messages += 1
        choose.passed(messages)
    return messages


def read_beside(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Shards answer by the phase in which the write is when they are asked; any two phases may meet in one read."""
    assert bound
    shards = int(inputs["shards"])
    rounds = choose((1, 2))
    if rounds == 2 or shards == 1:
        return rounds  # the first round tells which writes the second one asks for
    answers = (OLD, NEW, LATER) if "never_waits" in dropped else (OLD, NEW)
    if "separate_clients" in dropped and choose((False, True)):
        return _told_by_writers(shards)
    rules = [(choose(answers), choose(answers), choose(answers)) for _ in range(shards)]
    for rule in rules:
        fresh = rule[2] == NEW or "last_write_read" in dropped
        if rule[0] == NEW or not fresh or rule[2] == LATER:
            raise HopelessError  # it tells of a write that has not begun, or not of one that has ended
    for phases in itertools.product(range(3), repeat=shards):
        versions = {_settled(rule[phase], phases, dropped) for rule, phase in zip(rules, phases, strict=True)}
        if versions == {OLD, NEW}:
            raise HopelessError  # half of a write
    return rounds


def _told_by_writers(shards: int) -> int:
    """Lets one client that reads ask each shard for the version of the last write that it was told of.

    The write goes to the shards, then to the reader, and ends after that; the read begins at any step of it.
    """
    for begins in range(shards + 3):  # steps of the write by then: shards, the reader, its end
        informed, ended = begins > shards, begins > shards + 1
        for late in itertools.product(range(begins, shards + 3), repeat=shards):  # when each shard is asked
            versions = {(NEW if shard < moment else None) if informed else OLD for shard, moment in enumerate(late)}
            if versions not in ({NEW}, {OLD}) or (ended and versions != {NEW}) or (not begins and versions != {OLD}):
                raise HopelessError
    return 1


def _settled(answer: int, phases: tuple[int, ...], dropped: frozenset[str]) -> int:
    """Returns which version the reader takes: both are there, writes are apart, or a lock orders them."""
    if "one_version" in dropped or "written_together" in dropped:
        return NEW
    if "never_waits" in dropped and max(phases) > 0:
        return NEW  # the shard that was asked early held a lock, so that the write waited, or it waited itself
    return answer


def elected(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Names stand on a ring in any order; each process sends its name on, one way or both, until a greater one."""
    assert bound
    size = int(inputs["n"])
    if "unknown_names" in dropped:
        return Fraction(0)  # all know the leader
    if "ring_links" in dropped and choose((False, True)):
        return Fraction(2 * size - 2)  # a star: each name to the middle, and the greatest one back
    both = choose((False, True))
    orders = [tuple(reversed(range(size))), *itertools.islice(itertools.permutations(range(size)), ORDERS)]
    return Fraction(max(_both_ways(order) if both else _one_way(order) for order in orders))


def _one_way(names: tuple[int, ...]) -> int:
    """Counts what Chang and Roberts send: each name goes on to the next greater one, and the greatest all round."""
    size, messages = len(names), 0
    for start, name in enumerate(names):
        steps = next((k for k in range(1, size) if names[(start + k) % size] > name), size)
        messages += steps
    return messages + size - 1


def _both_ways(names: tuple[int, ...]) -> int:
    """Counts what Hirschberg and Sinclair send: ever longer ways there and back, on both sides."""
    size, messages, reach = len(names), 0, 1
    running = set(range(size))
    while running:
        ahead = set()
        for start in running:
            near = [names[(start + side * k) % size] for side in (1, -1) for k in range(1, reach + 1)]
            messages += 4 * min(reach, size)
            if max(near) <= names[start]:
                ahead.add(start)
        running, reach = (ahead, 2 * reach) if reach < size else (set(), reach)
    return messages + size - 1


def shifted(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Clocks along a path correct themselves alike in two runs that nobody tells apart; the worse one counts."""
    assert bound
    links, uncertain = int(inputs["links"]), Fraction(inputs["uncertainty"])
    if dropped & {"messages_only", "unicast", "unrelated_delays"}:
        return Fraction(0)  # a common time, one message that all receive, or ways back as long as those there
    corrections = [choose([uncertain * k / 4 for k in range(5)]) for _ in range(links)]  # of a clock to the one before
    apart = sum(corrections, Fraction(0))
    return max(abs(apart), abs(apart - links * uncertain))


def _many(name: str, *numbers: int) -> tuple[Inputs, ...]:
    return tuple({name: Fraction(number)} for number in numbers)


ADVERSARIES = (
    Adversary(
        "processes that leave messages out", {"byzantine_messages": _many("failures", 1, 2, 3, 4)}, silenced,
        ("omitted_messages", "deterministic_policy", "unicast"),
    ),
    Adversary("holders of data", {"answers_heard": _many("n", 2, 3, 4)}, heard_from,
              ("not_monotone", "late_messages", "unknown_places")),
    Adversary(
        "reads beside a write", {"read_rounds": _many("shards", 1, 2, 3)}, read_beside,
        ("never_waits", "last_write_read", "one_version", "written_together", "separate_clients"),
    ),
    Adversary(
        "elections on a ring", {"election_messages": _many("n", 2, 4, 8, 256)}, elected,
        ("unknown_names", "ring_links"),
    ),
    Adversary(
        "clocks along a path",
        {"clock_skew_path": tuple({"links": Fraction(d), "uncertainty": Fraction(1, 2)} for d in (1, 2, 4))},
        shifted, ("messages_only", "unicast", "unrelated_delays"),
    ),
)  # fmt: skip
