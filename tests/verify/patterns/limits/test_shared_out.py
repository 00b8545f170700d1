"""Limits of which there is one for each of several things, beside every way to share out what they count."""

from __future__ import annotations

import itertools
import random

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.limits.limit_against_demand import ask

RATED = """coherence: 1
workload: {{users: {{rate: {low} req/s .. {high} req/s}}}}
components: {{door: {{copies: {few} .. {many}}}}}
limits: {{each: {{counts: users.rate, {bound}: {most}{unit}, {window}per: door}}}}
"""


def shares(total: int, members: int) -> list[tuple[int, ...]]:
    every = itertools.product(range(total + 1), repeat=members)
    return [share for share in every if sum(share) == total]


@pytest.mark.parametrize("seed", range(6))
def test_a_limit_of_each_is_answered_as_every_share_of_all_answers_it(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # drawn designs
    verdicts = set()
    for _ in range(50):
        few, low, most = draw.randint(1, 3), draw.randint(1, 5), draw.randint(1, 5)
        many, high = draw.randint(few, 3), draw.randint(low, 6)
        bound, window = draw.choice(["at_most", "at_least"]), draw.random() < 0.5
        text = RATED.format(
            low=low, high=high, few=few, many=many, bound=bound, most=most,
            unit="" if window else " req/s", window="window: 1 s, " if window else "",
        )  # fmt: skip
        kept = [
            all(each <= most if bound == "at_most" else each >= most for each in share)
            for total in range(low, high + 1) for members in range(few, many + 1) for share in shares(total, members)
        ]  # fmt: skip
        [finding] = ask(Subject(read_text(text), {"": text}))
        verdicts.add(finding.verdict)
        if finding.verdict is Verdict.PROVED:
            assert all(kept), text
        if finding.verdict is Verdict.CONFLICT:
            assert not all(kept), text
            assert finding.certainty == "possible" or not any(kept), text
        if not any(kept):
            assert finding.verdict is Verdict.CONFLICT, text
    assert len(verdicts) == 3
