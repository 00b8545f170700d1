"""Where two loops act against each other: moves inside their bounds, opposite directions; by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.reading import read_text
from coherence.verify.actions.loop_directions import Move, moves
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.writers._contradiction import effective, opposed

TEXT = """coherence: 1
components: {{web: {{load: 1 .. 9}}}}
loops: {{a: {{{loop}}}}}
"""


def moves_of(loop: str) -> tuple[Move, ...]:
    facts = known(Subject(read_text(TEXT.format(loop=loop))))
    ((writer,),) = facts.written.values()
    return moves(facts, writer)


@pytest.mark.parametrize(
    ("loop", "at"),
    [
        # a step changes nothing at the end towards which it goes
        ("trigger: web.load > 3, actuation: {signal: s.v, law: step, by: 1, bounds: [0, 5]}", {0, 4}),
        ("trigger: web.load > 3, actuation: {signal: s.v, law: step, by: -1, bounds: [0, 5]}", {4, 5, 6}),
        ("trigger: web.load > 3, actuation: {signal: s.v, law: step, by: 1}", {0, 4, 5, 6}),
        ("actuation: {signal: s.v, law: step, by: 1, bounds: [0, 5]}", {0, 4}),
    ],
)
def test_a_move_changes_something_only_inside_the_bounds(loop: str, at: set[int]) -> None:
    (move,) = moves_of(loop)
    tree = effective(move)
    assert tree is not None
    point = {"web.load": Fraction(9), "a": True}
    assert {v for v in (0, 4, 5, 6) if evaluate(tree, Constants({**point, "s.v": Fraction(v)}))} == at
    if move.when is not None:
        assert not evaluate(tree, Constants({**point, "web.load": Fraction(1), "s.v": Fraction(4)}))


def test_a_set_value_is_compared_with_what_it_replaces_already() -> None:
    for move in moves_of("actuation: {signal: s.v, law: set, to: 5, bounds: [0, 9]}"):
        assert effective(move) == move.when


def test_moves_in_opposite_directions_are_pairs() -> None:
    rules = "rules: [{when: web.load > 3, by: 1}, {when: web.load < 2, by: -1}], actuation: {signal: s.v}"
    up, down = moves_of(rules)
    assert list(opposed((up, down), (up, down))) == [(up, down), (down, up)]
    assert list(opposed((up,), (up,))) == []
