"""Pools, queues and their clients against whole replicas, whole requests and whole tries.

The originals are plain: replicas that are made one by one and taken away newest first, as a ReplicaSet does with pods
that are not ready (SOURCE: Kubernetes 1.23 to 1.35, pkg/controller/controller_utils.go, ActivePodsWithRanks); requests
that one server answers first come, first served; clients that each wait for an answer and send again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tests.draws import source, trace_counts
from tests.models.readings import Schedule, readings

UNTIL = 30
HALF = Fraction(1, 2)
SHARE = 10  # designs are read once for so many traces
Levels = Sequence[tuple[int, int]]  # (second from which on, value)


def level(levels: Levels, second: Fraction | int) -> int:
    return next((value for at, value in reversed(levels) if at <= second), 0)


def schedule(path: str, levels: Levels) -> Schedule:
    return [(at, path, value) for at, value in levels]


def drawn(rng: random.Random, changes: int, highest: int) -> Levels:
    times = sorted(rng.sample(range(1, UNTIL), changes))
    return [(at, rng.randint(0, highest)) for at in (0, *times)]


# --- replicas

POOL = """coherence: 1
components:
  want: {{pods: 0 .. 100}}
  web: {{uses: replica_pool, rate_per_replica: 2 req/s, takes: {{start: {start} s}}, load: want.pods * 1 req/s}}
loops:
  set:
    rank: 1
    timescale: {{period: 1 s}}
    actuation: {{signal: web.desired, law: set, to: want.pods, from: 0, bounds: [0, 100]}}
"""


def serving(levels: Levels, start: int) -> list[int]:
    """Returns the replicas that serve in each second; before the first one there were none."""
    pods, ready = list[int](), list[int]()
    for second in range(UNTIL):
        wanted = level(levels, second)
        pods = pods[:wanted] + [second] * (wanted - len(pods))
        ready.append(sum(second - born >= start for born in pods))
    return ready


def regrown(levels: Levels, start: int) -> bool:
    """Decides whether some replicas were taken away and wanted again within a start."""
    wanted = [level(levels, second) for second in range(UNTIL)]
    return any(
        min(wanted[second : later + 1]) < min(wanted[second], wanted[later])
        for second in range(UNTIL)
        for later in range(second, min(UNTIL, second + start + 1))
    )


@pytest.mark.slow
@trace_counts(60, parts=100, of=("replica_pool",))
def test_a_pool_serves_with_the_replicas_that_have_started(traces: int) -> None:
    """After a dip shorter than a start it is early, by no more than was taken away: named in the part."""
    rng = source(51)
    early = 0
    for _ in range(traces // SHARE):
        start = rng.choice((1, 3, 5, 12, 20))
        pool = readings(POOL.format(start=start), ("web.ready", "web.starting", "web.capacity", "web.idle"), phase=HALF)
        for _ in range(SHARE):
            levels = drawn(rng, rng.randint(0, 6), 12)
            ready, starting, capacity, idle = pool(schedule("want.pods", levels), UNTIL)
            plain = serving(levels, start)
            wanted = [level(levels, second) for second in range(UNTIL)]
            assert starting == [all_ - one for all_, one in zip(wanted, ready, strict=True)]
            assert capacity == [2 * one for one in ready]
            assert idle == [max(0, one - Fraction(all_, 2)) for all_, one in zip(wanted, ready, strict=True)]
            if regrown(levels, start):
                assert all(part >= one for part, one in zip(ready, plain, strict=True)), (start, levels)
                early += ready != plain
            else:
                assert ready == plain, (start, levels)
    assert early


# --- a queue

QUEUE = """coherence: 1
workload: {{users: {{rate: 0 req/s .. 100 req/s}}}}
components:
  web: {{capacity: {rate} req/s, ready: 1 replica, rate_per_replica: {rate} req/s}}
  line: {{uses: queue, arrivals: users.rate, served_by: web}}
loops:
"""


def counts(levels: Levels, rate: int) -> list[tuple[int, Fraction]]:
    """Returns at the end of each second the requests that came and are not answered, and how long the next waits."""
    over, arrived, left, free = list[tuple[int, Fraction]](), list[Fraction](), list[Fraction](), Fraction(0)
    for second in range(UNTIL):
        coming = level(levels, second)
        for number in range(coming):
            arrived.append(second + Fraction(2 * number + 1, 2 * coming))
            free = max(free, arrived[-1]) + Fraction(1, rate)
            left.append(free)
        waiting = sum(at > second + 1 for at in left)
        over.append((waiting, max(Fraction(0), free - second - 1)))
    return over


@trace_counts(60, parts=100, of=("queue",))
def test_the_fluid_queue_is_within_one_request_of_whole_ones_for_each_change_of_the_arrivals(traces: int) -> None:
    rng = source(52)
    for _ in range(traces // SHARE):
        rate = rng.choice((1, 4, 10))
        run = readings(QUEUE.format(rate=rate), ("line.backlog", "line.wait"))
        for _ in range(SHARE):
            levels = drawn(rng, rng.randint(0, 5), 2 * rate)
            backlog, wait = run(schedule("users.rate", levels), UNTIL)
            for second, (waiting, delay) in enumerate(counts(levels, rate)[:-1]):
                assert abs(backlog[second + 1] - waiting) <= len(levels), (rate, levels, second)
                assert abs(wait[second + 1] - delay) * rate <= len(levels), (rate, levels, second)


def test_a_queue_that_is_empty_is_busy_by_its_load_and_one_that_is_not_all_the_time() -> None:
    run = readings(QUEUE.format(rate=8), ("line.busy", "line.served", "line.utilization"), phase=HALF)
    busy, served, utilization = run([(0, "users.rate", 4), (2, "users.rate", 24), (4, "users.rate", 0)], 8)
    assert busy == [Fraction(1, 2)] * 2 + [1] * 6
    assert served == [4, 4, *[8] * 6]
    assert utilization == [Fraction(1, 2)] * 2 + [3] * 2 + [0] * 4


# --- clients that try again

CLIENTS = """coherence: 1
workload: {{users: {{rate: 0 req/s .. 100 req/s}}}}
components:
  line: {{wait: 0 s .. 100 s}}
  clients: {{uses: retrying_clients, tries: {tries}, per_try: {per_try} s, again_after: {again} s,
    fresh: users.rate, through: line}}
loops:
"""


def sends(fresh: Levels, waits: Levels, tries: int, per_try: int, again: int) -> list[int]:
    """Returns how many tries are sent in each second by clients that each send again while they get no answer."""
    sent = [0] * UNTIL
    for second in range(UNTIL):
        for number in range(level(fresh, second)):
            at = second + Fraction(2 * number + 1, 2 * level(fresh, second))
            for _ in range(tries):
                if at < UNTIL:
                    sent[int(at)] += 1
                if level(waits, at) <= per_try:
                    break
                at += again
    return sent


@pytest.mark.slow
@trace_counts(60, parts=100, of=("retrying_clients",))
def test_clients_send_as_many_tries_in_each_second_as_the_part_says(traces: int) -> None:
    rng = source(53)
    for _ in range(traces // SHARE):
        tries, per_try, again = rng.randint(1, 5), rng.randint(1, 5), rng.randint(1, 9)
        design = CLIENTS.format(tries=tries, per_try=per_try, again=again)
        run = readings(design, ("clients.attempts", "clients.retries"), phase=HALF)
        for _ in range(SHARE):
            fresh, waits = drawn(rng, rng.randint(0, 5), 20), drawn(rng, rng.randint(0, 8), 9)
            first = [(0, 0), *((at + 5, rate) for at, rate in fresh)]  # nobody sent before
            attempts, retries = run([*schedule("users.rate", first), *schedule("line.wait", waits)], UNTIL)
            plain = sends(first, waits, tries, per_try, again)
            assert attempts == plain, (tries, per_try, again, fresh, waits)
            assert retries == [all_ - level(first, second) for second, all_ in enumerate(plain)]
