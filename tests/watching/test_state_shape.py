"""Shapes take what they name, and say where something else stands."""

from __future__ import annotations

import math
from typing import Any

import pytest

from coherence.watching import state_shape as shapes
from coherence.watching.state_shape import Shape


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (shapes.number, (0, -1.5, math.nan, math.inf), (None, "1", True, 1e300, 10**400)),
        (shapes.above_zero, (1e300, math.inf), (0.0, -1.0, math.nan, 1, True)),
        (shapes.evidence, (0.0, 1e300), (-1.0, math.nan, None)),
        (shapes.moment, (0, 1.8e9), (-1, 1e12, math.nan, True)),
        (shapes.count, (0, 7), (-1, 1.0, True, 10**400)),
        (shapes.text, ("", "é"), (None, 1, "\udc00")),
        (shapes.flag, (True, False), (0, 1, None)),
        (shapes.absent_or(shapes.count), (None, 1), ("x",)),
        (shapes.series(shapes.count, 0, 2), ([], [1, 2]), ([1], [1, "x"], {}, None)),
        (shapes.series(shapes.count, least=1), ([1], [1, 2, 3]), ([],)),
        (shapes.table(shapes.count), ({}, {"a": 1}), ({"a": "x"}, {"\udc00": 1}, [])),
        (shapes.record(a=shapes.count), ({"a": 1},), ({}, {"a": 1, "b": 1}, {"a": None}, None)),
    ],
)
def test_a_shape_takes_what_it_names_alone(shape: Shape, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    for value in good:
        shape(value, "here")
    for value in bad:
        with pytest.raises(ValueError, match=r"^here"):
            shape(value, "here")


def test_the_place_of_what_is_wrong_is_said() -> None:
    shape = shapes.record(rows=shapes.series(shapes.table(shapes.count)))
    with pytest.raises(ValueError, match=r"^rows\.1\.a is 'xxxxx.*\.\.\. and no count$"):
        shape({"rows": [{}, {"a": "x" * 1000}]}, "")
