"""Pieces of a design with their own lines: whose line is whose, and what may be read by itself."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.checking.independent_parts import Unit
from coherence.checking.slicing import Piece, blanked, clashes, owned, pieces, rows_of, same_entries, whole
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


def shown(piece: Piece) -> list[str]:
    return [f"{number} {line.strip()}" for number, line in zip(piece.numbers, piece.lines, strict=True) if line.strip()]


def test_entries_that_share_nothing_are_pieces_with_their_own_lines() -> None:
    db, web = sorted(read(TEXT), key=lambda piece: len(piece.members))
    assert db.names == (("timers", "b"),)
    assert set(web.names) == {("timers", "a"), ("loops", "c")}
    both = ["1 coherence: 1", "2 # about both", "3 timers:"]
    assert shown(db) == [*both, "6 b: {from: db starts, after: 4 s}"]
    assert [line.split()[0] for line in shown(web)] == ["1", "2", "3", "4", "7", "8", "9", "10"]
    assert db.text().split("\n")[5] == TEXT.split("\n")[5]  # every line keeps its number
    assert db.text().count("\n") == TEXT.count("\n")


def test_a_piece_is_exactly_what_its_lines_say() -> None:
    for piece in read(TEXT):
        assert piece.stands(lambda text: read_text(text, READ))
    assert not read(TEXT)[0].stands(lambda _: read_text("coherence: 1\n", READ))


def test_what_cannot_be_told_apart_is_one_piece() -> None:
    for text in (
        "coherence: 1\ntimers: {a: {from: web starts, after: 3 s}, b: {from: db starts, after: 4 s}}\n",  # one line
        TEXT.replace("db starts", "web starts").replace("  c:", "  c:"),  # all about the web
        TEXT.rstrip("\n"),
        TEXT.replace("\n", "\r\n"),
    ):
        (piece,) = read(text)
        assert piece.total == 0
        assert piece.sources({READ: text}) == {READ: text}
    assert len(pieces(read_text(TEXT, READ), {READ: TEXT, "other": ""})) == 1
    assert len(pieces(read_text(TEXT, READ), {})) == 1


def test_pieces_consist_of_the_same_values_at_the_same_places() -> None:
    first, again = read(TEXT), read(TEXT.replace("4 s", "5 s"))
    by_names = {piece.names: piece for piece in again}
    same = {piece.names: same_entries(piece, by_names[piece.names]) for piece in first}
    assert same[("timers", "b"),] is False
    assert not same_entries(first[0], whole(first[0].design))  # one with lines, one without


def unit(line: int, name: str = "u") -> Unit:
    return Unit("timers", f"{name}{line}", line, frozenset())


def test_a_unit_owns_the_lines_from_its_own_to_the_next() -> None:
    lines = ["coherence: 1", "timers:", "  a:", "    x: 1", "# told", "", "  b:", "loops:", "  c:"]
    a, b, c = unit(3), unit(7), unit(9)
    assert owned(lines, [a, b, c]) == [None, None, a, a, a, a, b, None, c]
    assert owned(lines, [a, unit(3, "v")]) is None
    assert owned(lines, [unit(0)]) is None
    assert owned(lines, [unit(10)]) is None


def test_the_head_of_a_section_belongs_to_those_that_have_entries_in_it() -> None:
    lines = ["coherence: 1", "timers:", "  a:", "  b:", "limits:  # none", "  c:", "odd: 1"]
    units = [None, None, unit(3), unit(4), None, unit(6), None]
    groups: dict[tuple[str, str | int], int] = {("timers", "u3"): 0, ("timers", "u4"): 1, ("timers", "u6"): 1}
    assert rows_of(lines, units, groups, 2) == [[1, 2, 3, 7], [1, 2, 4, 5, 6, 7]]


def test_other_lines_are_blank() -> None:
    assert blanked(["a", "b", "c"], [2]) == "\nb\n"


def test_a_repair_that_adds_a_name_that_is_taken_clashes() -> None:
    place = Place("d", 1, 1, 1, 1)
    repair = Repair((Edit(place, "", "\n  few: {counts: a.b}"),), "")
    assert clashes(repair, {"few", "other"})
    assert not clashes(repair, {"other"})
    assert not clashes(Repair((Edit(place, "", "few"),), ""), {"few"})
