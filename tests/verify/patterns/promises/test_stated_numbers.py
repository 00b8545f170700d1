"""Promises over stated ranges, beside their values at many points of these ranges."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.reading import read_text
from coherence.verify.patterns.promises import stated_numbers

PIECES = ("min({a}, {b})", "max({a}, {b})", "({a} + {b})", "({a} - {b})", "2 * {a}", "{a} * {b}")


def expression(draw: random.Random, depth: int) -> str:
    """Returns an expression over the names x and y of a thing, and small numbers."""
    if depth == 0:
        return draw.choice(["p.x", "p.y", str(draw.randint(-3, 3))])
    return draw.choice(PIECES).format(a=expression(draw, depth - 1), b=expression(draw, depth - 1))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_proved_holds_at_every_point_and_what_is_broken_is_broken_there(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - reproducible
    promised = f"{expression(draw, 2)} {draw.choice(['<=', '<', '>='])} {expression(draw, 2)}"
    text = f'coherence: 1\ncomponents: {{p: {{x: -2 .. 3, y: 0 .. 2}}}}\npromises: {{c: "always {promised}"}}\n'
    subject = Subject(read_text(text, "d.yaml"))
    tree = subject.design.promises["c"].condition
    assert tree is not None
    points = itertools.product([Fraction(n, 2) for n in range(-4, 7)], [Fraction(n, 2) for n in range(5)])
    holds = [bool(evaluate(tree.tree, Constants({"p.x": x, "p.y": y}))) for x, y in points]
    for finding in stated_numbers.ask(subject):
        assert finding.verdict in (Verdict.PROVED, Verdict.CONFLICT)
        if finding.verdict is Verdict.PROVED:
            assert all(holds)
            continue
        numbers = finding.evidence.numbers
        at = {"p.x": Fraction(0), "p.y": Fraction(0)} | {path: Fraction(value) for path, (value, _) in numbers.items()}
        assert not evaluate(tree.tree, Constants(at))
