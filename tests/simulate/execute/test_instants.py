"""What a schedule may set, and in which order it is delivered."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.instants import MissingValueError, ordered_schedule

MODEL = elaborate(
    read_text(
        'coherence: 1\ncomponents:\n  a: {load: 0 .. 9, state: "x\' = 1 / 1 s", from: 0}\n'
        "loops:\n  l: {timescale: {period: 1 s}, actuation: {signal: a.u, to: 1, bounds: [0, 9], from: 1}}\n"
    )
)


def test_a_schedule_is_sorted_by_time_and_keeps_the_order_at_one_time() -> None:
    rows = (
        (Fraction(5), "a.load", Fraction(1)),
        (Fraction(0), "a.load", Fraction(2)),
        (Fraction(5), "a.load", Fraction(3)),
    )
    assert [level for *_, level in ordered_schedule(MODEL, rows)] == [2, 1, 3]


@pytest.mark.parametrize(("at", "path"), [(Fraction(-1), "a.load"), (Fraction(0), "a.x"), (Fraction(0), "a.u")])
def test_a_schedule_sets_neither_states_nor_commands_nor_the_past(at: Fraction, path: str) -> None:
    with pytest.raises(ValueError, match=rf"{path} at {at} s: a schedule sets inputs, constants and outputs"):
        ordered_schedule(MODEL, ((at, path, Fraction(1)),))


def test_a_missing_value_is_named() -> None:
    assert str(MissingValueError("a.load")) == "a value of a.load"
