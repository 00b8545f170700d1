"""A value that is read notes its place with whatever is being computed, and with whoever takes the result."""

from __future__ import annotations

from dataclasses import dataclass

from coherence.base.queries import QueryTable
from coherence.base.reads import built, keeps_reads, kept_property, note, rebuilt, recorded, unnoted, with_changes
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity

DESIGN = read_text("coherence: 1\ncomponents:\n  pool: {copies: 3, size: 4, width: 5}\n")
POOL = DESIGN.components["pool"].constants


def number(name: str) -> Quantity:
    value = POOL[name]
    assert isinstance(value, Quantity)
    return value


def test_only_what_is_looked_at_is_read() -> None:
    with recorded() as reads:
        assert number("size").low == 4
        assert number("width").place.line == 3
    assert reads.all() == {number("size").place}


def test_who_computes_around_has_read_the_same() -> None:
    with recorded() as outer:
        with recorded() as inner:
            assert number("size").high == 4
        assert number("width").high == 5
    assert inner.all() == {number("size").place}
    assert outer.all() == {number("size").place, number("width").place}


def test_who_takes_a_known_row_has_read_what_it_was_made_from() -> None:
    table = QueryTable()
    for _ in range(2):
        with recorded() as reads:
            assert table.get("size", lambda: number("size").low) == 4
        assert reads.all() == {number("size").place}


def test_what_is_walked_over_is_not_read() -> None:
    with recorded() as reads, unnoted():
        assert str(number("size")) == "4"
    assert not reads.all()


def test_outside_of_a_recording_nothing_is_noted() -> None:
    with recorded() as reads:
        pass
    assert number("size").low == 4
    note(reads)
    assert not reads.all()


@keeps_reads
@dataclass(frozen=True)
class Box:
    """A width and a size, and their product."""

    size: int
    width: int

    @kept_property
    def area(self) -> int:
        """Returns the product."""
        return self.size * self.width


def box() -> Box:
    return built(Box, size=lambda: int(number("size").low), width=lambda: int(number("width").low))


def test_a_kept_property_is_read_by_everyone_who_takes_it() -> None:
    small = box()
    for _ in range(2):
        with recorded() as reads:
            assert small.area == 20
        assert reads.all() == {number("size").place, number("width").place}


def test_what_is_rebuilt_keeps_what_each_attribute_was_made_of() -> None:
    small = box()
    with recorded() as whole:
        wide = rebuilt(small, width=lambda: small.width + 1)
    assert not whole.all()
    with recorded() as reads:
        assert wide.size == 4
    assert reads.all() == {number("size").place}
    with recorded() as reads:
        assert wide.width == 6
    assert reads.all() == {number("width").place}
    assert wide.area == 24


def test_what_is_changed_to_a_known_value_is_not_read_and_the_rest_keeps_what_it_was_made_of() -> None:
    with recorded() as whole:
        wide = with_changes(box(), width=7)
        assert wide.width == 7
    assert not whole.all()
    with recorded() as reads:
        assert wide.area == 28
    assert reads.all() == {number("size").place}
