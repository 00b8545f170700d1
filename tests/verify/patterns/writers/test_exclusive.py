"""Writers whose conditions exclude each other, beside all sequences of three readings on a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.question_input import Subject
from coherence.language.expressions.evaluate import COMPARE
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.writers._exclusive import exclusive
from coherence.verify.patterns.writers._pair import WriterPair
from coherence.verify.patterns.writers.common_fixed_point import QUESTION
from tests.draws import few

Condition = tuple[str, int]
GRID = [number / 2 for number in range(-1, 12)]
CONDITION = st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.integers(0, 5))
TRIGGER = st.lists(CONDITION, min_size=1, max_size=2)


def written(trigger: Sequence[Condition]) -> str:
    """Returns a trigger of one condition, or of two: where it enters and where it leaves."""
    texts = [f"tank.level {op} {number}" for op, number in trigger]
    return texts[0] if len(texts) == 1 else f"{{enter: {texts[0]}, leave: {texts[1]}}}"


def writes(trigger: Sequence[Condition], levels: Sequence[float]) -> bool:
    """Returns whether a loop writes at the last of the readings."""
    on = False
    for level in levels:
        first, last = (COMPARE[op](level, number) for op, number in (trigger[0], trigger[-1]))
        on = first if len(trigger) == 1 else first or (on and not last)
    return on


@settings(max_examples=few(200))
@given(TRIGGER, TRIGGER)
def test_what_is_proved_to_exclude_each_other_never_writes_at_one_reading(
    first: list[Condition], second: list[Condition]
) -> None:
    text = "coherence: 1\nloops:\n" + "".join(
        f"  {name}: {{trigger: {written(trigger)}, timescale: {{period: 1 min}},"
        f" actuation: {{signal: valve.open, to: {value}}}}}\n"
        for value, (name, trigger) in enumerate([("shut", first), ("open", second)])
    )
    subject = Subject(read_text(text), {"<design>": text})
    facts = known(subject)
    pair = WriterPair(QUESTION, subject, facts, "valve.open", *facts.written["valve.open"])
    proved = exclusive(pair) is not None
    met = any(
        writes(first, levels) and writes(second, levels)
        for length in (1, 2, 3)
        for levels in itertools.product(GRID, repeat=length)
    )
    assert not (proved and met)
    if max(len(first), len(second)) == 1:
        assert proved is not met
