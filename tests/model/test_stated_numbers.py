"""Expressions that stand where a model takes a number: where a command begins, and its bounds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval

TEXT = """coherence: 1
components: {a: {k: K, half: k / 2, y: k * d}}
loops:
  l:
    timescale: {period: 1 s, phase: 0 s}
    rules: [{when: a.d > 2 and a.d < 2.5, by: 1}, {when: a.d > 3, by: -1}]
    actuation: {signal: a.d, bounds: [0, HIGH], from: FROM}
"""


def text_of(k: str, high: str, start: str) -> str:
    return TEXT.replace("K", k).replace("HIGH", high).replace("FROM", start)


@pytest.mark.parametrize(
    ("k", "high", "start", "expected"),
    [
        ("2.2", "9.5", "a.k", "11/5"),
        ("2.2", "9.5", "2 * a.half", "11/5"),
        ("2.2", "a.k * 4", "1 + a.half", "21/10"),
        ("2.2", "9.5", '"max(a.k, 3)"', "3"),
    ],
)
def test_what_constants_alone_make_is_the_number(k: str, high: str, start: str, expected: str) -> None:
    command = elaborate(read_text(text_of(k, high, start))).commands["a.d"]
    assert command.initial == Interval(Fraction(expected), Fraction(expected))


@pytest.mark.parametrize(
    ("k", "high", "start", "key"),
    [("1 .. 3", "9.5", "a.k", "from"), ("2.2", "9.5", "a.y", "from"), ("1 .. 3", "a.k * 4", "0", "bounds"),
     ("2.2", "9.5", "b.unknown", "from"), ("0", "9.5", "1 / a.k", "from")],
)  # fmt: skip
def test_what_may_differ_is_what_a_run_needs(k: str, high: str, start: str, key: str) -> None:
    model = elaborate(read_text(text_of(k, high, start)))
    assert not model.loops
    assert [f"one number for `{key}` of l" in gap.needs for gap in model.gaps] == [True]


def test_a_start_that_is_written_as_an_expression_has_the_verdict_of_its_number() -> None:
    def verdicts(start: str) -> list[tuple[str, Verdict]]:
        text = text_of("2.2", "9", start)
        found = analyse(read_text(text), {}, lambda sources: read_text(text), select=["COH301"]).findings  # noqa: ARG005
        return [(finding.certainty, finding.verdict) for finding in found]

    assert verdicts("a.k") == verdicts("2.2") == [("certain", Verdict.CONFLICT)]
