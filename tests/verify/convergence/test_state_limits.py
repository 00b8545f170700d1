"""Where states go while commands stand still, and loops on a state that integrates beside a plain simulation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval
from coherence.verify.convergence.command_graph import follow_commands
from coherence.verify.convergence.state_limits import FAR, limits_of
from tests.draws import few

SAMPLES = 3_000


NEAR = Interval(3 - Fraction(4, 10**9), 3 + Fraction(4, 10**9))


@pytest.mark.parametrize(
    ("flow", "limit"),
    [("3 - a.x", Interval(FAR, None)), ("1 - a.x", Interval(None, -FAR)), ("2 - a.x", None),
     ("8 - 2 * tank.q - a.x", NEAR), ("tank.q - a.x", None), ("8 - tank.q * tank.q - a.x", None)],
)  # fmt: skip
def test_a_state_goes_where_its_flow_takes_it(flow: str, limit: Interval | None) -> None:
    text = f"""coherence: 1
components: {{tank: {{state: "q' = ({flow}) / 1 s", from: 0}}}}
loops: {{up: {{timescale: {{period: 1 s}}, trigger: tank.q > 1, actuation: {{signal: a.x, by: 1, bounds: [0, 9]}}}}}}
"""
    model = elaborate(read_text(text, "design.yaml"))
    flows = {path: state.flow for path, state in model.states.items() if state.flow is not None}
    found = limits_of(model, flows, {"a.x": Interval(Fraction(2), Fraction(2))})
    assert found == ({} if limit is None else {"tank.q": limit})


@dataclass(frozen=True)
class DrawnQueue:
    """A queue that fills by `rate` and drains by `each` for every worker, and loops that step the workers by it."""

    rate: int
    each: int
    start: int
    loops: tuple[tuple[int, str, int, int], ...]  # period, side, level, step
    bounds: tuple[int, int]

    @property
    def text(self) -> str:
        low, high = self.bounds
        lines = "".join(
            f"  loop{n}: {{timescale: {{period: {period} s}}, trigger: queue.length {side} {level}, actuation: "
            f"{{signal: pool.workers, law: step, by: {step}, bounds: [{low}, {high}], from: {self.start}}}}}\n"
            for n, (period, side, level, step) in enumerate(self.loops)
        )
        flow = f"{self.rate} / 1 s - {self.each} / 1 s * pool.workers"
        return f'coherence: 1\ncomponents: {{queue: {{state: "length\' = {flow}", from: 20}}}}\nloops:\n{lines}'

    def last_changes(self, random: Random) -> list[int]:
        """Returns the directions of all changes in the last third of a run."""
        low, high = self.bounds
        length, workers, at = Fraction(20), self.start, Fraction(0)
        due = [Fraction(random.randint(0, 4 * period), 4) for period, *_ in self.loops]
        late: list[int] = []
        for sample in range(SAMPLES):
            n = min(range(len(due)), key=lambda i: (due[i], random.random()))
            length += (due[n] - at) * (self.rate - self.each * workers)
            at = due[n]
            period, side, level, step = self.loops[n]
            due[n] += period
            if length < level if side == "<" else length > level:
                after = min(high, max(low, workers + step))
                if after != workers and sample > SAMPLES * 2 // 3:
                    late.append(after - workers)
                workers = after
        return late


def drawn(random: Random) -> DrawnQueue:
    """Draws two or three loops, whose thresholds and bounds may leave no way to rest, or one only."""
    loops = tuple(
        (random.randint(1, 4), random.choice("<>"), random.randint(0, 60), random.choice([-2, -1, 1, 2]))
        for _ in range(random.choice([2, 2, 3]))
    )
    low = random.randint(0, 3)
    bounds = (low, low + random.randint(2, 6))
    return DrawnQueue(random.randint(0, 14), random.randint(1, 3), random.randint(*bounds), loops, bounds)


def counted(seed: int, count: int) -> tuple[int, int]:
    """Returns how many drawn queues come to rest by proof, and how many never do; asserts that runs say the same."""
    random = Random(seed)  # noqa: S311
    rest = never = 0
    for _ in range(count):
        queue = drawn(random)
        model = elaborate(read_text(queue.text, "design.yaml"))
        answer = follow_commands(model, model.loops, lambda: False)
        runs = [queue.last_changes(random) for _ in range(2)]
        if answer is not None and answer.rests:
            assert not any(runs), queue.text
        elif answer is not None:
            assert all(runs), queue.text
        rest, never = rest + bool(answer and answer.rests), never + (answer is not None and not answer.rests)
    return rest, never


@pytest.mark.slow
def test_loops_on_a_queue_rest_or_swing_as_is_proved() -> None:
    rest, never = counted(1, 40)
    assert rest > 5
    assert never > 3


@pytest.mark.slow
def test_many_loops_on_a_queue_rest_or_swing_as_is_proved() -> None:
    number = few(600)
    rest, never = counted(2, number)
    assert 8 * rest > number
    assert 40 * never > 3 * number
