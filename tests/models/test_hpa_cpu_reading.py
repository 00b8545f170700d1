"""The part that reads the CPU of new pods as a Horizontal Pod Autoscaler does, against a plain calculator of pods.

`replicas_for` is written from what the calculator does with a list of pods, in whole percents, and shares nothing with
the engine.  SOURCE: Kubernetes 1.27 to 1.35, pkg/controller/podautoscaler/replica_calculator.go: GetResourceReplicas,
groupPods; metrics/utilization.go: GetResourceUtilizationRatio (an integer division).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, Execution, View
from tests.draws import source, trace_counts

PARTS = ("hpa_cpu_reading",)
REQUEST = 1000  # millicores of each pod
TOLERANCE = Fraction(1, 10)


def ratio(usage: Sequence[int], target: int) -> Fraction:
    return Fraction(sum(usage) * 100 // (REQUEST * len(usage)), target)


def replicas_for(current: int, usage: Sequence[int], missing: int, unready: int, target: int) -> int:
    """Returns the replicas asked for by ready pods of these usages, beside pods without a reading, and not ready."""
    if not usage:
        return current
    share = ratio(usage, target)
    rebalanced = unready > 0 and share > 1
    if not rebalanced and not missing:
        return current if abs(1 - share) <= TOLERANCE else math.ceil(share * len(usage))
    filled = list(usage)  # a share of just 1 leaves out what is missing
    filled += [REQUEST * max(100, target) // 100] * missing if share < 1 else [0] * missing if share > 1 else []
    filled += [0] * unready if rebalanced else []
    again = ratio(filled, target)
    if abs(1 - again) <= TOLERANCE or (share < 1 < again) or (share > 1 > again):
        return current
    wanted = math.ceil(again * len(filled))
    return current if (again < 1 and wanted > current) or (again > 1 and wanted < current) else wanted


DESIGN = """coherence: 1
components:
  reading: {uses: hpa_cpu_reading, setpoint: 50 %, replicas: 1 replica, counted: 1, missing: 0, used: 0.5}
"""


def part(run: Execution, numbers: Mapping[str, Fraction | int]) -> Fraction:
    given = {f"reading.{name}": Fraction(number) for name, number in numbers.items()}
    return Fraction(View(run, Fraction(0), {**run.base(), **given}).value("reading.wanted"))


@trace_counts(200, parts=1, of=PARTS)
def test_the_part_asks_for_the_replicas_of_the_calculator(traces: int) -> None:
    rng = source(25)
    run = Execution(elaborate(read_text(DESIGN)), Choices({}))
    for _ in range(traces):
        counted, missing, unready = rng.randint(0, 12), rng.choice((0, 0, rng.randint(1, 5))), rng.choice((0, 0, 1, 4))
        usage = [rng.randint(0, rng.choice((500, 3000))) for _ in range(counted)]
        target, current = rng.randint(1, 150), max(1, counted + missing + unready)
        unready = current - counted - missing
        numbers: dict[str, Fraction | int] = {"replicas": current, "counted": counted, "missing": missing}
        numbers |= {"used": Fraction(sum(usage), REQUEST), "setpoint": Fraction(target, 100)}
        assert part(run, numbers) == replicas_for(current, usage, missing, unready, target), (numbers, usage)
