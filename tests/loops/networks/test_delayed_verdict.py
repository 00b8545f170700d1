"""Networks with exact delays: verdicts that two methods agree on, and what makes them undecided."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import lambertw

from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.stability_map import stability_map
from coherence.loops.networks.winding import count_right_of
from tests.draws import few
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"

# the two traps: a resonant loop behind a long delay


def test_the_unstable_trap_is_unstable() -> None:
    result = verdict(loop([0.2 * 9], [1, 0.12, 9], 10))
    assert (result.verdict, result.unstable, result.confirmed) == ("unstable", 4, True)
    assert result.abscissa == pytest.approx(0.032353923709724695, rel=1e-9)


def test_the_stable_trap_is_stable() -> None:
    result = verdict(loop([0.1 * 9], [1, 0.12, 9], 10))
    assert (result.verdict, result.unstable, result.confirmed) == ("stable", 0, True)
    assert result.abscissa == pytest.approx(-0.0171561, rel=1e-5)


@pytest.mark.parametrize(
    ("delay", "root"),
    [(300, -2.6665400673e-05 + 3.0002093209j), (1000, -8.0365197623e-06 + 2.9986723175j)],
)
def test_behind_a_long_delay_the_slowest_of_hundreds_of_roots_is_found_and_confirmed(delay: int, root: complex) -> None:
    """A chain of hundreds of roots lies left of it; by hand it solves s^2 + 0.12 s + 9 + 0.357 e^{-s T} = 0."""
    result = verdict(loop([0.357], [1, 0.12, 9], delay))
    assert (result.verdict, result.unstable, result.confirmed) == ("stable", 0, True)
    assert result.rightmost[0] == pytest.approx(root, rel=1e-9)
    assert abs(root**2 + 0.12 * root + 9 + 0.357 * np.exp(-root * delay)) < 1e-6


# closed forms


@given(st.floats(0.01, 5), st.floats(0.01, 20))
@settings(max_examples=few(25), deadline=None)
def test_delayed_integrator_has_lambert_s_roots(gain: float, delay: float) -> None:
    product = gain * delay
    assume(abs(product - math.pi / 2) > 1e-6 and abs(product * math.e - 1) > 1e-4)
    result = verdict(loop([gain], [1, 0], delay))
    assert result.verdict == ("stable" if product < math.pi / 2 else "unstable")
    assert result.unstable == 2 * max(0, math.floor((product - math.pi / 2) / math.tau) + 1)
    root = lambertw(-product) / delay
    assert result.rightmost[0] == pytest.approx(complex(root.real, abs(root.imag)), rel=1e-8)
    assert result.confirmed


def test_a_double_root_is_found() -> None:
    result = verdict(loop([1 / math.e], [1, 0], 1))
    assert result.verdict == "stable"
    assert result.abscissa == pytest.approx(-1, rel=1e-6)
    assert abs(result.rightmost[0].imag) <= 1e-6


@given(st.lists(st.floats(-3, 3).map(lambda c: round(c, 9)), min_size=2, max_size=5))  # no scales of 1e-50
@settings(max_examples=30, deadline=None)
def test_without_delay_the_count_is_that_of_the_polynomial(coefficients: list[float]) -> None:
    denominator = [1.0, *coefficients]
    closed = np.roots(np.polyadd(denominator, [1.0]))
    assume(np.abs(closed.real).min() > 1e-4)
    assume(all(abs(a - b) > 1e-3 for i, a in enumerate(closed) for b in closed[:i]))
    result = verdict(loop([1.0], denominator))
    assert result.unstable == int((closed.real > 0).sum())
    assert result.abscissa == pytest.approx(closed.real.max(), rel=1e-6, abs=1e-9)


@given(st.floats(0.1, 5), st.floats(0.01, 1), st.floats(0.1, 3), st.floats(0.05, 30))
@settings(max_examples=25, deadline=None)
def test_two_methods_that_share_nothing_count_the_same(w: float, z: float, gain: float, delay: float) -> None:
    numerator, denominator = [w * w], [1, 2 * z * w, w * w]
    expected = stability_map(numerator, denominator, [gain], [delay]).unstable[0, 0]
    assume(expected >= 0)
    result = verdict(loop([gain * w * w], denominator, delay), confirm=False)
    assert result.unstable == expected or result.verdict in ("marginal", "undecided")
    assert (result.verdict == "stable") <= (expected == 0)


# the axis, and feedthrough


def test_a_loop_on_its_edge_is_marginal() -> None:
    result = verdict(loop([math.pi / 60], [1, 0], 30))
    assert result.verdict == "marginal"
    assert result.period == pytest.approx(120)


@pytest.mark.parametrize(
    ("denominator", "expected"),
    [((1.0, 0.0), "marginal"), ((1.0, 0.0, 0.0), "unstable"), ((1.0, 2.0), "stable"), ((1.0, -2.0), "unstable")],
)
def test_blocks_in_no_loop_have_their_poles(denominator: tuple[float, ...], expected: str) -> None:
    assert verdict(Network((Block("alone", (1.0,), denominator, 3.0),), ())).verdict == expected


def test_an_undamped_loop_without_delay_is_marginal() -> None:
    assert verdict(loop([1], [1, 0, 1])).verdict == "marginal"


def test_feedthrough_around_a_delay_below_one_decays() -> None:
    assert verdict(loop([0.9, 1], [1, 2], 1)).verdict == "stable"


def test_feedthrough_around_a_delay_above_one_is_unstable() -> None:
    assert verdict(loop([1.1, 1], [1, 2], 1)).certified == "difference operator"


def test_feedthrough_of_exactly_one_is_not_called_stable() -> None:
    assert verdict(loop([1.0, 1], [1, 2], 1)).verdict == "undecided"


def test_large_feedthrough_without_delay_is_no_trouble() -> None:
    assert verdict(loop([5, 1], [1, 1])).abscissa == pytest.approx(-1 / 3)


def test_an_algebraic_loop_without_solution_is_undecided() -> None:
    assert verdict(loop([-1, 1], [1, 1])).verdict == "undecided"


def test_sampled_blocks_are_left_to_others() -> None:
    block = Block("one", (1.0,), (1.0, 1.0), 0.0, 5.0)
    assert "sampled" in verdict(network([block], [Coupling("one", "one", -1.0)])).reason


# networks


def rates(matrix: list[list[float]], gain: float) -> Network:
    """x' = -gain M x(t - 1)."""
    size = range(len(matrix))
    blocks = [Block(f"x{i}", (gain,), (1.0, 0.0), 1.0) for i in size]
    return network(blocks, [Coupling(f"x{j}", f"x{i}", -matrix[i][j]) for i in size for j in size])


@pytest.mark.parametrize(
    ("matrix", "critical"), [([[1, 1], [-1, 1]], 0.55536037), ([[1, 0.6], [0.6, 1]], math.pi / 3.2)]
)
def test_two_loops_fine_alone_are_unstable_together(matrix: list[list[float]], critical: float) -> None:
    assert verdict(rates(matrix, critical * (1 - 1e-6))).verdict == "stable"
    assert verdict(rates(matrix, critical * (1 + 1e-6))).verdict == "unstable"


def test_units_of_the_signals_do_not_matter() -> None:
    large_units = network(
        [Block("a", (1.0,), (1.0, 1.0), 2.0), Block("b", (2.0,), (3.0, 1.0), 1.0)],
        [Coupling("a", "b", 1e7), Coupling("b", "a", -0.4e-7)],
    )
    same_units = network(large_units.blocks, [Coupling("a", "b", 1.0), Coupling("b", "a", -0.4)])
    assert verdict(large_units).rightmost[0] == pytest.approx(verdict(same_units).rightmost[0], rel=1e-9)
    assert verdict(large_units).verdict == verdict(same_units).verdict


def test_the_worst_part_decides() -> None:
    blocks = [Block("good", (0.1,), (1.0, 0.0), 1.0), Block("bad", (2.0,), (1.0, 0.0), 1.0)]
    result = verdict(
        network(blocks, [Coupling("good", "good", -1), Coupling("bad", "bad", -1), Coupling("bad", "good")])
    )
    assert (result.verdict, result.blocks, result.unstable) == ("unstable", ("bad",), 2)


def test_fifty_dense_loops_have_the_roots_that_their_matrix_has() -> None:
    size = 50
    matrix = np.random.default_rng(3).normal(size=(size, size)) * 0.1
    blocks = [Block(f"x{i}", (1.0,), (1.0, 1.0), 0.5) for i in range(size)]
    names = [block.name for block in blocks]
    net = network(blocks, [Coupling(names[j], names[i], matrix[i, j]) for i in range(size) for j in range(size)])
    roots = -1 + lambertw(np.linalg.eigvals(matrix) * 0.5 * math.exp(0.5)) / 0.5
    result = verdict(net)
    assert result.unstable == int((roots.real > 0).sum())
    assert result.abscissa == pytest.approx(roots.real.max(), rel=1e-8)


def test_decay_asks_for_a_margin() -> None:
    made = loop([1], [1, 0], 1)
    assert verdict(made, decay=0.318).verdict == "stable"
    assert verdict(made, decay=0.319).verdict == "unstable"


@given(st.floats(-3, 0.5))
@settings(max_examples=30, deadline=None)
def test_counts_right_of_any_line(sigma: float) -> None:
    roots = np.array([lambertw(-1, k) for k in range(-40, 40)])
    assume(np.abs(roots.real - sigma).min() > 1e-6)
    count = count_right_of(Characteristic(loop([1], [1, 0], 1)), sigma)
    assert count.roots == int((roots.real > sigma).sum())


def test_published_roots() -> None:
    cases = {case["id"]: case for case in read_yaml(CASES)["cases"]}
    rooted = {"B02_lambertw_root": loop([1], [1, 0], 1), "B60_pade10_false_stability": loop([1.8], [1, 0.12, 9], 10)}
    for name, net in rooted.items():
        expected = cases[name]["expected"]
        real = expected.get("root_re") or expected["rightmost_re"]
        assert verdict(net).abscissa == pytest.approx(real["value"], rel=real["rtol"])


def test_of_numbers_that_are_too_far_apart_six_blocks_are_named() -> None:
    blocks = [Block(f"b{k}", (1e300,), (1e-300, 1.0, 1e300), 1e-12) for k in range(7)]
    result = verdict(network(blocks, [Coupling(f"b{k}", f"b{(k + 1) % 7}", 1e200) for k in range(7)]))
    assert result.verdict == "undecided"
    assert result.reason == "the numbers of b0, b1, b2, b3, b4, b5 are too far apart for floating point"
