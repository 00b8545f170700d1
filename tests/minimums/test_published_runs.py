"""Published measurements: no floor lies above one, and the one that does names the assumption that it refutes.

SOURCE: V. Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023, tables 3
and 5; NVIDIA nccl-tests, PERFORMANCE.md and the maintainers' figures for eight H100 (issues nccl-tests 212, nccl 1455
and 2140: 370 GB/s with rings, 460 of seven and 480 of eight members with switches that reduce, on links of 450 GB/s;
nccl-tests 272: 475 on eight H200); The Llama 3 herd of models,
2024, section 3.3.4 and table 5.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from bench._minimums_published import MEGATRON, compared, compute_floor, value
from coherence.minimums.bound import Status
from coherence.minimums.floors import over
from coherence.minimums.ladder import ladder
from coherence.minimums.losses.composition import KnownTerm, Leaf, Serial, estimate
from coherence.minimums.losses.decomposition import decomposition, sentences
from coherence.minimums.registry import entry

GB = 10**9
ROWS = [(name, column) for name in MEGATRON for column in (0, 1)]
PRINTED_MFU = {"22B": 0.415, "175B": 0.514, "530B": 0.560, "1T": 0.563}  # of the peak, selective; with the vocabulary


@pytest.mark.parametrize(("name", "column"), ROWS)
def test_no_floor_is_above_a_published_step(name: str, column: int) -> None:
    seconds = Fraction(MEGATRON[name][1][column])
    assert compute_floor(name) <= seconds
    assert 0.31 < compute_floor(name) / seconds < 0.57


def test_the_floor_is_a_third_to_more_than_half_of_the_published_steps() -> None:
    """The denominator is the measured step time; eight rows."""
    shares = [float(compute_floor(name) / Fraction(MEGATRON[name][1][column])) for name, column in ROWS]
    assert len(shares) == 8
    assert (round(min(shares), 2), round(max(shares), 2)) == (0.32, 0.56)


@pytest.mark.parametrize("name", MEGATRON)
def test_the_published_utilisation_has_the_same_denominator(name: str) -> None:
    """Printed with the vocabulary's operations, which ours leave out: ours is lower, by at most 9 % (22B)."""
    share = float(compute_floor(name) / Fraction(MEGATRON[name][1][1]))
    assert share < PRINTED_MFU[name] * 1.001
    assert share > PRINTED_MFU[name] * 0.97


@pytest.mark.parametrize("name", ["175B", "530B", "1T"])
def test_the_scheme_lies_between_the_floor_and_the_measurement(name: str) -> None:
    """Bubble of the chosen schedule and, in the full column, one more forward pass: measured = their sum + the rest."""
    batch, _, _, stages, blocks, _ = MEGATRON[name][0]
    floor = compute_floor(name)
    bubble = value("pipeline_bubble_interleaved", p=stages, m=batch, v=blocks)  # micro-batches of one sequence
    for column, again in ((0, Fraction(4, 3)), (1, Fraction(1))):
        scheme = KnownTerm(floor * again * (1 + bubble), floor * again * (1 + bubble), "bubble and recomputation")
        seconds = Fraction(MEGATRON[name][1][column])
        found = decomposition((seconds, seconds), KnownTerm(floor, floor, "compute roofline"), scheme=scheme)
        assert [share.low > 0 for share in found.shares] == [True, True, False, True]
        assert sum(share.low for share in found.shares) == pytest.approx(float(seconds), rel=1e-12)
        assert 0.25 < found.recoverable.low / seconds < 0.5


def all_reduce(bus_bandwidth: int) -> tuple[Leaf, Fraction]:
    """The floor of eight members on links of 450 GB/s, and the seconds that a printed bus bandwidth means."""
    spans = {"n": (8, 8), "size": (8 * GB, 8 * GB), "bandwidth": (450 * GB, 450 * GB)}
    bound = entry("all_reduce_end_point").bound
    return Leaf(bound, {k: (Fraction(a), Fraction(b)) for k, (a, b) in spans.items()}), Fraction(
        2 * 7 * 8, 8 * bus_bandwidth
    )


def test_no_floor_lies_above_any_published_measurement() -> None:
    found = dict(compared())
    assert len(found) >= 12
    assert all(0 < share <= 1 for share in found.values()), found


def test_rings_are_above_the_end_point_floor() -> None:
    """370 GB/s of bus bandwidth on links of 450: 82 %, the denominator being the link's line rate."""
    floor, seconds = all_reduce(370)
    found = decomposition((seconds, seconds), floor)
    assert found.violated == ()
    assert estimate(floor).low / seconds == Fraction(370, 450)


@pytest.mark.parametrize("bus_bandwidth", [460, 475, 480])
def test_switches_that_reduce_refute_end_point_reduction(bus_bandwidth: int) -> None:
    floor, seconds = all_reduce(bus_bandwidth)
    found = decomposition((seconds, seconds), floor)
    assert found.recoverable.high < 0, "never clipped at zero"
    assert found.violated[0] == "end_point_reduction"
    said = sentences(found)
    assert said[0].startswith("assumption violated")
    assert any("in-network reduction" in line for line in said)
    (rung,) = ladder(floor.bound, floor.inputs)
    assert rung.floor is not None
    assert rung.floor.high <= seconds, "the floor without that assumption stands"
    weaker = decomposition((seconds, seconds), Leaf(rung.floor.bound, rung.floor.inputs))
    assert weaker.violated == ()


def llama(write: tuple[Any, Any], restart: tuple[Any, Any]) -> tuple[float, float]:
    """The range of the floor of time lost to failures: 419 unexpected interruptions in 54 days."""
    mean = Fraction(54 * 86400, 419)
    found = over(entry("checkpoint_overhead").bound, {"write": write, "mtbf": (mean, mean), "restart": restart})
    return float(found.low), float(found.high)


def test_two_unpublished_inputs_move_the_floor_from_4_7_to_9_6_percent() -> None:
    low, high = llama((10, 30), (60, 300))
    assert (round(low, 3), round(high, 3)) == (0.047, 0.096)
    assert high < 0.10, "the report says more than 90 % of the time was effective"


def test_what_is_published_of_interruptions_carries_its_denominator() -> None:
    """148 of 419 faulty accelerators are 35.3 % of the unexpected interruptions, not the 30.1 % that is printed."""
    assert Fraction(148, 419) == pytest.approx(0.353, abs=5e-4)
    assert Fraction(148, 419) != pytest.approx(0.301, abs=5e-3)
    assert value("job_failure_time", part_mtbf=54 * 86400, n=419) == pytest.approx(3.0931 * 3600, rel=1e-4)


def test_the_published_run_adds_up_with_intervals() -> None:
    """Shares of each second of the run: work at the peak, failures, the bubble of interleaved blocks, kernels."""
    peak = value("model_flops_utilization", operations=400 * 10**12, step=1, units=1, peak=989 * 10**12)
    low, high = llama((10, 30), (60, 300))
    floor = Serial((KnownTerm(peak * Fraction(9, 10), peak, "work at the peak"), KnownTerm(low, high, "failures")))
    idle = over(entry("pipeline_bubble_interleaved").bound, {"p": (16, 16), "m": (16, 16), "v": (4, 8)})
    bubble = KnownTerm(peak * Fraction(9, 10) * idle.low, peak * idle.high, "bubble", Status.CLASS_COST)
    kernels = KnownTerm(Fraction(9, 100), Fraction(17, 100), "kernels, measured alone")
    found = decomposition((1, 1), floor, scheme=Serial((floor, bubble)), calibrated=kernels)
    lows, highs = [share.low for share in found.shares], [share.high for share in found.shares]
    assert lows[1] == bubble.low, "what floor and scheme share cancels exactly, whatever it is"
    assert highs[1] == bubble.high
    assert lows[3] == pytest.approx(float(1 - highs[0] - highs[1] - highs[2]))
    assert highs[3] == pytest.approx(float(1 - lows[0] - lows[1] - lows[2]))
    assert found.violated == ()
