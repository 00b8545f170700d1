"""The lap of a design that bends beside the executor, and what is folded away."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from coherence.language.reading import read_text
from coherence.loops.designs.bends import bent_lap, bent_network, feedbacks
from coherence.loops.designs.linear import skeleton
from coherence.loops.multirate.bent_laps import BentLap
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Choices, Execution

TEXT = """
coherence: 1
components:
  tank: {{state: "level' = {flow} / 10 s", from: 0}}
loops:
  ctl:
    timescale: {{period: 2 s, phase: {phase} s, lands: {lands} s}}
    trigger: always
    actuation: {{signal: valve.open, law: set, to: "{law}", bounds: [-100, 100], from: 0}}
"""


def smooth(law: str, flow: str = "(-valve.open)", phase: int = 0, lands: int = 0) -> Model:
    text = TEXT.format(law=law, flow=flow, phase=phase, lands=lands)
    return skeleton(elaborate(read_text(text, "design.yaml")))[0]


def lap_of(model: Model) -> BentLap:
    point = {path: Fraction(0) for path in (*model.states, *model.commands)}
    (part,) = feedbacks(bent_network(model, point))
    return bent_lap(part)


def levels(model: Model, count: int) -> list[float]:
    """Returns the tank's level at the ends of laps of an exact run."""
    run = Execution(model, Choices({"tank.level": Fraction(1), "valve.open": Fraction(1, 3)}))
    seen: list[float] = []
    while len(seen) < count:
        if run.next_time() > 2 * (len(seen) + 1):
            seen.append(float(plain(run.motion.move(run, Fraction(2 * (len(seen) + 1)))["tank.level"])))
        else:
            run.advance()
    return seen


@pytest.mark.parametrize("lands", [0, 1, 3])
@pytest.mark.parametrize(
    ("law", "flow"),
    [
        ("max(1 * tank.level, 3 * tank.level)", "(-valve.open)"),
        ("abs(delayed(tank.level, 3 s)) - 2 * tank.level", "valve.open"),
        ("2 * tank.level if tank.level > 0 else 0.5 * tank.level", "(-valve.open)"),
        ("2 * tank.level", "(-max(valve.open, 2 * valve.open))"),
        ("2 * tank.level", "(-min(valve.open, delayed(valve.open, 3 s)))"),
        ("max(tank.level, previous(tank.level), 2 * tank.level - 1 * previous(tank.level))", "(-valve.open)"),
        ("max(1 * tank.level, 2 * tank.level)", "(-min(valve.open, delayed(max(valve.open, 3 * valve.open), 1 s)))"),
    ],
)
def test_a_lap_carries_on_an_exact_run(law: str, flow: str, lands: int) -> None:
    """Of its state a run shows the level alone, which obeys the polynomial of one piece where it stays in that."""
    model = smooth(law, flow, lands=lands)
    lap, seen = lap_of(model), np.array(levels(model, 60))
    pieces = [np.poly(np.linalg.eigvals(lap.matrix(signs))) for signs in lap.signs]
    n = len(lap.end)
    rest = [min(abs(piece @ seen[k : k + n + 1][::-1]) for piece in pieces) for k in range(20, 50 - n)]
    scale = np.abs(seen).max()
    assert np.median(rest) < 1e-9 * scale


def test_what_only_looks_like_a_bend_is_folded() -> None:
    """max(0, min(x, 0)) is nothing, and |x| + |2 x| - ||x| - 3 x| is x."""
    nothing = "tank.level - max(0, min(tank.level, 0))"
    straight = "abs(tank.level) + abs(2 * tank.level) - abs(abs(tank.level) - 3 * tank.level)"
    for law in (nothing, straight):
        lap = lap_of(smooth(law))
        assert len(lap.seen) == 0
        assert lap.end == pytest.approx(np.array([[0.8]]))


def test_each_piece_is_the_lap_where_its_signs_hold() -> None:
    lap = lap_of(smooth("max(1 * delayed(tank.level, 2 s), 3 * delayed(tank.level, 2 s))", lands=1))
    x = np.random.default_rng(0).normal(size=(len(lap.end), 50))
    after, z = lap.step(x)
    for k in range(50):
        signs = np.where(z[:, k] >= 0, 1.0, -1.0)
        assert np.allclose(lap.matrix(signs) @ x[:, k], after[:, k])
        assert np.allclose(lap.compared(signs) @ x[:, k], z[:, k])
