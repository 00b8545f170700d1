"""Numbers of manifests: added up, so many times, and as amounts of a resource; all exact, each at its place."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.places import Place
from coherence.importers._quantities import added, amount, as_amount, exact, times, value_of
from coherence.language.document import Scalar

PLAIN = st.fractions(0, 10**6).map(lambda number: exact(Fraction(round(number * 1000), 1000)))


def stated(text: str, line: int = 1) -> Scalar:
    return Scalar(text, Place("f", line, 1, line, 9))


def test_numbers_of_a_key_are_added_where_the_first_stands() -> None:
    sums = added([("cpu", stated("1.5", 3)), ("memory", stated("1024", 4)), ("cpu", stated("0.25", 5))])
    assert {key: (it.text, it.place.line) for key, it in sums.items()} == {"cpu": ("1.75", 3), "memory": ("1024", 4)}


@given(st.lists(PLAIN, min_size=1, max_size=5))
def test_a_sum_is_exact(texts: list[str]) -> None:
    assert value_of(added(("cpu", stated(text)) for text in texts)["cpu"]) == sum(map(Fraction, texts))


@given(PLAIN, st.integers(0, 999))
def test_so_many_times_a_number_is_exact(text: str, count: int) -> None:
    assert value_of(times(stated(text), stated(str(count)))) == Fraction(text) * count


@pytest.mark.parametrize(
    ("written", "resource", "text"),
    [
        ("500m", "cpu", "0.5"),
        ("2Gi", "memory", "2 GiB"),
        ("8", "nvidia.com/gpu", "8"),
        ("1Ki", "hugepages-2Mi", "1 KiB"),
    ],
)
def test_an_amount_has_the_unit_of_its_resource(written: str, resource: str, text: str) -> None:
    number = amount(written)
    assert number is not None
    assert as_amount(stated(exact(number)), resource).text == text
