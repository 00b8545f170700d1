"""Level sets of large closed loops: what they prove holds on dense grids, and they agree with bounds of intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.margins.peaks import _searched, largest, spectral
from coherence.loops.margins.peaks_climb import climbed
from coherence.loops.margins.peaks_levels import Test as Levels
from coherence.loops.margins.peaks_levels import level, serves
from coherence.loops.margins.peaks_response import ClosedLoopResponse, at, response, separate
from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.rightmost import _states, generator_roots


def dense(seed: int, size: int = 14) -> Network:
    """Integrators, lags and resonances with delays, in loops of their own and coupled at random."""
    rng = np.random.default_rng(seed)
    kinds = [(1.0, 0.0), (rng.uniform(0.5, 3), 1.0), (1.0, rng.uniform(0.1, 1), 1.0)]
    blocks = [
        Block(
            f"b{k}", tuple(rng.uniform(0.2, 0.6, 1 + k % 2)) if k % 3 == 2 else (0.4,), kinds[k % 3], rng.uniform(0, 1)
        )
        for k in range(size)
    ]
    gains = 0.3 / math.sqrt(size) * rng.normal(size=(size, size)) - np.eye(size)
    return network(blocks, [Coupling(f"b{j}", f"b{i}", gains[i, j]) for i in range(size) for j in range(size)])


def some(seed: int) -> ClosedLoopResponse:
    made = dense(seed)
    inputs = list(made.names[: 1 + seed % 14]) if seed % 3 else None
    return response(made, inputs=inputs, sensitivity=bool(seed % 2))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 8), st.floats(1e-3, 0.3), st.floats(1.0001, 1.5))
def test_a_level_proved_over_an_interval_is_exceeded_nowhere_in_it(
    seed: int, middle: float, half: float, above: float
) -> None:
    of = some(seed)
    grid = np.linspace(middle - half, middle + half, 41)
    highest = float(np.linalg.norm(at(of, grid), 2, axis=(1, 2)).max())
    test, here = Levels(of), level(of, np.array([middle]), np.array([half]))
    assert not test.below(here, 0, highest * (1 - 1e-6))
    flat = level(of, np.array([middle]), np.zeros(1))
    there = float(np.linalg.norm(at(of, np.array([middle]))[0], 2))
    assert test.below(flat, 0, there * above)
    assert test.reached(flat, 0, there / above)


@pytest.mark.parametrize("seed", range(4))
def test_levels_and_bounds_of_intervals_find_the_same_peak(seed: int) -> None:
    of = some(seed)
    assert serves(of, 1e-2)
    by_levels, by_intervals = climbed(of, 1e-2, 0.0), _searched(of, 1e-2, spectral, 0.0)
    assert by_levels is not None
    assert by_levels.best <= by_intervals.bound * (1 + 1e-12)
    assert by_intervals.best <= by_levels.bound * (1 + 1e-12)
    assert by_levels.bound <= by_levels.best * (1 + 1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_the_bound_of_a_large_peak_is_within_the_tolerance_and_above_a_grid(tolerance: float) -> None:
    of = response(dense(3))
    peak = largest(of, tolerance=tolerance)
    assert peak.reached
    assert np.linalg.norm(at(of, np.linspace(0, 20, 2001)), 2, axis=(1, 2)).max() <= peak.bound
    assert np.linalg.norm(at(of, np.array([peak.frequency]))[0], 2) == pytest.approx(peak.value, rel=1e-9)


def test_the_peak_of_separate_parts_is_the_largest_of_theirs() -> None:
    first, second = dense(1), dense(2)
    renamed = [Block("other " + b.name, b.numerator, b.denominator, b.delay) for b in second.blocks]
    couplings = [Coupling("other " + c.source, "other " + c.target, c.gain) for c in second.couplings]
    both = response(network([*first.blocks, *renamed], [*first.couplings, *couplings]))
    assert [len(part.names) for part in separate(both)] == [14, 14]
    peaks = [largest(response(made), tolerance=1e-4) for made in (first, second)]
    whole = largest(both, tolerance=1e-4)
    assert whole.value == pytest.approx(max(peak.value for peak in peaks), rel=1e-4)
    assert whole.output.startswith("other") == (peaks[1].value > peaks[0].value)


def test_no_gain_between_separate_parts() -> None:
    made = network([Block("a", (1.0,), (1.0, 1.0)), Block("b", (1.0,), (1.0, 1.0))], [])
    assert largest(response(made, outputs=["a"], inputs=["b"])).value == 0


def test_a_delay_too_short_to_be_told_from_none_overflows_nothing() -> None:
    roots = generator_roots(Characteristic(loop([1.0], [1.0, 1.0, 0.0], 1e-308)))
    assert roots is not None
    assert roots[np.argmax(roots.real)] == pytest.approx(-0.5 + 1j * math.sqrt(0.75), abs=1e-4)


def test_coefficients_next_to_nothing_overflow_nothing() -> None:
    a, b, c, through = _states(loop([1.0], [1.0, -1.1e-269, 1e-281, -2.3e-309]).blocks[0])
    assert np.linalg.eigvals(a - np.outer(b, c)).real.max() == pytest.approx(0.5)
    assert through == 0
