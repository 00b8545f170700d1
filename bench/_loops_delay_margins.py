"""Rows about the delay margins that are told: whether `check` agrees with a little more and a little less of it.

Plants of five kinds, each under one sampled loop with drawn gain, period and delay; the delay is added in the text of
the design, in the landing of commands or in the reading.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from bench.harness import Row, on_all_cores
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.checks import oscillation
from coherence.model.elaborate import elaborate

MINUTES = 8  # of processor, about
MARGINS, SEEDS = 25, range(1, 5)  # of each seed, one after another on a core
BESIDE = 0.1  # of the whole delay, to both sides: nearer, a swing grows or decays too slowly to be seen in a run
LIMIT = 600.0  # seconds, of one question: far beyond what any takes, so that no answer depends on the machine
RESTS = "in a run, and its roots there are stable"

PLANTS = {
    "lag": 'plant: {{state: "x\' = ({gain} * act.u - plant.x) / 10 s", from: 0.3}}',
    "integrator": 'plant: {{state: "x\' = {gain} * act.u / 10 s", from: 0.3}}',
    "second order": (
        'speed: {{state: "x\' = (-plant.x - {damping} * speed.x + {gain} * act.u) / 5 s", from: 0}}\n'
        '  plant: {{state: "x\' = speed.x / 5 s", from: 0.3}}'
    ),
    "two lags": (
        'inner: {{state: "x\' = ({gain} * act.u - inner.x) / 4 s", from: 0.3}}\n'
        '  plant: {{state: "x\' = (inner.x - plant.x) / 10 s", from: 0.3}}'
    ),
    "leaking integrator": 'plant: {{state: "x\' = ({gain} * act.u - 0.2 * plant.x) / 10 s", from: 0.3}}',
}
DESIGN = """coherence: 1
components:
  {plant}
loops:
  ctl:
    timescale: {{period: {period} s, phase: 0 s, lands: {lands:.9f} s}}
    trigger: always
    actuation: {{signal: act.u, law: set, to: "-1 * delayed(plant.x, {late:.9f} s)", bounds: [-1000, 1000], from: 0}}
"""


def drawn(draw: random.Random) -> tuple[str, str, int, float]:
    """Returns the kind and the text of a plant, the period of its loop and the delay of its reading."""
    kind = draw.choice(sorted(PLANTS))
    plant = PLANTS[kind].format(gain=round(draw.uniform(0.2, 4), 2), damping=round(draw.uniform(0.3, 2), 2))
    return kind, plant, draw.choice((1, 2, 3, 5)), round(draw.uniform(0, 5), 3)


def text(plant: str, period: int, late: float, lands: float = 0.0) -> str:
    """Returns the design."""
    return DESIGN.format(plant=plant, period=period, late=late, lands=lands)


def answer(words: str) -> str:
    """Returns what `check` says of the loop: swings, rests (proved, or stable by its roots with a run) or undecided."""
    subject = Subject(read_text(words, "design.yaml"), {"design.yaml": words}, LIMIT)
    (finding,) = oscillation.ask(subject)
    if finding.verdict is Verdict.CONFLICT:
        return "swings"
    stable = RESTS in finding.message
    return "rests" if stable or finding.verdict is Verdict.PROVED else "undecided"


def confirmed(seed: int) -> Counter[str]:
    """Returns how many sides of margins are confirmed, undecided and contradicted."""
    draw, sides = random.Random(seed), Counter[str]()  # noqa: S311  (no secret)
    margins = 0
    while margins < MARGINS:
        _, plant, period, late = drawn(draw)
        groups = analysed(elaborate(read_text(text(plant, period, late), "design.yaml")), time_limit=LIMIT).groups
        if not groups or not groups[0].points:
            continue
        (figures,) = groups[0].points[0].loops
        for where, margin in (("landing", figures.landing), ("reading", figures.reading)):
            if margin is None or margin.unstable is None:
                continue
            margins += 1
            edge = float(margin.unstable)
            aside = BESIDE * (edge + late)
            for more, expected in ((max(0.0, edge - aside), "rests"), (edge + aside, "swings")):
                words = text(plant, period, late, more) if where == "landing" else text(plant, period, late + more)
                said = answer(words)
                sides["confirmed" if said == expected else said if said == "undecided" else "contradicted"] += 1
    return sides


def rows() -> Iterator[Row]:
    """Two rows: no side is contradicted, and few are left open."""
    sides = sum(on_all_cores(confirmed, SEEDS), Counter[str]())
    total = sides.total()
    yield Row("sides of told delay margins that check contradicts", sides["contradicted"], "== 0", f"of {total}")
    yield Row("sides of told delay margins that check leaves open", sides["undecided"] / total, "<= 0.03", "share")
