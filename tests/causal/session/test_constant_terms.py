"""Terms that no telemetry moves: products of ranges alone, by hand."""

from __future__ import annotations

import pytest

from coherence.causal.session.constant_terms import constant_terms, hidden_between
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate

TEXT = """coherence: 1
components:
  web:
    base: 1 .. 2
    each: 3 .. 4
    exact: 5
    load: 0 .. 9
    moves: {moves}
    wait: {wait}
    cost: {cost}
"""


def terms(
    wait: str, cost: str = "load * 2", *, moves: str = "1 .. 2", measured: str = "web.wait web.cost web.load"
) -> dict[str, tuple[str, ...]]:
    model = elaborate(read_text(TEXT.format(wait=wait, cost=cost, moves=moves)))
    return constant_terms(model, frozenset(measured.split()))


@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        ("load + base", {"web.base": ("web.wait",)}),
        ("load - base", {"web.base": ("web.wait",)}),
        ("load + base * each", {"web.base * web.each": ("web.wait",)}),
        ("load + base * exact", {"web.base": ("web.wait",)}),
        ("load + exact", {}),
        ("load * base", {}),  # a strength, which is fitted
        ("load * base + each", {"web.each": ("web.wait",)}),
        ("load + base - each + load * 2", {"web.base": ("web.wait",), "web.each": ("web.wait",)}),
        ("load + moves", {"web.moves": ("web.wait",)}),
    ],
)
def test_a_term_of_ranges_alone_is_taken_as_a_constant(wait: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert terms(wait) == expected


def test_what_varies_or_has_a_column_is_no_constant() -> None:
    assert terms("load + moves", moves="{varies: 1 .. 2}") == {}
    assert terms("load + base", measured="web.wait web.load web.base") == {}
    assert terms("load + base", measured="web.cost web.load") == {}  # the signal is not measured


def test_a_range_in_two_signals_hides_between_them() -> None:
    both = terms("load + base * each", "load + base")
    assert both == {"web.base * web.each": ("web.wait",), "web.base": ("web.cost",)}
    assert hidden_between(both) == {"web.base": ("web.wait", "web.cost")}
    assert hidden_between(terms("load + base", "load * 2")) == {}
    assert hidden_between(terms("load + base", "load + base")) == {"web.base": ("web.wait", "web.cost")}
