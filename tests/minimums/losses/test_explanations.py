"""A measurement below a floor accuses the assumptions whose relaxation explains it, and no other ones."""

from __future__ import annotations

from fractions import Fraction

from coherence.minimums.losses.composition import Leaf, Serial, estimate
from coherence.minimums.losses.decomposition import decomposition, sentences
from coherence.minimums.losses.explanations import Explanation, common, explanations, innocent, relaxed
from coherence.minimums.registry import entry
from tests.minimums.losses.test_composition import GB


def exchange(rate: int, size: int = 8 * GB, n: int = 64) -> Leaf:
    inputs = {"n": n, "size": size, "bandwidth": rate}
    return Leaf(entry("all_reduce_end_point").bound, {name: (Fraction(x), Fraction(x)) for name, x in inputs.items()})


def test_boxes_with_links_of_their_own_do_not_accuse_reduction_in_switches() -> None:
    """360 GB/s of bus bandwidth on ports of 50 GB/s: switches that add leave 160 ms, more than was measured."""
    measured = Fraction(4375, 100_000)
    found = decomposition((measured, measured), exchange(50 * GB))
    assert [one.assumptions for one in found.explained] == [("one_attachment",), ("uncompressed",)]
    assert [(one.assumptions, one.left) for one in found.innocent] == [(("end_point_reduction",), Fraction(16, 100))]
    said = sentences(found)
    assert "271.25 ms below" in said[0]
    assert said[-1] == "not end_point_reduction alone: without it the floor is still 160 ms"


def test_a_relaxation_that_explains_the_number_is_accused() -> None:
    measured = Fraction(2 * 7 * 8, 8 * 480)
    names = [one.assumptions for one in explanations(exchange(450 * GB, n=8), None, 0, measured)]
    assert ("end_point_reduction",) in names
    assert not innocent(exchange(450 * GB, n=8), explanations(exchange(450 * GB, n=8), None, 0, measured))


def test_two_assumptions_together_are_named_where_neither_is_enough() -> None:
    """Rounds of messages and bytes at once: each alone leaves the other half of the floor."""
    bound = entry("all_reduce_alpha_beta").bound
    inputs = {"n": Fraction(64), "size": Fraction(GB), "bandwidth": Fraction(25 * GB), "alpha": Fraction(1, 100)}
    leaf = Leaf(bound, {name: (x, x) for name, x in inputs.items()})
    both = explanations(leaf, None, 0, Fraction(1, 1000))
    assert all(estimate(relaxed(leaf, frozenset(one.assumptions))).low <= Fraction(1, 1000) for one in both)
    assert ("message_time",) not in [one.assumptions for one in both]


def test_a_sum_is_relaxed_part_by_part() -> None:
    parts = Serial((exchange(450 * GB), Leaf(entry("compute_time").bound, _compute())))
    left = estimate(relaxed(parts, frozenset({"stated_precision"}))).low
    assert left == estimate(exchange(450 * GB)).low


def _compute() -> dict[str, tuple[Fraction, Fraction]]:
    inputs = {"operations": 10**15, "units": 1, "peak": 10**15}
    return {name: (Fraction(x), Fraction(x)) for name, x in inputs.items()}


def test_several_measurements_have_one_smallest_explanation() -> None:
    first = [Explanation(("one_attachment",), 0), Explanation(("uncompressed",), 0)]
    second = [Explanation(("one_attachment",), 0), Explanation(("balanced",), 0)]
    assert common([first, second]) == (("one_attachment",),)
    assert common([]) == ()
