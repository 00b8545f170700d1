"""Bounded responses as safety: the count of the wait against exact runs of every phase."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.clock import now
from coherence.base.solver import unsat
from coherence.language.expressions import parse
from coherence.language.expressions.tree import rename
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse
from coherence.verify.promises.counted import held_in_time
from tests.verify.promises.plants import model_of

DRAIN = """coherence: 1
loops:
  drain:
    timescale: {{period: 30 s{phase}}}
    rules: [{{when: batch.running > 0, by: -10}}]
    actuation: {{signal: batch.running, bounds: [0, 40], from: {start}}}
promises: {{p: always batch.running <= 40}}
"""


def held(
    first: str, then: str, within: str, *, phase: str = ", phase: 0 s", start: str = "40", seconds: float = 10.0
) -> list[str] | str:
    model: Model = model_of(DRAIN.format(phase=phase, start=start))
    trees = [rename(parse(text), model.resolve) for text in (first, then)]
    return held_in_time(model, BoundedResponse(trees[0], trees[1], Fraction(within)), now() + seconds)


@pytest.mark.parametrize(
    ("then", "within", "phase", "proved"),
    [
        # 40 at 0 s, left at 30, 20, 10, 0 after the instants at 0, 30, 60, 90 s
        ("batch.running <= 30", "0", ", phase: 0 s", True),
        ("batch.running <= 20", "30", ", phase: 0 s", True),
        ("batch.running <= 20", "29", ", phase: 0 s", False),
        ("batch.running <= 10", "60", ", phase: 0 s", True),
        ("batch.running <= 10", "59", ", phase: 0 s", False),
        # the first sample only comes at 12 s
        ("batch.running <= 10", "72", ", phase: 12 s", True),
        ("batch.running <= 10", "71", ", phase: 12 s", False),
    ],
)
def test_a_wait_is_counted_from_its_question_to_its_answer(then: str, within: str, phase: str, proved: bool) -> None:
    found = held("batch.running > 30", then, within, phase=phase, seconds=10 if proved else 1.5)
    assert isinstance(found, list) is proved
    if proved:
        assert len(found) == 1
        assert all(unsat(claim, timeout_ms=5000).unsat for claim in found[0].split("(reset)\n"))


@pytest.mark.slow
def test_every_phase_has_its_certificate() -> None:
    found = held("batch.running > 30", "batch.running <= 10", "90", phase="")
    assert isinstance(found, list)
    assert len(found) > 1
    assert isinstance(held("batch.running > 30", "batch.running <= 10", "80", phase="", seconds=1.5), str)


def test_a_question_that_is_never_asked_needs_no_answer() -> None:
    assert isinstance(held("batch.running > 40", "batch.running < 0", "1"), list)
