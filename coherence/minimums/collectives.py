"""Executes collectives message by message: what each algorithm takes, and that it delivers.

Every member sends at most one message and receives at most one in a step (one port each way); a message of b bytes
takes alpha + b/rate.  Data is followed as sets: whose parts are in which chunk at whom.

SOURCE: E. Chan et al. 2007; R. Thakur, R. Rabenseifner and W. Gropp 2005; J. Bruck et al. 1997.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from coherence.base.errors import UsageError

Number = Fraction | float
Message = tuple[int, int, Fraction]  # from, to, bytes


class PortClock:
    """Adds up steps, and refuses one in which a port is used twice."""

    def __init__(self, rate: Number, alpha: Number = 0) -> None:
        self.rate, self.alpha, self.time = Fraction(rate), Fraction(alpha), Fraction(0)

    def step(self, messages: Iterable[Message]) -> None:
        """Adds the messages of one step; the longest decides.  Refuses a port that is used twice."""
        sent = list(messages)
        for port in (0, 1):
            if len({message[port] for message in sent}) < len(sent):
                raise AssertionError("a port is used twice in one step")
        if sent:
            self.time += self.alpha + max(size for _, _, size in sent) / self.rate


def ring_all_reduce(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Chunks go round twice: once to be reduced, once to be spread."""
    clock, chunk = PortClock(rate, alpha), Fraction(size) / n
    held = [[{member} for _ in range(n)] for member in range(n)]
    for phase in (0, 1):
        for step in range(n - 1):
            moving = [(m, (m - step + phase) % n, set(held[m][(m - step + phase) % n])) for m in range(n)]
            clock.step((m, (m + 1) % n, chunk) for m, _, _ in moving)
            for member, index, parts in moving:
                after = held[(member + 1) % n]
                after[index] = after[index] | parts if phase == 0 else parts
    _whole(held, n)
    return clock.time


def rabenseifner(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Halves are reduced with ever nearer partners, then spread with ever farther ones; n is a power of two."""
    if n & (n - 1) or n < 1:
        raise UsageError(f"recursive halving needs a power of two members, not {n}")
    clock, chunk = PortClock(rate, alpha), Fraction(size) / n
    held = [[{member} for _ in range(n)] for member in range(n)]
    owned = [range(n)] * n
    far = n // 2
    while far:
        halves = [_half(owned[m], upper=bool(m & far)) for m in range(n)]
        clock.step((m, m ^ far, chunk * len(halves[m ^ far])) for m in range(n))
        for m in range(n):
            for index in halves[m]:
                held[m][index] = held[m][index] | held[m ^ far][index]
        owned, far = halves, far // 2
    far = 1
    while far < n:
        clock.step((m, m ^ far, chunk * len(owned[m])) for m in range(n))
        for m in range(n):
            for index in owned[m ^ far]:
                held[m][index] = set(held[m ^ far][index])
        owned = [
            range(min(owned[m][0], owned[m ^ far][0]), max(owned[m][-1], owned[m ^ far][-1]) + 1) for m in range(n)
        ]
        far *= 2
    _whole(held, n)
    return clock.time


def _half(of: range, *, upper: bool) -> range:
    middle = len(of) // 2
    return of[middle:] if upper else of[:middle]


def _whole(held: list[list[set[int]]], n: int) -> None:
    if any(len(parts) < n for member in held for parts in member):
        raise AssertionError("some chunk at some member is not the whole sum")


def bruck(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Returns the seconds of an all-gather in ceil(log2 n) steps, each to the member at twice the distance."""
    clock, chunk = PortClock(rate, alpha), Fraction(size) / n
    held = [{member} for member in range(n)]
    far = 1
    while far < n:
        news = [set(held[m]) - held[(m - far) % n] for m in range(n)]
        clock.step((m, (m - far) % n, chunk * len(news[m])) for m in range(n))
        held = [held[m] | news[(m + far) % n] for m in range(n)]
        far *= 2
    if any(len(have) < n for have in held):
        raise AssertionError("some shard did not arrive")
    return clock.time


def ring_all_gather(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Returns the seconds where each member passes on what it got in the step before."""
    clock, chunk = PortClock(rate, alpha), Fraction(size) / n
    held = [{member} for member in range(n)]
    for step in range(n - 1):
        clock.step((m, (m + 1) % n, chunk) for m in range(n))
        for m in range(n):
            held[(m + 1) % n].add((m - step) % n)
    if any(len(have) < n for have in held):
        raise AssertionError("some shard did not arrive")
    return clock.time


def ring_reduce_scatter(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Chunks go round once and are added to; each member ends with one whole chunk."""
    clock, chunk = PortClock(rate, alpha), Fraction(size) / n
    held = [[{member} for _ in range(n)] for member in range(n)]
    for step in range(n - 1):
        moving = [(m, (m - step) % n, set(held[m][(m - step) % n])) for m in range(n)]
        clock.step((m, (m + 1) % n, chunk) for m, _, _ in moving)
        for member, index, parts in moving:
            held[(member + 1) % n][index] |= parts
    if any(len(held[m][(m + 1) % n]) < n for m in range(n)):
        raise AssertionError("some chunk is not the whole sum")
    return clock.time


def chain_broadcast(n: int, size: Number, rate: Number, alpha: Number, parts: int) -> Fraction:
    """Returns the seconds where the root sends part after part along a chain."""
    clock, part = PortClock(rate, alpha), Fraction(size) / parts
    have = [parts] + [0] * (n - 1)
    while have[-1] < parts:
        moving = [m for m in range(n - 1) if have[m] > have[m + 1]]
        clock.step((m, m + 1, part) for m in moving)
        for m in moving:
            have[m + 1] += 1
    return clock.time


def tree_broadcast(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Returns the seconds where all that have the data send it to one each (binomial tree)."""
    clock, have = PortClock(rate, alpha), 1
    while have < n:
        clock.step((m, have + m, Fraction(size)) for m in range(min(have, n - have)))
        have = min(n, 2 * have)
    return clock.time


def direct_scatter(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Returns the seconds where the root sends every other member its part."""
    clock = PortClock(rate, alpha)
    for member in range(1, n):
        clock.step([(0, member, Fraction(size) / n)])
    return clock.time


def rotation(n: int, size: Number, rate: Number, alpha: Number = 0) -> Fraction:
    """Returns the seconds of an all-to-all: in step k each member sends its part for the one k places on."""
    clock, got = PortClock(rate, alpha), [{m} for m in range(n)]
    for far in range(1, n):
        clock.step((m, (m + far) % n, Fraction(size) / n) for m in range(n))
        for m in range(n):
            got[(m + far) % n].add(m)
    if any(len(have) < n for have in got):
        raise AssertionError("some part did not arrive")
    return clock.time
