"""Laws with kinks: written by absolute values they are the same laws, and proofs agree with plain runs.

The oracle is a recursion of its own: one lag between samples is exact, x' = (a + b u - x) / T with u held.
"""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from coherence.base.solver import recheck
from coherence.language.expressions.evaluate import evaluate
from coherence.language.reading import read_text
from coherence.loops.designs.equilibria import AtRest
from coherence.loops.settling.kinked_laws import bent_everywhere
from coherence.loops.settling.settling_proofs import FROM_EVERY_START, Settling, settling
from coherence.model.elaborate import elaborate

ROOM = """coherence: 1
components: {{room: {{state: "temp' = (10 + 2 * heater.power - room.temp) / 300 s", from: 15}}}}
loops:
  ctl:
    timescale: {{period: 60 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: heater.power, law: {law}, bounds: [0, 100], from: 5}}
"""
SEEN = "(delayed(room.temp, 60 s) - 20)"
EDGE = 1 / (2 * (1 - math.exp(-0.2)))  # the gain at which the law on a reading a minute old swings for ever
TURNS = (cmath.exp(1j * k * math.pi / 20_000) for k in range(20_001))
FALLS = -1 / min((1 / EDGE / (z * (z - math.exp(-0.2)))).real for z in TURNS)  # below it a form falls: circle criterion
Law = Callable[[float], float]  # what is commanded, of the reading's error


def proof_of(law: str) -> Settling:
    return settling(elaborate(read_text(ROOM.format(law=law), "design.yaml")))


def settles(law: Law, start: float) -> bool:
    """Decides whether the plain run comes to 20 degrees."""
    kept, before, now = math.exp(-0.2), start, start
    for _ in range(4_000):
        power = min(max(law(before - 20), 0.0), 100.0)
        before, now = now, (10 + 2 * power) + (now - 10 - 2 * power) * kept
    return abs(now - 20) < 1e-6


def dead(error: float, band: float) -> float:
    return error - max(-band, min(band, error))


def laws(gain: float, band: float) -> dict[str, tuple[str, Law]]:
    """Returns the text of laws with kinks, and the same as functions."""
    g, b = f"{gain:.6f}", f"{band:.3f}"
    return {
        "dead band": (
            f'set, to: "5 - {g} * ({SEEN} - max(-{b}, min({b}, {SEEN})))"', lambda e: 5 - gain * dead(e, band),
        ),
        "two slopes": (f'set, to: "5 - {g} * max({SEEN}, {SEEN} / 4)"', lambda e: 5 - gain * max(e, e / 4)),
        "size": (f'set, to: "5 - {g} * ({SEEN} + abs({SEEN})) / 2"', lambda e: 5 - gain * (e + abs(e)) / 2),
        "saturation": (
            f'set, to: "5 - max(-{b}, min({b}, {g} * {SEEN}))"', lambda e: 5 - max(-band, min(band, gain * e))
        ),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dead band", "two slopes", "size", "saturation"])
def test_up_to_the_circle_criterion_a_law_is_proved_and_beyond_the_edge_it_is_not(kind: str) -> None:
    assert 0.5 * EDGE < FALLS < EDGE
    text, _ = laws(0.98 * FALLS, 0.8)[kind]
    proof = proof_of(text)
    assert proof.start == FROM_EVERY_START, proof.how
    assert "every side of its kinks" in proof.how
    assert proof.point["room.temp"] == 20
    assert recheck(proof.script).unsat
    text, _ = laws(1.05 * EDGE, 0.8)[kind]
    assert not proof_of(text).start


def test_the_rewritten_law_has_the_values_of_the_stated_one() -> None:
    text, law = laws(0.7, 0.8)["dead band"]
    model = elaborate(read_text(ROOM.format(law=text), "design.yaml"))
    bent = bent_everywhere(model)
    assert len(bent.bends) == 2
    for error in (-3.0, -0.8, 0.0, 0.3, 2.5):
        values: dict[str, object] = {"room.temp": Fraction(20) + Fraction(str(error)), "heater.power": Fraction(5)}
        for name, inner in bent.bends.items():
            values[name] = abs(evaluate(inner, AtRest(bent.model, values)))
        tree = bent.model.loops[0].to
        assert tree is not None
        assert float(evaluate(tree, AtRest(bent.model, values))) == pytest.approx(law(error), abs=1e-9)


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (f'set, to: "5 - 0.5 * (0 if abs({SEEN}) < 1 else {SEEN})"', "no sum of signals"),
        (f'set, to: "5 - 0.1 * {SEEN} * {SEEN}"', "no sum of signals"),
        ('set, to: "5 - 0.5 * mean_over(max(room.temp, 20), 60 s)"', "no sum of signals"),
    ],
)
def test_what_jumps_or_multiplies_is_not_proved(law: str, why: str) -> None:
    proof = proof_of(law)
    assert not proof.start
    assert why in proof.how


def test_kinks_of_one_reading_at_different_places_are_not_one() -> None:
    """By hand: the law is flat outside of 1 degree; taken as one kink its two sides would cancel everywhere."""
    g = f"{1.3 * EDGE:.6f}"
    law = f'set, to: "5 - {g} * (max({SEEN}, -1) - max({SEEN}, 1))"'
    assert not proof_of(law).start


def contradiction(seed: int) -> str:
    """Returns `wrong` where a plain run from some start does not come to where a proof says."""
    draw = random.Random(seed)  # noqa: S311  (no secret)
    kind = draw.choice(["dead band", "two slopes", "size", "saturation"])
    text, law = laws(round(draw.uniform(0.1, 1.3) * EDGE, 6), round(draw.uniform(0.2, 3), 3))[kind]
    proof = proof_of(text)
    if not proof.start:
        return "open"
    starts = [draw.uniform(-50, 150) for _ in range(6)]
    return "proved" if all(settles(law, start) for start in starts) else "wrong"


@pytest.mark.slow
def test_no_proof_of_a_law_with_kinks_is_wrong() -> None:
    answers = [contradiction(seed) for seed in range(24)]
    assert "wrong" not in answers
    assert answers.count("proved") >= 6
