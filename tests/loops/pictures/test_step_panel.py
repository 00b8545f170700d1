"""Answers to a step: closed forms with delay, recursions of sampled loops, and none of what is unstable."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.interchange.open_loop import opened_at
from coherence.loops.networks.network import Block, Coupling, loop, network
from coherence.loops.pictures.step_panel import step_of_lap, step_of_network, step_panel


def test_a_delayed_loop_answers_as_its_method_of_steps() -> None:
    """x' = 1 - x(t - 1), seen 1 s later: t, then t - (t - 1)^2 / 2."""
    time, course = step_of_network(loop([1.0], [1.0, 0.0], delay=1.0), "loop", 6.0)
    late = time - 1
    expected = np.where(late < 0, 0, np.where(late < 1, late, late - np.maximum(late - 1, 0) ** 2 / 2))
    early = time < 3
    assert course[early] == pytest.approx(expected[early], abs=3e-3)


def test_a_sampled_loop_answers_as_its_recursion() -> None:
    net = network([Block("plant", (0.5,), (1.0, 0.0), 0.0, rate=2.0)], [Coupling("plant", "plant", -1)])
    lap = opened_at(net, "plant").sampled
    assert lap is not None
    time, course = step_of_lap(lap, 5)  # y+ = y + 1 * (1 - y)
    assert time.tolist() == [0, 2, 4, 6, 8]
    assert course.tolist() == pytest.approx([0, 1, 1, 1, 1])


@pytest.mark.parametrize(("gain", "drawn"), [(1.0, ["loop"]), (2.0, [])])
def test_an_unstable_loop_with_a_delay_has_no_step(gain: float, drawn: list[str]) -> None:
    """The critical gain is pi / 2; the transform of what grows was inverted to an answer that settles."""
    panel = step_panel([opened_at(loop([gain], [1.0, 0.0], delay=1.0), "loop")])
    assert [line.name for line in panel.lines] == drawn


def test_the_answer_of_a_slow_loop_is_drawn_to_its_end() -> None:
    (line,) = step_panel([opened_at(loop([1e-4], [1.0, 0.0]), "loop")]).lines
    assert line.points[-1][0] == pytest.approx(6e4, rel=0.01)
    assert line.points[-1][1] == pytest.approx(1, abs=0.01)


def test_an_unstable_sampled_loop_has_no_step() -> None:
    net = network([Block("plant", (1.5,), (1.0, 0.0), 0.0, rate=2.0)], [Coupling("plant", "plant", -1)])
    panel = step_panel([opened_at(net, "plant")])
    assert panel.lines == ()
    assert panel.x == "time, s"
