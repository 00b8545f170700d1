"""What is printed of flows in feedback."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.render_flows import render_flows
from coherence.loops.designs.flow_feedback import flow_answers
from coherence.model.elaborate import elaborate


@pytest.mark.parametrize(
    ("flow", "line"),
    [
        (
            "-2 * delayed(a.x, 1 s) / 1 s",
            (
                "a.x: unstable, swings every 3.754 s, factor 1.913 a swing"
                " (rightmost root 0.1728 +- 1.674j 1/s, confirmed) at a.x = 0 [linearised]"
            ),
        ),
        (
            "(1 - a.x) / 1 s",
            "a.x: stable, factor 0.3679 a second (rightmost root -1 1/s, confirmed) at a.x = 1 [linearised]",
        ),
        ("-(1 if a.x > 0 else -1) / 1 s", "a.x: undecided: no equilibrium was found from any start"),
    ],
)
def test_a_flow_is_one_line_for_each_equilibrium(flow: str, line: str) -> None:
    text = f'coherence: 1\ncomponents: {{a: {{state: "x\' = {flow}", from: 0.5}}}}\n'
    (answer,) = flow_answers(elaborate(read_text(text, "design.yaml")))
    assert list(render_flows(answer)) == [line]


def test_what_was_not_looked_at_is_said() -> None:
    kinks = " - ".join(f"max(0.1 * a.x - {k}, 0)" for k in range(7))
    text = f'coherence: 1\ncomponents: {{a: {{state: "x\' = (1 - {kinks}) / 1 s", from: 0.5}}}}\n'
    (answer,) = flow_answers(elaborate(read_text(text, "design.yaml")))
    assert not answer.unstable
    assert "a.x: undecided: not looked at: pieces of a.x beyond the first 64" in list(render_flows(answer))
