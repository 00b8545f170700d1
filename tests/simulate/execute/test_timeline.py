"""A run as a timeline: one step for each series of writes in one direction."""

from __future__ import annotations

from fractions import Fraction

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.execute.timeline import shown, timeline, told_choices

DESIGN = """\
coherence: 1
components:
  a: {u: 0, load: 2 .. 9, state: "x' = 1 / 1 s", from: 0}
loops:
  up: {timescale: {period: 1 s}, rules: [{when: a.x < 3, by: 1}], actuation: {signal: a.u, bounds: [0, 9], from: 0}}
  down: {timescale: {period: 1 s}, rules: [{when: a.x > 4, by: -2}], actuation: {signal: a.u, bounds: [0, 9], from: 0}}
"""
MODEL = elaborate(read_text(DESIGN))


def test_writes_in_one_direction_are_one_step_with_their_number_and_end() -> None:
    steps = timeline(MODEL, execute(MODEL, Choices({"a.load": Fraction(2)}), until=Fraction(6)))
    assert [(step.time, step.text) for step in steps] == [
        (Fraction(0), "up raises a.u 0 -> 3 in 3 writes until 2 s"),
        (Fraction(5), "down lowers a.u 3 -> 0 in 2 writes until 6 s"),
    ]


def test_what_a_run_assumes_is_named_with_its_units() -> None:
    choices = Choices({"a.x": Fraction(1), "a.load": Fraction(2)}, {"up": Fraction(1, 2)}, ("down", "up"))
    assert told_choices(MODEL, choices) == (
        "a.x starts at 1",
        "a.load = 2",
        "phase of up = 500 ms",
        "phase of down = 0 s",
        "order down then up",
    )
    assert shown(MODEL, "a.x", Fraction(5, 2)) == "2.5"
