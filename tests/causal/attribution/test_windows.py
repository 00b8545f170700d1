"""Two windows compared, changes of level, and shares of the variance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bench.known_systems import autoregressive, graph_of, known_systems, series_of
from bench.known_systems.changing import change, shifted, steady
from coherence.base.errors import UsageError
from coherence.causal.attribution.changes import BLOCKS, change_points, changes, memory, statistics
from coherence.causal.attribution.variance import variance
from coherence.causal.attribution.windows import _shares, compare
from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.language.expressions.parse import parse
from tests.causal.attribution.orders import by_orders


def test_a_mechanism_that_changed_is_told_from_an_input_that_moved() -> None:
    made = change(1, 1500)
    found = compare(made.before, made.after, made.graph, "loss")
    assert {one.signal for one in found.mechanisms if one.changed} == {"work"}
    assert found.error <= 1e-12
    for one in found.contributions:
        truth = made.contributions.get((one.cause, one.kind))
        if truth is not None:
            assert abs(one.amount.value - truth) <= 5 * one.amount.error


def test_an_input_that_moved_is_no_changed_mechanism() -> None:
    made = change(1, 1500, strength=0.8)
    found = compare(made.before, made.after, made.graph, "loss")
    assert not any(one.changed for one in found.mechanisms)
    assert {one.kind for one in found.contributions} == {"input", "unexplained"}
    largest = max(found.contributions, key=lambda one: abs(one.amount.value))
    assert largest.cause == "demand"


def test_the_split_of_a_change_is_the_shapley_value_of_its_definition() -> None:
    rng = np.random.default_rng(0)
    size, changed, loss = 4, [1, 3], 3
    m, n = (np.tril(rng.normal(size=(1, size, size)), -1) * 0.5 for _ in "mn")
    unchanged = [row for row in range(size) if row not in changed]
    n[:, unchanged] = m[:, unchanged]
    u, v = rng.normal(size=(1, size)), rng.normal(size=(1, size))

    def value(there: frozenset[int]) -> float:
        mixed, drive = m[0].copy(), u[0].copy()
        for player in there:
            if player < size:
                drive[player] = v[0, player]
            else:
                mixed[changed[player - size]] = n[0, changed[player - size]]
        return float(np.linalg.solve(np.eye(size) - mixed, drive)[loss])

    inputs, mechanisms = _shares(m, n, u, v, changed, loss)
    assert [*inputs[0], *mechanisms[0]] == pytest.approx(by_orders(value, size + len(changed)), abs=1e-12)


def test_windows_that_are_too_short_say_so() -> None:
    made = change(1, 60)
    with pytest.raises(UsageError, match="needs 100"):
        compare(made.before, made.after, made.graph, "loss")


def product(rng: np.random.Generator, *, price: float, strength: float) -> Series:
    a, b = np.abs(autoregressive(rng, 1200, mean=2.0)), np.abs(autoregressive(rng, 1200, mean=price, size=0.3))
    return series_of({"a": a, "b": b, "loss": strength * a * b + 0.5 * autoregressive(rng, 1200)})


@pytest.mark.parametrize("strength", [0.5, 0.9])
def test_a_declared_product_is_not_called_changed_because_its_inputs_moved(strength: float) -> None:
    rng = np.random.default_rng(0)
    before, after = product(rng, price=2.0, strength=0.5), product(rng, price=3.0, strength=strength)
    influences = (Influence("a", "loss"), Influence("b", "loss"))
    graph = CausalGraph(("a", "b", "loss"), influences, frozenset({"loss"}), {"loss": parse("k * a * b")})
    found = compare(before, after, graph, "loss", constants={"k": (0.0, 10.0)})
    assert [one.changed for one in found.mechanisms] == [strength != 0.5]
    assert found.error <= 1e-12
    linear = compare(before, after, CausalGraph(graph.nodes, influences), "loss")
    assert [one.changed for one in linear.mechanisms] == [True]  # without the declaration it would be
    amounts = {(one.cause, one.kind): one.amount.value for one in found.contributions}
    if strength == 0.5:
        assert amounts["b", "input"] == pytest.approx(0.5 * 2.0 * 1.0, rel=0.2)
    else:
        assert amounts["loss", "mechanism"] > 1


# -- changes of level ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.8])
def test_a_change_of_level_is_found_where_it_was(rho: float) -> None:
    values, place = shifted(7, 4000, rho=rho, by=3.0)
    ((row, excess),) = change_points(values)
    assert abs(row - place) <= 40
    assert excess > 1


def test_up_and_down_again_is_two_changes() -> None:
    values = steady(1, 6000, rho=0.5)
    values[2000:4000] += 3
    assert [round(row, -2) for row, _ in change_points(values)] == [2000, 4000]


def test_a_constant_signal_does_not_change() -> None:
    assert change_points(np.full(500, 3.0)) == ()


def test_a_step_without_noise_is_found_exactly() -> None:
    assert [row for row, _ in change_points(np.repeat([0.0, 1.0], 300))] == [300]


def test_memory_counts_samples() -> None:
    assert memory(steady(1, 20_000, rho=0.0)) == pytest.approx(1, abs=0.3)
    assert memory(steady(1, 20_000, rho=0.8)) == pytest.approx(9, rel=0.3)


def test_what_is_too_slow_or_too_short_is_refused() -> None:
    with pytest.raises(UsageError, match=r"about .* are needed"):
        change_points(steady(1, 1000, rho=0.98))
    with pytest.raises(UsageError, match="too few"):
        change_points(np.arange(50.0))


def test_missing_values_move_no_change() -> None:
    values, place = shifted(7, 4000, rho=0.5, by=4.0)
    values[1000:1100] = np.nan
    ((row, _),) = change_points(values)
    assert abs(row - place) <= 40


def test_times_and_levels_of_a_series() -> None:
    values, place = shifted(7, 4000, rho=0.5, by=4.0)
    (found,) = changes(Series(("x",), values[:, None], 15.0, 100.0))["x"]
    assert abs(found.time - (100 + 15 * place)) <= 600
    assert found.after - found.before == pytest.approx(4, abs=0.5)


@pytest.mark.slow
def test_the_thresholds_are_the_97_percent_points_of_independent_blocks() -> None:
    for count, (nearest, threshold) in BLOCKS.items():
        rng = np.random.default_rng(11)
        peaks = [statistics(rng.normal(size=count), nearest).max() for _ in range(1500)]
        assert np.mean(np.array(peaks) > threshold) == pytest.approx(0.03, abs=0.015)


# -- variance --------------------------------------------------------------------------------------------------------


def test_variance_shares_sum_and_independent_causes_get_their_own() -> None:
    rng = np.random.default_rng(0)
    a, b, rest = (
        autoregressive(rng, 20_000, rho=0.3),
        autoregressive(rng, 20_000, size=2, rho=0.3),
        autoregressive(rng, 20_000, rho=0.3),
    )
    series = series_of({"a": a, "b": b, "loss": a + b + rest})
    found = variance(fit(series, known_systems()["additive"](0, 100).graph.without(())), "loss")
    assert found.error <= 1e-12
    shares = {one.causes: one.share for one in found.parts}
    assert shares["b",] == pytest.approx(4 / 6, abs=0.3)


def test_a_delay_nearly_as_long_as_a_batch_leaves_nothing_unexplained() -> None:
    rng = np.random.default_rng(3)
    a, rest = autoregressive(rng, 3040, rho=0.6), 0.1 * rng.normal(size=3000)
    series = series_of({"a": a[40:], "loss": 2 * a[:-40] + rest})
    found = variance(fit(series, graph_of(Influence("a", "loss", Fraction(40), Fraction(40)))), "loss")
    shares = {one.causes: one.share for one in found.parts}
    assert found.error <= 1e-12
    assert shares["loss",] < 0.02
    there, loss = (series[name][40:].reshape(40, 74).mean(axis=1) for name in ("a", "loss"))
    assert shares["a",] == pytest.approx(4 * there.var() / loss.var(), rel=0.02)


def test_own_parts_that_move_together_are_a_group_of_their_own() -> None:
    rng = np.random.default_rng(0)
    common = autoregressive(rng, 5000)
    a, b = common + 0.2 * autoregressive(rng, 5000), common + 0.2 * autoregressive(rng, 5000)
    series = series_of({"a": a, "b": b, "loss": a + b + 0.1 * autoregressive(rng, 5000)})
    found = variance(fit(series, known_systems()["additive"](0, 100).graph), "loss")
    assert found.together.value > 0.3 * found.total.value
    assert {"a", "b"} in [set(one.causes) for one in found.pairs]


def test_the_variance_is_that_of_the_batch_means() -> None:
    made = known_systems()["mediated"](1, 4000)
    fitted = fit(made.series, made.graph)
    found = variance(fitted, "loss")
    parts = np.array_split(made.series["loss"], fitted.batches)
    assert found.total.value == pytest.approx(np.var([p.mean() for p in parts], ddof=1) * len(parts[0]), rel=0.02)


def test_too_few_batches_have_no_variance() -> None:
    made = known_systems()["additive"](1, 2)
    with pytest.raises(UsageError, match="too few"):
        variance(fit(made.series, made.graph), "loss")
