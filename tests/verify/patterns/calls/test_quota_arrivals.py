"""Quotas that are never full, beside a plain run of slots before a quota that shares no code with the question.

The run draws arrivals, the time of each try within what is stated, and counts the sends of the last window at each one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from random import Random

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import quota_retries

MOST_SENDS = 3000
FAILS, PAUSE = 0.1, 1.0  # s: how soon a refusal comes, and how long until the next try


@dataclass(frozen=True)
class Drawn:
    """Requests through slots (0: none) to a callee that takes `least` to `most` seconds, before a quota."""

    slots: int
    least: int
    most: int
    quota: int
    window: int
    rate: int  # per minute
    tries: int
    regular: bool
    limit: int  # s, of a try

    @property
    def causes(self) -> str:
        return "rate_limited, timeout" if self.limit < self.most else "rate_limited"

    @property
    def text(self) -> str:
        slots = f"  slots: {{counts: users.requests in flight, at_most: {self.slots}, when_full: wait}}\n"
        return (
            f"coherence: 1\nworkload: {{users: {{rate: {self.rate} req/min"
            f"{', arrivals: regular' if self.regular else ''}}}}}\n"
            f"components: {{api: {{takes: {{answer: {self.least} s .. {self.most} s}}}}}}\n"
            f"limits:\n{slots if self.slots else ''}"
            f"  quota: {{counts: attempts(api), at_most: {self.quota}, window: {self.window} s, when_full: reject}}\n"
            f"calls: [{{from: users, to: api, per_try: {self.limit} s, tries: {self.tries}, "
            f"pause: {{base: 1 s, factor: 1}}, retry_when: [{self.causes}], "
            "fails: {rate_limited: 100 ms}, on_timeout: cancel}]\n"
        )


def drawn(seed: int) -> Drawn:
    chance = Random(seed)  # noqa: S311
    least = chance.randint(1, 6)
    most, slots = least + chance.randint(0, 3), chance.choice((0, 1, 2, 3, 4))
    window, tries = chance.choice((10, 20, 60)), chance.randint(2, 4)
    about = (slots * (window // least + 1)) if slots else chance.randint(3, 30)
    quota = max(1, about + chance.randint(-4, 4))
    limit = chance.choice((most + 1, most + 5, max(1, most - 1)))
    return Drawn(slots, least, most, quota, window, chance.randint(5, 90), tries, chance.random() < 0.5, limit)


def refusals(case: Drawn, seed: int) -> int:
    """Returns how many sends are refused in one run, whose requests come in a burst as well where slots hold them."""
    chance, refused, number = Random(seed), 0, 0  # noqa: S311
    queue, sent = list[float](), list[float]()
    events: list[tuple[float, int, str, int]] = []
    gap, time = 60 / case.rate, Random(seed + 1).random() * 60 / case.rate  # noqa: S311
    while time < 10 * case.window:
        events.append((time, number, "comes", 0))
        number, time = number + 1, time + (gap if case.regular else chance.expovariate(1 / gap))
    for _ in range(40 if case.slots and not case.regular else 0):
        events.append((chance.random(), number, "comes", 0))
        number += 1
    heapq.heapify(events)
    free = case.slots or 10**9
    while events and len(sent) < MOST_SENDS:
        time, _, kind, left = heapq.heappop(events)
        if kind == "comes" and free == 0:
            queue.append(time)
            continue
        if kind == "ends":
            free += 1
            if not queue:
                continue
            queue.pop(0)
        if kind != "again":
            free, left = free - 1, case.tries
        full = sum(1 for before in sent if before > time - case.window) >= case.quota
        sent.append(time)
        refused += int(full)
        takes = FAILS if full else chance.choice((case.least, case.most, chance.uniform(case.least, case.most)))
        late = not full and takes > case.limit
        end, again = time + min(takes, case.limit), (full or late) and left > 1
        heapq.heappush(events, (end + PAUSE, number, "again", left - 1) if again else (end, number, "ends", 0))
        number += 1
    return refused


def answer(text: str) -> Finding:
    (found,) = quota_retries.ask(Subject(read_text(text, "d"), {"d": text}))
    return found


def is_never_full(case: Drawn) -> bool:
    found = answer(case.text)
    return found.verdict is Verdict.PROVED and "is never full" in found.message


@pytest.mark.parametrize("seed", range(150))
def test_a_quota_that_is_never_full_refuses_nothing_in_a_run(seed: int) -> None:
    case = drawn(seed)
    if is_never_full(case):
        assert [refusals(case, 1000 * seed + run) for run in range(3)] == [0, 0, 0]


@pytest.mark.slow
def test_some_are_never_full_and_of_the_others_some_refuse() -> None:
    """The draws are the same in every run."""
    cases = [drawn(seed) for seed in range(150)]
    never = [case for case in cases if is_never_full(case)]
    others = [case for case in cases if case not in never]
    assert len(never) > 20
    assert len([case for case in others if refusals(case, 7) > 0]) > 20


@pytest.mark.parametrize(
    ("change", "proved"),
    [
        (("", ""), True),
        (("at_most: 4,", "at_most: 5,"), False),  # 65 in a minute
        (("rate: 40 req/min", "rate: 40 req/min, deadline: 2 min"), False),  # a request may be given up at once
        (("fails: {rate_limited: 100 ms}", "fails: {rate_limited: 100 ms, 500: 10 ms}"), False),
        (("tries: 4,", "tries: 4, hedge_after: 1 s,"), False),
        (("answer: 5 s", "answer: 3 s .. 9 s"), False),  # shorter than its mean: 84 in a minute
        (("quota:", "other: {counts: api.ongoing, at_most: 2, when_full: reject}\n  quota:"), False),
        (("when_full: wait", "when_full: evict and redo"), False),
    ],
)
def test_what_ends_a_try_early_or_sends_again_leaves_no_proof(change: tuple[str, str], *, proved: bool) -> None:
    text = Drawn(4, 5, 5, 60, 60, 40, 4, regular=False, limit=60).text
    assert is_never_full(Drawn(4, 5, 5, 60, 60, 40, 4, regular=False, limit=60))
    text = text.replace("answer: 5 s .. 5 s", "answer: 5 s").replace(*change)
    findings = list(quota_retries.ask(Subject(read_text(text, "d"), {"d": text})))
    assert any("is never full" in found.message for found in findings) is proved
