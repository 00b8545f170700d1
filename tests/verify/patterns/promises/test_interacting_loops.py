"""Which promises are asked of the loops: conditions that they can influence, and no order of two events."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.promises import interacting_loops

DESIGN = """coherence: 1
components: {{web: {{load: 100, usage: load / copies}}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: web.usage, setpoint: 50 %}}
    actuation: {{signal: web.copies, law: proportional, bounds: [1, 9], from: 3}}
  other:
    timescale: {{period: 15 s}}
    trigger: web.usage > 1
    actuation: {{signal: web.n, by: 1, bounds: [1, 9], from: 3}}
promises: {{p: "{promise}"}}
"""


def answered(promise: str) -> int:
    text = DESIGN.format(promise=promise)
    return len(list(interacting_loops.ask(Subject(read_text(text), {"<design>": text}))))


@pytest.mark.parametrize(
    ("promise", "answers"),
    [
        ("always web.copies <= 9", 1),
        ("never web.copies > 9", 1),
        ("after web.usage > 20 then web.copies > 8 within 1 min", 1),
        ("always elsewhere.level < 3", 0),  # nothing here moves it
        ("hpa before other", 0),  # an order of events has no condition to run
    ],
)
def test_a_promise_is_asked_where_loops_have_a_part_in_its_condition(promise: str, answers: int) -> None:
    assert answered(promise) == answers
