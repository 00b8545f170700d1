"""The fluid token bucket against buckets of whole tokens and whole requests, over arrivals that rise and fall.

Two plain buckets: one that is filled all the time, by what has passed since the last request, and one that is filled in
lumps, as Envoy's local rate limit is configured (`tokens_per_fill` every `fill_interval`, `max_tokens` at most).  A
request takes one token or is refused; both start full.
SOURCE: Envoy API v3, type.TokenBucket.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.hybrid import execute
from tests.draws import source, trace_counts

PARTS = ("token_bucket",)

UNTIL = 60
Steps = list[tuple[int, int]]  # (from this second on, requests per second)


@dataclass(frozen=True)
class Bucket:
    """Tokens per second, tokens that it holds, and seconds between two fillings (0: all the time)."""

    rate: int
    burst: int
    fill: Fraction = Fraction(0)

    def admitted(self, arrivals: Iterator[Fraction]) -> Iterator[tuple[Fraction, int]]:
        """Yields (time, requests let through so far) at each request."""
        tokens, filled, count = Fraction(self.burst), Fraction(0), 0
        for now in arrivals:
            until = now if not self.fill else now // self.fill * self.fill
            tokens = min(Fraction(self.burst), tokens + (until - filled) * self.rate)
            filled = until
            if tokens >= 1:
                tokens -= 1
                count += 1
            yield now, count


def arrivals(steps: Steps) -> Iterator[Fraction]:
    """Yields evenly spaced requests of each rate; the first of a stretch half a gap after its beginning."""
    for (start, rate), (end, _) in zip(steps, [*steps[1:], (UNTIL, 0)], strict=True):
        for number in range(rate * (end - start)):
            yield start + Fraction(2 * number + 1, 2 * rate)


def fluid(bucket: Bucket, steps: Steps) -> dict[int, float]:
    """Returns what the part has let through by each whole second."""
    text = f"""coherence: 1
workload: {{users: {{rate: {steps[0][1]} req/s}}}}
components:
  bucket: {{uses: token_bucket, arrivals: users.rate, rate: {bucket.rate} req/s, burst: {bucket.burst} req}}
  tally: {{state: "passed' = bucket.admitted", from: 0 req}}
loops:
  clock: {{timescale: {{period: 1 s}}, actuation: {{signal: clock.ticks, law: step, by: 1, bounds: [0, 999], from: 0}}}}
"""
    schedule = tuple((Fraction(at), "users.rate", Fraction(rate)) for at, rate in steps[1:])
    run = execute(elaborate(read_text(text)), Choices(schedule=schedule), until=Fraction(UNTIL))
    return {int(i.time): float(i.after["tally.passed"]) for i in run.instants if i.time == int(i.time)}


def drawn(rng: random.Random) -> tuple[Bucket, Steps]:
    """Returns a bucket and arrivals below and above its rate."""
    bucket = Bucket(rng.choice([1, 5, 20]), rng.choice([2, 5, 20, 60]))
    times = sorted(rng.sample(range(1, UNTIL), 5))
    return bucket, [(at, rng.choice([0, 1, 2, 5, 8, 20, 30])) for at in (0, *times)]


def farthest(plain: Bucket, part: dict[int, float], steps: Steps) -> tuple[float, float]:
    """Returns by how many requests the plain bucket let through fewer, and more, than the part."""
    counts = dict.fromkeys(range(UNTIL + 1), 0)
    for now, count in plain.admitted(arrivals(steps)):
        for second in range(int(now) + 1, UNTIL + 1):
            counts[second] = count
    gaps = [counts[second] - part[second] for second in part]
    return -min(gaps), max(gaps)


@pytest.mark.parametrize("fill", [Fraction(0), Fraction(1)])
@trace_counts(8, parts=20, of=PARTS)
def test_the_fluid_lets_at_most_one_more_through_at_each_change_and_never_fewer(traces: int, fill: Fraction) -> None:
    """Filled in lumps, one lump more.  A bucket of one token is not exact: see below."""
    rng = source(6)
    for _ in range(traces):
        bucket, steps = drawn(rng)
        if fill:
            bucket = Bucket(bucket.rate, max(bucket.burst, bucket.rate), fill)
        fewer, more = farthest(bucket, fluid(bucket, steps), steps)
        assert fewer <= len(steps) * max(Fraction(1), fill * bucket.rate), (bucket, steps)
        assert more < 1, (bucket, steps)


def test_a_bucket_of_one_token_loses_what_is_not_whole_and_lets_fewer_through_than_the_fluid() -> None:
    bucket, steps = Bucket(20, 1), [(0, 30)]
    fewer, _ = farthest(bucket, fluid(bucket, steps), steps)
    assert 290 <= fewer <= 301  # 15 instead of 20 in a second
