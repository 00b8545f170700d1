"""Own parts that remember, in circles and beside own pasts; causes that act through what nobody measured."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.causal.fitting.effects import attribute
from coherence.causal.fitting.equations import Equation, delays_of
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.gram import grams
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.identification import identify
from coherence.causal.fitting.memory import filtered, whitened
from coherence.causal.session.candidates import candidates
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from tests.causal.systems import graph, late, table, wandering


@pytest.mark.parametrize("seed", range(3))
def test_own_past_and_memory_are_told_apart_inside_a_circle(seed: int) -> None:
    """q = 0.5 q' - 0.4 p' + u, p = 0.3 q' + v, nothing from outside, u and v autocorrelated."""
    rng = np.random.default_rng(seed)
    u, v = wandering(rng, 20_000, 0.6), wandering(rng, 20_000, 0.7)
    q, p = np.zeros(20_000), np.zeros(20_000)
    for t in range(1, 20_000):
        q[t] = 0.5 * q[t - 1] - 0.4 * p[t - 1] + u[t]
        p[t] = 0.3 * q[t - 1] + v[t]
    fitted = fit(table(q=q, p=p), graph(late("q", "q"), late("p", "q"), late("q", "p")))
    for effect, column, truth in (("q", ("q", 1), 0.5), ("q", ("p", 1), -0.4), ("p", ("q", 1), 0.3)):
        node = fitted.nodes[effect]
        assert abs(node.coefficient(column) - truth) <= 4.5 * node.error[node.equation.columns.index(column)]


def test_own_past_alone_is_refused_and_no_share_depends_on_it() -> None:
    rng = np.random.default_rng(1)
    x = wandering(rng, 5000, 0.8) + 3
    y = 2 * x + wandering(rng, 5000, 0.5)
    fitted = fit(table(x=x, y=y), graph(late("x", "x"), Influence("x", "y")))
    assert fitted.nodes["x"].equation.lost == (("x", 1),)
    share = attribute(fitted, "y").shares[0]
    assert not share.refused
    assert 2 * x.mean() in share.amount
    assert share.amount.high - share.amount.low < 0.2


def hidden_between(memory: float) -> CausalGraph:
    own = (late("h", "h"),) if memory else ()
    return graph(Influence("x", "h"), Influence("h", "y"), *own)


def test_what_acts_through_an_unmeasured_signal_has_its_share() -> None:
    rng = np.random.default_rng(2)
    x = wandering(rng, 5000, 0.5) + 3
    h = 2 * x + wandering(rng, 5000, 0.6)
    y = 1.5 * h + wandering(rng, 5000, 0.6)
    share = attribute(fit(table(x=x, y=y), hidden_between(0)), "y").shares[0]
    assert share.cause == "x"
    assert 3 * x.mean() in share.amount
    assert share.amount.high - share.amount.low < 0.5


def test_what_acts_through_an_unmeasured_signal_that_keeps_its_past_is_refused() -> None:
    """It acts at every delay: coefficients at a few of them do not add up to what it does in the end."""
    plan = identify(hidden_between(0.8).bypassing(("x", "y")), ("x", "y"), {("x", "y"): (0,)}, 1.0)
    assert plan["y"].lost == (("x", 0),)
    assert "through h, which is not measured and keeps its past" in plan["y"].refused
    assert plan["y"].measure == ("h",)


def test_separate_delays_of_one_influence_stay_separate() -> None:
    ways = graph(late("x", "m", 1), late("m", "y", 0), late("x", "y", 6), late("x", "z", 2))
    bare = CausalGraph(ways.nodes, ways.influences, computed=frozenset({"m"})).bypassing(("x", "y", "z"))
    assert [(one.low, one.high) for one in bare.into("y")] == [(Fraction(1), Fraction(1)), (Fraction(6), Fraction(6))]


def test_every_delay_of_a_mean_counts() -> None:
    design = read_text("coherence: 1\ncomponents: {s: {avg: 'mean_over(in.u, 6 s) + in.v'}}\n", "case.yaml")
    rng = np.random.default_rng(3)
    u, v = wandering(rng, 3000, 0.5) + 2, wandering(rng, 3000, 0.5)
    avg = np.mean([np.roll(u, lag) for lag in range(6)], axis=0) + v
    series = table(**{"in.u": u, "in.v": v, "s.avg": avg + 0.1 * wandering(rng, 3000, 0.5)})
    node = fit(series, candidates(elaborate(design), series.names)).nodes["s.avg"]
    lasting = sum(node.coefficient(column) for column in node.equation.columns if column[0] == "in.u")
    assert lasting == pytest.approx(1, abs=0.02)


LOOP = """
coherence: 1
components:
  disk: {state: "used' = 0.9 * used + writer.rate - cleaner.rate", step: 1 s, from: 20}
loops:
  tidy:
    rules:
      - {when: used >= 50, to: 9}
      - {when: used < 30, to: 1}
    timescale: {period: 1 s}
    actuation: {signal: cleaner.rate, bounds: [0, 10], from: 1}
"""


@pytest.mark.parametrize("early", [0, 1])
def test_a_write_sampled_before_or_after_it_is_made_is_told_either_way(early: int) -> None:
    """The state follows exactly; a loop never sees, in the same sample, the effect of what it writes."""
    rng = np.random.default_rng(4)
    writer = wandering(rng, 800, 0.7, 2) + 4
    used, cleaner, on = np.full(800, 20.0), np.ones(800), 1.0
    for t in range(1, 800):
        used[t] = 0.9 * used[t - 1] + writer[t - 1] - on
        cleaner[t - early if early else t] = on
        on = 9.0 if used[t] >= 50 else 1.0 if used[t] < 30 else on
    series = table(**{"disk.used": used, "cleaner.rate": cleaner, "writer.rate": writer})
    model = elaborate(read_text(LOOP, "case.yaml"))
    found = candidates(model, series.names)
    assert delays_of(series, found.bypassing(series.names))["cleaner.rate", "disk.used"] == (early,)
    node = fit(series, found).nodes["disk.used"]
    assert not node.equation.lost
    assert node.coefficient(("cleaner.rate", early)) == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_draws_of_a_bootstrap_stay_in_the_valley_of_the_whole(seed: int) -> None:
    """An own past of 0.5 and a memory of 0.5 look alike: a search of its own for each draw ends in either."""
    rng, rows = np.random.default_rng(seed), 4000
    x, y = rng.normal(size=rows), np.zeros(rows)
    for t in range(1, rows):
        y[t] = 0.5 * y[t - 1] + 0.01 * x[t] + rng.normal()
    equation = filtered(Equation("y", (("y", 1), ("x", 0))))
    products = grams(table(x=x, y=y), [*equation.columns, ("y", 0), *equation.controls])
    whole = whitened(products, products.stacked, equation)[0, 1]
    draws = np.concatenate([whitened(products, products.resampled(25, k), equation) for k in range(8)])[:, 1]
    assert abs(whole - 0.5) < 0.05
    assert abs(draws.mean() - whole) < 0.06  # 0.18 and more, where each draw searches for itself
    assert draws.std() < 0.25  # 0.31 and more
