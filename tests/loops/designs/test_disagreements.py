"""Roots and runs beside a point: what is compared, and what is not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.loops.designs.disagreements import LinearAnswer, beside_a_point
from coherence.loops.designs.feedback_groups import Deadline
from tests.loops.designs.test_nearby_runs import PATHS, tank


def compared(answer: LinearAnswer) -> bool:
    return beside_a_point(("ctl",), answer, "coherence analyze d.yaml", Deadline(30)) is not None


def test_wrong_verdicts_are_contradicted_and_right_ones_are_not() -> None:
    for gain, growth, right in (("0.4", 0.6, "stable"), ("2.1", 1.1, "unstable")):
        model, point = tank(gain)
        answer = LinearAnswer(model, point, PATHS, right, growth)
        assert not compared(answer)
        wrong = replace(answer, verdict="unstable" if right == "stable" else "stable", growth=1 / growth)
        assert compared(wrong)


def test_a_verdict_that_decides_nothing_or_does_not_fit_its_growth_is_not_compared() -> None:
    model, point = tank("0.4")
    for verdict, growth in (("undecided", 1.5), ("marginal", 1.0), ("stable", 1.5), ("unstable", 0.5)):
        assert not compared(LinearAnswer(model, point, PATHS, verdict, growth))


def test_a_point_that_is_none_is_no_matter_of_roots_and_the_two_contradict_each_other() -> None:
    model, point = tank("0.4")
    assert compared(LinearAnswer(model, {**point, "tank.level": Fraction(50)}, PATHS, "stable", 0.6))
