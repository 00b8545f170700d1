"""What a bounded queue takes at most, beside a plain run of it: first come first served, services up to the longest."""

from __future__ import annotations

import heapq
from random import Random

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import metastable_retries

MEAN = 100  # ms


def design(members: int, places: int, longest: int, limit: int) -> str:
    return (
        "coherence: 1\n"
        f"workload: {{users: {{rate: {8 * members} req/s, service: {{mean: {MEAN} ms, max: {longest} ms}}}}}}\n"
        f"components: {{web: {{copies: {members}}}}}\n"
        f"limits: {{room: {{counts: web.waiting, at_most: {places}, when_full: reject}}}}\n"
        f"calls: [{{from: users, to: web, per_try: {limit} ms, tries: 3, pause: 100 ms, retry_when: [timeout], "
        "on_timeout: abandon}]\n"
    )


def longest_in_a_run(members: int, places: int, longest: int, chance: Random) -> float:
    """Returns the longest time (ms) from arrival to answer of 400 requests that a full queue lets in."""
    free, worst, time = [0.0] * members, 0.0, 0.0
    starts: list[float] = []
    for _ in range(400):
        time += chance.expovariate(2 * members / MEAN)
        if sum(1 for start in starts if start > time) >= places and min(free) > time:
            continue
        start = max(time, heapq.heappop(free))
        end = start + chance.choice((longest, chance.uniform(0, longest)))
        heapq.heappush(free, end)
        starts.append(start)
        worst = max(worst, end - time)
    return worst


def answer(text: str) -> Finding:
    (found,) = metastable_retries.ask(Subject(read_text(text, "d"), {"d": text}))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_no_accepted_try_of_a_proof_runs_into_its_limit(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    members, places, longest = chance.randint(1, 4), chance.randint(1, 8), chance.choice((150, 200, 300))
    limit = chance.randint(2, 12) * 100
    if answer(design(members, places, longest, limit)).verdict is Verdict.PROVED:
        assert max(longest_in_a_run(members, places, longest, chance) for _ in range(5)) < limit


def test_the_bound_is_reached_to_a_fifth_and_decides() -> None:
    """Four wait before two members of 200 ms: two rounds and the own service, 600 ms."""
    verdicts = [answer(design(2, 4, 200, limit)).verdict for limit in (600, 601)]
    assert verdicts == [Verdict.UNDECIDED, Verdict.PROVED]
    worst = max(longest_in_a_run(2, 4, 200, Random(seed)) for seed in range(50))  # noqa: S311
    assert 480 < worst <= 600
