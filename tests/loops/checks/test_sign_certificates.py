"""Certificates of one sign: confirmed by both solvers for what is true, none for what is not or cannot be stated."""

from __future__ import annotations

import pytest

from coherence.base.solver import recheck
from coherence.language.expressions import parse
from coherence.language.expressions.tree import rename
from coherence.language.reading import read_text
from coherence.loops.checks._sign_certificates import certificate
from coherence.model.elaborate import elaborate
from coherence.verify.facts.signs import DOWN, UP, plant_sign

DESIGN = """
coherence: 1
components:
  web: {load: 50 .. 100, usage: load / desired, room: "desired - load"}
  queue: {state: "q' = max(0, 0.9 * q + web.load - 2 * web.desired)", step: 1 s, from: 0}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: web.usage, setpoint: 0.5}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
"""


@pytest.mark.parametrize(
    ("judged", "sign"),
    [
        ("web.usage / 0.5", DOWN),
        ("delayed(web.usage, 15 s) + queue.q", DOWN),
        ("max(web.room, 3)", UP),
        ("ceil(queue.q)", DOWN),
    ],
)
def test_a_sign_that_holds_is_confirmed(judged: str, sign: int) -> None:
    model = elaborate(read_text(DESIGN))
    tree = rename(parse(judged), model.resolve)
    assert plant_sign(model, "web.desired", tree) == sign
    script = certificate(model, "web.desired", tree)
    assert script is not None
    pytest.importorskip("cvc5")
    assert recheck(script).unsat


@pytest.mark.parametrize("judged", ["web.usage + web.room", "exp(web.usage)", "mean_over(web.room, 2 s) * queue.q"])
def test_no_sign_or_no_form_has_no_certificate(judged: str) -> None:
    model = elaborate(read_text(DESIGN))
    assert certificate(model, "web.desired", rename(parse(judged), model.resolve)) is None
