"""Two windows through a declared maximum or product: every coalition of changes, against the definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from coherence.causal.attribution import windows_curved
from coherence.causal.attribution.shapley import NotSplitError
from coherence.causal.attribution.windows import _fitted_alike, _pooled
from coherence.causal.attribution.windows_curved import Curved, _spread, _weighted, built, mechanisms, shares
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import Fitted
from coherence.causal.fitting.graph import CausalGraph
from coherence.language.expressions.parse import parse
from tests.causal.attribution.orders import by_orders
from tests.causal.systems import graph, late, table

ROWS = 200


def declared(text: str, *causes: str) -> CausalGraph:
    """A graph in which causes act on the loss as an expression says."""
    plain = graph(*(late(cause, "loss", 0) for cause in causes))
    return CausalGraph(plain.nodes, plain.influences, frozenset({"loss"}), {"loss": parse(text)})


def prepared(
    before: Series, after: Series, of: CausalGraph, constants: Mapping[str, float | tuple[float, float]] | None = None
) -> tuple[Curved | None, Fitted]:
    fits = _fitted_alike(before, after, of, ())
    return built((before, after), fits, "loss", constants or {}), _pooled(*fits)


def inputs(seed: int, rows: int = ROWS, *, level: float = 0.0) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {"a": 3 + level + rng.normal(0, 1, rows), "b": 3 + rng.normal(0, 1, rows)}


def by_definition(old: Sequence[Floats], new: Sequence[Floats], loss: Callable[..., Floats]) -> list[float]:
    """The Shapley value of each argument of a loss that goes from old to new, over all orders."""

    def value(there: frozenset[int]) -> float:
        return float(np.mean(loss(*(new[k] if k in there else old[k] for k in range(len(old))))))

    return by_orders(value, len(old))


def test_shares_of_a_maximum_are_those_of_its_definition() -> None:
    old, new = inputs(1), inputs(2, level=1.5)
    series = [table(**one, loss=np.maximum(one["a"], one["b"])) for one in (old, new)]
    curved, both = prepared(series[0], series[1], declared("max(a, b)", "a", "b"))
    assert curved is not None
    (before, after), moved, changed = shares(curved, both, "loss", [])
    assert before == pytest.approx(np.maximum(old["a"], old["b"]).mean())
    assert after == pytest.approx(np.maximum(new["a"], new["b"]).mean())
    expected = by_definition(list(old.values()), list(new.values()), np.maximum)
    amounts = dict(zip(curved.names, moved[0].tolist(), strict=True))
    assert [amounts["a"], amounts["b"], amounts["loss"]] == pytest.approx([*expected, 0.0], abs=1e-12)
    assert changed.shape[-1] == 0


def product(of: Mapping[str, Floats], strength: float) -> Series:
    return table(**of, loss=strength * of["a"] * of["b"])


def test_a_mechanism_that_changed_is_one_player_more() -> None:
    old, new = inputs(1), inputs(2, level=1.0)
    curved, both = prepared(product(old, 0.5), product(new, 0.9), declared("k * a * b", "a", "b"), {"k": (0.0, 10.0)})
    assert curved is not None
    _, moved, changed = shares(curved, both, "loss", ["loss"])
    expected = by_definition([*old.values(), np.array(0.5)], [*new.values(), np.array(0.9)], lambda a, b, k: k * a * b)
    amounts = dict(zip(curved.names, moved[0].tolist(), strict=True))
    assert [amounts["a"], amounts["b"], float(changed[0, 0])] == pytest.approx(expected, rel=1e-6)
    change = np.mean(0.9 * new["a"] * new["b"]) - np.mean(0.5 * old["a"] * old["b"])
    assert moved[0].sum() + changed[0].sum() == pytest.approx(change)


def test_a_mechanism_that_did_not_change_has_one_constant_in_both_windows() -> None:
    """Whatever the windows say alone, what the loss has of its own takes the rest: the sum stays exact."""
    old, new = inputs(1), inputs(2, level=1.0)
    curved, both = prepared(product(old, 0.5), product(new, 0.5), declared("k * a * b", "a", "b"), {"k": (0.0, 10.0)})
    assert curved is not None
    (before, after), moved, _ = shares(curved, both, "loss", [])
    expected = by_definition(list(old.values()), list(new.values()), lambda a, b: 0.5 * a * b)
    amounts = dict(zip(curved.names, moved[0].tolist(), strict=True))
    assert [amounts["a"], amounts["b"]] == pytest.approx(expected, rel=1e-6)
    assert sum(amounts.values()) == pytest.approx(after - before)


def test_the_longer_window_is_cut() -> None:
    old, new = inputs(1, ROWS + 50), inputs(2, level=1.0)
    series = [table(**one, loss=np.maximum(one["a"], one["b"])) for one in (old, new)]
    curved, both = prepared(series[0], series[1], declared("max(a, b)", "a", "b"))
    assert curved is not None
    (before, _), _, _ = shares(curved, both, "loss", [])
    assert before == pytest.approx(np.maximum(old["a"], old["b"])[:ROWS].mean())


def test_few_coalitions_at_once_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = inputs(1), inputs(2, level=1.0)
    curved, both = prepared(product(old, 0.5), product(new, 0.9), declared("k * a * b", "a", "b"), {"k": (0.0, 10.0)})
    assert curved is not None
    at_once = shares(curved, both, "loss", ["loss"])
    monkeypatch.setattr(windows_curved, "NUMBERS_AT_ONCE", 3 * ROWS * len(at_once[1]))  # three, which divides no 8
    pieces = shares(curved, both, "loss", ["loss"])
    np.testing.assert_allclose(pieces[1], at_once[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pieces[2], at_once[2], rtol=1e-12, atol=1e-12)


def test_a_linear_mechanism_before_a_curved_one_keeps_its_slope() -> None:
    """c = 2 a, then 3 a; the loss is max(c, b): the change of the slope is a player."""
    old, new = inputs(1), inputs(2)
    rng = np.random.default_rng(3)
    series = []
    for one, slope in ((old, 2.0), (new, 3.0)):
        c = slope * one["a"] + 1e-6 * rng.normal(0, 1, ROWS)
        series.append(table(**one, c=c, loss=np.maximum(c, one["b"])))
    plain = graph(late("a", "c", 0), late("c", "loss", 0), late("b", "loss", 0))
    curve = CausalGraph(plain.nodes, plain.influences, frozenset({"loss"}), {"loss": parse("max(c, b)")})
    curved, both = prepared(series[0], series[1], curve)
    assert curved is not None
    assert mechanisms(curved) == {"loss"}
    _, moved, changed = shares(curved, both, "loss", ["c"])
    expected = by_definition(
        [old["a"], old["b"], np.array(2.0)], [new["a"], new["b"], np.array(3.0)], lambda a, b, k: np.maximum(k * a, b)
    )
    amounts = dict(zip(curved.names, moved[0].tolist(), strict=True))
    assert [amounts["a"], amounts["b"], float(changed[0, 0])] == pytest.approx(expected, abs=1e-4)


def test_without_a_declared_mechanism_there_is_nothing_curved() -> None:
    series = [table(**one, loss=one["a"] + one["b"]) for one in (inputs(1), inputs(2))]
    curved, _ = prepared(series[0], series[1], graph(late("a", "loss", 0), late("b", "loss", 0)))
    assert curved is None


def test_too_many_changes_are_refused() -> None:
    names = [f"x{n}" for n in range(12)]
    rng = np.random.default_rng(1)
    series = []
    for _ in range(2):
        signals = {name: rng.normal(0, 1, 300) for name in names}
        series.append(table(**signals, loss=np.maximum.reduce(list(signals.values()))))
    curved, both = prepared(series[0], series[1], declared(f"max({', '.join(names)})", *names))
    assert curved is not None
    with pytest.raises(NotSplitError):
        shares(curved, both, "loss", [])


# -- replicates ---------------------------------------------------------------------------------------


def test_there_is_a_row_for_the_whole_and_for_each_batch_of_either_window() -> None:
    old, new = np.array([[10.0], [11.0], [12.0]]), np.array([[20.0], [21.0], [22.0], [23.0]])
    first, second = _spread(old, new)
    assert first[:, 0].tolist() == [10, 11, 12, 10, 10, 10]
    assert second[:, 0].tolist() == [20, 20, 20, 21, 22, 23]


def test_constants_are_weighted_by_their_precision() -> None:
    """Jackknife variances 1 / 2 * 2 = 1 of the first and 4 of the second: weights 4 to 1."""
    old, new = np.array([[10.0], [9.0], [11.0]]), np.array([[20.0], [18.0], [22.0]])
    mixed = _weighted(np.array([[10.0]]), np.array([[20.0]]), old, new)
    assert mixed[0, 0] == pytest.approx((4 * 10 + 20) / 5)


def test_constants_without_any_spread_are_halfway() -> None:
    exact = np.array([[10.0], [10.0], [10.0]])
    assert _weighted(np.array([[10.0]]), np.array([[20.0]]), exact, exact + 10)[0, 0] == 15


def test_in_several_dimensions_each_constant_is_taken_from_where_it_is_known() -> None:
    """Spreads of 0.001 and 1 that have nothing to do with each other, and the other way round."""
    signs = np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]])
    old = np.array([1.0, 5.0]) + signs * np.array([1e-3, 1.0])
    new = np.array([9.0, 2.0]) + signs * np.array([1.0, 1e-3])
    assert _weighted(old[:1], new[:1], old, new)[0] == pytest.approx([1.0, 2.0], abs=1e-4)
