"""Pieces of a design: what is one, and what it is after an edit."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.checking.slicing import Piece, clashes, pieces, same_entries, whole
from coherence.findings.finding import Edit, Repair
from coherence.language.reading import read_text

TEXT = """coherence: 1
# about both
timers:
  a: {from: web starts, after: 3 s}

  b: {from: db starts, after: 4 s}
loops:
  c:  # of the web
    trigger: web.load > 3
    actuation: {signal: web.size, law: step, by: 1}
"""
READ = "d.yaml"


def read(text: str) -> tuple[Piece, ...]:
    return pieces(read_text(text, READ), {READ: text})


def test_entries_that_share_nothing_are_pieces() -> None:
    db, web = sorted(read(TEXT), key=lambda piece: len(piece.members))
    assert db.names == (("timers", "b"),)
    assert set(web.names) == {("timers", "a"), ("loops", "c")}
    assert (list(db.design.timers), list(web.design.timers)) == (["b"], ["a"])


def test_a_design_of_one_part_or_of_other_texts_is_one_piece() -> None:
    for text in (
        TEXT.replace("db starts", "web starts"),  # all about the web
        TEXT.replace("after: 3 s", "after: &long 3 s").replace("after: 4 s", "after: *long"),
        TEXT.replace("\n", "\r\n"),  # not the text that was read
    ):
        (piece,) = read(text)
        assert len(piece.members) == 3
    assert len(pieces(read_text(TEXT, READ), {READ: TEXT, "other": ""})) == 1
    assert len(pieces(read_text(TEXT, READ), {})) == 1


def test_entries_on_one_line_are_pieces_too() -> None:
    text = "coherence: 1\ntimers: {a: {from: web starts, after: 3 s}, b: {from: db starts, after: 4 s}}\n"
    assert [piece.names for piece in read(text)] == [(("timers", "a"),), (("timers", "b"),)]


def test_pieces_consist_of_the_same_values_at_the_same_places() -> None:
    first, again = read(TEXT), read(TEXT.replace("4 s", "5 s"))
    by_names = {piece.names: piece for piece in again}
    same = {piece.names: same_entries(piece, by_names[piece.names]) for piece in first}
    assert same[("timers", "b"),] is False
    assert same_entries(first[0], first[0])
    assert not same_entries(first[0], whole(read_text(TEXT, READ)))


def test_a_piece_after_an_edit_has_its_entries_and_those_that_are_added() -> None:
    before = read_text(TEXT, READ)
    after = read_text(
        TEXT.replace("4 s", "5 s").replace("loops:", "limits: {few: {counts: x.y, at_most: 3}}\nloops:"), READ
    )
    (db,) = (piece for piece in pieces(before, {READ: TEXT}) if len(piece.members) == 1)
    design = db.after(before, after)
    assert (list(design.timers), list(design.limits), list(design.loops)) == (["b"], ["few"], [])
    assert design.timers["b"] is after.timers["b"]


def test_a_repair_that_adds_a_name_that_is_taken_clashes() -> None:
    place = Place("d", 1, 1, 1, 1)
    repair = Repair((Edit(place, "", "\n  few: {counts: a.b}"),), "")
    assert clashes(repair, {"few", "other"})
    assert not clashes(repair, {"other"})
    assert not clashes(Repair((Edit(place, "", "few"),), ""), {"few"})
