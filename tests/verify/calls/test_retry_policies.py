"""Second copies in the times of a call, beside plays of single calls whose copies fail or answer at drawn times."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.calls.retry_policies import longest_end, retry_policy_of
from coherence.verify.patterns.calls.budget_containment import ask
from tests.draws import few

TICK = 10  # ms
NEVER = 10**9


def play(draw: random.Random, hedge: int, per_try: int, tries: int, pause: int, deadline: int) -> tuple[int, bool]:
    """Returns when one call ends, ms, and whether its deadline cut a try; copies fail at once, late or never."""
    now = 0
    for k in range(tries):
        if now >= deadline:
            return deadline, True
        first = now + min(draw.choice((0, hedge - TICK, hedge, hedge + TICK, per_try, NEVER)), per_try)
        ends = first
        if first > now + hedge:
            second = now + hedge
            ends = max(first, second + min(draw.choice((0, TICK, per_try // 2, per_try, NEVER)), per_try))
        if ends > deadline:
            return deadline, True
        now = ends + (pause if k + 1 < tries else 0)
    return now, False


CALL = """
coherence: 1
components: {{web: {{}}, engine: {{}}}}
calls: [{{from: web, to: engine, hedge_after: {} ms, per_try: {} ms, tries: {}, pause: {} ms, deadline: {} ms,
  retry_when: [timeout], on_timeout: cancel}}]
"""
steps = st.integers(1, 30).map(lambda n: n * TICK)


@given(steps, steps, st.integers(1, 4), steps, st.integers(1, 200).map(lambda n: n * TICK), st.integers(0, 10**6))
@settings(max_examples=few(100), deadline=None)
def test_no_play_with_second_copies_outlasts_its_bound_or_is_cut_where_all_tries_are_proved_to_fit(
    hedge: int, per_try: int, tries: int, pause: int, deadline: int, seed: int
) -> None:
    text = CALL.format(hedge, per_try, tries, pause, deadline)
    plan, draw = retry_policy_of(read_text(text, "d.yaml").calls[0]), random.Random(seed)  # noqa: S311
    plays = [play(draw, hedge, per_try, tries, pause, deadline) for _ in range(200)]
    bound = longest_end(plan)
    assert bound is not None
    assert max(end for end, _ in plays) <= bound * 1000
    if any(answer.verdict is Verdict.PROVED for answer in answers(text)):
        assert not any(cut for _, cut in plays)


def answers(text: str) -> list[Finding]:
    return list(ask(Subject(read_text(text, "d.yaml"), {"d.yaml": text})))


def test_a_try_that_hangs_lasts_for_both_of_its_copies() -> None:
    fits, cut = (answers(CALL.format(50, 250, 2, 0, deadline))[0] for deadline in (600, 590))
    assert (fits.verdict, cut.verdict) == (Verdict.PROVED, Verdict.CONFLICT)
    assert answers(CALL.format(260, 250, 2, 0, 500))[0].verdict is Verdict.PROVED  # given up before its second copy
