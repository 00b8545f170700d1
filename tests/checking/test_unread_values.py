"""What no answer was computed from, named part by part."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.checking.slicing import whole
from coherence.checking.unread_values import joined, unread_values
from coherence.findings.finding import NotRead
from coherence.findings.not_read import Basis, Reasons
from coherence.language.entries.leaves import leaves
from coherence.language.reading import read_text

REASONS = Reasons("nobody", "nobody by it")
TWO_PARTS = """coherence: 1
components: {a: {copies: 1 .. 3}, b: {copies: 2 .. 4}}
limits:
  first: {counts: a.copies, at_most: 2}
  second: {counts: b.copies, at_most: 3}
"""


def line(entry: str, *, section: str = "limits", number: int = 1, counts: bool = False) -> NotRead:
    return NotRead(Place("d.yaml", number, 1, number, 5), section, entry, "at_most", "nobody", counts)


def test_what_belongs_to_one_part_is_unread_where_that_part_did_not_read_it() -> None:
    assert joined([[line("b", number=2)], [line("a", number=1)]]) == (line("a", number=1), line("b", number=2))


def test_what_stands_in_every_part_is_unread_where_no_part_read_it_and_counts_where_it_does_in_one() -> None:
    place, other = line("n1", section="places"), line("n2", section="places", number=3)
    counted = line("n1", section="places", counts=True)
    assert joined([[place, other], [counted]]) == (counted,)


def test_an_answer_about_one_part_is_no_reading_of_another() -> None:
    design = read_text(TWO_PARTS)
    every = frozenset(leaf.place for leaf in leaves(design))
    unread = unread_values(whole(design), [Basis(every, frozenset({"first"}))], REASONS)
    assert {(one.section, one.entry) for one in unread} == {("limits", "second"), ("components", "b")}


def test_an_answer_that_speaks_of_both_parts_has_read_both() -> None:
    design = read_text(TWO_PARTS)
    every = frozenset(leaf.place for leaf in leaves(design))
    assert unread_values(whole(design), [Basis(every, frozenset({"first", "second"}))], REASONS) == ()
