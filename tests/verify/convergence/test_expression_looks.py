"""Expressions as loops may see them at any look, and as they are where all commands stand still."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.convergence.expression_looks import at_any_look, at_rest
from coherence.verify.facts.ranges import point, truth

TEXT = """coherence: 1
components: {{sys: {{y: 2 * a.x}}}}
loops: {{up: {{timescale: {{period: 1 s}}, trigger: "{trigger}", actuation: {{signal: a.x, by: 1, bounds: [0, 9]}}}}}}
"""


@pytest.mark.parametrize(
    ("trigger", "look", "rest"),
    [("sys.y > 5", True, True), ("sys.y > 7", False, False), ("delayed(sys.y, 3 s) > 5", None, True),
     ("sys.y > 5 for 1 min", None, True), ("sys.y > 7 for 1 min", False, False),
     ("mean_over(a.x, 9 s) > 3", None, False)],
)  # fmt: skip
def test_a_look_back_sees_any_value_and_at_rest_what_is_there(trigger: str, *, look: bool | None, rest: bool) -> None:
    model = elaborate(read_text(TEXT.format(trigger=trigger), "design.yaml"))
    (loop,) = model.loops
    assert loop.trigger is not None
    values = {"a.x": point(Fraction(3))}
    assert truth(at_any_look(model, loop.trigger, past=False), values) is look
    assert truth(at_rest(model, loop.trigger), values) is rest
