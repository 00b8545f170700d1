"""Bins and slices: floors against every packing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base import solver
from coherence.base.errors import UsageError
from coherence.minimums import packing
from coherence.minimums.floors import at
from coherence.minimums.registry import entry
from tests.draws import few

LAW = settings(max_examples=80, deadline=None)
ITEMS = st.lists(st.integers(1, 12), min_size=1, max_size=8)


@LAW
@given(ITEMS)
def test_no_packing_has_fewer_bins_than_the_floors(sizes: list[int]) -> None:
    best = packing.fewest(sizes, 12)
    filled = packing.first_fit(sizes, 12)
    assert packing.by_volume(sizes, 12) <= packing.by_halves(sizes, 12) <= best <= len(filled)
    assert sorted(size for one in filled for size in one) == sorted(map(Fraction, sizes))
    assert all(sum(one) <= 12 for one in filled)


@settings(max_examples=few(20), deadline=None)
@given(st.lists(st.integers(1, 10), min_size=1, max_size=6))
def test_the_fewest_bins_are_those_of_a_solver(sizes: list[int]) -> None:
    best = packing.fewest(sizes, 10)
    assert solver.unsat(packing.script(sizes, 10, best), timeout_ms=5000).outcome is solver.Outcome.SAT
    assert solver.unsat(packing.script(sizes, 10, best - 1), timeout_ms=5000).unsat


@pytest.mark.slow
@LAW
@given(ITEMS, st.fractions(Fraction(1, 5), 9, max_denominator=5))
def test_a_change_of_unit_changes_nothing(sizes: list[int], unit: Fraction) -> None:
    scaled = [size * unit for size in sizes]
    assert packing.by_halves(scaled, 12 * unit) == packing.by_halves(sizes, 12)
    assert packing.by_halves(list(reversed(sizes)), 12) == packing.by_halves(sizes, 12)


@LAW
@given(*[st.integers(1, 9)] * 4)
def test_slices_strand_what_no_further_slice_can_take(compute: int, memory: int, each: int, each_memory: int) -> None:
    each, each_memory = min(each, compute), min(each_memory, memory)
    inputs = {"compute": compute, "memory": memory, "each": each, "each_memory": each_memory}
    stranded = at(entry("slice_packing").bound, {name: Fraction(x) for name, x in inputs.items()})
    most = max(k for k in range(10) if k * each <= compute and k * each_memory <= memory)
    assert stranded == 1 - Fraction(most * each, compute)
    assert packing.slices((compute, memory), (each, each_memory)) == most


@pytest.mark.parametrize(
    ("sizes", "capacity", "said"),
    [([], 1, "no items"), ([2], 1, "does not fit"), ([0], 1, "does not fit"), ([1], 0, "holds nothing")],
)
def test_what_cannot_be_packed_is_told(sizes: list[int], capacity: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        packing.by_halves(sizes, capacity)


def test_limits_of_trying_every_packing_and_empty_slices() -> None:
    with pytest.raises(UsageError, match="15 items"):
        packing.fewest([1] * 15, 3)
    with pytest.raises(UsageError, match="takes nothing"):
        packing.slices((7, 8), (0, 0))


def test_volume_is_what_remains_when_items_may_be_split() -> None:
    bound = entry("bins_needed").bound
    assert bound.without == {"atomic_items": "bins_by_volume"}
    sizes = {"sizes": tuple([Fraction(51, 100)] * 10), "capacity": Fraction(1)}
    assert at(bound, sizes) == 10  # type: ignore[arg-type]
    assert at(entry("bins_by_volume").bound, sizes) == 6  # type: ignore[arg-type]
