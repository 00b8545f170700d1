"""The draft of a model: names resolved, values of the text as trees, ranges as constants named after their place."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.language.design import Design
from coherence.language.expressions import parse
from coherence.language.expressions.tree import Name, Number, walk
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.draft import ModelDraft
from coherence.model.model import Gap, Interval

PLACE = Place("d.yaml", 3, 5, 3, 9)


@pytest.fixture
def design() -> Design:
    return read_text("coherence: 1\n", "d.yaml")


def test_a_bare_name_is_resolved_and_a_path_stays(design: Design) -> None:
    draft = ModelDraft(design, index={"p": "power.p"})
    names = [node.path for node in walk(draft.resolved(parse("p + net.p"))) if isinstance(node, Name)]
    assert names == ["power.p", "net.p"]


def test_an_exact_value_is_a_number_and_a_range_a_constant_of_its_place(design: Design) -> None:
    draft = ModelDraft(design)
    exact = Quantity(Fraction(2), Fraction(2), SECOND, "2 s", PLACE)
    ranged = Quantity(Fraction(1), Fraction(3), SECOND, "1 s .. 3 s", PLACE)
    assert draft.tree_of(exact) == Number(Fraction(2), SECOND)
    assert not draft.constants
    assert draft.tree_of(ranged) == Name("<d.yaml:3:5>")
    constant = draft.constants["<d.yaml:3:5>"]
    assert (constant.range, constant.varies) == (Interval(Fraction(1), Fraction(3)), False)


def test_a_formula_is_its_tree_with_names_resolved(design: Design) -> None:
    draft = ModelDraft(design, index={"p": "power.p"})
    assert draft.tree_of(Formula(parse("p"), "p", PLACE)) == draft.resolved(parse("p"))
    assert draft.tree_of(None) is None


def test_gaps_are_noted_in_order(design: Design) -> None:
    draft = ModelDraft(design)
    draft.gap("a", "one thing", PLACE)
    draft.gap("b", "another", PLACE)
    assert draft.gaps == [Gap("a", "one thing", PLACE), Gap("b", "another", PLACE)]
