"""Readings of a model are tried in turn: which, in what order, for how long, and what is said where none helps."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.clock import now
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.model_readings import first_reading, readings
from coherence.verify.systems.state_space import ModelReading

LOOP = """
coherence: 1
components: {{s: {{state: "x' = x + f.v", step: 1 s, from: 0}}}}
loops:
  cool:
    timescale: {{period: 1 s, phase: 0 s{hold}}}
    trigger: s.x > 3
    actuation: {{signal: f.v, {act}, bounds: [0, 5], from: 0}}
"""
COARSE, FULL = ModelReading(windows=False), ModelReading()


@pytest.mark.parametrize(
    ("hold", "act", "expected"),
    [
        ("", "law: set, to: s.x", [FULL]),
        (", hold_down: 5 s", "law: set, to: s.x", [COARSE, FULL]),
        ("", "law: step, by: 1", [FULL, ModelReading((("f.v", (Fraction(0),)),))]),
        (
            ", hold_down: 5 s",
            "law: step, by: 1",
            [
                COARSE,
                FULL,
                ModelReading((("f.v", (Fraction(0),)),), True),
                ModelReading((("f.v", (Fraction(0),)),), False),
            ],
        ),
    ],
)
def test_cheap_readings_come_first(hold: str, act: str, expected: list[ModelReading]) -> None:
    assert readings(elaborate(read_text(LOOP.format(hold=hold, act=act)))) == expected


def test_the_first_success_ends_the_search_and_names_its_reading() -> None:
    tried = []

    def attempt(reading: ModelReading, until: float) -> int | str:
        del until
        tried.append(reading)
        return "too coarse" if reading == COARSE else 7

    assert first_reading([COARSE, FULL, ModelReading((("f.v", (Fraction(0),)),))], now() + 9, attempt) == (FULL, 7)
    assert tried == [COARSE, FULL]


def test_each_attempt_gets_a_third_of_the_time_that_is_left_and_the_last_all_of_it() -> None:
    deadline, ends = now() + 90, list[float]()

    def attempt(reading: ModelReading, until: float) -> str:
        del reading
        ends.append(until)
        return f"reason {len(ends)}"

    assert first_reading([COARSE, FULL], deadline, attempt) == "reason 2"
    assert ends[0] == pytest.approx(deadline - 60, abs=1)
    assert ends[1] == deadline


def test_a_reading_that_cannot_encode_is_passed_over() -> None:
    def attempt(reading: ModelReading, until: float) -> str:
        del until
        if reading == COARSE:
            raise NotLinearError("a product")
        return "no invariant"

    assert first_reading([COARSE, FULL], now() + 9, attempt) == "no invariant"
    assert first_reading([FULL, COARSE], now() + 9, attempt) == "no invariant"


def test_where_no_reading_encodes_the_first_refusal_is_raised() -> None:
    def attempt(reading: ModelReading, until: float) -> str:
        del until
        raise NotLinearError("coarse" if reading == COARSE else "full")

    with pytest.raises(NotLinearError, match="coarse"):
        first_reading([COARSE, FULL], now() + 9, attempt)


def test_without_time_nothing_is_tried() -> None:
    def attempt(reading: ModelReading, until: float) -> str:
        raise AssertionError(reading, until)

    assert first_reading([FULL], now() - 1, attempt) == "the time is over"
