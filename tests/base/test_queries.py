"""What is computed from a record is kept with it, with the fields that were read."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from coherence.base.clock import record_cut, recorded_cuts
from coherence.base.queries import cached
from coherence.language.design import Design
from coherence.language.names import written
from coherence.language.reading import read_text

TEXT = "coherence: 1\nsystem: s\nlimits: {l: {counts: a.b, at_most: 3}}\n"


@cached
def limits(design: Design) -> int:
    """Number of limits; `calls` counts how often it was computed."""
    COUNTED.append(design)
    return len(design.limits)


@cached
def systems(design: Design, times: int) -> str:
    return str(design.system) * times + "." * limits(design)


@cached
def nothing(design: Design) -> None:
    COUNTED.append(design)


COUNTED: list[Design] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    COUNTED.clear()


def reads(design: Design, act: Callable[[], object]) -> frozenset[str]:
    """The fields that an act reads."""
    design.queries.get(act, act)
    return design.queries.rows[act].fields


def test_a_value_is_computed_once_for_each_record() -> None:
    design, other = read_text(TEXT), read_text(TEXT)
    assert [limits(design), limits(design), limits(other)] == [1, 1, 1]
    assert list(map(id, COUNTED)) == [id(design), id(other)]


def test_a_carried_value_stands_after_an_edit_that_leaves_what_it_read() -> None:
    design, edited, other = read_text(TEXT), read_text(TEXT), read_text(TEXT)
    known = written(design)
    edited.queries.carry_unchanged(design.queries, edited, frozenset({"limits", "text"}))
    other.queries.carry_unchanged(design.queries, other, frozenset({"loops"}))
    assert [written(edited) is known, written(other) is known] == [True, False]


def test_nothing_is_a_value_too() -> None:
    design = read_text(TEXT)
    assert [nothing(design), nothing(design)] == [None, None]
    assert len(COUNTED) == 1


def test_other_arguments_are_another_query() -> None:
    design = read_text(TEXT)
    assert (systems(design, 1), systems(design, 2), systems(design, 1)) == ("s.", "ss.", "s.")


def test_an_error_is_not_kept() -> None:
    design = read_text(TEXT)
    with pytest.raises(ZeroDivisionError):
        design.queries.get("x", lambda: 1 // 0)
    assert design.queries.get("x", lambda: 2) == 2


def test_a_query_stands_with_the_fields_that_it_read() -> None:
    design = read_text(TEXT)
    assert reads(design, lambda: len(design.limits)) == {"limits"}
    assert reads(design, lambda: None) == frozenset()


def test_who_takes_a_kept_value_has_read_what_it_was_made_from() -> None:
    design = read_text(TEXT)
    assert limits(design) == 1
    assert reads(design, lambda: limits(design)) == {"limits"}
    assert reads(design, lambda: systems(design, 1)) == {"limits", "system"}


def test_who_copies_or_compares_a_design_has_read_all_of_it() -> None:
    design = read_text(TEXT)
    assert reads(design, lambda: design.replace(file="x")) == set(Design.fields)
    assert {"loops", "limits", "promises"} <= reads(design, lambda: design == read_text(TEXT))


def test_what_an_error_read_was_read() -> None:
    design = read_text(TEXT)

    def refused() -> None:
        with pytest.raises(KeyError):
            design.queries.get("inner", lambda: design.loops["none"])

    assert reads(design, refused) == {"loops"}


def test_who_takes_a_value_that_was_cut_short_is_cut_short() -> None:
    design = read_text(TEXT)
    design.queries.get("cut", record_cut)
    with recorded_cuts() as cuts:
        design.queries.get("cut", record_cut)
    assert cuts.happened
    with recorded_cuts() as cuts:
        limits(design)
    assert not cuts.happened


def test_a_copy_of_a_record_knows_nothing() -> None:
    design = read_text(TEXT)
    assert limits(design) == 1
    for other in (copy.copy(design), pickle.loads(pickle.dumps(design)), design.replace()):  # noqa: S301
        assert other == design
        assert not other.queries.rows


def test_a_design_that_notes_its_readers_is_frozen_all_the_same() -> None:
    with pytest.raises(AttributeError, match="frozen"):
        read_text(TEXT).limits = {}  # type: ignore[misc]
