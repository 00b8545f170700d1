"""Asymmetry drift beside its closed form, on drawn dispatchers."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement.asymmetry_drift import ask

POOLS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4), st.integers(1, 9)), min_size=2, max_size=4)


def answers(rate: int, pools: list[tuple[int, int, int]]) -> list[Finding]:
    """Returns the answers about a dispatcher over pools: weight, members, rate of one."""
    cases = ", ".join(f"c{n}: {weight}" for n, (weight, _, _) in enumerate(pools))
    things = ", ".join(f"p{n}: {{copies: {k}, rate_per_copy: {each} req/s}}" for n, (_, k, each) in enumerate(pools))
    calls = "".join(f"  - {{from: users, to: p{n}, case: c{n}}}\n" for n in range(len(pools)))
    text = (
        f"coherence: 1\nworkload: {{users: {{rate: {rate} req/s, cases: {{{cases}}}}}}}\ncomponents: {{{things}}}\n"
        f"calls:\n{calls}"
    )
    return list(ask(Subject(read_text(text, "d"), {"d": text})))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rate=st.integers(1, 60), pools=POOLS)
def test_the_verdict_is_that_of_the_loads(rate: int, pools: list[tuple[int, int, int]]) -> None:
    whole, weights = sum(k * each for _, k, each in pools), sum(weight for weight, _, _ in pools)
    loads = [Fraction(rate * weight, weights * k * each) for weight, k, each in pools]
    found = answers(rate, pools)
    if rate >= whole:
        assert found == []
        return
    (finding,) = found
    assert finding.verdict is (Verdict.CONFLICT if max(loads) > 1 else Verdict.PROVED)
    for n, load in enumerate(loads):
        assert finding.evidence.numbers[f"load of p{n}"] == (load, "")
    if finding.verdict is Verdict.CONFLICT:
        assert finding.certainty == "certain"
        assert finding.evidence.numbers["drift"] == (max(loads) - 1, "s/s")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rate=st.integers(1, 60), pools=POOLS)
def test_weights_by_rate_are_proved_wherever_capacity_does_not_lack(
    rate: int, pools: list[tuple[int, int, int]]
) -> None:
    by_rate = [(k * each, k, each) for _, k, each in pools]
    lacks = rate >= sum(weight for weight, _, _ in by_rate)
    assert [finding.verdict for finding in answers(rate, by_rate)] == ([] if lacks else [Verdict.PROVED])


def test_a_proof_names_the_members_that_a_loop_may_give() -> None:
    text = (
        "coherence: 1\nworkload: {users: {rate: 18 req/s, cases: {near: 2, far: 1}}}\n"
        "components: {fast: {copies: 1 .. 2, rate_per_copy: 8 req/s}, slow: {copies: 2, rate_per_copy: 4 req/s}}\n"
        "loops: {more: {trigger: fast.waiting > 20, timescale: {period: 15 s}, actuation: "
        "{signal: fast.copies, law: step, by: 1, bounds: [1, 2]}}}\n"
        "calls: [{from: users, to: fast, case: near}, {from: users, to: slow, case: far}]\n"
    )
    (finding,) = ask(Subject(read_text(text, "d"), {"d": text}))
    assert finding.verdict is Verdict.PROVED
    assert "fast has the 2 members that more may give it" in finding.assumptions
