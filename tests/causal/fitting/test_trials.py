"""Trials of estimators on graphs with known coefficients: moments by hand, and regressions that return them."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.fitting.trials import DRAWS, LARGEST, Draw, Edge, draws, edges_of
from tests.causal.systems import graph, late

CHAIN: tuple[Edge, ...] = (("a", "b", 1), ("b", "c", 0))


def test_the_edges_of_a_graph_have_their_delays() -> None:
    ways = graph(late("a", "b", 2), late("b", "b"), late("b", "c", 0))
    assert edges_of(ways, {}, 1.0) == (("a", "b", 2), ("b", "b", 1), ("b", "c", 0))
    assert edges_of(ways, {("a", "b"): (0, 3)}, 1.0) == (("a", "b", 0), ("a", "b", 3), ("b", "b", 1), ("b", "c", 0))
    assert edges_of(graph(late("b", "b", 0)), {}, 1.0) == (("b", "b", 1),)  # nothing acts on itself at once
    assert edges_of(graph(late("a", "b", 4)), {}, 2.0) == (("a", "b", 2),)


@pytest.mark.parametrize("draw", draws("abc", CHAIN, 2), ids=range(DRAWS))
def test_a_signal_is_made_of_its_causes_and_its_own_part(draw: Draw) -> None:
    # c(t) = s b(t) + own: what is b's in it is s times b's, and b at t has r times a at t - 1
    r, s = draw.coefficients["a", "b", 1], draw.coefficients["b", "c", 0]
    own_c = draw.row(("c", 0)) - s * draw.row(("b", 0))
    own_b = draw.row(("b", 0)) - r * draw.row(("a", 1))
    assert abs(own_c @ draw.row(("b", 0))) < 1e-9
    assert abs(own_c @ draw.row(("a", 2))) < 1e-9
    assert abs(own_b @ draw.row(("a", 0))) < 1e-9
    assert abs(own_b @ draw.row(("b", 1)) - r * 0) > 1e-6  # the own part remembers its past
    regressed = np.linalg.solve(draw.moments([("b", 0)], [("b", 0)]), draw.moments([("b", 0)], [("c", 0)]))
    assert regressed[0, 0] == pytest.approx(s)
    assert draw.depth == 2 + 1 + 2
    assert 0.25 <= abs(r) <= 0.75


def test_draws_are_independent_and_reproducible() -> None:
    first, again = draws("abc", CHAIN, 2), draws("abc", CHAIN, 2)
    assert [d.coefficients for d in first] == [d.coefficients for d in again]
    assert len({d.coefficients["a", "b", 1] for d in first}) == DRAWS


def test_circles_that_grow_are_made_weaker() -> None:
    tight: tuple[Edge, ...] = tuple((one, other, 0) for one in "abcd" for other in "abcd" if one != other)
    for draw in draws("abcd", (*tight, *((name, name, 1) for name in "abcd")), 3):
        assert np.abs(draw.mixing).max() <= LARGEST


def test_a_short_memory_is_an_autoregression_of_two_steps() -> None:
    (short,) = draws("a", (), 6, "a", count=1)
    row = short.row(("a", 0))[::-1] / short.row(("a", 0))[-1]  # what is left of a chance 0, 1, 2 steps later
    second = np.linalg.solve(np.array([[row[1], row[0]], [row[2], row[1]]]), row[2:4])
    for k in range(4, len(row)):
        assert row[k] == pytest.approx(second @ row[[k - 1, k - 2]])
