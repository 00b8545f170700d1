"""Margins, peaks and windows of exact-delay loops: books' numbers, laws, and what is refused."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.margins.network_margins import Margins, disk_of, margins
from coherence.loops.margins.peaks import amplification, largest, sensitivity_peak
from coherence.loops.margins.peaks_response import at, local, response
from coherence.loops.margins.stability_windows import delay_windows, gain_windows
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.stability import stability
from tests.draws import few
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"

PI_LOOP = loop(np.polymul([1.136 * 12.7, 1.136], [-6, 3]).tolist(), np.polymul([12.7, 0], [50, 15, 1]).tolist())
DEAD_TIME = loop(np.polymul([0.06, 0.06], [1, 3]).tolist(), [1, 0.3, 1, 0], 2.6)
SIMC = loop([1], [2, 0], 1)
SATELLITE = network(
    [Block(n, (1.0,), (1.0, 0.0)) for n in ("x1", "x2")] + [Block(n, (1.0,), (1.0,)) for n in ("c1", "c2")],
    [
        Coupling("x2", "x1", 10), Coupling("x1", "x2", -10), Coupling("c1", "x1"), Coupling("c2", "x2"),
        Coupling("x1", "c1", -1), Coupling("x2", "c1", -10), Coupling("x1", "c2", 10), Coupling("x2", "c2", -1),
    ],
)  # fmt: skip


def of(made: Network, point: str | None = None) -> Margins:
    found = margins(made, point).margins
    assert found is not None
    return found


def first_end(net: Network, block: str = "loop", highest: float = 10.0) -> tuple[float, float]:
    """The gain at which the first window ends, and the frequency there."""
    first = gain_windows(net, block, highest=highest).windows[0]
    assert first.stability.verdict == "stable"
    assert first.frequency is not None
    return first.high, first.frequency


def case_values(name: str) -> dict[str, float]:
    """What is measured for each known case of these kinds."""
    hinf = amplification(network([Block("plant", (1.0,), (1.0, 0.2, 1.0))])).peak
    assert hinf is not None
    match name:
        case "B01_integrator_delay_kcrit":
            gain, omega = first_end(loop([0.01], [1, 0], 30))
            return {"k_crit": 0.01 * gain, "omega": omega, "period": 2 * math.pi / omega}
        case "B04_fopdt_ultimate":
            gain, omega = first_end(loop([1], [1, 1], 1))
            return {"k_crit": gain, "omega": omega}
        case "B06_skogestad_rhp_zero":
            gain, omega = first_end(loop([-6, 3], [50, 15, 1]))
            return {"k_crit": gain, "omega": omega, "period": 2 * math.pi / omega}
        case "B07_skogestad_PI_margins":
            loop_margins = of(PI_LOOP)
            return numbers(loop_margins) | {"omega_c": loop_margins.crossover or 0.0}
        case "B08_matlab_PI_deadtime":
            loop_margins = of(DEAD_TIME)
            return numbers(loop_margins) | {
                "omega_c": loop_margins.crossover or 0.0,
                "omega_180": loop_margins.gains[0].frequency,
            }
        case "B24_timescale_separation":
            return {"k_tau_crit": first_end(loop([0.5], [1, 2, 1, 0]))[0] * 0.5}
        case "B44_second_order_Hinf":
            return {"Hinf": hinf.value}
        case "B45_simc_fopdt":
            return numbers(of(SIMC))
        case "B51_wood_berry_Ku":
            first, second = first_end(loop([12.8], [16.7, 1], 1)), first_end(loop([19.4], [14.4, 1], 3))
            return {"Ku1": first[0], "wu1": first[1], "Ku2_abs": second[0], "wu2": second[1]}
    raise AssertionError(name)


def numbers(loop_margins: Margins) -> dict[str, float]:
    return {
        "GM": loop_margins.upper_gain,
        "PM_deg": loop_margins.phase,
        "delay_margin": loop_margins.delay,
        "Ms": loop_margins.sensitivity.value,
        "Mt": loop_margins.complementary.value,
    }


MINE = ("B01", "B04", "B06", "B07", "B08", "B24", "B44", "B45", "B51")


@pytest.mark.slow
@pytest.mark.parametrize("short", MINE)
def test_known_answers(short: str) -> None:
    case: dict[str, Any] = next(c for c in read_yaml(CASES)["cases"] if c["id"].startswith(short))
    got = case_values(case["id"])
    for key, expected in case["expected"].items():
        assert got[key] == pytest.approx(expected["value"], rel=expected["rtol"], abs=1e-6), key


def test_an_integrator_with_delay_has_its_closed_forms() -> None:
    loop_margins = of(loop([0.5], [1, 0], 1))
    assert loop_margins.upper_gain == pytest.approx(math.pi, rel=1e-12)
    assert loop_margins.phase == pytest.approx(90 - math.degrees(0.5), rel=1e-12)
    assert loop_margins.delay == pytest.approx(math.pi - 1, rel=1e-12)
    assert loop_margins.lower_gain == 0
    assert not loop_margins.gap


def test_book_margins_of_a_pi_loop() -> None:
    found = of(PI_LOOP)
    assert (found.upper_gain, found.phase, found.delay) == pytest.approx((1.6354881, 19.441983, 1.4355977), rel=1e-6)
    assert (found.sensitivity.value, found.complementary.value) == pytest.approx((3.9116, 3.3423), rel=2e-4)


def test_a_conditionally_stable_loop_has_a_lower_gain_margin() -> None:
    found = of(loop([3, 6, 3], [1, 0, 0, 0]))  # s^3 + k (3 s^2 + 6 s + 3): stable for 3 k 6 k > 3 k
    assert found.lower_gain == pytest.approx(1 / 6, rel=1e-9)
    assert found.upper_gain == math.inf


def test_positive_feedback_reaches_its_edge_at_zero_frequency() -> None:
    found = of(loop([-0.5], [1, 1]))
    assert found.upper_gain == pytest.approx(2)
    assert found.sensitivity.value == pytest.approx(2)
    assert found.sensitivity.frequency == 0


@pytest.mark.slow
def test_a_measurement_delay_as_a_block_of_its_own_gives_the_same_margins() -> None:
    net = network(
        [Block("sensor", (1.0,), (1.0,), 1.0), Block("actor", (0.5,), (1.0, 0.0))],
        [Coupling("sensor", "actor", -1), Coupling("actor", "sensor")],
    )
    whole = of(loop([0.5], [1, 0], 1))
    for point in net.names:
        at_point = of(net, point)
        assert (at_point.upper_gain, at_point.phase, at_point.delay) == pytest.approx(
            (whole.upper_gain, whole.phase, whole.delay), rel=1e-9
        )
        assert at_point.sensitivity.value == pytest.approx(whole.sensitivity.value, rel=1e-5)
        assert not at_point.gap


def test_delayed_feedthrough_above_one_has_no_delay_margin() -> None:
    assert of(loop([5], [1])).delay == 0
    assert of(loop([0.5], [1], 1)).upper_gain == pytest.approx(2)


@pytest.mark.parametrize("made", [loop([0.06], [1, 0], 30), loop([1], [1, 0, 0]), loop([1], [1], 1)])
def test_no_margins_but_a_reason_where_the_loop_is_not_stable(made: Network) -> None:
    for verdict in (margins(made).stability, sensitivity_peak(made).stability):
        assert verdict.verdict in {"unstable", "marginal", "undecided"}
        assert verdict.reason
    assert margins(made).margins is None
    assert amplification(made).peak is None


def test_refused() -> None:
    with pytest.raises(UsageError, match="say at which block"):
        margins(SATELLITE)
    with pytest.raises(UsageError, match="no block"):
        margins(SIMC, "other")
    with pytest.raises(UsageError, match="sampled"):
        margins(network([Block("loop", (1.0,), (1.0, 0.0), 0.0, 15.0)]))
    with pytest.raises(UsageError, match="delay"):
        delay_windows(SIMC, "loop", -1)


def test_traps_of_rational_delay_approximations() -> None:
    assert stability(loop([1.8], [1, 0.12, 9], 10)).verdict == "unstable"
    assert stability(loop([0.9], [1, 0.12, 9], 10)).verdict == "stable"


def test_stability_comes_and_goes_with_the_delay() -> None:
    windows = delay_windows(loop([1], [1, 0.1, 2]), "loop", 10)
    omegas = np.sqrt(np.roots([1, 0.01 - 4, 3]).real)  # |2 - w^2 + 0.1 j w| = 1
    ends = sorted(
        (phase + 2 * math.pi * k) / w
        for w in omegas
        for phase in [(math.pi - math.atan2(0.1 * w, 2 - w * w)) % (2 * math.pi)]
        for k in range(4)
    )
    assert [w.high for w in windows.windows[:-1]] == pytest.approx([e for e in ends if e < 10], rel=1e-9)
    assert [w.stability.unstable for w in windows.windows] == [0, 2, 0, 2, 4, 2][: len(windows.windows)]
    assert windows.stable[0][0] == 0
    assert windows.stable[0][1] == pytest.approx(ends[0])


@pytest.mark.slow
def test_one_loop_at_a_time_misses_interaction() -> None:
    found = of(SATELLITE, "c1")
    assert found.upper_gain == math.inf
    assert found.phase == pytest.approx(90)


def test_a_resonance_too_narrow_for_a_grid_is_found() -> None:
    zeta = 1e-7
    peak = amplification(network([Block("plant", (1.0,), (1.0, 2 * zeta, 1.0))])).peak
    assert peak is not None
    assert peak.reached
    assert peak.value == pytest.approx(1 / (2 * zeta * math.sqrt(1 - zeta**2)), rel=1e-7)


def test_amplification_names_the_pair() -> None:
    net = network(
        [
            Block("quiet", (1.0,), (1.0, 1.0)),
            Block("source", (1.0,), (1.0, 1.0)),
            Block("ringing", (5.0,), (1.0, 0.1, 1.0)),
        ],
        [Coupling("source", "ringing"), Coupling("quiet", "source", 0.1)],
    )
    peak = amplification(net, inputs=["quiet", "source"]).peak
    assert peak is not None
    assert (peak.input, peak.output) == ("source", "ringing")
    assert peak.pair_gain <= peak.value <= peak.bound


def test_a_disk_margin_is_a_range_of_factors_and_a_phase() -> None:
    found = disk_of(2 / 3, 0.0)
    assert (found.low, found.high) == pytest.approx((0.5, 2.0))
    assert found.phase == pytest.approx(2 * math.degrees(math.atan(1 / 3)))
    assert disk_of(2.5, 0.0).high == math.inf


@pytest.mark.parametrize("made", [PI_LOOP, DEAD_TIME, SIMC])
def test_factors_on_the_rim_of_the_disk_and_no_smaller_ones_reach_the_edge(made: Network) -> None:
    loop_margins = of(made)
    opened = response(made, outputs=["loop"], inputs=["loop"], sensitivity=True)
    s = at(opened, np.geomspace(1e-3, 1e2, 20_000))[:, 0, 0]
    least = np.abs(1 / (s - 0.5)).min()  # |d| for which (1 + d/2) / (1 - d/2) L = -1
    assert loop_margins.disk.size == pytest.approx(least, rel=1e-5)
    assert loop_margins.disk.size <= least


LOOPS = st.builds(
    lambda k, a, b, delay: loop([k], np.polymul([1, a], [1, b]).tolist(), delay),
    st.floats(0.05, 3), st.floats(0, 2), st.floats(0.1, 2), st.floats(0, 3),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=few(12), deadline=None)
@given(LOOPS)
def test_the_edge_of_each_margin_is_the_edge_of_stability(made: Network) -> None:
    loop_margins = margins(made).margins
    if loop_margins is None:
        return
    block = made.blocks[0]
    for side, verdict in ((1 - 1e-5, "stable"), (1 + 1e-5, "unstable")):
        if math.isfinite(loop_margins.upper_gain):
            scaled = [loop_margins.upper_gain * side * c for c in block.numerator]
            assert stability(loop(scaled, block.denominator, block.delay)).verdict == verdict
        if 1e-3 < loop_margins.delay < 100:
            later = block.delay + loop_margins.delay * side
            assert stability(loop(block.numerator, block.denominator, later)).verdict == verdict


@pytest.mark.slow
@settings(max_examples=few(12), deadline=None)
@given(LOOPS, st.floats(0.01, 0.5))
def test_added_delay_never_increases_the_phase_lag_left(made: Network, more: float) -> None:
    block = made.blocks[0]
    before = margins(made).margins
    after = margins(loop(block.numerator, block.denominator, block.delay + more)).margins
    if before and after and before.phases:
        assert after.delay <= before.delay - more + 1e-9


@pytest.mark.slow
@settings(max_examples=few(12), deadline=None)
@given(LOOPS, st.floats(0.01, 100))
def test_scaling_time_scales_delays_alone(made: Network, unit: float) -> None:
    block = made.blocks[0]
    slower = loop(
        block.numerator, [c * unit ** (len(block.denominator) - 1 - k) for k, c in enumerate(block.denominator)],
        block.delay * unit,
    )  # fmt: skip
    before, after = margins(made), margins(slower)
    assert before.stability.verdict == after.stability.verdict
    if before.margins and after.margins:
        assert after.margins.upper_gain == pytest.approx(before.margins.upper_gain, rel=1e-6)
        assert after.margins.delay == pytest.approx(before.margins.delay * unit, rel=1e-6)
        assert after.margins.sensitivity.value == pytest.approx(before.margins.sensitivity.value, rel=1e-5)


@pytest.mark.slow
@settings(max_examples=few(20), deadline=None)
@given(LOOPS)
def test_no_frequency_exceeds_the_bound_of_a_peak(made: Network) -> None:
    sensitivity = sensitivity_peak(made).peak
    if sensitivity is None:
        return
    complementary = largest(response(made, sensitivity=True, shift=1.0))
    for peak, shift in ((sensitivity, 0.0), (complementary, 1.0)):
        grid = np.concatenate(
            [np.geomspace(1e-3, 1e3, 4000), [peak.frequency] if math.isfinite(peak.frequency) else []]
        )
        sizes = np.abs(at(response(made, outputs=["loop"], inputs=["loop"], sensitivity=True, shift=shift), grid))
        assert sizes.max() <= peak.bound * (1 + 1e-12)
        assert peak.reached
        if math.isfinite(peak.frequency):
            assert sizes[-1, 0, 0] == pytest.approx(peak.value, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 5), st.floats(1e-3, 1))
def test_the_bounds_hold_all_over_an_interval(seed: int, middle: float, half: float) -> None:
    rng = np.random.default_rng(seed)
    blocks = [
        Block(f"b{k}", tuple(rng.normal(size=2)), (1.0, *rng.uniform(0, 2, 2)), rng.uniform(0, 3)) for k in range(3)
    ]
    net = network(blocks, [Coupling(f"b{i}", f"b{j}", rng.normal()) for i in range(3) for j in range(3)])
    closed_loop = response(net, sensitivity=bool(seed % 2))
    here = local(closed_loop, np.array([middle]), np.array([half]))
    if not here.contraction[0] < 1:
        return
    grid = np.linspace(middle - half, middle + half, 101)
    linear = here.value + here.slope * (grid - middle)[:, None, None]
    error = np.linalg.norm(at(closed_loop, grid) - linear, 2, axis=(1, 2))
    assert np.all(error <= here.bend[0] * (grid - middle) ** 2 / 2 + 1e-9 * (1 + np.abs(here.value).max()))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=6))
def test_the_count_is_that_of_the_polynomial(roots: list[float]) -> None:
    if any(abs(root) < 1e-3 for root in roots) or any(abs(b - a) < 1e-3 for a, b in pairwise(sorted(roots))):
        return
    closed = np.poly(roots)
    opened = np.poly(np.linspace(-3, 3.5, len(roots)))
    verdict = stability(loop((closed - opened)[1:].tolist(), opened.tolist()))
    assert verdict.unstable == sum(root > 0 for root in roots)
