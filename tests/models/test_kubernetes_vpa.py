"""The parts of the Vertical Pod Autoscaler against a plain recommender and updater, pass by pass.

`Recommender` and `updated` are written from what the two programs do, in floats, and share nothing with the engine:
samples lie in buckets that grow by 5 %, lose half their weight in 24 h, and a percentile is the end of a bucket.
SOURCE: Vertical Pod Autoscaler 1.7, recommender/util/histogram.go, decaying_histogram.go, histogram_options.go;
recommender/model/container.go: addMemorySample; recommender/logic/recommender.go: CreatePodResourceRecommender;
updater/priority/update_priority_calculator.go: AddPod; priority_processor.go; updater/restriction/
pods_restriction_factory.go: isPodDisruptable; docs/flags.md.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.expressions.evaluate import Constants
from coherence.language.expressions.tree import Number, Tree, rebuilt
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, SampledLoop
from coherence.simulate.execute.laws import Memory, decide
from coherence.verify.facts.design_facts import known
from coherence.verify.facts.limits import cap
from tests.draws import source, trace_counts

DAY, YOUNG = 24 * 60, 12 * 60  # minutes
MARGIN, THRESHOLD = 1.15, 0.1
LONG = 30 * DAY  # a history of which nothing older counts
Steps = Sequence[tuple[int, float]]  # (minute from which on, use of one pod)


@dataclass(frozen=True)
class Buckets:
    """Buckets of use: the first is so wide, each further one 5 % wider."""

    first: float

    def find(self, use: float) -> int:
        return 0 if use < self.first else int(math.log(use * 0.05 / self.first + 1) / math.log(1.05))

    def start(self, bucket: int) -> float:
        return float(self.first * (1.05**bucket - 1) / 0.05)

    def below(self, bucket: int) -> float:
        """Returns the largest use in a bucket, but for a billionth."""
        return self.start(bucket + 1) * (1 - 1e-9)


CPU, MEMORY = Buckets(0.01), Buckets(10.0)  # cores, MB


@dataclass
class Recommender:
    """What it remembers of one container: weights of buckets, halved in 24 h, at a time (minutes)."""

    buckets: Buckets
    weights: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    now: int = 0

    def add(self, use: float, now: int, weight: float = 1.0) -> None:
        self.weights[self.buckets.find(use)] += weight * 2 ** ((now - self.now) / DAY)
        if now - self.now > 50 * DAY:
            self.weights = defaultdict(float, {b: w * 2 ** ((self.now - now) / DAY) for b, w in self.weights.items()})
            self.now = now

    def percentile(self, share: float) -> float:
        total, partial = sum(self.weights.values()), 0.0
        for bucket in sorted(self.weights):
            partial += self.weights[bucket]
            if partial >= share * total:
                break
        return self.buckets.start(bucket + 1) * MARGIN

    def bounds(self, days: float) -> tuple[float, float, float]:
        """Returns the lower bound, the target and the upper bound."""
        upper = self.percentile(0.95) * (1 + 1 / days)
        return self.percentile(0.5) / (1 + 0.001 / days) ** 2, self.percentile(0.9), upper


def updated(request: float, age: int, lower: float, target: float, upper: float) -> bool:
    """Decides whether the updater takes a pod of this age (minutes)."""
    if request < lower * (1 - 1e-12) or request > upper * (1 + 1e-12):  # equal but for rounding is within
        return True
    return age >= YOUNG and abs(request - target) / request >= THRESHOLD


def use_at(steps: Steps, minute: int) -> float:
    return next(use for at, use in reversed(steps) if at <= minute)


def cpu_requests(steps: Steps, passes: Sequence[int], every: int) -> list[float]:
    """Returns the CPU request after each pass, of pods that ran for long and asked for what they were told.

    Between two passes that stand apart the use does not change, and is seen as often.
    """
    seen, requests = Recommender(CPU), list[float]()
    seen.add(steps[0][1], -every, _weight(LONG, every))
    request, born, before = seen.percentile(0.9), -LONG, -every
    for now in passes:
        if now - before > every:
            seen.add(use_at(steps, now - every), now - every, _weight(now - before - every, every))
        before = now
        seen.add(use_at(steps, now), now)
        lower, target, upper = seen.bounds((now + LONG) / DAY)
        if updated(request, now - born, lower, target, upper):
            request, born = target, now
        requests.append(request)
    return requests


def _weight(minutes: int, every: int) -> float:
    """Returns what samples over so many minutes weigh together, at the last of them."""
    return math.fsum(2.0 ** (-age / DAY) for age in range(0, minutes, every))


def memory_requests(steps: Steps, passes: Iterable[int], phase: int) -> list[float]:
    """Returns the memory request after each pass; a day of the recommender begins `phase` minutes after 0."""
    seen, first = Recommender(MEMORY), steps[0][1]
    for number in range(1, 31):
        seen.add(first, phase - DAY * number)
    request, born, day, peak = seen.percentile(0.9), -LONG, phase - DAY, first
    requests = []
    for now in passes:
        use = use_at(steps, now)
        if now >= day + DAY:
            day, peak = day + DAY, use
            seen.add(use, day)
        elif use > peak:
            seen.add(peak, day, -1.0)
            seen.add(use, day)
            peak = use
        lower, target, upper = seen.bounds((now + LONG) / DAY)
        if updated(request, now - born, lower, target, upper):
            request, born = target, now
        requests.append(request)
    return requests


class View(Constants):
    """What the loop sees: the share of the request that is used."""

    time = Fraction(0)


def loop_of(part: str, every: int, more: str = "") -> SampledLoop:
    text = f"""coherence: 1
loops:
  vpa:
    uses: {part}
    timescale: {{period: {every} min{more}}}
    target: {{signal: web.share}}
    actuation: {{signal: web.request, bounds: [0.001, 1000000000]}}
"""
    (loop,) = elaborate(read_text(text)).loops
    return _in_floats(loop)


def _in_floats(loop: SampledLoop) -> SampledLoop:
    """Returns a loop whose numbers are floats, as those of the plain program: a third of the time of fractions."""
    low, high = (float(bound or 0) for bound in (loop.bounds.low, loop.bounds.high))
    laws, ready = loop.recommendations, replace(loop, bounds=Interval(low, high))  # type: ignore[arg-type]
    made = [replace(law, formula=_of_floats(law.formula), read=law.read and _of_floats(law.read)) for law in laws]
    ready.__dict__["recommendations"] = tuple(made)
    return ready


def _of_floats(tree: Tree) -> Tree:
    if isinstance(tree, Number):
        return replace(tree, value=float(tree.value))  # type: ignore[arg-type]
    return rebuilt(tree, _of_floats)


def part_requests(loop: SampledLoop, steps: Steps, passes: Iterable[int], request: float) -> list[float]:
    """Returns the request after each pass of the part."""
    memory, value, requests = Memory(), request, list[float]()
    for now in passes:
        view = View({"web.share": use_at(steps, now) / value})
        view.__dict__["time"] = Fraction(60 * now)
        decision = decide(loop, view, memory, True, value, value)
        if decision.value is not None and decision.value != value:
            memory.changed, value = view.time, decision.value
        requests.append(value)
    return requests


def stepping(rng: random.Random, buckets: Buckets, every: int, low: int) -> tuple[Steps, list[int]]:
    """Returns use that steps by more than a tenth, weeks apart, and the passes around and for 5 days after each."""
    steps, passes, now, bucket = [(0, buckets.below(low))], [0], 2 * every, low
    for _ in range(3):
        bucket += rng.choice((-1, 1)) * rng.randint(4, 20)
        steps.append((now, buckets.below(bucket)))
        passes += range(now - every, now + 5 * DAY, every)
        now += LONG // every * every
    return steps, passes


@pytest.mark.slow
@trace_counts(40, parts=100, of=("kubernetes_vpa_cpu",))
def test_cpu_requests_follow_a_step_of_the_use_when_and_as_far_as_the_autoscaler_has_it(traces: int) -> None:
    rng = source(81)
    loops = {every: loop_of("kubernetes_vpa_cpu", every) for every in (30, 60, 120)}
    for _ in range(traces):
        every = rng.choice(list(loops))
        steps, passes = stepping(rng, CPU, every, rng.randint(60, 120))
        plain = cpu_requests(steps, passes, every)
        part = part_requests(loops[every], steps, passes, plain[0])
        assert part == pytest.approx(plain, rel=1e-5), (every, steps)


@trace_counts(60, parts=100, of=("kubernetes_vpa_cpu",))
def test_two_steps_within_hours_are_followed_as_the_age_of_the_pods_allows(traces: int) -> None:
    rng = source(82)
    loop = loop_of("kubernetes_vpa_cpu", 20)
    waited = 0
    for _ in range(traces):
        low = rng.randint(60, 100)
        middle, second = low + rng.randint(5, 15), 20 + 20 * rng.randint(1, 45)
        uses = [CPU.below(bucket) for bucket in (low, middle, middle + rng.randint(5, 15))]
        steps, passes = list(zip((0, 20, second), uses, strict=True)), range(0, 2 * DAY, 20)
        plain = cpu_requests(steps, passes, 20)
        assert part_requests(loop, steps, passes, plain[0]) == pytest.approx(plain, rel=1e-5), steps
        changes = [now for now, (a, b) in zip(passes[1:], itertools.pairwise(plain), strict=True) if a != b]
        waited += len(changes) == 2 and changes[1] - changes[0] == YOUNG
    assert waited > traces / 4


@pytest.mark.slow
@trace_counts(40, parts=100, of=("kubernetes_vpa_memory",))
def test_memory_requests_rise_at_once_and_fall_within_the_last_day_of_the_wait(traces: int) -> None:
    rng = source(83)
    loop = loop_of("kubernetes_vpa_memory", 60)
    for _ in range(traces):
        steps, passes = stepping(rng, MEMORY, 60, rng.randint(80, 120))
        every = range(0, passes[-1] + 1, 60)
        plain = dict(zip(every, memory_requests(steps, every, 60 * rng.randint(1, 24)), strict=True))
        part = dict(zip(passes, part_requests(loop, steps, passes, plain[0]), strict=True))
        for (_, before), (at, use) in itertools.pairwise(steps):
            new = next(now for now in passes if now >= at and abs(part[now] - part[at - 60]) > 1e-5 * part[at - 60])
            for now in (now for now in passes if at <= now < at + 5 * DAY):
                if use > before or not new - DAY <= now < new:
                    assert part[now] == pytest.approx(plain[now], rel=1e-5), (steps, now)
            assert new == at if use > before else new - at == 4 * DAY, steps


@trace_counts(200, of=("kubernetes_vpa_cpu",))
def test_a_request_of_any_use_is_at_most_a_step_of_the_buckets_above_the_part(traces: int) -> None:
    rng = source(84)
    for _ in range(traces):
        use = rng.uniform(0.02, 100)
        seen = Recommender(CPU)
        seen.add(use, 0)
        assert use * MARGIN <= seen.percentile(0.9) * (1 + 1e-9) <= (1.05 * use + 0.01) * MARGIN * (1 + 1e-9)


# --- the updater


@dataclass(frozen=True)
class Group:
    """Replicas, of which so many run, and how many of them may be away for an update."""

    configured: int
    tolerance: int

    def evictions(self, running: int) -> int:
        """Returns how many pods one pass takes away."""
        evicted = 0
        while evicted < running and (
            running - evicted > self.configured - self.tolerance
            or (self.configured == running and self.tolerance == 0 and evicted == 0)
        ):
            evicted += 1
        return evicted


@trace_counts(200, of=("vpa_eviction",))
def test_the_updater_leaves_as_many_pods_as_the_limit_says(traces: int) -> None:
    rng = source(85)
    for _ in range(traces):
        pods, percent = rng.randint(2, 40), rng.choice((50, 10, 100, rng.randint(0, 100)))
        subject = Subject(
            read_text(f"""coherence: 1
components: {{web: {{copies: {pods}}}}}
limits: {{update: {{uses: vpa_eviction, counts: web.down, at_most: {percent} % of web.copies}}}}
""")
        )
        facts = known(subject)
        tree = cap(facts, subject.design.limits["update"])
        assert tree is not None
        most = int(facts.range(tree).low or 0)
        group = Group(pods, pods * percent // 100)
        for running in range(1, pods + 1):
            away = pods - running
            gone = away + group.evictions(running)
            assert gone <= max(away, most), (pods, percent, running)
            assert gone == most or running < pods, (pods, percent)


# Rows of the original's own tests (Vertical Pod Autoscaler, Apache License 2.0).


@pytest.mark.parametrize(
    ("request_", "age", "bounds", "expected"),
    [
        (4.0, 0, (1.0, 5.0, 10.0), False),  # TestUpdateShortlivedPods: within the range and young
        (4.0, 0, (5.0, 5.0, 10.0), True),  # below the lower bound
        (4.0, 0, (1.0, 2.0, 3.0), True),  # above the upper bound
        (4.0, 13 * 60, (1.0, 5.0, 10.0), True),  # TestUpdateLonglivedPods: 25 % more
        (4.0, 13 * 60, (1.0, 4.0, 10.0), False),  # TestUpdateNotRequired
    ],
)
def test_pods_are_taken_as_the_original_tests_it(
    request_: float, age: int, bounds: tuple[float, float, float], expected: bool
) -> None:
    assert updated(request_, age, *bounds) == expected


def test_half_of_four_replicas_may_go_as_the_original_tests_it() -> None:
    assert Group(4, 2).evictions(4) == 2
    assert Group(5, 2).evictions(5) == 2
    assert Group(1, 0).evictions(1) == 1
