"""Jitter of pauses: words and shares as factors."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.design import Pause
from coherence.language.pauses import is_decorrelated, spread_of
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


def test_a_decorrelated_pause_has_no_factor() -> None:
    assert is_decorrelated(pause(", jitter: decorrelated").jitter)


def test_a_pause_is_not_shortened_by_more_than_itself() -> None:
    with pytest.raises(InputError, match="below"):
        pause(", jitter: -110 % .. 0 %")
