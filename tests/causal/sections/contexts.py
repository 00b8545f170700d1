"""Designs with telemetry of known truth, as the sections of `coherence fit` see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.context import Context, FitSettings
from coherence.language.reading import read_text

STEP = 10.0
CHAIN = """coherence: 1
components:
  loader: {wait: disk.reads * cost, cost: 0 .. 10}
  trainer: {step_time: loader.wait * weight, weight: 0 .. 10}
"""
FLEET = """coherence: 1
workload: {chat: {rate: 300 req/s}}
infrastructure: {tiers: {h100: {count: 10, rate_chat: 50 req/s}}}
"""


def context(design: str, columns: Mapping[str, Floats], *, step: float = STEP, **settings: Any) -> Context:
    """Returns what `coherence fit` knows of a design and signals by name."""
    series = Series(tuple(columns), np.column_stack(list(columns.values())), step)
    return Context(read_text(design, "design.yaml"), series, FitSettings(**settings))


def chain(rows: int = 400, seed: int = 1, *, noise: float = 0.3) -> dict[str, Floats]:
    """Returns signals of CHAIN: reads around 5, a wait of 2 each, a step time of 1.5 times the wait."""
    rng = np.random.default_rng(seed)
    reads = 5 + rng.normal(0, 1, rows)
    wait = 2 * reads + noise * rng.normal(0, 1, rows)
    return {"disk.reads": reads, "loader.wait": wait, "trainer.step_time": 1.5 * wait + noise * rng.normal(0, 1, rows)}


def lines(section: Section | None) -> list[str]:
    """Returns the lines of a section that stand in no table."""
    assert section is not None
    return [part for part in section.parts if isinstance(part, str)]


def tables(section: Section | None) -> list[TextTable]:
    """Returns the tables of a section."""
    assert section is not None
    return [part for part in section.parts if isinstance(part, TextTable)]
