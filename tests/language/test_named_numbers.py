"""Constants of components in the place of their names: where a command begins, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.checking.rereading import reread
from coherence.findings.finding import Verdict
from coherence.language.implied import takes_names
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate

TEXT = """coherence: 1
components: {a: {k: 1, m: 5, u: 3.0}}
loops:
  up:
    timescale: {period: 1 s, phase: 0 s}
    trigger: always
    actuation: {signal: a.d, law: LAW, bounds: [LOW, HIGH], from: FROM}
  down:
    timescale: {period: 1 s, phase: 0 s}
    trigger: always
    actuation: {signal: a.d, law: set, to: 5, bounds: [1, 5]}
"""
ONE = """coherence: 1
components: {a: {k: 1, m: 5, u: 3.0}}
loops:
  up:
    timescale: {period: 1 s, phase: 0 s}
    target: {signal: a.u, setpoint: 2}
    actuation: {signal: a.d, law: proportional, bounds: [LOW, HIGH], from: FROM}
"""


def verdicts(text: str) -> list[tuple[str, Verdict, str, Sequence[str]]]:
    design = read_text(text, "d.yaml")
    answers = analyse(design, {"d.yaml": text}, lambda sources: read_text(sources["d.yaml"], "d.yaml"))
    return sorted((f.code, f.verdict, f.certainty, f.of) for f in answers.findings)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["set, to: 10", "step, by: 1", "step, by: -1"])
@pytest.mark.parametrize("ends", [("a.k", "a.m"), ("a.m", "a.k")])
def test_every_question_answers_as_with_the_numbers(law: str, ends: tuple[str, str]) -> None:
    numbers = {"a.k": "1", "a.m": "5"}
    named = TEXT.replace("LAW", law).replace("LOW", ends[0]).replace("HIGH", ends[1]).replace("FROM", "a.k")
    plain = TEXT.replace("LAW", law).replace("LOW", numbers[ends[0]]).replace("HIGH", numbers[ends[1]])
    assert verdicts(named) == verdicts(plain.replace("FROM", "1"))


def test_a_target_that_its_command_does_not_move_is_told() -> None:
    named = ONE.replace("LOW", "a.k").replace("HIGH", "m").replace("FROM", "a.k")
    assert verdicts(named) == verdicts(ONE.replace("LOW", "1").replace("HIGH", "5").replace("FROM", "1"))
    assert ("COH308", Verdict.CONFLICT, "certain", ("up",)) in verdicts(named)


@pytest.mark.parametrize("stated", ["2 * a.k", "a.d", "a.unknown", "40 % of a.copies round down"])
def test_a_run_needs_a_number_where_any_other_expression_stands(stated: str) -> None:
    model = elaborate(read_text(ONE.replace("LOW", "1").replace("HIGH", "5").replace("FROM", stated)))
    assert not model.loops
    assert ["a number for `from` of up" in gap.needs for gap in model.gaps] == [True]


def test_units_are_those_of_the_constant() -> None:
    text = ONE.replace("k: 1,", "k: 1 s,").replace("LOW", "1 req/s").replace("HIGH", "5 req/s").replace("FROM", "a.k")
    with pytest.raises(InputError, match="s"):
        read_text(text)


def test_an_edit_of_the_constant_moves_the_loop() -> None:
    text = (
        ONE.replace("LOW", "a.k")
        .replace("HIGH", "a.m")
        .replace("FROM", "a.k")
        .replace("{a: {", "\n  a: {")
        .replace("}}", "}")
    )
    before = read_text(text)
    assert takes_names(before)
    after = reread(before, text.replace("m: 5", "m: 9"))
    actuation = after.loops["up"].actuation
    assert actuation is not None
    assert [getattr(bound, "high", None) for bound in actuation.bounds] == [1, 9]
