"""Pieces of a design: what is one, and what it is after an edit."""

from __future__ import annotations

import pytest

from coherence.base.places import Place
from coherence.checking.design_check import analyse
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


CASCADE = """coherence: 1
workload: {requests: {rate: 200 req/s}}
components:
  pods: {copies: 4, load: requests.rate, rate_per_replica: 60 req/s}
  shelf: {turns: 3, takes: {task: 10 s .. 20 s}}
timers: {readiness: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}
"""
LIMITS = "limits: {books: {counts: shelf.turns, at_most: 9}}\n"


@pytest.mark.slow
def test_a_repair_of_a_piece_that_the_whole_text_refuses_is_not_offered() -> None:
    def offered(text: str) -> list[str]:
        design = read_text(text, READ)
        answers = analyse(design, {READ: text}, lambda sources: read_text(sources[READ], READ))
        return [edit.new for f in answers.findings for repair in f.repairs for edit in repair.edits]

    assert any("limits:" in new for new in offered(CASCADE))
    assert len(read(CASCADE + LIMITS)) > 1
    assert not any("limits:" in new for new in offered(CASCADE + LIMITS))  # a second section of that name


def test_a_part_after_an_edit_has_lost_what_the_edit_removes() -> None:
    text = """coherence: 1
loops:
  one: {timescale: {period: 1 s}, trigger: a.x > 1, actuation: {signal: a.n, law: step, by: 1, bounds: [0, 9]}}
  other: {timescale: {period: 1 s}, trigger: a.x < 1, actuation: {signal: a.n, law: step, by: -1, bounds: [0, 9]}}
  apart: {timescale: {period: 1 s}, trigger: b.x > 1, actuation: {signal: b.n, law: step, by: 1, bounds: [0, 9]}}
components: {a: {x: 1 .. 2}, b: {x: 1 .. 2}}
"""
    before = read_text(text, "d.yaml")
    piece = next(own for own in pieces(before, {"d.yaml": text}) if ("loops", "one") in own.names)
    edited = read_text("\n".join(line for line in text.split("\n") if "other:" not in line), "d.yaml")
    assert [*piece.after(before, edited).loops] == ["one"]
