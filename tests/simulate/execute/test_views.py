"""What a scrape shows at its own instant: the same as until the next one, whoever has decided there before."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.batched.executor import execute_many
from coherence.simulate.execute.certificates.run_frames import Frame, RunFrames, number_of
from coherence.simulate.execute.exact import Choices, Execution, execute

F = Fraction
WRITER = """coherence: 1
components: {{a: {{x: 0}}, w: {{r: 0}}}}
loops:
  up:
    rank: 0
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: always
    actuation: {{signal: a.u, law: step, by: 1, bounds: [0, 1000], from: 10}}
  reader:
    rank: 1
    timescale: {{period: 1 s, phase: 0 s}}
    target: {{signal: a.u, setpoint: 1, sensor: [{sensor}]}}
    rules: [{{when: a.u >= 13, to: 1}}, {{when: a.u < 13, to: 0}}]
    actuation: {{signal: w.r, bounds: [0, 1], from: 0}}
"""
SHOWN = [
    # at second t, `up` makes t + 10 of it t + 11; the reader comes after it in the same instant
    ("scrape 2 s", [0, 0, 0, 0, 1, 1, 1]),  # sees 10, 10, 12, 12, 14, 14
    ("scrape 3 s", [0, 0, 0, 1, 1, 1, 1]),  # sees 10, 10, 10, 13
    ("scrape 2 s, max 1 s", [0, 0, 0, 0, 1, 1, 1]),
]


@pytest.mark.parametrize(("sensor", "expected"), SHOWN)
def test_what_is_decided_at_the_instant_of_a_scrape_is_in_the_next_one(sensor: str, expected: list[int]) -> None:
    model = elaborate(read_text(WRITER.format(sensor=sensor)))
    run = execute(model, Choices(), until=F(6))
    assert [instant.after["w.r"] for instant in run] == expected
    many = execute_many(model, {"a.x": [F(0), F(1)]}, until=F(6))
    assert many.series["w.r"].tolist() == [[level, level] for level in expected]


def test_the_formulas_of_a_certificate_read_it_so_too() -> None:
    model = elaborate(read_text(WRITER.format(sensor="scrape 2 s")))
    run = execute(model, Choices(), until=F(6))
    frames = RunFrames(Execution(model, Choices()), run)
    measured = model.loops[1].measured
    assert measured is not None
    for frames.count, instant in enumerate(run):
        written = {**instant.sampled, "a.u": instant.after["a.u"]}
        frame = Frame(instant.time, written, "reader")
        assert number_of(frames.ground(measured, frame)) == 10 + 2 * (instant.time // 2)
