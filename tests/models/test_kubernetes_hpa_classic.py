"""The two parts of a Horizontal Pod Autoscaler without `behavior` against a plain one, sync by sync.

`Autoscaler` is written from what the controller does without the field `behavior`, and shares nothing with the engine:
the largest recommendation of five minutes in both directions, and at most twice the replicas, or four, at a sync.
SOURCE: Kubernetes 1.23 to 1.35, pkg/controller/podautoscaler/horizontal.go: reconcileAutoscaler,
normalizeDesiredReplicas, stabilizeRecommendation, convertDesiredReplicasWithRules, calculateScaleUpLimit.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Execution, View
from coherence.simulate.execute.laws import decide
from tests.draws import source, trace_counts
from tests.paths import ROOT

PARTS = ("kubernetes_hpa_classic", "kubernetes_hpa_recommendation")
PERIOD, WINDOW, TRACES = 15, 300, 20  # seconds; traces of each design
ROWS = json.loads((ROOT / "tests/data/models/kubernetes_hpa.json").read_text(encoding="utf-8"))
Sync = tuple[int | None, int]  # what another wrote before it, within the bounds or 0; the reading


@dataclass
class Autoscaler:
    """One HPA, and its recommendations with their times."""

    lowest: int
    highest: int
    target: int
    recommended: list[tuple[int, int]] = field(default_factory=list)

    def sync(self, now: int, current: int, measured: int | Fraction) -> int:
        """Returns the replicas that the scale subresource holds after one sync."""
        if current == 0:
            return 0
        share = Fraction(measured) / self.target
        self.recommended.append((now, current if abs(share - 1) <= Fraction(1, 10) else math.ceil(share * current)))
        wanted = max(n for at, n in self.recommended if now - at <= WINDOW)
        return max(self.lowest, min(wanted, self.highest, max(2 * current, 4)))


def design(hpa: Autoscaler) -> str:
    ratio = f"web.metric / {hpa.target}"
    wanted = f"web.replicas if abs({ratio} - 1) <= 10 % else ceil(web.replicas * {ratio})"
    return f"""coherence: 1
loops:
  notes:
    uses: kubernetes_hpa_recommendation
    rank: 1
    actuation: {{signal: hpa.wanted, to: {wanted}, from: 0}}
  hpa:
    uses: kubernetes_hpa_classic
    rank: 2
    actuation:
      signal: web.replicas
      to: min(hpa.wanted, max(2 * web.replicas, 4))
      bounds: [{hpa.lowest}, {hpa.highest}]
  other: {{timescale: {{period: 10 min}}, actuation: {{signal: web.replicas, law: set, to: 0, mode: on change}}}}
"""


def replayed(model: Model, hpa: Autoscaler, syncs: Sequence[Sync]) -> list[int]:
    """Returns the replicas after each sync of both."""
    run, values, after = Execution(model), {"hpa.wanted": Fraction(0), "web.replicas": Fraction(0)}, []
    for number, (written, measured) in enumerate(syncs):
        values["web.replicas"] = values["web.replicas"] if written is None else Fraction(written)
        current = int(values["web.replicas"])
        for loop in model.loops[:2]:
            view = View(run, Fraction(number * PERIOD), {**values, "web.metric": Fraction(measured)}, loop.name)
            before = values[loop.signal]
            decision = decide(loop, view, run.memory[loop.name], True, before, before)
            values[loop.signal] = before if decision.value is None else decision.value
        assert values["web.replicas"] == hpa.sync(number * PERIOD, current, measured), (design(hpa), syncs)
        after.append(int(values["web.replicas"]))
    return after


@pytest.mark.parametrize("row", ROWS["classic"], ids=lambda row: row["case"])
def test_the_largest_recommendation_is_that_of_the_tests_of_the_original(row: dict[str, Any]) -> None:
    """Without the bound upwards: the original tests its windows alone."""
    hpa, later, current = Autoscaler(1, 1000, 50), 9000, 100
    hpa.recommended = sorted((later - ago, n) for ago, n in row["recommended"])
    last = max((at for at, _ in hpa.recommended), default=0)
    held = max((n for at, n in hpa.recommended if last - at <= WINDOW), default=0)  # after the sync before
    model, values = model_of(hpa), {"hpa.wanted": Fraction(held), "web.replicas": Fraction(current)}
    run = Execution(model)
    run.memory["notes"].recommendations = [(Fraction(at), Fraction(n)) for at, n in hpa.recommended]
    measured = Fraction(50 * row["wanted"], current)
    for loop in model.loops[:2]:
        view = View(run, Fraction(later), {**values, "web.metric": measured}, loop.name)
        decision = decide(loop, view, run.memory[loop.name], True, values[loop.signal], values[loop.signal])
        values[loop.signal] = values[loop.signal] if decision.value is None else decision.value
    assert values["web.replicas"] == hpa.sync(later, current, measured) == row["replicas"]


def model_of(hpa: Autoscaler) -> Model:
    return elaborate(read_text(design(hpa)))


def trace(rng: random.Random, hpa: Autoscaler) -> list[Sync]:
    syncs: list[Sync] = [(rng.randint(hpa.lowest, hpa.highest), rng.randint(0, 3 * hpa.target))]
    for _ in range(35):
        other = rng.choice((0, rng.randint(hpa.lowest, hpa.highest))) if rng.random() < 0.15 else None
        syncs.append((other, rng.randint(0, rng.choice((1, 3)) * hpa.target)))
    return syncs


@trace_counts(100, of=PARTS)
def test_the_parts_replay_the_autoscaler_without_behavior(traces: int) -> None:
    rng = source(24)
    for _ in range(traces // TRACES):
        lowest = rng.randint(1, 5)
        hpa = Autoscaler(lowest, lowest + rng.randint(1, 40), rng.randint(1, 100))
        model = model_of(hpa)
        for _ in range(TRACES):
            replayed(model, replace(hpa, recommended=[]), trace(rng, hpa))


def test_after_a_fall_by_another_the_largest_recommendation_comes_back_whatever_the_metric_says() -> None:
    hpa = Autoscaler(1, 40, 50)
    assert replayed(model_of(hpa), hpa, [(10, 50), (2, 10), (None, 10), (None, 10)]) == [10, 4, 8, 10]
