"""Records: the vocabulary's base, with declared keys and keyword construction."""

from __future__ import annotations

import pytest

from coherence.base.records import Record, plain
from coherence.language.document import Node
from coherence.language.schema_kinds import Reading, Word, key, listing, read_record
from coherence.language.value_kinds import ANY_QUANTITY, TEXT


class Lamp(Record):
    """A small record with every kind of field."""

    name: str
    place: object = plain(default=None, compare=False)
    colour: Word | None = key(TEXT, required=True, means="the colour of its light")
    power: object = key(ANY_QUANTITY, "watts", means="what it draws")
    marks: tuple[Word, ...] = key(listing(TEXT), many=True, means="what is written on it")
    notes: dict[str, str] = plain(default=dict)


def lamp_of(text: str, **fixed: object) -> tuple[Lamp | None, Reading]:
    """The record in a YAML text, and the problems met."""
    from coherence.language.document import read_text

    reading = Reading()
    root: Node = read_text(text, "lamp.yaml")[0].root
    return read_record(Lamp, root, reading, **fixed), reading


def test_fields_have_their_key_and_their_absence() -> None:
    assert list(Lamp.keys) == ["colour", "watts", "marks"]
    empty = Lamp(name="a")
    assert (empty.colour, empty.power, empty.marks, empty.notes) == (None, None, (), {})
    assert Lamp(name="a").notes is not Lamp(name="a").notes


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="Lamp has no field colur"):
        Lamp(name="a", colur=1)  # type: ignore[call-arg]


def test_records_are_frozen_and_copied_with_changes() -> None:
    lamp = Lamp(name="a", marks=())
    with pytest.raises(AttributeError, match="records are frozen"):
        lamp.name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="records are frozen"):
        del lamp.name
    assert lamp.replace(name="b").name == "b"
    assert lamp.name == "a"
    with pytest.raises(TypeError):
        lamp.replace(shade=1)


def test_equality_leaves_places_out() -> None:
    assert Lamp(name="a", place=1) == Lamp(name="a", place=2)
    assert Lamp(name="a") != Lamp(name="b")
    assert hash(Lamp(name="a", place=1)) == hash(Lamp(name="a", place=2))
    assert Lamp(name="a") != "a"


def test_repr_leaves_out_what_is_absent() -> None:
    assert repr(Lamp(name="a")) == "Lamp(name='a')"


def test_reading_fills_the_record() -> None:
    made, reading = lamp_of("colour: red\nwatts: 5 W\nmarks: [a, b]\n", name="l", place=None)
    assert not reading.problems
    assert made is not None
    assert str(made.colour) == "red"
    assert [m.text for m in made.marks] == ["a", "b"]


def test_reading_reports_unknown_missing_and_malformed_keys_at_once() -> None:
    _, reading = lamp_of("color: red\nwatts: five\nmarks: a\n", name="l")
    told = [str(p) for p in reading.problems]
    assert len(told) == 4
    assert "lamp.yaml:1:1: unknown key 'color'\n  help: did you mean 'colour'?" in told
    assert any("lamp.yaml:2:8" in line and "five" in line for line in told)
    assert any("lamp.yaml:3:8" in line and "a list expected" in line for line in told)
    assert any("the key 'colour' is missing" in line for line in told)


def test_what_is_not_a_mapping_is_reported_with_the_keys() -> None:
    made, reading = lamp_of("[1, 2]\n")
    assert made is None
    assert "colour, watts, marks" in reading.problems[0].remedy
