"""Size and speed of the fit: a declared graph with lags, 200 bootstraps end to end, and data larger than memory.

`python -m bench._causal_scale PART` measures one part in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.harness import Row, process
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import discovered, fit, strengths_of
from coherence.causal.fitting.fit_streams import fit_chunks
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.jobs import bootstrap

LAGS = 3  # 0, 1, 2
OWN = 0.5  # of each signal's last value
CHUNK = 20_000
RATE = 0.01  # of false discoveries: F1 cannot be above 1 - RATE / 2 if every true link is found


@dataclass(frozen=True, slots=True)
class Truth:
    """True links (cause, effect, lag) -> coefficient, and declared pairs: the true ones and as many that are not."""

    names: tuple[str, ...]
    links: dict[tuple[int, int, int], float]
    declared: tuple[tuple[int, int], ...]

    def graph(self) -> CausalGraph:
        """The declared graph: every pair at every lag."""
        from fractions import Fraction

        pairs = [*self.declared, *((one, one) for one in range(len(self.names)))]
        reach = Fraction(LAGS - 1)
        return CausalGraph(self.names, tuple(
            Influence(self.names[c], self.names[e], Fraction(0), reach if c != e else Fraction(1)) for c, e in pairs
        ))  # fmt: skip


def truth(size: int, links: int, seed: int) -> Truth:
    """A random graph: causes stand before effects, so that signals can be made one after another."""
    random = np.random.default_rng(seed)
    pairs = [(c, e) for e in range(size) for c in range(e)]
    drawn = [pairs[int(one)] for one in random.choice(len(pairs), 2 * links, replace=False)]
    true = {
        (c, e, int(random.integers(LAGS))): float(random.choice([-1, 1]) * random.uniform(0.1, 0.4))
        for c, e in drawn[:links]
    }
    return Truth(tuple(f"s{number:03d}" for number in range(size)), true, tuple(drawn))


def chunks(of: Truth, rows: int, seed: int, *, chunk: int = CHUNK) -> Iterator[Series]:
    """The signals, a stretch at a time."""
    from scipy.signal import lfilter

    random = np.random.default_rng(seed)
    size = len(of.names)
    tail, state = np.zeros((LAGS - 1, size)), np.zeros((size, 1))
    for start in range(0, rows, chunk):
        length = min(chunk, rows - start)
        made = np.vstack([tail, random.standard_normal((length, size))])
        for effect in range(size):
            drive = made[LAGS - 1 :, effect]
            for (cause, to, lag), slope in of.links.items():
                if to == effect:
                    drive += slope * made[LAGS - 1 - lag : len(made) - lag, cause]
            made[LAGS - 1 :, effect], state[effect] = lfilter([1.0], [1.0, -OWN], drive, zi=state[effect])
        tail = made[-(LAGS - 1) :].copy()
        yield Series(of.names, made[LAGS - 1 :], 1.0, float(start))


def whole(of: Truth, rows: int, seed: int) -> Series:
    """All of it in one table."""
    return next(chunks(of, rows, seed, chunk=rows))


def rows() -> Iterator[Row]:
    """All rows."""
    fitted = _apart("fit")
    said = "declared graph, 50 signals x 100k rows, lags 0 to 2"
    yield Row(
        f"{said}: F1 of links at 1 % false discoveries",
        fitted["f1"],
        ">= 0.98",
        "1",
        "half of the declared pairs are not there",
    )
    told = "{seconds:.3g} s of wall clock, {beside}"
    yield Row(
        f"{said}: fit, discoveries and 200 bootstraps",
        fitted["processor"],
        "<= 2",
        "s of one core",
        told.format(**fitted),
    )
    yield Row("  peak memory", fitted["memory"], "<= 1", "GB", "data included")
    large = _apart("stream")
    yield Row(
        "100 signals x 1M rows, lags 0 to 2, streamed and fitted",
        large["processor"],
        "<= 15",
        "s of one core",
        told.format(**large),
    )
    yield Row("  peak memory", large["memory"], "<= 1", "GB", "never more than a stretch in memory")


def measured_fit() -> dict[str, float | str]:
    """50 x 100k."""
    of = truth(50, 100, 1)
    series = whole(of, 100_000, 2)
    start, processor = time.perf_counter(), time.process_time()
    graph = of.graph()
    fitted = fit(series, graph)
    nodes = list(fitted.nodes.values())
    p = {
        (cause, node.effect, lag): float(one)
        for node in nodes
        for (cause, lag), one in zip(node.equation.columns, node.p, strict=True)
        if cause != node.effect
    }
    known = {f"{c} {e} {lag}": value for (c, e, lag), value in p.items()}
    found = discovered({(name, ""): value for name, value in known.items()}, RATE)

    def coefficients(sums: Floats) -> Floats:
        equations = [node.equation for node in nodes]
        return np.concatenate(list(strengths_of(fitted.grams, sums, equations)), axis=1)

    drawn = bootstrap(fitted.grams, coefficients, count=200, seed=3)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    assert drawn.shape[0] == 200
    true = {f"{of.names[c]} {of.names[e]} {lag}" for c, e, lag in of.links}
    chosen = {name for (name, _), yes in found.items() if yes}
    f1 = 2 * len(true & chosen) / (len(true) + len(chosen))
    return {"f1": f1, "seconds": seconds, "processor": processor, **_machine()}


def measured_stream() -> dict[str, float | str]:
    """100 x 1M."""
    of = truth(100, 200, 1)
    graph = of.graph()
    made = 0.0

    def timed() -> Iterator[Series]:
        nonlocal made
        source = chunks(of, 1_000_000, 2)
        while True:
            begun = time.process_time()
            one = next(source, None)
            made += time.process_time() - begun
            if one is None:
                return
            yield one

    start, processor = time.perf_counter(), time.process_time()
    found = fit_chunks(timed, graph)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor - made
    assert len(found.nodes) == len(of.names)
    return {"seconds": seconds, "processor": processor, **_machine()}


def _machine() -> dict[str, float | str]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return {"memory": peak / 1024, "beside": f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"}


def _apart(part: str) -> dict[str, Any]:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the process below: its processor time is then that of one core
    done = process([sys.executable, "-m", "bench._causal_scale", part])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps({"fit": measured_fit, "stream": measured_stream}[sys.argv[1]]()))
