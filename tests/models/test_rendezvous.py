"""The rendezvous of training against plain members that poll, start by start.

SOURCE: PyTorch 2.2 to 2.8, distributed/elastic/rendezvous/dynamic_rendezvous.py: a member waits up to 0.3 s before its
first round, counts its `join` time-out from then on, polls each second, and gives up at the first look after it; with
as many as may come the round is complete at once, with as many as must come after a last call (30 s).  TCPStore.cpp,
waitForWorkers: the first rank looks each 10 ms how many have come, and gives up once more whole seconds than its
time-out have passed (rank 0 alone waits for the others; LaunchConfig: 900 s).
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.verify.timers.firing import FiringWindow, firing
from tests.draws import source, trace_counts

MS = 1000  # times are whole milliseconds
LAST_CALL = 30 * MS
LOOK = 10


def window(timer: str) -> FiringWindow:
    """Returns the firing window of a part."""
    text = f"coherence: 1\ntimers: {{join: {{from: rank starts, unless: round ends, then: end rank, {timer}}}}}\n"
    fires = firing(read_text(text).timers["join"])
    assert fires is not None
    return fires.window


class Round:
    """A rendezvous of at least and at most so many, and when it is complete."""

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most
        self.members: list[int] = []
        self.closes: int | None = None
        self.complete = False

    def look(self, member: int, now: int) -> None:
        """Lets a member join, or complete a round whose last call is over."""
        if member not in self.members and not self.complete:
            self.members.append(member)
            if len(self.members) == self.least:
                self.closes = now + LAST_CALL
            self.complete = len(self.members) == self.most
        elif self.closes is not None and len(self.members) >= self.least and self.closes < now:
            self.complete = True


def dynamic(least: int, most: int, timeout: int, starts: list[int], rng: random.Random) -> list[int | None]:
    """Returns after what time each member gives up; None for one that joins a round."""
    state, gives_up = Round(least, most), dict[int, int]()
    begins = [start + rng.randint(0, 300) for start in starts]
    looks = sorted((begin, member) for member, begin in enumerate(begins))
    while looks:
        now, member = looks.pop(0)
        if state.complete and member in state.members:
            continue
        if now > begins[member] + timeout:
            gives_up[member] = now - starts[member]
            state.members = [other for other in state.members if other != member]
            continue
        state.look(member, now)
        looks = sorted([*looks, (now + MS, member)])
    return [gives_up.get(member) for member in range(len(starts))]


def static(timeout: int, arrivals: list[int]) -> int | None:
    """Returns when the first rank, there at 0, gives up; None where all come in time."""
    now = 0
    while sum(arrival <= now for arrival in arrivals) < len(arrivals):
        if now // MS > timeout // MS:
            return now
        now += LOOK
    return None


def within(time: int, span: FiringWindow) -> bool:
    """Decides whether a time in milliseconds lies in the window."""
    assert span.latest is not None
    return span.earliest <= Fraction(time, MS) <= span.latest


@trace_counts(60, parts=10, of=("torch_rendezvous",))
def test_a_member_gives_up_within_the_window_or_has_joined_a_round(traces: int) -> None:
    rng = source(21)
    spans = {ms: window(f"uses: torch_rendezvous, after: {ms} ms") for ms in (5000, 5300, 5950, 60_000)}
    lags = []
    for _ in range(traces):
        timeout, many = rng.choice(sorted(spans)), rng.randint(1, 5)
        least = rng.randint(1, many + 1)
        starts = [rng.randint(0, 2 * timeout) for _ in range(many)]
        for time in dynamic(least, rng.randint(least, many + 1), timeout, starts, rng):
            if time is not None:
                assert within(time, spans[timeout]), (timeout, time)
                lags.append(time - timeout)
    assert min(lags) <= 200
    assert max(lags) > 1200


@trace_counts(40, parts=10, of=("torch_static_rendezvous",))
def test_the_first_rank_gives_up_within_the_window_or_all_have_come(traces: int) -> None:
    rng = source(22)
    spans = {s: window(f"uses: torch_static_rendezvous, after: {s} s") for s in (1, 3, 7)}
    lags = []
    for _ in range(traces):
        timeout = rng.choice(sorted(spans))
        arrivals = [rng.randint(0, 2 * timeout * MS + 1500) for _ in range(rng.randint(1, 4))]
        time = static(timeout * MS, arrivals)
        assert (time is None) == (max(arrivals) <= timeout * MS + MS)
        if time is not None:
            assert within(time, spans[timeout]), (timeout, time)
            lags.append(time - timeout * MS)
    assert set(lags) == {MS}


@pytest.mark.parametrize(("part", "earliest"), [("torch_rendezvous", 600), ("torch_static_rendezvous", 900)])
def test_the_defaults_are_those_of_the_program(part: str, earliest: int) -> None:
    assert window(f"uses: {part}").earliest == earliest
