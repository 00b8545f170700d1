"""Loops off, do(x = v), and the design executed without its loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bench.known_systems import autoregressive, known_systems, series_of
from coherence.base.errors import UsageError
from coherence.causal.attribution.loops_off import executed, loop_split, switched_off
from coherence.causal.attribution.queries import do
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.sections.loops_off import title_of
from coherence.language.expressions.parse import parse
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices

ONE = Fraction(1)
FIGHT = """
coherence: 1
components: {power: {state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)", step: 1 s, from: 0 kW .. 60 kW}}
loops:
  throttle:
    {rank: 1, timescale: {period: 1 s}, trigger: {enter: p >= 80 kW, leave: p <= 60 kW},
     actuation: {signal: batch.load, law: step, by: -20 kW, bounds: [0 kW, 200 kW], from: 0 kW}}
  backfill:
    {rank: 2, timescale: {period: 1 s}, trigger: not throttle and p < 85 kW,
     actuation: {signal: batch.load, law: step, by: 5 kW, bounds: [0 kW, 200 kW]}}
"""


def fight() -> Model:
    return elaborate(read_text(FIGHT))


def test_with_the_loop_off_its_feedback_is_gone() -> None:
    made = known_systems()["lagged_feedback"](4, 3000)
    found = loop_split(made.series, fit(made.series, made.graph), "load", ["retry"])
    assert abs(found.without.value - made.off["retry"]) <= 5 * found.without.error
    (share,) = found.shares
    assert share.amount.value == pytest.approx(found.measured.value - found.without.value)
    assert found.measured.value == pytest.approx(made.series["load"].mean(), abs=0.01)


def test_where_a_signal_stands_while_its_loop_is_off_is_said() -> None:
    made = known_systems()["lagged_feedback"](4, 1000)
    found = loop_split(made.series, fit(made.series, made.graph), "load", ["retry"], reference={"retries": 1.0})
    assert found.assumptions == ("retries stands at 1 while its loops are off",)
    other = loop_split(made.series, fit(made.series, made.graph), "load", ["retry"])
    assert found.without.value - other.without.value == pytest.approx(0.6, abs=0.1)


def two_loops(seed: int, length: int) -> tuple[CausalGraph, dict[str, np.ndarray]]:
    """Two loops write a and b; the loss is their product."""
    rng = np.random.default_rng(seed)
    d = np.abs(autoregressive(rng, length, mean=3.0))
    a, b = 0.5 * d + 0.1 * autoregressive(rng, length), 0.8 * d + 0.1 * autoregressive(rng, length)
    graph = CausalGraph(
        ("d", "a", "b", "loss"),
        (Influence("d", "a", by="first"), Influence("d", "b", by="second"), Influence("a", "loss"),
         Influence("b", "loss")),
        frozenset({"loss"}), {"loss": parse("a * b")},
    )  # fmt: skip
    return graph, {"d": d, "a": a, "b": b, "loss": a * b}


def test_two_loops_that_only_together_make_a_loss_are_named_as_a_pair() -> None:
    graph, signals = two_loops(0, 800)
    series = series_of(signals)
    found = loop_split(series, fit(series, graph), "loss", ["first", "second"])
    (pair,) = found.interactions
    assert pair.players == ("first", "second")
    assert pair.amount.value == pytest.approx(signals["loss"].mean())
    assert [one.amount.value for one in found.shares] == pytest.approx([signals["loss"].mean() / 2] * 2)
    assert [one.alone.value for one in found.shares] == pytest.approx([signals["loss"].mean()] * 2)


def test_a_loop_that_writes_nothing_measured_says_what_to_record() -> None:
    made = known_systems()["additive"](1, 300)
    with pytest.raises(UsageError, match="record the signal that it writes"):
        loop_split(made.series, fit(made.series, made.graph), "loss", ["scaler"])


def test_a_loop_behind_a_hidden_common_cause_is_refused() -> None:
    made = known_systems()["latent"](1, 600)
    influences = tuple(
        Influence(one.cause, one.effect, by="loop" if one.cause == "a" else "") for one in made.graph.influences
    )
    graph = CausalGraph(made.graph.nodes, influences)
    found = loop_split(made.series, fit(made.series, graph), "loss", ["loop"])
    (share,) = found.shares
    assert "h" in share.refused
    assert np.isnan(share.amount.value)


def test_without_the_loop_that_holds_it_a_feedback_that_would_grow_is_refused() -> None:
    rng = np.random.default_rng(0)
    x, y = np.zeros(1200), np.zeros(1200)
    noise, d = autoregressive(rng, 1200), autoregressive(rng, 1200, mean=1.0)
    for time in range(1, 1200):
        y[time] = -0.5 * x[time - 1]
        x[time] = 1.05 * x[time - 1] + y[time - 1] + 0.3 * d[time] + 0.1 * noise[time]
    graph = CausalGraph(
        ("d", "x", "y"),
        (Influence("x", "x", ONE, ONE, 1), Influence("d", "x"), Influence("y", "x", ONE, ONE),
         Influence("x", "y", ONE, ONE, by="brake")),
    )  # fmt: skip
    series = series_of({"d": d, "x": x, "y": y + 0.05 * autoregressive(rng, 1200)})
    with pytest.raises(UsageError, match="does not die out"):
        loop_split(series, fit(series, graph), "x", ["brake"])


# -- do ----------------------------------------------------------------------------------------------------------------


def test_do_sets_a_signal_whatever_its_causes_say() -> None:
    made = known_systems()["mediated"](3, 3000)
    fitted = fit(made.series, made.graph)
    (found,) = do(made.series, fitted, {"m": 0.0}, on=["loss"])
    truth = made.series["loss"].mean() - 0.7 * made.series["m"].mean()
    assert abs(found.level.value - truth) <= 5 * found.level.error
    assert found.change.value == pytest.approx(found.level.value - made.series["loss"][2:].mean())


def test_do_on_what_it_does_not_reach_changes_nothing() -> None:
    made = known_systems()["mediated"](3, 500)
    found = {one.signal: one for one in do(made.series, fit(made.series, made.graph), {"loss": 0.0})}
    assert found["a"].change.value == pytest.approx(0, abs=1e-12)
    assert found["loss"].level.value == 0


def test_do_through_a_barrier_runs_the_barrier() -> None:
    made = known_systems()["barrier_max"](3, 2000)
    (found,) = do(made.series, fit(made.series, made.graph), {"first": 0.0}, on=["wait"])
    rest = made.series["wait"] - np.maximum(made.series["first"], made.series["second"])
    assert found.level.value == pytest.approx((np.maximum(0, made.series["second"]) + rest).mean())


def test_do_through_a_hidden_common_cause_is_refused_and_other_ways_are_not() -> None:
    made = known_systems()["latent"](3, 800)
    fitted = fit(made.series, made.graph)
    assert "h" in do(made.series, fitted, {"a": 0.0}, on=["loss"])[0].refused
    assert do(made.series, fitted, {"b": 0.0}, on=["loss"])[0].refused == ""


def test_do_on_one_of_two_that_move_together_is_refused() -> None:
    made = known_systems()["collinear"](3, 800)
    assert "move together" in do(made.series, fit(made.series, made.graph), {"a": 0.0}, on=["loss"])[0].refused


@pytest.mark.parametrize(("levels", "said"), [({"los": 1.0}, "did you mean"), ({"a": float("inf")}, "finite")])
def test_a_do_that_makes_no_sense_says_so(levels: dict[str, float], said: str) -> None:
    made = known_systems()["additive"](1, 300)
    with pytest.raises(UsageError, match=said):
        do(made.series, fit(made.series, made.graph), levels)


# -- the design itself -----------------------------------------------------------------------------------------------


def test_throttled_time_is_made_by_throttle_and_backfill_together() -> None:
    found = executed(
        fight(), parse("1 if throttle else 0"), ["throttle", "backfill"], until=Fraction(200),
        choices=Choices({"power.p": Fraction(0)}),
    )  # fmt: skip
    assert found.measured.value > 0
    assert found.without.value == 0
    assert [one.alone.value for one in found.shares] == [found.measured.value] * 2
    assert [one.amount.value for one in found.shares] == pytest.approx([found.measured.value / 2] * 2)
    (pair,) = found.interactions
    assert pair.amount.value == found.measured.value


def test_a_mean_is_taken_over_time() -> None:
    # nothing writes the load: p is on its way to 10, and after p(0) = 0 it is 2, 3.6, 4.88 in [0, 3)
    start = Choices({"power.p": Fraction(0)})
    found = executed(fight(), parse("power.p"), ["throttle", "backfill"], until=Fraction(3), choices=start)
    assert found.without.value == pytest.approx(1000 * (2 + 3.6 + 4.88) / 3)


def test_an_unknown_loop_of_a_design_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="did you mean 'throttle'"):
        switched_off(fight(), ["throtle"])


def test_a_split_over_some_of_the_loops_says_over_how_many() -> None:
    assert title_of("loss", shown=12, every=20) == "loss by loop (the first 12 of 20; name others with --off)"
    assert title_of("loss", shown=3, every=3) == "loss by loop"
