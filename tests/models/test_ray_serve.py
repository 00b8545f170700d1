"""The autoscaler of Ray Serve against a plain one: without delays by decision, with them from one load to another.

What a load that moves within a delay does is the part's own and named in its notes: Ray takes the latest decision of a
delay in which every one agreed on the direction, the part the mildest.
SOURCE: Ray 2.10 to 2.51, python/ray/serve/autoscaling_policy.py: _core_replica_queue_length_policy, _apply_bounds,
_apply_delay_logic (decisions in a row, CONTROL_LOOP_INTERVAL_S 0.1).
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

PERIOD, TICKS = 10, 100  # s between reports, decisions between them
PARTS = ("ray_serve", "ray_serve_before_2_32")


@dataclass
class Serve:
    """One deployment: decisions in a row that agreed on a direction."""

    lowest: int
    highest: int
    target: int
    upscale_delay: int
    downscale_delay: int
    counter: int = 0

    def decision(self, replicas: int, total: int) -> int:
        """Returns the target number of replicas after one decision."""
        desired = max(self.lowest, min(self.highest, -(-total // self.target)))
        if desired > replicas:
            self.counter = max(self.counter, 0) + 1
            acts = self.counter > self.upscale_delay * 10
        elif desired < replicas:
            self.counter = min(self.counter, 0) - 1
            acts = self.counter < -self.downscale_delay * 10
        else:
            self.counter, acts = 0, False
        if acts:
            self.counter = 0
        return desired if acts else replicas


class View(Constants):
    """What the loop sees: ongoing requests of each replica, on average."""

    time = Fraction(0)


def part(serve: Serve, name: str) -> SampledLoop:
    """Returns the loop of the part, set as the plain one."""
    text = f"""coherence: 1
loops:
  serve:
    uses: {name}
    timescale: {{hold_up: {serve.upscale_delay} s, hold_down: {serve.downscale_delay} s}}
    target: {{signal: web.ongoing, setpoint: {serve.target}, sensor: []}}
    actuation: {{signal: web.replicas, bounds: [{serve.lowest}, {serve.highest}]}}
"""
    (loop,) = elaborate(read_text(text)).loops
    return loop


def seen(total: int, replicas: int, time: int) -> View:
    """Returns the view at a time."""
    view = View({"web.ongoing": Fraction(total, replicas)})
    view.__dict__["time"] = Fraction(time)
    return view


def drawn(rng: random.Random, *, delays: tuple[int, ...]) -> Serve:
    """Returns a deployment with delays of these."""
    lowest = rng.randint(1, 4)
    return Serve(lowest, lowest + rng.randint(0, 30), rng.randint(1, 20), rng.choice(delays), rng.choice(delays))


@pytest.mark.parametrize("name", PARTS)
@trace_counts(30, parts=20, of=PARTS)
def test_without_delays_each_decision_is_the_autoscalers(name: str, traces: int) -> None:
    rng = source(4)
    for _ in range(traces):
        serve = drawn(rng, delays=(0,))
        loop, memory, replicas = part(serve, name), Memory(), serve.lowest
        for step in range(20):
            total = rng.randint(0, 2 * serve.target * serve.highest)
            wanted = serve.decision(replicas, total)
            value = decide(loop, seen(total, replicas, step * PERIOD), memory, True, replicas, replicas).value
            assert value == wanted, (serve, step, total)
            replicas = wanted


@pytest.mark.parametrize("name", PARTS)
@trace_counts(30, parts=20, of=PARTS)
def test_from_one_load_to_another_it_moves_when_and_as_far_as_the_autoscaler(name: str, traces: int) -> None:
    rng = source(5)
    for _ in range(traces):
        serve = drawn(rng, delays=(0, 10, 30, 60, 120))
        loop, memory = part(serve, name), Memory()
        before, after = (rng.randint(0, 2 * serve.target * serve.highest) for _ in range(2))
        settled = max(serve.lowest, min(serve.highest, math.ceil(Fraction(before, serve.target))))
        plain = mine = settled
        for step in range(28):
            total = before if step < 13 else after
            value = decide(loop, seen(total, mine, step * PERIOD), memory, True, mine, mine).value
            mine = plain = serve.decision(plain, total)
            assert value == mine, (serve, before, after, step)
            for _ in range(TICKS - 1):  # decisions on the same report, until the next one
                plain = serve.decision(plain, total)
