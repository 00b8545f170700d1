"""Means of calls in circles beside numpy's eigenvalues and inverse, and things whose requests all go on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.recursion import endless, mean_sends, requests_started


def test_there_is_a_mean_where_the_spectral_radius_is_below_one() -> None:
    drawn = np.random.default_rng(3)
    seen = set()
    for _ in range(200):
        size = int(drawn.integers(1, 5))
        matrix = drawn.integers(0, 6, (size, size)) * (drawn.random((size, size)) < 0.7)
        mean = {str(a): {str(b): Fraction(int(matrix[a, b]), 8) for b in range(size)} for a in range(size)}
        started = requests_started(mean)
        radius = max(abs(np.linalg.eigvals(matrix / 8)))
        if abs(radius - 1) < 1e-6:
            continue
        seen.add(radius < 1)
        assert (started is not None) == (radius < 1)
        if started is not None:
            expected = np.linalg.solve(np.eye(size) - matrix / 8, np.ones(size))
            assert [float(started[str(a)]) for a in range(size)] == pytest.approx(list(expected))
    assert seen == {True, False}


def test_exactly_one_is_too_much() -> None:
    assert requests_started({"a": {"b": Fraction(3, 7)}, "b": {"a": Fraction(7, 3)}}) is None
    assert requests_started({"a": {"b": Fraction(3, 7)}, "b": {"a": Fraction(6, 3)}}) is not None


TREE = """coherence: 1
components: {a: {cases: {x: 1, y: 3}}}
calls:
  - {from: a, to: b, case: x, tries: 3}
  - {from: a, to: c, case: y, hedge_after: 1 s}
  - {from: b, to: a}
  - {from: c, to: a}
  - {from: c, to: model}
"""


def test_sends_count_cases_tries_and_copies() -> None:
    design = read_text(TREE, "d")
    own = {each.plan.name: each for each in mean_sends(design, call_tree(design), ("a", "b", "c"))}
    first, second = own["a -> b"], own["a -> c"]
    assert (first.fewest, first.quiet, first.most) == (Fraction(1, 4), Fraction(1, 4), Fraction(3, 4))
    assert (second.fewest, second.quiet, second.most) == (Fraction(3, 4), Fraction(3, 2), Fraction(3, 2))
    assert own["b -> a"].stated
    assert not own["c -> a"].stated  # of two calls without a stage it is not said that both are made


def test_all_go_on_where_each_case_does() -> None:
    design = read_text(TREE.replace("  - {from: c, to: model}\n", ""), "d")
    assert endless(call_tree(design), ("a", "b", "c")) == {"a", "b", "c"}
    partly = read_text(TREE, "d")
    assert endless(call_tree(partly), ("a", "b", "c")) == frozenset()


def test_a_fallback_that_leads_out_answers() -> None:
    calls = "coherence: 1\ncalls:\n  - {from: a, to: a}\n  - {from: a, to: b, fallback_for: a}\n"
    assert endless(call_tree(read_text(calls, "d")), ("a",)) == frozenset()
    back = read_text(calls + "  - {from: b, to: a}\n", "d")
    assert endless(call_tree(back), ("a", "b")) == {"a", "b"}
