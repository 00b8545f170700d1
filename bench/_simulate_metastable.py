"""Metastability: the retry chain's speed and numbers, and its agreement with request-level runs.

SOURCE of the targets: 2,000 states in 0.2 s; eigenvalue and mean times of three single-server cases as published
(times beyond 1e13 s are left out: a dense solver cannot compute them, see the relative error that it makes).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from bench.harness import Row, interleaved
from bench.references.metastable_calls import chance, escapes
from coherence.simulate.metastability.load_map import Retrying, portrait
from coherence.simulate.metastability.retry_chain import RetryChain, generator, hitting_time, second_eigenvalue
from coherence.simulate.metastability.retry_chain_models import Published, noise, published, published_modes
from coherence.simulate.metastability.waits import Server

CASES = (
    (Published(9.5, 10.0, 3.0, 4), {"eigenvalue": -0.0245, "low to high": 61.45}),
    (Published(7.0, 10.0, 3.0, 3), {"eigenvalue": -5.88e-05, "high to low": 1.642e6, "low to high": 17210.0}),
    (Published(3.0, 10.0, 3.0, 4), {"eigenvalue": -0.17, "high to low": 32.7}),
)
WORKERS = Server(4, 0.04, 0.25)
RUNS = 200


def rows() -> Iterator[Row]:
    """Speed, published numbers, solver against solver, chain against requests, load map."""
    yield from _speed()
    yield from _published()
    yield _against_dense()
    yield from _against_requests()
    yield from _load_map()


def _speed() -> Iterator[Row]:
    model = CASES[1][0]
    times = interleaved({"ours": lambda: (published_modes(model), second_eigenvalue(published(model)))}, repeats=7)
    dense = interleaved({"dense": lambda: _dense(published(model))}, repeats=1)
    peer = f"dense eigenvalues and two dense solves: {dense['dense']:.3g} s"
    what = "2,000 states: both mean times, stationary shares, second eigenvalue"
    yield Row(what, times["ours"], "<= 0.2", "s", peer)


def _dense(chain: RetryChain) -> None:
    import numpy as np

    matrix = generator(chain).toarray()
    np.linalg.eigvals(matrix)
    for _ in range(2):
        np.linalg.solve(matrix - 1e-9 * np.eye(chain.states), -np.ones(chain.states))


def _published() -> Iterable[Row]:
    worst = {"eigenvalue": 0.0, "time": 0.0}
    for model, numbers in CASES:
        found = published_modes(model)
        ours = {
            "eigenvalue": second_eigenvalue(published(model)).real,
            "low to high": found.low_to_high,
            "high to low": found.high_to_low,
        }
        for name, number in numbers.items():
            kind = name if name == "eigenvalue" else "time"
            worst[kind] = max(worst[kind], abs(ours[name] / number - 1))
    yield Row(
        "second eigenvalue of three published cases, largest relative error", worst["eigenvalue"], "<= 0.003", "", ""
    )
    yield Row("mean times of three published cases, largest relative error", worst["time"], "<= 0.0015", "", "")


def _against_dense() -> Row:
    """The light case: truth 2.1e23 s, where a dense solver cannot tell a time from its rounding error."""
    import numpy as np

    chain = published(CASES[2][0])
    target = np.zeros((chain.levels, chain.phases), dtype=bool)
    target[90:, 15:] = True
    ours, matrix, keep = hitting_time(chain, (0, 0), target), generator(chain).toarray(), ~target.ravel()
    dense = float(np.linalg.solve(matrix[np.ix_(keep, keep)], -np.ones(int(keep.sum())))[0])
    what = "mean time until a light load collapses, ours over a dense solver's"
    return Row(what, ours / dense, ">= 1000", "times", f"numpy.linalg.solve: {dense:.2g} s, ours {ours:.4g} s")


def _against_requests() -> Iterator[Row]:
    for tries in (2, 3):
        call = Retrying(80.0, tries, WORKERS)
        found = noise(call)
        share, low, high = chance(escapes(call, seeds=range(RUNS), until=60.0), 60.0)
        ours = found.chance(60.0)
        outside = max(0.0, low - ours, ours - high)
        peer = f"chain {ours:.3f}, {RUNS} runs {share:.3f} in {low:.3f} .. {high:.3f}"
        yield Row(
            f"80 % load, {tries} tries: collapse within a minute, outside the 99 % interval", outside, "<= 0", "", peer
        )


def _load_map() -> Iterator[Row]:
    call = Retrying(50.0, 3, WORKERS)
    known = (1.002, 1.955, 3.0)
    error = max(abs(point.sends - sends) for point, sends in zip(portrait(call).points, known, strict=True))
    yield Row(
        "operating points at half load, largest error in sends", error, "<= 0.0005", "", "by hand: 1.002, 1.955, 3"
    )
    times = interleaved({"map": lambda: portrait(call)}, repeats=7)
    yield Row("all operating points of a call", 1000 * times["map"], "<= 20", "ms", "")
    healthy = portrait(Retrying(80.0, 3, WORKERS)).healthy
    sends = healthy.sends if healthy is not None else math.nan
    yield Row(
        "80 % load: sends by the mean field (it collapses all the same)", abs(sends - 1.022), "<= 0.001", "", "1.02"
    )
