from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.causal.fitting.effects import attribute
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.identification import identify
from tests.causal.systems import graph, late, table, wandering


def told(seen: str, *influences: Influence) -> dict[str, Equation]:
    """How each effect is told when `seen` is measured."""
    names = tuple(seen.split())
    delays = {
        (one.cause, one.effect): tuple(lag for lag in one.lags(1.0) if lag or one.cause != one.effect)
        for one in influences
        if one.cause in names and one.effect in names
    }
    return identify(graph(*influences).bypassing(names), names, delays, 1.0)


def edges(text: str) -> tuple[Influence, ...]:
    """`u>x x>y`: influences within the step; `u>x:2`: two steps later."""
    found = []
    for word in text.split():
        ends, _, lag = word.partition(":")
        cause, effect = ends.split(">")
        found.append(late(cause, effect, int(lag or 0)))
    return tuple(found)


def test_a_common_cause_that_is_not_measured_is_refused_and_named() -> None:
    y = told("x y", *edges("u>x u>y x>y"))["y"]
    assert y.lost == (("x", 0),)
    assert "u" in y.refused
    assert y.measure == ("u",)


@pytest.mark.parametrize(
    ("seen", "ways", "method"),
    [
        ("u x y", "u>x u>y x>y", "its causes"),  # the common cause is measured
        ("x m y", "u>x u>y x>m m>y", "front-door"),
        ("z x y", "u>x u>y x>y z>x", "instruments"),
        ("z x y", "u>x u>y x>y:30 z>x:7", "instruments"),
        ("x y c", "x>c y>c x>y", "its causes"),  # a collider is no cause and is left alone
        ("a x y", "u>a u>x v>a v>y x>y", "its causes"),  # M-bias: the collider a must not be held fixed
        ("x m y", "u>m u>y x>m m>y x>y", "through its causes"),
        ("d q p", "d>q q>q:1 p>q:1 q>p:1", "its causes"),  # feedback with a delay
        ("x y", "x>y h>y", "its causes"),  # a missing cause of its own
    ],
)
def test_ways_to_tell_an_effect(seen: str, ways: str, method: str) -> None:
    equation = told(seen, *edges(ways))["y" if "y" in seen.split() else "q"]
    assert not equation.lost
    assert equation.method == method


def test_signals_that_act_on_each_other_at_once_need_an_instrument() -> None:
    both = told("x y", *edges("x>y y>x"))
    assert both["y"].lost
    assert "act on each other within one step" in both["y"].refused
    helped = told("z x y", *edges("x>y y>x z>x"))
    assert not helped["y"].lost
    assert helped["y"].instruments == (("z", 0),)
    two = told("z w x y", *edges("x>y y>x z>x w>y"))
    assert not two["x"].lost
    assert not two["y"].lost


def test_two_common_causes_through_a_collider_are_refused_with_both_named() -> None:
    y = told("a x y", *edges("u>a u>x v>a v>y x>y a>y"))["y"]
    assert {"u", "v"} <= set(y.measure)


def test_a_latent_signal_that_is_only_computed_is_passed_through() -> None:
    ways = CausalGraph(("x", "m", "y"), edges("x>m:2 m>y:1"), computed=frozenset({"m", "y"}))
    assert ways.bypassing(("x", "y")).influences[0].low == Fraction(3)
    assert ways.latent(("x", "y")) == ()


def simulated(seed: int, length: int = 4000) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """u acts on x and y; x acts on y through m with 2 * 1.5 = 3; z acts on x alone."""
    rng = np.random.default_rng(seed)
    u, z = wandering(rng, length, 0.6), wandering(rng, length, 0.6) + 1
    x = u + z + wandering(rng, length, 0.4)
    m = 2 * x + wandering(rng, length, 0.4)
    y = 1.5 * m + 2 * u + wandering(rng, length, 0.4)
    return {"u": u, "z": z, "x": x, "m": m, "y": y}


@pytest.mark.parametrize("seed", range(3))
def test_the_front_door_finds_what_plain_regression_does_not(seed: int) -> None:
    s = simulated(seed)
    ways = graph(*edges("u>x u>y x>m m>y"))
    fitted = fit(table(x=s["x"], m=s["m"], y=s["y"]), ways)
    assert fitted.nodes["y"].equation.method == "front-door"
    assert abs(fitted.nodes["y"].coefficient(("m", 0)) - 1.5) <= 4 * fitted.nodes["y"].error[0]
    plain = fit(table(x=s["x"], m=s["m"], y=s["y"]), ways, [Equation("y", (("m", 0),))])
    assert plain.nodes["y"].coefficient(("m", 0)) - 1.5 > 8 * plain.nodes["y"].error[0]  # so the test can fail


@pytest.mark.parametrize("seed", range(3))
def test_an_instrument_finds_what_plain_regression_does_not(seed: int) -> None:
    s = simulated(seed)
    ways = graph(*edges("u>x u>y x>y z>x"))
    fitted = fit(table(z=s["z"], x=s["x"], y=s["y"]), ways)
    assert fitted.nodes["y"].equation.method == "instruments"
    assert abs(fitted.nodes["y"].coefficient(("x", 0)) - 3) <= 4 * fitted.nodes["y"].error[0]
    plain = fit(table(z=s["z"], x=s["x"], y=s["y"]), ways, [Equation("y", (("x", 0),))])
    assert plain.nodes["y"].coefficient(("x", 0)) - 3 > 8 * plain.nodes["y"].error[0]


def test_a_share_that_cannot_be_told_stays_with_the_rest_and_sums() -> None:
    s = simulated(1)
    found = attribute(fit(table(x=s["x"], y=s["y"]), graph(*edges("u>x u>y x>y"))), "y")
    assert [share.members for share in found.shares] == [("x", "y")]
    assert found.shares[0].measure == ("u",)
    assert found.error < 1e-12
