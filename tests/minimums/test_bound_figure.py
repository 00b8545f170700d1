"""Pictures of bounds: a panel for each range, in the units of the symbol, and the band of the other inputs."""

from __future__ import annotations

from fractions import Fraction

import pytest

import coherence as co
from coherence.base.errors import UsageError
from coherence.minimums.bound_figure import bound_figure
from coherence.minimums.registry import entry

SIZE, SLOW, FAST = Fraction(2**33), Fraction(250 * 10**9), Fraction(300 * 10**9)


def test_the_curves_are_the_bound_at_the_ends_of_the_other_inputs() -> None:
    bound = entry("all_reduce_end_point").bound
    figure = bound_figure(bound, {"n": (Fraction(2), Fraction(8)), "size": (SIZE, SIZE), "bandwidth": (SLOW, FAST)})
    by_members, by_rate = figure.panels
    least, most = by_members.lines
    assert least.points[0] == pytest.approx((2.0, 2 / 2 * 2**33 / 300e9))
    assert most.points[-1] == pytest.approx((8.0, 2 * 7 / 8 * 2**33 / 250e9))
    assert [x for x, _ in least.points] == [2, 3, 4, 5, 6, 7, 8]
    assert by_rate.bands[0].points[0][0] == 250e9


def test_without_a_range_there_is_nothing_to_draw() -> None:
    with pytest.raises(UsageError, match="over a range"):
        bound_figure(entry("all_reduce_end_point").bound, {"n": (Fraction(2), Fraction(2))})


def test_a_bound_draws_one_of_its_ranges_on_axes() -> None:
    pytest.importorskip("matplotlib")
    ranged = co.bound("all_reduce_end_point", n=(2, 8), size="8 GiB", bandwidth="300 GB/s")
    axes = ranged.plot()
    ((_, least), *_) = [(line.get_label(), line.get_ydata()) for line in axes.get_lines()]
    assert min(least) == pytest.approx(2 / 2 * 2**33 / 300e9)
    with pytest.raises(UsageError, match="no panel 1"):
        ranged.plot(panel=1)
