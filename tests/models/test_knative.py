"""The pod autoscaler of Knative in stable mode against a plain one, decision by decision.

SOURCE: Knative Serving 1.14 to 1.23, pkg/autoscaler/scaling/autoscaler.go, Scale: desired pods from the mean of the
stable window, between floor(ready / max-scale-down-rate) and ceil(ready x max-scale-up-rate); kpa/scaler.go,
applyBounds.  Pods are ready when they are asked for, which the part says that it supposes.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import Constants
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import SampledLoop
from coherence.simulate.execute.laws import Memory, decide
from tests.draws import source, trace_counts

TICK = 2  # s
UP, DOWN = 1000, 2


@dataclass(frozen=True)
class Revision:
    """What one revision states: pods at the least and at the most, and requests of a pod."""

    lowest: int
    highest: int
    target: Fraction

    def scale(self, ready: int, observed: Fraction) -> int:
        """Returns the pods after one decision."""
        pods = max(1, ready)
        most, least = math.ceil(UP * pods), pods // DOWN
        desired = min(max(math.ceil(observed / self.target), least), most)
        return max(self.lowest, min(self.highest, desired))


class View(Constants):
    """What the loop sees: the requests of the whole revision."""

    time = Fraction(0)


def part(revision: Revision) -> SampledLoop:
    """Returns the loop of the part, set as the plain one."""
    target = f"{revision.target.numerator} / {revision.target.denominator}"
    text = f"""coherence: 1
loops:
  kpa:
    uses: knative_pod_autoscaler
    target: {{signal: web.concurrency, setpoint: {target}, sensor: []}}
    actuation: {{signal: web.pods, bounds: [{revision.lowest}, {revision.highest}]}}
"""
    (loop,) = elaborate(read_text(text)).loops
    return loop


def seen(observed: Fraction, pods: int, time: int) -> View:
    """Returns the view at a time."""
    view = View({"web.concurrency": observed, "web.pods": Fraction(pods)})
    view.__dict__["time"] = Fraction(time)
    return view


def drawn(rng: random.Random) -> Revision:
    lowest = rng.randint(1, 5)
    return Revision(lowest, lowest + rng.randint(0, 200), Fraction(rng.randint(1, 1000), rng.choice((1, 10))))


@trace_counts(60, parts=10, of=("knative_pod_autoscaler",))
def test_each_decision_is_the_autoscalers(traces: int) -> None:
    rng = source(6)
    for _ in range(traces):
        revision = drawn(rng)
        loop, memory, pods = part(revision), Memory(), revision.lowest
        for step in range(12):
            calm = rng.random() < Fraction(1, 2)
            reach = pods if calm else revision.highest
            observed = Fraction(rng.randint(0, 20 * reach), 10) * revision.target
            wanted = revision.scale(pods, observed)
            value = decide(loop, seen(observed, pods, step * TICK), memory, True, pods, pods).value
            assert value == wanted, (revision, step, observed, pods)
            pods = wanted


@pytest.mark.parametrize(("pods", "left"), [(10, 5), (7, 3), (3, 1), (1, 1)])
def test_it_goes_to_half_of_them_at_once(pods: int, left: int) -> None:
    """Rows of the tests of the original: the scale-down rate of 2 lets half of the pods go in one decision."""
    revision = Revision(1, 100, Fraction(10))
    assert revision.scale(pods, Fraction(0)) == left
    assert decide(part(revision), seen(Fraction(0), pods, 0), Memory(), True, pods, pods).value == left
