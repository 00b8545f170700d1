"""Decides whether reads of a register in copies can take one round: all rules of servers and readers at once.

One write is under way from the beginning, of 1 where 0 stood; each of one or two readers asks all servers once, and the
first one again where `again` is set.  A reader decides by the answers of all servers but `failures`; a server answers
with all that it has heard so far, in order, for no other rule tells more.  Views that must read 1 (the write may have
ended before), views that must read 0 (it may not have begun), and reads that may have ended before another one began,
which read no more than that one: a rule exists exactly where no chain of such reads leads from a 1 to a 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

WRITE, FIRST, OTHER, SECOND = "w", "a", "o", "b"  # messages: the write, a read of each of two readers, a second read
Heard = tuple[tuple[int, str], ...]  # server -> what it had heard, of the servers that answer
View = tuple[str, Heard, Heard]  # whose read, its answers, those of the same reader's read before


def orders(messages: str) -> list[str]:
    """Returns every order in which a server may have heard some of the messages."""
    return ["".join(way) for size in range(len(messages) + 1) for way in itertools.permutations(messages, size)]


def answers(servers: int, failures: int, messages: str) -> Iterator[Heard]:
    """Yields every way in which all servers but the failures answer a read beside these messages."""
    for quorum in itertools.combinations(range(servers), servers - failures):
        for heard in itertools.product(orders(messages), repeat=len(quorum)):
            yield tuple(zip(quorum, heard, strict=True))


def must_be_old(view: View) -> bool:
    """Returns whether nothing that the reader knows is later than the begin of the write."""
    return all(WRITE not in heard for _, heard in (*view[1], *view[2]))


def must_be_new(view: View, failures: int) -> bool:
    """Returns whether the write may have ended before the read began: it is missing at few of those that answer."""
    return sum(WRITE not in heard for _, heard in view[1]) <= failures


def exists(servers: int, failures: int, readers: int, *, again: bool) -> bool:
    """Returns whether some rule reads what was last written, in one round.  readers: 1 or 2."""
    if failures >= servers:
        return False
    around = WRITE + (OTHER if readers > 1 else "")
    left: list[View] = [(FIRST, heard, ()) for heard in answers(servers, failures, around)]
    left += [(OTHER, heard, ()) for heard in answers(servers, failures, WRITE + FIRST)] if readers > 1 else []
    left = [view for view in left if must_be_old(view)]
    if again:
        before = [view[1] for view in left if view[0] == FIRST]
        old = around.replace(WRITE, "") + FIRST
        left += [(SECOND, heard, one) for one in before for heard in answers(servers, failures, old)
                 if _after(one, dict(heard), FIRST) is not None]  # fmt: skip
    seen = set(left)
    while left:
        view = left.pop()
        if must_be_new(view, failures):
            return False
        more = set(_ended_before(view, servers, failures, readers)) - seen
        seen |= more
        left.extend(more)
    return True


def _ended_before(view: View, servers: int, failures: int, readers: int) -> Iterator[View]:
    """Yields the reads that may have ended before this one began, in a run that gives it this view."""
    whose, _, before = view
    if whose == SECOND:
        yield FIRST, before, ()
    if readers < 2:
        return
    for other in (OTHER,) if whose == SECOND else (FIRST if whose == OTHER else OTHER,):
        others = [FIRST] if other == OTHER else [OTHER]
        for quorum in itertools.combinations(range(servers), servers - failures):
            choices = [_could_hear(server, other, view, others[0]) for server in quorum]
            for heard_by_then in itertools.product(*choices):
                yield other, tuple(zip(quorum, heard_by_then, strict=True)), ()


def _could_hear(server: int, other: str, view: View, beside: str) -> list[str]:
    """Returns what a server may have heard before the other read, which has ended before that of the view began."""
    whose, heard, before = view[0], dict(view[1]), dict(view[2])
    if server in heard:  # it has answered both: the other one first
        place = heard[server].find(other)
        return [] if place < 0 else [heard[server][:place]]
    if whose != SECOND:
        return orders(WRITE)  # the read of the view had not begun
    if server not in before:
        return orders(WRITE + beside)
    if other in before[server]:
        return [before[server][: before[server].index(other)]]
    known = before[server] + FIRST
    return [known, known + WRITE] if WRITE not in known else [known]


def _after(before: Heard, heard: dict[int, str], read: str) -> dict[int, str] | None:
    """Returns what servers have heard where each that answered the read has gone on from there; None: one has not."""
    gone_on = all(heard[server].startswith(heard_by_then + read) for server, heard_by_then in before if server in heard)
    return heard if gone_on else None
