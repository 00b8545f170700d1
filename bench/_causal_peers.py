"""The same work by other tools: DoWhy's attribution of a change, tigramite's discovery with declared links.

Each runs in a process of its own, on one thread, and is compared by processor time, which other work on the machine
does not lengthen.  DoWhy gets a hundredth of the rows that we get, so that the run stays bounded (its cost grows with
the rows): the ratio is a lower bound.

    x2 - x1 = T2 ((M2 - M1) x1 + (c2 - c1)),   T2 = (I - M2)^-1

splits the change of a mean over the mechanisms that changed, exactly: row i of the bracket is the change of
mechanism i at the old inputs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench._causal_scale import LAGS, truth, whole
from bench.harness import BenchError, Row
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.effects import matrix, own, total
from coherence.causal.fitting.fit import discovered, fit
from coherence.causal.fitting.graph import CausalGraph, Influence

NODES, THEIRS, OURS = 10, 1_000, 100_000
SHIFTS = {3: 1.0, 6: -0.5}  # mechanisms that change between the windows
SIGNALS, SAMPLES, LINKS = 30, 10_000, 60
LEVEL = 0.01


def rows() -> Iterator[Row]:
    """Rows beside each peer that is installed; our own rows always."""
    ours = _apart("change")
    said = f"change of a mean over {NODES} mechanisms, {OURS} rows a window"
    yield Row(f"{said}: shares - measured change", ours["error"], "<= 1e-9", "relative")
    if importlib.util.find_spec("dowhy"):
        theirs = _apart("dowhy")
        told = f"DoWhy {theirs['processor']:.3g} s on {THEIRS} rows, its sum {theirs['error']:.1%} off"
        told += f"; ours {ours['processor']:.3g} s"
        yield Row(f"{said}: times faster than DoWhy", theirs["processor"] / ours["processor"], ">= 100", "times", told)
    found = _apart("declared")
    said = f"declared links, {SIGNALS} signals x {SAMPLES} rows, lags 0 to 2"
    if importlib.util.find_spec("tigramite"):
        theirs = _apart("tigramite")
        told = f"tigramite PCMCI+ F1 {theirs['f1']:.3f} in {theirs['processor']:.3g} s"
        yield Row(f"{said}: F1", found["f1"], ">= 0.98", "1", told)
        yield Row(f"{said}: our time over tigramite's", found["processor"] / theirs["processor"], "<= 1", "1", told)
    else:
        yield Row(f"{said}: F1", found["f1"], ">= 0.98", "1")


def change() -> dict[str, float]:
    """Our split of the change."""
    windows = [Series(_names(), draw(OURS, changed, seed), 1.0) for seed, changed in enumerate((False, True))]
    graph = CausalGraph(_names(), tuple(Influence(f"x{c}", f"x{e}") for c, e in _pairs()))
    start = time.process_time()
    first, second = (fit(one, graph) for one in windows)
    (x1, u1), (x2, u2) = (own(one, matrix(one)) for one in (first, second))
    m1, m2 = matrix(first)[0], matrix(second)[0]
    shares = total(m2)[-1] * ((m2 - m1) @ x1 + u2[0] - u1[0])
    behind = OURS - int(first.grams.rows.sum())  # rows before the delays of the fit, which it does not have
    measured = float(windows[1]["x9"][behind:].mean() - windows[0]["x9"][behind:].mean())
    processor = time.process_time() - start
    assert abs(float(x2[-1] - x1[-1]) - measured) < 1e-9
    return {"error": abs(float(shares.sum()) - measured) / abs(measured), "processor": processor}


def dowhy() -> dict[str, float]:
    """DoWhy's, with linear mechanisms as ours."""
    import networkx as nx
    import pandas as pd
    from dowhy import gcm
    from dowhy.gcm.distribution_change import distribution_change

    first, second = (
        pd.DataFrame(draw(THEIRS, changed, seed), columns=list(_names())) for seed, changed in enumerate((False, True))
    )
    graph = nx.DiGraph([(f"x{c}", f"x{e}") for c, e in _pairs()])
    model: Any = gcm.ProbabilisticCausalModel(graph)
    for name in graph.nodes:
        linear = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor()) if list(graph.predecessors(name)) else None
        model.set_causal_mechanism(name, linear or gcm.EmpiricalDistribution())
    gcm.config.disable_progress_bars()
    gcm.config.set_default_n_jobs(1)
    start = time.process_time()
    shares = distribution_change(
        model, first, second, "x9", difference_estimation_func=lambda before, after: np.mean(after) - np.mean(before)
    )
    processor = time.process_time() - start
    measured = float(second["x9"].mean() - first["x9"].mean())
    return {"error": abs(float(sum(shares.values())) - measured) / abs(measured), "processor": processor}


def declared() -> dict[str, float]:
    """Our discoveries among declared links."""
    of = truth(SIGNALS, LINKS, 4)
    series = whole(of, SAMPLES, 5)
    start = time.process_time()
    fitted = fit(series, of.graph())
    p = {
        (f"{cause} {lag}", node.effect): float(one)
        for node in fitted.nodes.values()
        for (cause, lag), one in zip(node.equation.columns, node.p, strict=True)
        if cause != node.effect
    }
    chosen = {pair for pair, yes in discovered(p, LEVEL).items() if yes}
    processor = time.process_time() - start
    true = {(f"{of.names[c]} {lag}", of.names[e]) for c, e, lag in of.links}
    return {"f1": 2 * len(true & chosen) / (len(true) + len(chosen)), "processor": processor}


def tigramite() -> dict[str, float]:
    """tigramite's, told the same declared links and their direction."""
    from tigramite import data_processing
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    of = truth(SIGNALS, LINKS, 4)
    series = whole(of, SAMPLES, 5)
    links: dict[int, dict[tuple[int, int], str]] = {e: {(e, -1): "-?>"} for e in range(SIGNALS)}
    for cause, effect in of.declared:
        links[effect] |= {(cause, -lag): "-?>" for lag in range(LAGS)}
        links[cause][effect, 0] = "<?-"
    start = time.process_time()
    search = PCMCI(dataframe=data_processing.DataFrame(series.values), cond_ind_test=ParCorr(), verbosity=0)
    found = search.run_pcmciplus(link_assumptions=links, tau_max=LAGS - 1, pc_alpha=LEVEL)
    processor = time.process_time() - start
    graph = found["graph"]
    chosen = {
        (c, e, lag)
        for c, e in of.declared
        for lag in range(LAGS)
        if graph[c, e, lag] in {"-->", "o-o", "x-x"}
    }  # fmt: skip
    true = set(of.links)
    return {"f1": 2 * len(true & chosen) / (len(true) + len(chosen)), "processor": processor}


def draw(count: int, changed: bool, seed: int) -> Floats:
    """A chain with shortcuts; `changed`: two mechanisms have another constant."""
    made = np.random.default_rng(seed).standard_normal((count, NODES))
    for number, shift in SHIFTS.items():
        made[:, number] += shift * changed
    for cause, effect in sorted(_pairs(), key=lambda pair: pair[1]):
        made[:, effect] += (0.5 if effect - cause == 1 else 0.3) * made[:, cause]
    return made


def _pairs() -> list[tuple[int, int]]:
    return [(e - back, e) for e in range(NODES) for back in (1, 2) if e >= back]


def _names() -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(NODES))


def _apart(part: str) -> dict[str, float]:
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "bench._causal_peers", part],
        capture_output=True, text=True, check=False, env=alone, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise BenchError(f"{part}: exit code {done.returncode}\n{done.stderr.strip()[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"change": change, "dowhy": dowhy, "declared": declared, "tigramite": tigramite}
    print(json.dumps(parts[sys.argv[1]]()))
