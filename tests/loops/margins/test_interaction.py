"""Relative gains, mu, multiloop disk margins and certificates of small interaction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.margins.interaction import niederlinski, relative_gains, structured
from coherence.loops.margins.interaction_disk import multiloop_disk
from coherence.loops.margins.interaction_separation import separation, small_gain
from coherence.loops.margins.network_margins import margins
from coherence.loops.margins.peaks_response import at, response
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.stability import stability
from tests.draws import few
from tests.loops.margins.test_network_margins import SATELLITE
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"
WOOD_BERRY = [[12.8, -18.9], [6.6, -19.4]]
COLUMN = [[87.8, -86.4], [108.2, -109.6]]


def satellite_at(omega: float) -> np.ndarray:
    """S - I/2 of the satellite, from its transfer matrix."""
    s = 1j * omega
    plant = np.array([[s - 100, 10 * (s + 1)], [-10 * (s + 1), s - 100]]) / (s**2 + 100)
    return np.asarray(np.linalg.inv(np.eye(2) + plant) - np.eye(2) / 2)


def two(coupling: float, gain: float = 0.5) -> Network:
    blocks = [Block("a", (gain,), (1.0, 0.0), 1.0), Block("b", (gain,), (1.0, 0.0), 1.0)]
    own = [Coupling("a", "a", -1), Coupling("b", "b", -1)]
    return network(blocks, [*own, Coupling("a", "b", coupling), Coupling("b", "a", -coupling)])


def test_known_answers() -> None:
    for case in read_yaml(CASES)["cases"]:
        if case["kind"] != "mimo" or "G0" not in case["model"]:
            continue
        gain = np.array(case["model"]["G0"], dtype=float)
        sigma = np.linalg.svd(gain, compute_uv=False)
        got = {
            "RGA11": relative_gains(gain)[0, 0].real, "NI": niederlinski(gain), "sigma_max": sigma[0],
            "sigma_min": sigma[-1], "cond": sigma[0] / sigma[-1],
        }  # fmt: skip
        for key, expected in case["expected"].items():
            assert got[key] == pytest.approx(expected["value"], rel=expected["rtol"]), (case["id"], key)


def test_relative_gains_of_distillation_columns() -> None:
    assert relative_gains(WOOD_BERRY)[0, 0] == pytest.approx(2.0093866, rel=1e-7)
    assert niederlinski(WOOD_BERRY) == pytest.approx(0.4976643, rel=1e-6)
    assert relative_gains(COLUMN)[0, 0] == pytest.approx(35.068805, rel=1e-6)


def test_refused() -> None:
    with pytest.raises(UsageError, match="singular"):
        relative_gains([[1, 1], [1, 1]])
    with pytest.raises(UsageError, match="zero"):
        niederlinski([[0, 1], [1, 1]])
    with pytest.raises(UsageError, match="square"):
        relative_gains([[1, 2, 3]])
    with pytest.raises(UsageError, match="no block"):
        separation(two(0.1), ["c"])


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_rows_and_columns_of_relative_gains_sum_to_one_and_units_do_not_matter(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    gain = rng.normal(size=(size, size)) + 2 * np.eye(size)
    if np.linalg.cond(gain) > 1e6:
        return
    relative = relative_gains(gain)
    assert np.allclose(relative.sum(axis=0), 1, atol=1e-6)
    assert np.allclose(relative.sum(axis=1), 1, atol=1e-6)
    rows, columns = rng.uniform(0.1, 10, size), rng.uniform(0.1, 10, size)
    assert np.allclose(relative_gains(rows[:, None] * gain * columns), relative, rtol=1e-6, atol=1e-6)


def lower_bound(matrix: np.ndarray, rng: np.random.Generator) -> float:
    """The largest spectral radius of U M over diagonal unitary U, by fixed point steps from random starts."""
    best = 0.0
    for _ in range(60):
        turn = np.exp(1j * rng.uniform(0, 2 * np.pi, len(matrix)))
        for _ in range(40):
            roots, right = np.linalg.eig(turn[:, None] * matrix)
            chosen = int(np.abs(roots).argmax())
            best = max(best, float(abs(roots[chosen])))
            others, left = np.linalg.eig((turn[:, None] * matrix).conj().T)
            y = left[:, np.abs(others - roots[chosen].conj()).argmin()]
            turn = np.exp(1j * (np.angle(y) - np.angle(matrix @ right[:, chosen])))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_mu_is_exact_for_up_to_three_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 2 + seed % 2
    matrix = rng.normal(size=(size, size)) + 1j * rng.normal(size=(size, size))
    bound = structured(matrix).bound
    assert bound == pytest.approx(lower_bound(matrix, rng), rel=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_mu_lies_between_the_spectral_radius_and_the_norm_and_ignores_scaling(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(size, size)) + 1j * rng.normal(size=(size, size))
    mu = structured(matrix)
    d = mu.scaling
    assert np.linalg.norm(d[:, None] * matrix / d, 2) == pytest.approx(mu.bound, rel=1e-9)
    assert np.abs(np.linalg.eigvals(matrix)).max() <= mu.bound * (1 + 1e-9)
    assert mu.bound <= np.linalg.norm(matrix, 2) * (1 + 1e-9)
    units = rng.uniform(0.01, 100, size)
    assert structured(units[:, None] * matrix / units).bound == pytest.approx(mu.bound, rel=1e-3)


def test_mu_of_a_triangle_is_that_of_its_diagonal() -> None:
    assert structured(np.array([[1, 50, 7], [0, 2, 30], [0, 0, 0.5]])).bound == pytest.approx(2, rel=1e-2)
    assert structured(np.zeros((2, 2))).bound == 0


def test_mu_of_the_satellite_at_rest() -> None:
    assert 1 / structured(satellite_at(1e-9)).bound == pytest.approx(0.09987523, rel=1e-7)


@pytest.mark.slow
def test_the_multiloop_margin_of_the_satellite_is_attained_above_zero_frequency() -> None:
    margin = multiloop_disk(SATELLITE, ["c1", "c2"])
    assert margin.disk is not None
    assert margin.peak is not None
    sizes = {w: structured(satellite_at(w)).bound for w in np.linspace(0.01, 0.1, 181)}
    worst = max(sizes, key=lambda w: sizes[w])
    assert margin.disk.size <= 1 / sizes[worst]
    assert margin.disk.size == pytest.approx(1 / sizes[worst], rel=1e-5)
    # the bound is attained: a change of that size in both loops has a root on the axis
    lower = lower_bound(satellite_at(worst), np.random.default_rng(0))
    assert 1 / lower == pytest.approx(margin.disk.size, rel=1e-4)


@pytest.mark.slow
def test_a_change_outside_the_disk_destabilises_the_satellite_and_none_inside() -> None:
    disk = multiloop_disk(SATELLITE, ["c1", "c2"]).disk
    assert disk is not None

    def verdict(first: float, second: float) -> str:
        blocks = [Block("x1", (1.0,), (1.0, 0.0)), Block("x2", (1.0,), (1.0, 0.0))]
        changed = [*blocks, Block("c1", (first,), (1.0,)), Block("c2", (second,), (1.0,))]
        return stability(network(changed, SATELLITE.couplings)).verdict

    rim = [disk.low * 1.0001, disk.high * 0.9999]
    assert {verdict(a, b) for a in rim for b in rim} == {"stable"}
    assert "unstable" in {verdict(a, b) for a in (0.9, 1.11) for b in (0.9, 1.11)}


def test_a_multiloop_margin_is_no_more_than_that_of_one_loop() -> None:
    net = two(0.3)
    both, alone = multiloop_disk(net).disk, multiloop_disk(net, ["a"]).disk
    assert both is not None
    assert alone is not None
    assert both.size <= alone.size * (1 + 1e-5)
    assert multiloop_disk(two(3)).disk is None


def test_small_gain_proves_weak_coupling_and_says_nothing_of_strong() -> None:
    assert small_gain(two(0.2)).holds
    strong = small_gain(two(1.1))
    assert not strong.holds
    assert strong.reason
    assert not small_gain(loop([2], [1, 0], 1)).holds


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=few(12), deadline=None)
def test_what_small_gain_proves_is_stable_in_every_part(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c"]
    blocks = [Block(n, (rng.uniform(0.1, 1),), (1.0, rng.uniform(0, 1)), rng.uniform(0, 1)) for n in names]
    couplings = [Coupling(m, n, -1 if m == n else rng.normal() * 0.4) for m in names for n in names]
    net = network(blocks, couplings)
    if small_gain(net).holds:
        for part in (names, names[:2], names[1:], ["a", "c"], ["b"]):
            assert stability(net.part(part)).verdict == "stable"


@pytest.mark.parametrize(("gain", "holds"), [(0.2, True), (1.0, True), (1.99, True), (2.01, False), (5, False)])
def test_separation_of_an_integrator_from_two_fast_lags(gain: float, holds: bool) -> None:
    net = network(
        [Block("slow", (gain,), (1.0, 0.0)), Block("fast", (1.0,), (1.0, 2.0, 1.0))],
        [Coupling("slow", "fast"), Coupling("fast", "slow", -1)],
    )
    assert separation(net, ["fast"]).holds == holds
    assert (stability(net).verdict == "stable") == (gain < 2)


def test_separation_needs_a_static_gain_and_a_stable_slow_network() -> None:
    assert "static gain" in separation(two(0.1), ["a"]).reason
    made = network([Block("slow", (1.0,), (1.0, 0.0)), Block("fast", (1.0,), (1.0, 1.0))], [Coupling("slow", "fast")])
    assert "slow blocks" in separation(made, ["fast"]).reason


@given(st.integers(0, 10_000))
@settings(max_examples=few(12), deadline=None)
def test_what_separation_proves_is_stable(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lag = rng.uniform(0.01, 2)
    net = network(
        [
            Block("slow", (rng.uniform(0.1, 2),), (1.0, 0.0), rng.uniform(0, 0.3)),
            Block("f", (1.0,), (lag, 1.0), lag / 2),
        ],
        [Coupling("slow", "f"), Coupling("f", "slow", -1)],
    )
    if separation(net, ["f"]).holds:
        assert stability(net).verdict == "stable"


def test_the_interaction_index_is_attained() -> None:
    net = two(0.3)
    certificate = small_gain(net)
    own = response(net.part(["a"]))
    grid = np.abs(at(own, np.geomspace(1e-3, 1e2, 2000))[:, 0, 0]) * 0.3
    assert grid.max() <= certificate.radius <= 1
    assert math.isfinite(certificate.frequency or math.inf)


@pytest.mark.slow
def test_delayed_feedthrough_ends_the_search_for_scalings() -> None:
    """No frequency is the last that matters: the margin is still given, and holds against one loop's own."""
    net = network(
        [Block("a", (-0.32, 1.16), (1.0, 1.02), delay=0.1), Block("b", (0.55,), (1.0, 2.44))],
        [Coupling("a", "a", -0.5), Coupling("a", "b", -0.18), Coupling("b", "a", -0.6), Coupling("b", "b", -1.36)],
    )
    multiloop = multiloop_disk(net, tolerance=1e-2)
    alone = margins(net, "a").margins
    assert multiloop.disk is not None
    assert alone is not None
    assert 0 < multiloop.disk.size <= alone.disk.size * (1 + 1e-2)
