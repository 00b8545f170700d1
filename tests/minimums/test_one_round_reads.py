"""Reads of one round: the search over all rules beside the published rule that is run, and beside runs drawn anew."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

import pytest

from coherence.minimums.bounds._one_round_reads import FIRST, OTHER, WRITE, exists
from coherence.minimums.floors import at
from coherence.minimums.registry import entry

WRITER = -1
View = tuple[str, tuple[tuple[int, str], ...]]  # whose read, and what each server that answers had heard


@dataclass
class Server:
    """The server of Dutta et al.: the newest version that it heard of, and the clients that it heard it from."""

    version: int = 0
    seen: set[int] = field(default_factory=set)

    def hear(self, client: int, version: int) -> tuple[int, frozenset[int]]:
        if version > self.version:
            self.version, self.seen = version, {client}
        else:
            self.seen.add(client)
        return self.version, frozenset(self.seen)


def shown(answers: list[tuple[int, frozenset[int]]], servers: int, failures: int, readers: int) -> tuple[int, int]:
    """The newest version of the answers, and that which the published rule shows."""
    newest = max(version for version, _ in answers)
    sets = [seen for version, seen in answers if version == newest]
    for count in range(1, readers + 2):
        for size in range(max(servers - count * failures, 1), len(sets) + 1):
            if any(len(frozenset.intersection(*some)) >= count for some in itertools.combinations(sets, size)):
                return newest, newest
    return newest, newest - 1


def goes_back(servers: int, failures: int, readers: int, draw: random.Random) -> bool:
    """Draws a run of writes and reads that ask once each; says whether some read shows too old a version."""
    every = [Server() for _ in range(servers)]
    known = [0] * readers
    on_the_way: list[tuple[int, int, int]] = []  # server, client, version of messages that come later, or never
    written = ended = highest = 0
    for _ in range(draw.randrange(3, 9)):
        quorum = draw.sample(range(servers), servers - failures)
        for message in [one for one in on_the_way if draw.random() < 0.3]:
            on_the_way.remove(message)
            every[message[0]].hear(*message[1:])
        if draw.random() < 0.35 and written == ended:
            written += 1
            reached = draw.sample(range(servers), draw.randrange(servers + 1))
            for server in reached:
                every[server].hear(WRITER, written)
            on_the_way += [(server, WRITER, written) for server in range(servers) if server not in reached]
            ended = written if len(reached) >= servers - failures else ended
            continue
        reader = draw.randrange(readers)
        answers = [every[server].hear(reader, known[reader]) for server in quorum]
        on_the_way += [(server, reader, known[reader]) for server in range(servers) if server not in quorum]
        known[reader], value = shown(answers, servers, failures, readers)
        if value < max(ended, highest):
            return True
        highest = value
    return False


@pytest.mark.parametrize(
    ("readers", "failures"), [(2, 1), *(pytest.param(*row, marks=pytest.mark.slow) for row in ((3, 1), (2, 2)))]
)
def test_the_published_rule_is_right_from_the_number_on_and_not_below(readers: int, failures: int) -> None:
    """10,000 drawn runs, the same each time."""
    servers = int(at(entry("one_round_read_servers").bound, {"readers": readers, "failures": failures}))
    draw = random.Random(23)  # noqa: S311
    assert not any(goes_back(servers, failures, readers, draw) for _ in range(10_000))
    if failures == 1:  # more failures at once are rare in drawn runs
        assert any(goes_back(servers - 1, failures, readers, draw) for _ in range(10_000))


def test_readers_that_read_once_need_fewer_servers_than_published() -> None:
    """What stood against the published number: with one read of each of two readers four servers are enough."""
    assert at(entry("one_round_read_servers").bound, {"readers": 2, "failures": 1}) == 5
    assert exists(4, 1, 2, again=False)
    assert not exists(4, 1, 2, again=True)
    assert "reads_again" in entry("one_round_read_servers").bound.assumptions


def test_a_rule_for_one_read_of_each_reader_is_right_in_every_run_of_few_orders() -> None:
    """Every order of the three messages at each of four servers, and every one that does not answer in time; each run
    says anew what its reads must show."""
    orders = ["".join(way) for way in itertools.permutations(WRITE + FIRST + OTHER)]
    new, old = _shown(orders)
    assert new
    assert old
    assert not new & old


def _shown(orders: list[str]) -> tuple[set[View], set[View]]:
    """Returns the views that must show the new value, and those that must show the old one."""
    servers = range(4)
    new: set[View] = set()
    old: set[View] = set()
    later: dict[View, set[View]] = {}
    for run in itertools.product(orders, repeat=4):
        for lacks in itertools.product(servers, repeat=2):
            views = {}
            for read, lack in zip((FIRST, OTHER), lacks, strict=True):
                heard = tuple((s, run[s][: run[s].index(read)]) for s in servers if s != lack)
                views[read] = (read, heard)
                before = sum(run[s].index(WRITE) < run[s].index(read) for s in servers)
                new |= {views[read]} if before >= 3 else set()
                old |= {views[read]} if not any(WRITE in told for _, told in heard) else set()
            for one, other in ((FIRST, OTHER), (OTHER, FIRST)):
                lack = lacks[0] if one == FIRST else lacks[1]
                if all(run[s].index(one) < run[s].index(other) for s in servers if s != lack):
                    later.setdefault(views[one], set()).add(views[other])
    left = list(new)
    while left:
        more = later.get(left.pop(), set()) - new
        new |= more
        left += more
    return new, old
