"""Constants of components in the place of their names: where a command begins, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.checking.rereading import reread
from coherence.findings.finding import Verdict
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.parse import parse
from coherence.language.implied import takes_names
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
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
    answers = analyse(
        design, {"d.yaml": text}, lambda sources: read_text(sources["d.yaml"], "d.yaml"), verify_repairs=False
    )
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


@pytest.mark.parametrize("stated", ["a.k * a.d", "a.d", "a.unknown", "40 % of a.copies round down", "a.k / (a.k - 1)"])
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


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        ("2 * a.k", 2, 2), ("a.m - a.k", 4, 4), ("min(a.m, 3)", 3, 3), ("50 % of a.m round down", 2, 2),
        ("a.r * a.m", 5, 15), ("a.r - a.s", -3, 2), ("a.r / 2", "1/2", "3/2"), ("max(a.r, 2)", 2, 3),
    ],
)  # fmt: skip
def test_an_expression_of_constants_has_the_values_of_its_corners(expression: str, low: object, high: object) -> None:
    text = ONE.replace("k: 1,", "k: 1, r: 1 .. 3, s: 1 .. 4,").replace("LOW", "-9").replace("HIGH", "99")
    actuation = read_text(text.replace("FROM", f"'{expression}'")).loops["up"].actuation
    assert actuation is not None
    assert isinstance(actuation.initial, Quantity)
    assert (actuation.initial.low, actuation.initial.high) == (Fraction(str(low)), Fraction(str(high)))
    brute = {
        evaluate(parse(expression), Constants({"a.k": 1, "a.m": 5, "a.r": Fraction(r, 4), "a.s": Fraction(s, 4)}))
        for r in range(4, 13)
        for s in range(4, 17)
    }
    assert (min(brute), max(brute)) == (actuation.initial.low, actuation.initial.high)


@pytest.mark.parametrize("expression", ["a.r - a.r", "a.r / a.s", "abs(a.r - 2)", "a.r if a.r > 2 else 0"])
def test_an_expression_whose_corners_bound_nothing_stays_as_it_is(expression: str) -> None:
    text = ONE.replace("k: 1,", "k: 1, r: 1 .. 3, s: 1 .. 4,").replace("LOW", "-9").replace("HIGH", "99")
    actuation = read_text(text.replace("FROM", expression)).loops["up"].actuation
    assert actuation is not None
    assert not isinstance(actuation.initial, Quantity)


@pytest.mark.parametrize("law", ["set, to: 10", "step, by: 1", "step, by: -1"])
def test_every_question_answers_an_expression_as_its_number(law: str) -> None:
    named = TEXT.replace("LAW", law).replace("LOW", "2 * a.k").replace("HIGH", "a.m - a.k").replace("FROM", "3 * a.k")
    plain = TEXT.replace("LAW", law).replace("LOW", "2").replace("HIGH", "4").replace("FROM", "3")
    assert verdicts(named) == verdicts(plain)


def test_a_constant_that_stands_by_its_name_is_read() -> None:
    text = ONE.replace("LOW", "a.k").replace("HIGH", "2 * a.m").replace("FROM", "a.k")
    report = analyse(
        read_text(text, "d.yaml"),
        {"d.yaml": text},
        lambda sources: read_text(sources["d.yaml"], "d.yaml"),
        verify_repairs=False,
    )
    assert not [line.path for line in report.not_read if line.section == "components"]


@pytest.mark.parametrize(
    ("stated", "number"),
    [("k * 2 req/s", 1), ("0.25 * 2 req/s", Fraction(1, 2)), ("a.k / 1 s", Fraction(1, 2)), ("k", None), ("m", None)],
)
def test_what_a_member_serves_is_the_number_of_its_expression(stated: str, number: Fraction | None) -> None:
    loop = "loops: {w: {timescale: {period: 1 s}, trigger: always, actuation: {signal: a.m, by: 1 req/s}}}"
    text = f"coherence: 1\ncomponents: {{a: {{k: 0.5, m: 3 req/s, rate_per_copy: {stated}}}}}\n{loop}\n"
    rate = read_text(text, "d.yaml").components["a"].constants["rate_per_copy"]
    assert (rate.low if isinstance(rate, Quantity) else None) == number
