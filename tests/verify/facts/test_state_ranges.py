"""Ranges of everything in any one state, and what takes whole numbers only."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import known
from coherence.verify.facts.state_ranges import stated, whole

HEAD = "coherence: 1\ncomponents: {web: {load: 1 .. 9}}\nloops:\n"


def range_of(*loops: str) -> tuple[Fraction | None, Fraction | None] | None:
    text = HEAD + "".join(f"  l{n}: {{{loop}}}\n" for n, loop in enumerate(loops))
    ranges = stated(known(Subject(read_text(text))))
    assert ranges["web.load"] == Interval(Fraction(1), Fraction(9))
    found = ranges.get("s.v")
    return None if found is None else (found.low, found.high)


def setter(to: str, *, trigger: str = "trigger: web.load > 3, ", more: str = ", bounds: [0, 20]") -> str:
    return f"{trigger}actuation: {{signal: s.v, law: set, to: {to}{more}}}"


@pytest.mark.parametrize(
    ("loops", "expected"),
    [
        ((setter("5"),), (0, 20)),  # it may not have been set yet
        ((setter("5", trigger=""),), (5, 5)),
        ((setter("5", more=", bounds: [0, 20], from: 7"),), (5, 7)),
        ((setter("5"), setter("8")), (0, 20)),
        ((setter("5"), setter("8", trigger="")), (5, 8)),
        ((setter("5"), "trigger: web.load > 3, actuation: {signal: s.v, law: step, by: 1, bounds: [2, 6]}"), (2, 6)),
        ((setter("5"), "trigger: web.load < 3, actuation: {signal: s.v, to: unset}"), (0, 20)),
        ((setter("5", more=""),), (None, None)),
    ],
)
def test_what_is_only_set_under_conditions_may_be_what_it_began_with(
    loops: tuple[str, ...], expected: tuple[int | None, int | None]
) -> None:
    assert range_of(*loops) == expected


def test_whole_numbers_are_members_and_whole_steps_from_a_whole_start() -> None:
    text = """coherence: 1
components: {web: {copies: 3, load: 1 .. 9}}
loops:
  whole_steps: {actuation: {signal: a.v, law: step, by: 2, bounds: [0, 9], from: 3}}
  broken_steps: {actuation: {signal: b.v, law: step, by: 0.5, bounds: [0, 9], from: 3}}
  no_start: {actuation: {signal: c.v, law: step, by: 2, bounds: [0, 9]}}
  broken_start: {actuation: {signal: d.v, law: step, by: 2, bounds: [0, 9], from: 3 .. 4}}
  members:
    target: {signal: web.load, setpoint: 5}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 9]}
  ignores: {actuation: {signal: e.v, law: ignore}}
"""
    assert whole(known(Subject(read_text(text)))) == {"a.v", "web.desired", "web.copies"}
