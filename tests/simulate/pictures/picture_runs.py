"""Runs and pictures that the tests of this folder look at."""

from __future__ import annotations

from pathlib import Path

from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.reporting.pictures.figure import Figure, Line, Panel
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

PAUSED = """
coherence: 1
workload: {web: {rate: 45 req/s, service: {mean: 40 ms, cv: 1}, deadline: 2 s}}
components: {pool: {copies: 4}}
calls: [{from: web, to: pool, tries: 3, per_try: 250 ms, on_timeout: cancel, retry_when: [timeout]}]
promises:
  tail: quantile(web.latency, 0.95) <= 300 ms
  share: web.success >= 99 %
"""
HPA = Path("specs/hpa-metric-lag/design.yaml")
SERVING = Path("specs/serving-hpc-repaired/design.yaml")


def run_of(text: str, **options: object) -> tuple[Study, Design]:
    design = read_text(text, "/secret/place/page.yaml")
    given_: dict[str, object] = {"until": 120.0, "seeds": (1, 2), "draws": True, "pauses": (), **options}
    return study(design, Setting(**given_)), design  # type: ignore[arg-type]


def panel_of(figure: Figure, title: str) -> Panel:
    return next(panel for panel in figure.panels if panel.title == title)


def line_of(figure: Figure, title: str, name: str) -> Line:
    return next(line for line in panel_of(figure, title).lines if line.name == name)


def integral_of(line: Line) -> float:
    return sum(value * (end - start) for (start, value), (end, _) in zip(line.points, line.points[1:], strict=False))
