"""Repairs of an order that decides: ranks as the declaration has the loops, beside their objectives."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.patterns.writers import order_dependent

PODS = """coherence: 1
components:
  pod: {{load: 40, usage: pod.load / (pod.replicas * pod.request)}}
loops:
  horizontal:{first}
    timescale: {{period: 1 min}}
    target: {{signal: pod.usage, setpoint: 1}}
    actuation: {{signal: pod.replicas, law: proportional, bounds: [1, 64], from: 4}}
  vertical:{second}
    timescale: {{period: 1 min}}
    target: {{signal: pod.usage, setpoint: 1}}
    actuation: {{signal: pod.request, law: proportional, bounds: [1, 64], from: 5}}
"""
AIM = "\n    objective: {}"


def asked_of(first: str, second: str) -> tuple[Finding, str]:
    text = PODS.format(first=first, second=second)
    (finding,) = order_dependent.ask(Subject(read_text(text, "d"), {"d": text}))
    assert finding.verdict is Verdict.CONFLICT
    return finding, text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (AIM.format("more pods"), AIM.format("larger pods")),
        ("", ""),
        (AIM.format("more pods"), ""),
        ("", AIM.format("larger pods")),
    ],
)
def test_the_order_of_the_declaration_is_stated_as_ranks(first: str, second: str) -> None:
    finding, text = asked_of(first, second)
    (repair,) = finding.repairs
    changed = apply(repair.edits, {"d": text})
    assert changed is not None
    design = read_text(changed["d"], "d")
    assert {name: loop.rank and loop.rank.low for name, loop in design.loops.items()} == {
        "horizontal": 1,
        "vertical": 2,
    }
    assert not list(order_dependent.ask(Subject(design, changed)))
