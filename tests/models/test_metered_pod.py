"""The pods that a Horizontal Pod Autoscaler sees against plain pods, second by second.

SOURCE: Kubernetes 1.27 to 1.35, pkg/controller/podautoscaler/replica_calculator.go: groupPods (a Pending pod is not
ready, a pod without a reading is missing, a young one whose reading began before it was ready is not ready).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from tests.draws import source, trace_counts
from tests.models.readings import readings

UNTIL, MOST, SHARE = 40, 4, 10


@dataclass(frozen=True)
class Pod:
    """Ages (seconds): when it is ready, when it is first read, and when a reading begins after it was ready."""

    ready: int
    seen: int
    counted: int

    def group(self, age: int, *, placed: bool) -> str:
        """Returns what the calculator takes it for."""
        if not placed or age < self.ready:
            return "unready"
        if age < self.seen:
            return "missing"
        return "counted" if age >= self.counted else "unready"


def design(pod: Pod, placeable: int) -> str:
    pods = "\n".join(
        f"  pod{n}: {{uses: metered_pod, ordinal: {n} replica, runs: {pod.ready} s, seen: {pod.seen} s, "
        f"counted: {pod.counted} s, placeable: {placeable} replica, replicas: web.desired, cpu: pod{n}.age / 8 s}}"
        for n in range(1, MOST + 1)
    )
    return f"""coherence: 1
components:
  want: {{pods: 0 .. {MOST}}}
  web: {{uses: replica_pool, rate_per_replica: 1 req/s, takes: {{start: 1 s}}}}
{pods}
loops:
  set:
    rank: 1
    timescale: {{period: 1 s}}
    actuation: {{signal: web.desired, law: set, to: want.pods, from: 0, bounds: [0, 9]}}
"""


@pytest.mark.slow
@trace_counts(60, parts=100, of=("metered_pod",))
def test_each_pod_counts_is_missing_or_is_left_out_as_the_calculator_has_it(traces: int) -> None:
    rng = source(61)
    for _ in range(traces // SHARE):
        ready = rng.randint(0, 8)
        pod, placeable = Pod(ready, rng.randint(ready, 15), rng.randint(ready, 20)), rng.randint(1, MOST)
        names = [f"pod{n}.{what}" for n in range(1, MOST + 1) for what in ("counts", "missing", "used")]
        run = readings(design(pod, placeable), names)
        for _ in range(SHARE):
            changes = [(at, rng.randint(0, MOST)) for at in sorted({0, *rng.sample(range(UNTIL), 4)})]
            seen = iter(run([(at, "want.pods", pods) for at, pods in changes], UNTIL))
            for ordinal in range(1, MOST + 1):
                counts, missing, used = next(seen), next(seen), next(seen)
                born: int | None = None
                for second in range(UNTIL):
                    wanted = next(pods for at, pods in reversed(changes) if at <= second)
                    born = None if wanted < ordinal else second if born is None else born
                    age = second - born if born is not None else 0
                    group = pod.group(age, placed=ordinal <= placeable) if born is not None else ""
                    assert counts[second] == (group == "counted"), (pod, changes, second)
                    assert missing[second] == (group == "missing"), (pod, changes, second)
                    assert used[second] == (Fraction(age, 8) if group == "counted" else 0)
