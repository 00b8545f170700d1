"""Jitter of pauses: words and shares as factors."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.design import Pause
from coherence.language.entries.jitter import is_decorrelated, shift_of, spread_of
from coherence.language.reading import read_text


def pause(jitter: str) -> Pause:
    text = f"coherence: 1\ncalls: [{{from: a, to: b, pause: {{base: 1 s{jitter}}}}}]\n"
    made = read_text(text).calls[0].pause
    assert isinstance(made, Pause)
    return made


@pytest.mark.parametrize(
    ("jitter", "least", "most"),
    [
        ("", "1", "1"),
        (", jitter: none", "1", "1"),
        (", jitter: full", "0", "1"),
        (", jitter: equal", "1/2", "1"),
        (", jitter: 20 %", "4/5", "6/5"),
        (", jitter: 150 %", "0", "5/2"),
        (", jitter: -25 % .. 0 %", "3/4", "1"),
        (", jitter: 0 % .. 50 %", "1", "3/2"),
    ],
)
def test_a_pause_is_multiplied_by_a_number_between_two(jitter: str, least: str, most: str) -> None:
    assert spread_of(pause(jitter).jitter) == (Fraction(least), Fraction(most))
    assert not is_decorrelated(pause(jitter).jitter)


@pytest.mark.parametrize(
    ("jitter", "early", "late"),
    [("", 0, 0), (", jitter: 2 s", -2, 2), (", jitter: 0 s .. 3 s", 0, 3), (", jitter: -2 s .. 3 s", -2, 3)],
)
def test_a_timer_is_early_or_late(jitter: str, early: int, late: int) -> None:
    timer = read_text(f"coherence: 1\ntimers: {{t: {{from: a starts, after: 9 s{jitter}, then: kill a}}}}\n").timers[
        "t"
    ]
    assert shift_of(timer.jitter) == (Fraction(early), Fraction(late))


def test_a_decorrelated_pause_has_no_factor() -> None:
    assert is_decorrelated(pause(", jitter: decorrelated").jitter)


def test_a_pause_is_not_shortened_by_more_than_itself() -> None:
    with pytest.raises(InputError, match="below"):
        pause(", jitter: -110 % .. 0 %")
