"""`@value`: what a frozen dataclass would do, without generated code."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.values import field, ordered_value, replace, value


@value
class Point:
    """Two numbers and what they belong to."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False)
    unit: ClassVar[str] = "m"


@value
class Labelled(Point):
    """A point with a label."""

    label: str = "none"


@value
class Checked:
    """A value that refuses some contents."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("a size is not negative")


@ordered_value
class Version:
    """Sorts by its fields."""

    major: int
    minor: int = 0


def test_a_value_is_made_by_position_or_by_name_and_fills_in_defaults() -> None:
    assert Point(1) == Point(x=1, y=0, tags=[], note="")
    assert Point(1, 2).y == 2
    assert Labelled(1, label="a").label == "a"


def test_each_value_gets_its_own_default() -> None:
    first, second = Point(1), Point(1)
    assert first.tags is not second.tags


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Point, "needs x"),
        (lambda: Point(1, 2, [], "", 5), "given 5 by position"),  # type: ignore[call-arg]
        (lambda: Point(1, z=2), "given 1 by position and z"),  # type: ignore[call-arg]
        (lambda: Point(1, x=2), "given 1 by position and x"),  # type: ignore[misc]
        (lambda: Point(1, 2, [], "", x=3), "and x"),  # type: ignore[misc]
    ],
)
def test_a_wrong_construction_is_a_type_error_that_says_what_is_wrong(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        make()


def test_fields_cannot_be_assigned_or_deleted() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match=r"Point\.x cannot be assigned"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert point.x == 1


def test_equality_looks_at_the_compared_fields_and_at_the_class() -> None:
    assert Point(1, note="a") == Point(1, note="b")
    assert Point(1) != Point(2)
    assert Point(1) != Labelled(1)
    assert Version(1) != object()
    assert hash(Version(1, 2)) == hash(Version(1, 2))


def test_after_construction_a_value_may_refuse() -> None:
    with pytest.raises(ValueError, match="not negative"):
        Checked(-1)


def test_repr_reads_as_a_construction() -> None:
    assert repr(Version(1, 2)) == "Version(major=1, minor=2)"


def test_dataclass_tools_work_on_values() -> None:
    point = Point(1, 2, ["a"])
    assert dataclasses.is_dataclass(point)
    assert [f.name for f in dataclasses.fields(Point)] == ["x", "y", "tags", "note"]
    assert dataclasses.replace(point, y=5) == Point(1, 5, ["a"])
    assert dataclasses.replace(Labelled(1, label="a"), x=3) == Labelled(3, label="a")


def test_patterns_match_values_by_position_and_by_name() -> None:
    match Point(1, 2):
        case Point(x, y=found):
            assert (x, found) == (1, 2)
        case _:
            pytest.fail("a value did not match its own class")


def test_a_value_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(Version(3, 4))) == Version(3, 4)  # noqa: S301  (our own bytes)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_ordered_values_sort_as_their_tuples(pairs: list[tuple[int, int]]) -> None:
    made = sorted(Version(*pair) for pair in pairs)
    assert [(v.major, v.minor) for v in made] == sorted(pairs)


@given(st.integers(), st.integers(), st.integers(), st.integers())
def test_equality_and_hash_agree_with_the_tuples(a: int, b: int, c: int, d: int) -> None:
    one, other = Version(a, b), Version(c, d)
    assert (one == other) == ((a, b) == (c, d))
    if one == other:
        assert hash(one) == hash(other)


def test_replace_makes_another_value_and_refuses_unknown_fields() -> None:
    one = Point(1, 2)
    assert replace(one, y=5) == Point(1, 5)
    assert one == Point(1, 2)
    with pytest.raises(TypeError):
        replace(one, nothing=1)


def test_replace_takes_dataclasses_as_well() -> None:
    made = dataclasses.make_dataclass("Pair", ["a", "b"], frozen=True)
    assert replace(made(1, 2), b=3) == made(1, 3)
