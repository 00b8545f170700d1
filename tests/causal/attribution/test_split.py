"""Losses split over causes: against the closed form, against running the system by hand, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bench.known_systems import autoregressive, known_systems, series_of
from coherence.base.errors import UsageError
from coherence.causal.attribution.mechanisms import evaluated, mechanism, non_linear
from coherence.causal.attribution.split import split
from coherence.causal.attribution.structure import run, structure
from coherence.causal.data.series import Series
from coherence.causal.fitting.effects import attribute
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.language.expressions.parse import parse
from tests.causal.attribution.orders import by_orders

ONE = Fraction(1)


def curved(expression: str, signals: dict[str, np.ndarray], effect: str = "loss") -> tuple[Series, CausalGraph]:
    causes = [name for name in signals if name != effect]
    graph = CausalGraph(
        tuple(signals), tuple(Influence(cause, effect) for cause in causes), frozenset({effect}),
        {effect: parse(expression)},
    )  # fmt: skip
    return series_of(signals), graph


@pytest.mark.parametrize("name", sorted(known_systems()))
def test_every_kind_sums_exactly_and_refuses_only_what_it_must(name: str) -> None:
    made = known_systems()[name](3, 800)
    found = split(made.series, fit(made.series, made.graph), made.loss, constants=made.constants).attribution
    assert found.error <= 1e-9
    assert {frozenset(one.members) for one in found.shares if one.refused} == set(made.together)
    assert all(one.measure for one in found.shares if one.refused)


@pytest.mark.parametrize("name", ["additive", "mediated", "confounded", "front_door", "lagged_feedback", "barrier_max"])
def test_shares_are_near_the_truth(name: str) -> None:
    made = known_systems()[name](5, 3000)
    found = split(made.series, fit(made.series, made.graph), made.loss, constants=made.constants).attribution
    for share in found.shares:
        assert 0 < share.amount.error <= 0.05 * made.series[made.loss].mean()
        assert abs(share.amount.value - made.shares[share.cause]) <= 5 * share.amount.error + 1e-9


def test_a_linear_loss_is_the_closed_form() -> None:
    made = known_systems()["mediated"](1, 600)
    fitted = fit(made.series, made.graph)
    assert split(made.series, fitted, "loss").attribution == attribute(fitted, "loss")


def test_running_every_own_part_gives_the_measured_signals_back() -> None:
    for name in ("mediated", "lagged_feedback", "barrier_max", "retry_timeout", "own_past"):
        made = known_systems()[name](2, 500)
        built = structure(made.series, fit(made.series, made.graph), made.loss, constants=made.constants)
        found = run(built, {signal: rows[:, None, :] for signal, rows in built.own.items()})
        for signal, values in found.items():
            assert np.allclose(values, made.series[signal], atol=1e-9), (name, signal)


def test_shapley_shares_of_a_barrier_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (np.abs(autoregressive(rng, 400, mean=2.0)) for _ in "abc")
    series, graph = curved("max(a, b) * c", {"a": a, "b": b, "c": c, "loss": np.maximum(a, b) * c + 0.5})
    found = split(series, fit(series, graph), "loss")

    def value(there: frozenset[int]) -> float:
        x, y, z = (v * (n in there) for n, v in enumerate((a, b, c)))
        return float((np.maximum(x, y) * z).mean())

    amounts = {share.cause: share.amount.value for share in found.attribution.shares}
    assert [amounts[name] for name in "abc"] == pytest.approx(by_orders(value, 3), rel=1e-12)
    assert found.attribution.unexplained.value == pytest.approx(0.5)


def test_the_pair_that_caused_it_is_named() -> None:
    made = known_systems()["retry_timeout"](1, 1000)
    found = split(made.series, fit(made.series, made.graph), "loss", constants=made.constants)
    (pair,) = found.interactions
    assert set(pair.players) == {"retry", "timeout"}
    assert found.mechanisms["loss"].constants[0, 0] == pytest.approx(0.8, abs=0.2)
    amounts = {share.cause: share.amount.value for share in found.attribution.shares}
    assert amounts["retry"] == pytest.approx(amounts["timeout"])


def test_no_interaction_is_named_where_causes_only_add() -> None:
    made = known_systems()["additive"](1, 1000)
    assert split(made.series, fit(made.series, made.graph), "loss").interactions == ()


def test_what_no_mechanism_meets_is_not_played_out() -> None:
    rng = np.random.default_rng(0)
    signals = {f"s{n:02d}": np.abs(autoregressive(rng, 300, mean=2.0)) for n in range(20)}
    product = signals["s00"] * signals["s01"]
    graph = CausalGraph(
        (*signals, "busy", "loss"),
        (Influence("s00", "busy"), Influence("s01", "busy"), *(Influence(n, "loss") for n in (*signals, "busy"))),
        frozenset({"busy"}), {"busy": parse("s00 * s01")},
    )  # fmt: skip
    loss = 2 * product + sum(signals.values()) + 0.1 * autoregressive(rng, 300)
    series = series_of({**signals, "busy": product, "loss": loss})
    found = split(series, fit(series, graph), "loss").attribution
    amounts = {share.cause: share.amount.value for share in found.shares}
    assert found.error <= 1e-9
    assert amounts["s05"] == pytest.approx(signals["s05"].mean(), rel=0.2)


def test_more_than_twelve_that_meet_are_refused_and_groups_lift_it() -> None:
    rng = np.random.default_rng(0)
    signals = {f"s{n:02d}": np.abs(autoregressive(rng, 200, mean=2.0)) for n in range(14)}
    worst = np.max(list(signals.values()), axis=0)
    series, graph = curved(f"max({', '.join(signals)})", {**signals, "loss": worst + 0.1 * autoregressive(rng, 200)})
    fitted = fit(series, graph)
    with pytest.raises(UsageError, match="14 causes that meet"):
        split(series, fitted, "loss")
    names = list(signals)
    found = split(series, fitted, "loss", groups={"first": names[:7], "second": names[7:]}).attribution
    assert {share.cause for share in found.shares} == {"first", "second"}
    assert found.error <= 1e-9


def test_groups_of_a_linear_loss_add() -> None:
    made = known_systems()["additive"](1, 600)
    fitted = fit(made.series, made.graph)
    alone = {share.cause: share.amount.value for share in split(made.series, fitted, "loss").attribution.shares}
    found = split(made.series, fitted, "loss", groups={"pair": ["a", "b"]}).attribution
    amounts = {share.cause: share.amount.value for share in found.shares}
    assert amounts["pair"] == pytest.approx(alone["a"] + alone["b"])
    assert found.error <= 1e-9


def test_a_ratio_without_a_reference_for_its_divisor_is_refused() -> None:
    rng = np.random.default_rng(0)
    a, b = np.abs(autoregressive(rng, 300, mean=2.0)), 1 + np.abs(autoregressive(rng, 300))
    series, graph = curved("a / b", {"a": a, "b": b, "loss": a / b})
    fitted = fit(series, graph)
    with pytest.raises(UsageError, match="reference level"):
        split(series, fitted, "loss")
    found = split(series, fitted, "loss", reference={"b": 1.0}).attribution
    assert found.error <= 1e-9
    assert found.measured.value == pytest.approx((a / b).mean())


def test_missing_values_leave_out_their_samples() -> None:
    rng = np.random.default_rng(0)
    a, b = np.abs(autoregressive(rng, 600, mean=2.0)), np.abs(autoregressive(rng, 600, mean=1.0))
    loss = a * b
    a[100:120] = np.nan
    series, graph = curved("a * b", {"a": a, "b": b, "loss": loss})
    found = split(series, fit(series, graph), "loss").attribution
    there = np.isfinite(a)
    assert found.measured.value == pytest.approx(loss[there].mean())
    assert found.error <= 1e-9


def test_a_loss_that_is_no_signal_is_a_usage_error() -> None:
    made = known_systems()["additive"](1, 300)
    with pytest.raises(UsageError, match="did you mean 'loss'"):
        split(made.series, fit(made.series, made.graph), "los")


# -- mechanisms ------------------------------------------------------------------------------------------------------


def test_a_mechanism_that_reads_what_nobody_knows_is_left_to_a_linear_fit() -> None:
    rng = np.random.default_rng(0)
    a = autoregressive(rng, 300, mean=2.0)
    series, graph = curved("a * hidden", {"a": a, "loss": a + 1})
    assert non_linear(graph, series.names, {}) == {}
    assert list(non_linear(graph, series.names, {"hidden": 2.0})) == []  # linear once the constant is known
    with pytest.raises(UsageError, match="hidden"):
        mechanism(series, "loss", graph.mechanisms["loss"], {}, [])


def test_computed_signals_that_were_not_measured_are_put_in_their_place() -> None:
    graph = CausalGraph(
        ("a", "b", "m", "loss"), (), frozenset({"m", "loss"}), {"m": parse("a * b"), "loss": parse("m + 1")}
    )
    found = non_linear(graph, ["a", "b", "loss"], {})
    assert evaluated(found["loss"], {"a": 2.0, "b": 3.0}) == 7


def test_constants_that_bend_the_expression_are_fitted_in_their_ranges() -> None:
    made = known_systems()["saturating_queue"](1, 1000)
    found = split(made.series, fit(made.series, made.graph), "queue", constants=made.constants).mechanisms["queue"]
    fitted = dict(zip(found.unknown, found.constants[0].tolist(), strict=True))
    assert fitted == pytest.approx({"gain": 2.0, "limit": 6.0}, rel=0.1)
    assert found.at_limit == ()


def test_a_constant_that_the_data_push_out_of_its_range_stays_inside_and_is_told() -> None:
    made = known_systems()["retry_timeout"](1, 800)
    found = split(made.series, fit(made.series, made.graph), "loss", constants={"k": (0.0, 0.3)}).mechanisms["loss"]
    assert found.constants[0, 0] == pytest.approx(0.3)
    assert found.at_limit == ("k",)
