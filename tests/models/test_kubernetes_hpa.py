"""The parts of the Horizontal Pod Autoscaler against a plain one with `behavior`, trace by trace.

`Autoscaler` is written from what the controller does and shares nothing with the engine: it keeps what it recommended
and what it added and removed, as lists of events.  Others write the replica count between two syncs, and some of the
pods are not ready.  Times are planned instants: a scaling as old as its period no longer counts, nor does a
recommendation as old as its window.
SOURCE: Kubernetes 1.23 to 1.35, pkg/controller/podautoscaler/horizontal.go: reconcileAutoscaler,
stabilizeRecommendationWithBehaviors, convertDesiredReplicasWithBehaviorRate, calculateScaleUpLimitWithScalingRules,
calculateScaleDownLimitWithBehaviors, storeScaleEvent; replica_calculator.go: GetResourceReplicas,
getUsageRatioReplicaCount, GetObjectPerPodMetricReplicas.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from coherence.language.expressions.evaluate import Constants
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import SampledLoop
from coherence.simulate.execute.laws import Memory, decide
from tests.draws import source, trace_counts
from tests.paths import ROOT

SYNCS, PERIOD = 24, 15
LATER = 9000  # seconds: a sync long after the first
SIGNS = (("added", 1), ("removed", -1))
PARTS = ("kubernetes_hpa", "keda_scaledobject")
TYPES = ("utilization", "value", "average")
TOLERANCE = Fraction(1, 10)
Reading = int | Fraction


@dataclass
class Rules:
    """One direction of `behavior`: seconds of stabilization, and policies (pods or percent, value, seconds)."""

    window: int
    policies: Sequence[tuple[str, int, int]]


@dataclass
class Autoscaler:
    """One HPA and what it remembers: (time, recommendation) and (time, replicas added or removed)."""

    lowest: int
    highest: int
    target: int
    up: Rules
    down: Rules
    type: str = "utilization"
    off_at_zero: bool = True
    recommended: list[tuple[int, int]] = field(default_factory=list)
    added: list[tuple[int, int]] = field(default_factory=list)
    removed: list[tuple[int, int]] = field(default_factory=list)

    def sync(self, now: int, current: int, measured: Reading, ready: int) -> int:
        """Returns the replicas that the scale subresource holds after one sync."""
        if current == 0 and self.off_at_zero:
            return 0
        if current > self.highest:
            desired = self.highest
        elif current < self.lowest:
            desired = self.lowest
        else:
            desired = self._normalized(now, current, self._proposed(current, measured, ready))
        if desired > current:
            self.added.append((now, desired - current))
        if desired < current:
            self.removed.append((now, current - desired))
        return desired

    def _proposed(self, current: int, measured: Reading, ready: int) -> int:
        if self.type == "average":  # `measured` is what an average pod has of the total
            total = measured * current
            usage = Fraction(total) / (self.target * current) if current else Fraction(1)
            return current if abs(1 - usage) <= TOLERANCE else math.ceil(Fraction(total) / self.target)
        if self.type == "value":
            usage = Fraction(measured) / self.target
            return current if abs(1 - usage) <= TOLERANCE else math.ceil(usage * ready)
        return self._of_pods(current, [measured] * ready, current - ready)

    def _of_pods(self, current: int, metrics: list[Reading], unready: int) -> int:
        """Returns the answer to the metrics of the ready pods, beside others that are not ready."""
        if not metrics:
            return current
        usage = Fraction(sum(metrics)) / (len(metrics) * self.target)
        if usage <= 1 or not unready:
            return current if abs(1 - usage) <= TOLERANCE else math.ceil(usage * len(metrics))
        metrics = metrics + [0] * unready
        usage = Fraction(sum(metrics)) / (len(metrics) * self.target)
        wanted = math.ceil(usage * len(metrics))
        return current if abs(1 - usage) <= TOLERANCE or usage < 1 or wanted < current else wanted

    def _normalized(self, now: int, current: int, proposed: int) -> int:
        least = min([proposed, *(n for at, n in self.recommended if now - at < self.up.window)])
        most = max([proposed, *(n for at, n in self.recommended if now - at < self.down.window)])
        self.recommended.append((now, proposed))
        stable = min(max(current, least), most)
        if stable > current:
            return min(stable, self.highest, max(self._limit_up(now, current), current))
        if stable < current:
            return max(stable, self.lowest, min(self._limit_down(now, current), current))
        return stable

    def _limit_up(self, now: int, current: int) -> int:
        limits = []
        for kind, value, seconds in self.up.policies:
            start = self._at_start(now, current, seconds)
            limits.append(start + value if kind == "pods" else math.ceil(start * (1 + Fraction(value, 100))))
        return max(limits, default=self.highest)

    def _limit_down(self, now: int, current: int) -> int:
        limits = []
        for kind, value, seconds in self.down.policies:
            start = self._at_start(now, current, seconds)
            limits.append(start - value if kind == "pods" else math.floor(start * (1 - Fraction(value, 100))))
        return min(limits, default=self.lowest)

    def _at_start(self, now: int, current: int, seconds: int) -> int:
        added = sum(n for at, n in self.added if now - at < seconds)
        removed = sum(n for at, n in self.removed if now - at < seconds)
        return current - added + removed


class View(Constants):
    """What the loop of the part sees at one sync."""

    time = Fraction(0)

    def at_sync(self, sync: int) -> View:
        """Returns the view with its clock set."""
        self.__dict__["time"] = Fraction(sync * PERIOD)
        return self


def part(hpa: Autoscaler, name: str) -> str:
    """Returns a design with the part, set as the plain one."""
    rates = [
        f"{{{f'by: {value}' if kind == 'pods' else f'percent: {value} %'}, per: {per} s, way: {way}}}"
        for way, rules in (("up", hpa.up), ("down", hpa.down))
        for kind, value, per in rules.policies
    ]
    return f"""coherence: 1
components: {{web: {{uses: replica_pool, rate_per_replica: 1 req/s, takes: {{start: 30 s}}}}}}
loops:
  hpa:
    uses: {name}
    target: {{signal: web.metric, setpoint: {hpa.target}, type: {hpa.type}}}
    timescale: {{period: {PERIOD} s, hold_up: {hpa.up.window} s, hold_down: {hpa.down.window} s}}
    actuation: {{signal: web.desired, bounds: [{hpa.lowest}, {hpa.highest}], rate: [{", ".join(rates)}]}}
  other: {{timescale: {{period: 10 min}}, actuation: {{signal: web.desired, law: set, to: 0, mode: on change}}}}
"""


def drawn(rng: random.Random) -> Autoscaler:
    """Returns an autoscaler with one to three policies in each direction that has any."""

    def rules(*, some: bool) -> Rules:
        kinds = [
            (rng.choice(("pods", "percent")), rng.choice((1, 2, 4, 10, 50, 100)), rng.choice((15, 30, 60, 120)))
            for _ in range(rng.randint(1 if some else 0, 3))
        ]
        return Rules(rng.choice((0, 0, 15, 30, 60, 300)), kinds)

    lowest = rng.randint(1, 5)
    highest, kind = lowest + rng.randint(1, 40), rng.choice(TYPES)
    return Autoscaler(lowest, highest, rng.randint(1, 100), rules(some=True), rules(some=False), kind)


@pytest.mark.parametrize("name", PARTS)
@trace_counts(50, parts=20, of=PARTS)
def test_the_part_replays_the_autoscaler_beside_other_writers(name: str, traces: int) -> None:
    rng = source(20)
    for number in range(traces):
        follow(drawn(rng), rng, others=number % 2 == 0, name=name)


@trace_counts(100, of=PARTS)
def test_windows_of_any_length_are_open(traces: int) -> None:
    """Draws windows that end at a sync, just beside one, and between two, and readings that go up and down by turns."""
    rng, counted = source(24), 0
    for number in range(traces):
        hpa = drawn(rng)
        hpa.up.window, hpa.down.window = (
            max(0, PERIOD * rng.randint(0, 6) + rng.choice((0, 0, -1, 1, 7))) for _ in range(2)
        )
        trace = drawn_trace(hpa, rng, others=number % 2 == 0)
        at_syncs = [rules.window for rules in (hpa.up, hpa.down) if rules.window and rules.window % PERIOD == 0]
        counted += bool(at_syncs)
        replayed(hpa, trace, name=PARTS[number % 2])
    assert counted > traces / 4


@pytest.mark.parametrize("name", PARTS)
def test_after_an_outside_write_the_default_policy_gives_four_more_at_each_sync(name: str) -> None:
    rules = Rules(0, [("pods", 4, 15), ("percent", 100, 15)])
    hpa = Autoscaler(1, 20, 50, rules, Rules(300, []))
    assert replayed(hpa, [(10, 50), (2, 250), (None, 250), (None, 250)], name=name) == [10, 6, 12, 20]
    slow = Autoscaler(1, 20, 50, Rules(0, [("pods", 4, 60)]), Rules(300, []))
    assert replayed(slow, [(2, 500), (None, 500), (2, 500), (None, 500)], name=name) == [6, 6, 2, 2]


def test_a_fall_within_the_period_is_no_reason_to_go_down_while_more_is_wanted() -> None:
    hpa = Autoscaler(0, 40, 50, Rules(0, [("pods", 4, 30)]), Rules(0, []))
    assert replayed(hpa, [(10, 20), (None, 200), (None, 100), (None, 100)]) == [4, 14, 14, 18]


@pytest.mark.parametrize(
    ("kind", "ready", "measured", "wanted"),
    [
        ("utilization", 8, 60, 10),  # 1.2 x 8 of 10 is 0.96 with the two others idle: nothing is done
        ("utilization", 8, 75, 12),  # 1.5 x 8
        ("utilization", 5, 75, 10),  # 0.75 with the others idle: it would go down, so nothing is done
        ("utilization", 8, 40, 7),  # 0.8 x 8: those that start are left out going down
        ("utilization", 8, 48, 10),  # within tolerance
        ("value", 5, 75, 8),  # 1.5 x 5, though more is asked for
        ("value", 8, 75, 12),
        ("average", 5, 75, 15),  # a total of 750
    ],
)
def test_pods_that_start_count_by_the_type_of_the_metric(kind: str, ready: int, measured: int, wanted: int) -> None:
    hpa = Autoscaler(1, 40, 50, Rules(0, [("percent", 1000, 15)]), Rules(0, []), kind)
    assert replayed(hpa, [(10, measured, ready)]) == [wanted]


def test_at_0_replicas_the_autoscaler_is_off_until_another_scales_up() -> None:
    hpa = Autoscaler(2, 9, 50, Rules(0, [("percent", 1000, 15)]), Rules(0, []))
    assert replayed(hpa, [(0, 500), (None, 500), (1, 500), (None, 75)]) == [0, 0, 2, 3]


# Rows of the original's own tests: Kubernetes, pkg/controller/podautoscaler/replica_calculator_test.go (Apache License
# 2.0): the type, the replicas, those that are ready, the reading over the target, and the replicas that are expected.
ORIGINAL = {
    "TestReplicaCalcScaleUp": ("utilization", 3, 3, Fraction(50, 30), 5),
    "TestReplicaCalcScaleUpUnreadyLessScale": ("utilization", 3, 2, Fraction(60, 30), 4),
    "TestReplicaCalcScaleUpUnreadyNoScale": ("utilization", 3, 1, Fraction(40, 30), 3),
    "TestReplicaCalcScaleUpCM": ("utilization", 3, 3, Fraction(20, 15), 4),
    "TestReplicaCalcScaleDown": ("utilization", 5, 5, Fraction(28, 50), 3),
    "TestReplicaCalcScaleDownCM": ("utilization", 5, 5, Fraction(12, 20), 3),
    "TestReplicaCalcScaleUpCMObject": ("value", 3, 3, Fraction(20, 15), 4),
    "TestReplicaCalcScaleUpCMObjectIgnoresUnreadyPods": ("value", 3, 1, Fraction(50, 10), 5),
    "TestReplicaCalcScaleUpCMExternalIgnoresUnreadyPods": ("value", 3, 1, Fraction(86, 44), 2),
    "TestReplicaCalcScaleUpPerPodCMExternal": ("average", 3, 3, Fraction(8600, 2150 * 3), 4),
    "TestReplicaCalcScaleUpCMPerPodObject": ("average", 3, 3, Fraction(20000, 5000 * 3), 4),
    "TestReplicaCalcScaleDownPerPodCMObject": ("average", 5, 5, Fraction(6000, 2000 * 5), 3),
}


@pytest.mark.parametrize("name", ORIGINAL)
def test_the_part_answers_as_the_tests_of_the_original_expect(name: str) -> None:
    kind, current, ready, share, expected = ORIGINAL[name]
    hpa = Autoscaler(1, 40, 60, Rules(0, [("percent", 1000, 15)]), Rules(0, []), kind)
    assert replayed(hpa, [(current, share * 60, ready)]) == [expected]


# Rows of horizontal_test.go, of its rate policies and of its stabilization windows: tests/data/models/README.md.
ROWS = json.loads((ROOT / "tests/data/models/kubernetes_hpa.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS["limits"], ids=lambda row: row["case"])
@pytest.mark.parametrize("name", PARTS)
def test_rate_policies_answer_as_the_tests_of_the_original_expect(name: str, row: dict[str, Any]) -> None:
    hpa = Autoscaler(row["least"], row["most"], 60, Rules(0, row["up"]), Rules(0, row["down"]), "value")
    changes = sorted((LATER - ago, sign * n) for key, sign in SIGNS for ago, n in row[key])
    hpa.added = [(at, n) for at, n in changes if n > 0]
    hpa.removed = [(at, -n) for at, n in changes if n < 0]
    memory = Memory(changes=[(Fraction(at), Fraction(n)) for at, n in changes])
    assert later(hpa, memory, row, name) == row["replicas"]


@pytest.mark.parametrize("row", ROWS["windows"], ids=lambda row: row["case"])
@pytest.mark.parametrize("name", PARTS)
def test_windows_answer_as_the_tests_of_the_original_expect(name: str, row: dict[str, Any]) -> None:
    hpa = Autoscaler(1, 1000, 60, Rules(row["up"], [("pods", 1000, 15)]), Rules(row["down"], []), "value")
    hpa.recommended = sorted((LATER - ago, n) for ago, n in row["recommended"])
    memory = Memory(recommendations=[(Fraction(at), Fraction(n)) for at, n in hpa.recommended])
    assert later(hpa, memory, row, name) == row["replicas"]


def later(hpa: Autoscaler, memory: Memory, row: dict[str, Any], name: str) -> int:
    """Returns the replicas after a sync of both that has what was remembered before, and wants so many."""
    current, measured = row["current"], Fraction(row["wanted"] * hpa.target, row["current"])
    loop, _ = elaborate(read_text(part(hpa, name))).loops
    view = View({"web.metric": measured, "web.ready": Fraction(current), "web.desired": Fraction(current)})
    view = view.at_sync(LATER // PERIOD)
    decision = decide(loop, view, memory, True, Fraction(current), Fraction(current))
    wanted = hpa.sync(LATER, current, measured, current)
    assert decision.value == wanted or (decision.value is None and wanted == current)
    return wanted


Sync = tuple[int | None, Reading] | tuple[int | None, Reading, int]


def replayed(hpa: Autoscaler, trace: Sequence[Sync], *, name: str = PARTS[0]) -> list[int]:
    """Returns the replicas after each sync of both."""
    hpa.off_at_zero = name == PARTS[0]  # KEDA scales up from 0 by itself
    loop, _ = elaborate(read_text(part(hpa, name))).loops
    return [*replayed_by(loop, hpa, trace)]


def replayed_by(loop: SampledLoop | None, hpa: Autoscaler, trace: Sequence[Sync]) -> Iterator[int]:
    """Yields the replicas after each sync of both; of the plain one alone, where there is no loop.

    At a sync: what another wrote before it, the reading, and how many pods are ready of those that are (all).
    """
    memory, current = Memory(), 0
    for sync, (written, measured, *serving) in enumerate(trace):
        current = current if written is None else written
        ready = min(current, *serving) if serving else current
        wanted = hpa.sync(sync * PERIOD, current, measured, ready)
        if loop is not None:
            metric = Fraction(measured) * (current if hpa.type == "average" else 1)
            counts = {"web.ready": Fraction(ready), "web.desired": Fraction(current)}
            view = View({"web.metric": metric, **counts}).at_sync(sync)
            decision = decide(loop, view, memory, True, Fraction(current), Fraction(current))
            assert decision.value == wanted or (decision.value is None and wanted == current), (hpa, trace)
        current = wanted
        yield current


def follow(hpa: Autoscaler, rng: random.Random, *, others: bool, name: str) -> None:
    """Lays both against each other over a random trace of readings and of starts, and of writes by others."""
    replayed(hpa, drawn_trace(hpa, rng, others=others), name=name)


def drawn_trace(hpa: Autoscaler, rng: random.Random, *, others: bool) -> list[Sync]:
    trace: list[Sync] = [(rng.randint(hpa.lowest, hpa.highest), rng.randint(0, 3 * hpa.target))]
    for _ in range(SYNCS - 1):
        other = rng.randint(max(0, hpa.lowest - 2), hpa.highest + 3) if others and rng.random() < 0.2 else None
        other = 0 if other is not None and rng.random() < 0.2 else other
        starts = (rng.randint(0, hpa.highest),) if rng.random() < 0.5 else ()
        trace.append((other, rng.randint(0, 3 * hpa.target), *starts))
    return trace
