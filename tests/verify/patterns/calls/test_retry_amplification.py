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
