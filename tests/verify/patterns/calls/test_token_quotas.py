"""Quotas in tokens against a plain run of regular arrivals: what is proved to be never full never is.

The run knows nothing of the package: a list of sends by time, each allowed where the tokens of the window up to it
leave room, and sent again after a pause where they do not.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from random import Random

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import quota_retries

WINDOW = 10
SECONDS = 120


@dataclass(frozen=True)
class TokenFlow:
    """Requests that come every `apart` seconds, of so many tokens, and (from `burst` seconds on, for 10 s) so often."""

    apart: Fraction
    tokens: int
    burst: Fraction | None

    def arrivals(self) -> list[Fraction]:
        at, times = Fraction(0), list[Fraction]()
        while at < SECONDS:
            times.append(at)
            at += self.burst if self.burst is not None and 20 <= at < 30 else self.apart
        return times


def drawn(source: Random) -> tuple[list[TokenFlow], int, int]:
    """Draws one or two flows, tries and a quota near what comes or what comes again."""
    flows = [
        TokenFlow(Fraction(1, source.choice((1, 2, 4))), source.choice((100, 300, 1200)),
             Fraction(1, source.choice((6, 10))) if source.random() < 0.4 else None)
        for _ in range(source.choice((1, 2)))
    ]  # fmt: skip
    tries = source.choice((1, 2, 3))
    load = sum(flow.tokens / flow.apart for flow in flows) * WINDOW
    return flows, tries, int(load * Fraction(source.choice((5, 9, 11, 15, 22, 35)), 10))


def design(flows: list[TokenFlow], tries: int, most: int) -> str:
    lines = ["coherence: 1", "workload:"]
    for number, flow in enumerate(flows):
        burst = f", burst: {{rate: {1 / flow.burst} req/s, lasts: 10 s}}" if flow.burst is not None else ""
        own = f"rate: {1 / flow.apart} req/s, arrivals: regular, tokens: {flow.tokens} token{burst}"
        lines.append(f"  w{number}: {{{own}}}")
    limit = f"counts: api.tokens, at_most: {most} token, window: {WINDOW} s, when_full: reject, refused: count"
    lines += [f"limits: {{tpm: {{{limit}}}}}", "calls:"]
    more = f"tries: {tries}, pause: 500 ms, retry_when: [rate_limited], fails: {{rate_limited: 10 ms}}"
    lines += [f"  - {{from: w{number}, to: api, {more}}}" for number in range(len(flows))]
    return "\n".join(lines)


def run(flows: list[TokenFlow], tries: int, most: int) -> list[tuple[Fraction, int, bool]]:
    """Returns every send: when, its tokens, and whether it is refused; what is refused counts."""
    order = count()
    coming = [(at, next(order), flow.tokens, tries) for flow in flows for at in flow.arrivals()]
    heapq.heapify(coming)
    sends, oldest, held = list[tuple[Fraction, int, bool]](), 0, 0
    while coming:
        at, _, tokens, left = heapq.heappop(coming)
        while oldest < len(sends) and sends[oldest][0] <= at - WINDOW:
            held, oldest = held - sends[oldest][1], oldest + 1
        refused = held + tokens > most
        if refused and left > 1:
            heapq.heappush(coming, (at + Fraction(51, 100), next(order), tokens, left - 1))
        held += tokens
        sends.append((at, tokens, refused))
    return sends


@pytest.mark.parametrize("number", range(60))
def test_answers_hold_in_a_plain_run(number: int) -> None:
    flows, tries, most = drawn(Random(number))  # noqa: S311
    text = design(flows, tries, most)
    (finding,) = quota_retries.ask(Subject(read_text(text, "d"), {"d": text}))
    sends = run(flows, tries, most)
    late = [tokens for at, tokens, _ in sends if SECONDS - 3 * WINDOW <= at < SECONDS]
    refused_late = [at for at, _, refused in sends if refused and at >= SECONDS - 2 * WINDOW]
    match finding.verdict:
        case Verdict.PROVED if "never full" in finding.message:
            assert not any(refused for _, _, refused in sends)
        case Verdict.PROVED:
            assert sum(late) <= 3 * most + tries * sum(flow.tokens for flow in flows)
            assert sum(flow.tokens * tries / flow.apart for flow in flows) * WINDOW <= most
        case Verdict.CONFLICT:
            assert refused_late, finding.message
            assert tries > 1
        case Verdict.NOTE:
            assert refused_late, finding.message
            assert tries == 1
        case _:
            assert "a burst of" in finding.message
