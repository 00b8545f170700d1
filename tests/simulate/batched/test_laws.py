"""One sample at many points at once: each point is the exact sample of that point, and memories by hand."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from coherence.language.expressions import parse
from coherence.language.expressions.tree import Name, Tree
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import SampledLoop
from coherence.simulate.batched.laws import Memories, Sample, clip, round_up, whole
from coherence.simulate.execute import laws
from tests.verify.systems.relation import plant

ROW = np.array([0.0, 1.0, 2.5, 4.0, 6.0, 9.0, 15.0])


def loop_of(**design: str) -> SampledLoop:
    (loop,) = elaborate(read_text(plant(**design))).loops
    return loop


def test_what_is_whole_but_for_rounding_is_that_number() -> None:
    assert round_up(np.array([2.0, 2.1, 3.0000000000001, -0.5])).tolist() == [2, 3, 3, 0]
    assert whole(np.floor, np.array([2.0, 2.9, 2.9999999999999])).tolist() == [2, 2, 3]


def test_values_are_kept_within_bounds() -> None:
    assert clip(ROW, loop_of(bounds="[1, 6]")).tolist() == [1, 1, 2.5, 4, 6, 6, 6]
    text = plant().replace("bounds: [0, 20], ", "")
    (free,) = elaborate(read_text(text)).loops
    assert clip(ROW - 5, free).tolist() == (ROW - 5).tolist()


def test_a_condition_must_have_held_at_every_sample_of_its_window() -> None:
    memory, x = Memories(3), parse("x > 3")
    truths = [[True, False, True], [True, True, False], [True, True, True], [True, True, True]]
    held = [memory.held(x, np.array(now), Fraction(2 * k), Fraction(4)).tolist() for k, now in enumerate(truths)]
    # true since 0, 2 and 4 s: for four seconds at 4, 6 and 8 s
    assert held == [[False] * 3, [False] * 3, [True, False, False], [True, True, False]]


def test_the_value_before_is_itself_at_the_first_sample() -> None:
    memory, x = Memories(2), Name("x")
    rows = [np.array([1.0, 2.0]), np.array([3.0, 5.0]), np.array([4.0, 4.0])]
    seen = [memory.previous_of(x, row, Fraction(k)).tolist() for k, row in enumerate(rows)]
    assert seen == [[1, 2], [1, 2], [3, 5]]
    assert memory.previous_of(x, rows[2], Fraction(2)).tolist() == [3, 5]  # asked again at the same sample


class View:
    """An environment of one point in which x has a value."""

    def __init__(self, x: float, time: Fraction) -> None:
        self.x, self.time = Fraction(x), time

    def value(self, path: str) -> Fraction:
        assert path == "plant.x"
        return self.x


def reader(x: np.ndarray) -> Callable[[Tree], Any]:
    from coherence.language.expressions.lower_numpy import lower_numpy

    return lambda tree: lower_numpy(tree, {"plant.x": x})


def rate(*limits: str) -> str:
    return f", rate: [{', '.join(f'{{{limit}}}' for limit in limits)}]"


@pytest.mark.parametrize(
    "design",
    [
        {},
        {"trigger": "trigger: x > 3"},
        {"trigger": "trigger: {enter: x >= 6, leave: x <= 2}"},
        {"limits": ", mode: once"},
        {"trigger": "rules: [{when: x > 6, by: -2}, {when: x < 3, to: 9}]", "law": "mode: always"},
        {"law": "law: step, by: 2"},
        {"times": ", cooldown: 1.5 s"},
        {"times": ", hold_down: 2 s"},
        {"times": ", hold_up: 2 s"},
        {"times": ", hold_down: 1 s, hold_up: 2 s"},
        {"limits": rate("by: 2, per: 1 s")},
        {"limits": rate("by: 3, per: 2 s, way: up")},
        {"limits": rate("by: 3, per: 2 s, way: down")},
        {"limits": rate("by: 1, per: 1 s", "by: 5, per: 2 s")},
        {"limits": rate("percent: 50 %, per: 1 s"), "first": "4"},
        {"trigger": "target: {signal: x, setpoint: 4, tolerance: 30 %}", "law": "law: proportional",
         "bounds": "[2, 18]", "first": "5"},
        {"trigger": "target: {signal: x, setpoint: 4}", "law": "law: proportional", "bounds": "[2, 18]", "first": "1"},
    ],
)  # fmt: skip
def test_every_point_is_the_exact_sample_of_that_point(design: dict[str, str]) -> None:
    loop = loop_of(**design)
    first = float(design.get("first", "0"))
    many, exact = Memories(len(ROW)), [laws.Memory() for _ in ROW]
    modes, commands = np.zeros(len(ROW), bool), np.full(len(ROW), first)
    single = [(False, Fraction(first)) for _ in ROW]
    for step in range(8):
        x, time = (ROW * (step + 1)) % 13, Fraction(step)
        sample = Sample(loop, time, reader(x), lambda *_: None, many, commands, commands)
        decided = sample.decide(modes)
        modes = np.broadcast_to(decided.mode, ROW.shape)
        changed = decided.writes & (decided.value != commands)
        commands = np.where(decided.writes, decided.value, commands)
        many.changed = np.where(changed, float(time), many.changed)
        for point, (mode, command) in enumerate(single):
            memory = exact[point]
            choice = laws.decide(loop, View(float(x[point]), time), memory, mode, command, command)  # type: ignore[arg-type]
            after = command if choice.value is None else Fraction(choice.value)
            memory.changed = time if after != command else memory.changed
            single[point] = (choice.mode, after)
        assert commands.tolist() == pytest.approx([float(command) for _, command in single]), step
        assert [bool(mode) for mode in modes] == [mode for mode, _ in single], step
