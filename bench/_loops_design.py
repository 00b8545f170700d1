"""Rows about whole designs: margins and verdicts against closed forms, shipped designs, speed of analysis and sweeps.

The closed form is that of the discrete integrator with d steps of delay: critical gain 2 sin(pi / (2 (2 d + 1))).
The peer is python-control's margin of the same open loop.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.harness import Row
from coherence.base.jobs import HERE
from coherence.checking.workspace import open_workspace
from coherence.exploring.sweeps import PointSetting, Store, swept
from coherence.exploring.swept_numbers import axes
from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import DesignAnalysis, analysed
from coherence.model.elaborate import elaborate

MINUTES = 2  # of processor, about
SPECS = Path(__file__).resolve().parents[1] / "specs"
STEP = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  scaler:
    timescale: {{period: 15 s}}
    target: {{signal: web.usage, setpoint: 0.5}}
    actuation: {{signal: web.desired, law: step, by: "{gain} * (delayed(web.usage, {delay} s) - 0.5)",
                bounds: [1, 1000], from: 200}}
"""
TOP, COUNT = 5, 60


def critical(d: int) -> float:
    """Gain at which the integrator with d steps of delay is marginal."""
    return 2 * math.sin(math.pi / (2 * (2 * d + 1)))


def _analysed(gain: float, d: int) -> DesignAnalysis:
    return analysed(elaborate(read_text(STEP.format(gain=gain, delay=15 * d))), time_limit=20.0)


def rows() -> Iterator[Row]:
    """Seven rows."""
    errors, peers = [], []
    for d in range(TOP + 1):
        high = _analysed(40, d).groups[0].points[0].loops[0].gain_high
        errors.append(abs((high or 0.0) * 0.1 / critical(d) - 1))
        peers.append(_peer(d))
    known = [error for error in peers if math.isfinite(error)]
    peer = f"python-control {max(known):.1e}, finds {len(known)} of {TOP + 1}" if known else "python-control is absent"
    yield Row("gain margin of a design's integrator, d <= 5", max(errors), "<= 1e-9", "relative error", peer)
    yield from _verdicts()
    yield from _shipped()
    yield from _sweep()


def _peer(d: int) -> float:
    try:
        import control
    except ImportError:
        return math.inf
    loop = control.tf([0.1], [1, -1] + [0] * d, 1)
    with np.errstate(all="ignore"):
        margin = float(control.stability_margins(loop)[0])
    return abs(margin * 0.1 / critical(d) - 1)


def _verdicts() -> Iterator[Row]:
    chance = random.Random(3)  # noqa: S311  (a sample, not a secret)
    wrong = undecided = 0
    for _ in range(COUNT):
        d, factor = chance.randint(0, TOP), chance.uniform(0.5, 1.5)
        gain = round(400 * critical(d) * factor, 3)
        verdict = _analysed(gain, d).groups[0].points[0].verdict
        wrong += verdict == ("stable" if factor > 1 else "unstable")
        undecided += verdict == "undecided"
    yield Row(f"wrong linear verdicts of {COUNT} random designs", wrong, "== 0", "designs", f"{undecided} undecided")


def _shipped() -> Iterator[Row]:
    start = time.process_time()
    group = _of("serving-hpc").groups[0]
    seconds = time.process_time() - start
    period = float(group.answer.period or 0)
    yield Row("serving-hpc: period of its idle-overload oscillation", period, "== 240", "s", "exact execution")
    yield Row("serving-hpc: analysis", seconds, "<= 3", "s of the processor")
    settled = [part.verdict == "settles" and part.answer.proved for part in _of("serving-hpc-repaired").groups]
    yield Row("serving-hpc-repaired: groups proved to settle", sum(settled), f"== {len(settled)}", "groups")


def _of(name: str) -> DesignAnalysis:
    (entry,) = open_workspace([SPECS / name]).entries
    return analysed(elaborate(entry.design), time_limit=30.0)


def _sweep() -> Iterator[Row]:
    (entry,) = open_workspace([SPECS / "hpa-metric-lag"]).entries
    swept_axes = axes(["loops.hpa.target.setpoint=30:80:8", "components.pool.boot=0.2:6:8"], entry.sources)
    start = time.process_time()
    store = Store(None, swept_axes, entry.sources)
    cells = swept(swept_axes, entry.sources, entry.rebuild, store, setting=PointSetting(), workers=HERE)
    rate = len(cells) / (time.process_time() - start)
    yield Row("sweep by exact execution with the questions of check, one process", rate, ">= 4", "points/s of a core")
    yield Row("points of it that are undecided", sum(c.verdict == "undecided" for c in cells), "== 0", "points")
