"""How many sends one call becomes, in words and numbers, against a promise on them."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import retry_amplification

DESIGN = """coherence: 1
calls:
  - {{from: a, to: b, deadline: 60 s, per_try: 1 s, tries: {outer}}}
  - {{from: b, to: c, deadline: 900 ms, per_try: 100 ms, tries: {inner}}}
promises: {{few: attempts(c) per call(a) <= {most}}}
"""


def answer(outer: int, inner: int, most: int) -> Finding:
    text = DESIGN.format(outer=outer, inner=inner, most=most)
    (finding,) = retry_amplification.ask(Subject(read_text(text, "d.yaml")))
    return finding


@pytest.mark.parametrize(("outer", "inner"), [(3, 4), (1, 4), (3, 1), (2, 2)])
def test_layers_multiply_and_the_product_itself_is_allowed(outer: int, inner: int) -> None:
    product = outer * inner
    assert answer(outer, inner, product).verdict is Verdict.PROVED
    finding = answer(outer, inner, product - 1)
    assert finding.verdict is Verdict.CONFLICT
    assert f"{product} times" in finding.message


@pytest.mark.parametrize(
    ("limit", "sends", "other"),
    [("4 s", 4, "6"), ("3900 ms", 4, ""), ("4100 ms", 6, ""), ("2 s", 2, "4"), ("6 s", 6, "")],
)
def test_the_order_of_limits_that_end_at_one_instant_is_assumed_with_what_the_other_order_sends(
    limit: str, sends: int, other: str
) -> None:
    """Tries of 2 s within 4 s: the third begins where the limit around it ends."""
    text = (
        "coherence: 1\ncalls:\n"
        f"  - {{from: app, to: sdk, per_try: {limit}, tries: 2, retry_when: [timeout], on_timeout: cancel}}\n"
        "  - {from: sdk, to: api, per_try: 2 s, tries: 3, retry_when: [timeout], on_timeout: cancel}\n"
        "promises: {few: attempts(api) per call(app) <= "
    )
    for most, verdict in ((sends, Verdict.PROVED), (sends - 1, Verdict.CONFLICT)):
        (finding,) = retry_amplification.ask(Subject(read_text(f"{text}{most}}}\n", "d.yaml")))
        assert finding.verdict is verdict
        tied = [words for words in finding.assumptions if "same instant" in words]
        assert [f"in another one {other} are sent" in words for words in tied] == ([True] if other else [])
