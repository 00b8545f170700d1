"""Capacity that a repair adds can be bought: half a device is none."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.limits import capacity_claims

DESIGN = """coherence: 1
infrastructure: {tiers: {a100: {uses: h100_sxm, count: COUNT}}}
claims: {a100: pool.desired}
loops: {hpa: {timescale: {period: 15 s}, target: {signal: pool.util, setpoint: 50 %},
  actuation: {signal: pool.desired, law: proportional, bounds: [1, 400.5]}}}
"""


@pytest.mark.parametrize(("count", "enough"), [("64", "401"), ("64.5", "400.5")])
def test_capacity_that_is_stated_whole_is_added_whole(count: str, enough: str) -> None:
    text = DESIGN.replace("COUNT", count)
    (finding,) = capacity_claims.ask(Subject(read_text(text, "d"), {"d": text}))
    assert [edit.new for edit in finding.repairs[-1].edits] == [enough]
