"""Small designs whose runs are known by hand: a level that one loop moves."""

from __future__ import annotations

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model

# x halves towards 2 v; the loop sets v to 4 where x is below 6, else to 1: from 0 it is 0, 4, 6, 4, 6, 4, ...
RELAY = """coherence: 1
components: {{plant: {{state: "x' = 0.5 * x + job.v", step: 1 s, from: {start}}}}}
loops:
  act:
    timescale: {{period: 1 s{phase}}}
    rules: [{{when: x < 6, to: {high}}}, {{when: x >= 6, to: {low}}}]
    actuation: {{signal: job.v, bounds: {bounds}, from: 0}}
promises: {{p: "{promise}"}}
"""


def relay(
    promise: str,
    *,
    start: str = "0",
    phase: str = ", phase: 0 s",
    high: str = "4",
    low: str = "1",
    bounds: str = "[0, 10]",
) -> str:
    return RELAY.format(promise=promise, start=start, phase=phase, high=high, low=low, bounds=bounds)


def model_of(text: str) -> Model:
    return elaborate(read_text(text))


def subject_of(text: str, seconds: float = 10.0) -> Subject:
    return Subject(read_text(text, "d"), {"d": text}, seconds)
