"""Loops that settle for every value of a range, beside the exact runs of many values of it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

import pytest

from coherence.base.solver import unsat
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.designs.range_rests import RangeRests, StillSwingingError, open_constant, rests_in_range
from coherence.model.elaborate import model_of
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.single_loop_runs import every_rest
from coherence.simulate.execute.starts import fixed_at

TEXT = """coherence: 1
infrastructure: {{boundaries: {{vms: {{around: [pool], {between}}}}}}}
components: {{pool: {{desired: {low} .. {high}, load: {load}, util: "load / max(desired, 1)"}}}}
loops:
  hpa:
    inside: none
    target: {{signal: pool.util, setpoint: 50 %, tolerance: {tolerance} %}}
    timescale: {{period: 15 s, phase: 0 s{hold}}}
    actuation: {{signal: pool.desired, {count}bounds: [1, {high}]{start}}}
"""
LAPS, MOST = 160, 4_000


def model(between: str, **values: object) -> Model:
    given = {"low": 0, "high": 9, "load": 3, "tolerance": 10, "hold": "", "count": "", "start": ""} | values
    return model_of(read_text(TEXT.format(between=between, **given)))


def rests(own: Model) -> RangeRests:
    answer = rests_in_range(own, laps=LAPS, most=MOST, starts=200)
    assert answer is not None
    return answer


def settles_at(own: Model, value: Fraction) -> bool:
    """Decides by the exact runs of every start at one value."""
    path = open_constant(own)
    fixed = fixed_at(own, Choices({path: value}))
    assert fixed.constants[path].range == Interval(value, value)
    try:
        return every_rest(fixed, laps=LAPS, most=MOST, starts=200).starts > 0
    except NotExactError:
        return False


def random_design(random: Random) -> tuple[str, dict[str, object]]:
    low = Fraction(random.randint(2, 12), 10)
    ends = f"{float(low)} .. {float(low + Fraction(random.randint(1, 6), 10))}"
    between = f"{random.choice(['gain', 'reading_gain'])}: {ends}"
    between += random.choice(["", "", ", added_delay: 20 s", ", reading_delay: 16 s", ", granularity: 2"])
    values = {
        "load": random.randint(1, 4), "tolerance": random.choice([0, 1, 10, 20]),
        "hold": random.choice(["", ", hold_down: 30 s", ", hold_up: 16 s"]),
        "count": random.choice(["", "count: commanded, "]),
        "start": f", from: {random.randint(1, 9)}",
    }  # fmt: skip
    return between, values


@pytest.mark.parametrize("seed", range(12))
def test_a_proof_over_a_range_is_one_at_each_value_of_it(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    proofs, swinging = 0, list[tuple[Model, Fraction]]()
    for _ in range(3):
        between, values = random_design(random)
        own = model(between, **values)
        span = own.constants[open_constant(own)].range
        assert span.low is not None
        assert span.high is not None
        try:
            answer = rests(own)
        except StillSwingingError as error:
            swinging.append((own, error.run.choices.values[open_constant(own)]))
            continue
        proofs += 1
        ends = [end for samples in answer.samples for s in samples for end in (s.reach.low, s.reach.high)]
        drawn = [span.low + (span.high - span.low) * Fraction(random.randint(0, 997), 997) for _ in range(6)]
        for value in (*random.sample(ends, min(4, len(ends))), *drawn):
            assert settles_at(own, value), (between, values, value)
        assert unsat(answer.script(), timeout_ms=20_000).unsat
    assert proofs + len(swinging) == 3
    assert not any(settles_at(*each) for each in swinging)


def test_the_values_that_stand_for_all_fill_the_range() -> None:
    own = model("gain: 0.5 .. 1", start=", from: 4")
    (samples,) = rests(own).samples
    reaches = sorted((s.reach for s in samples), key=lambda reach: (reach.low, not reach.with_low))
    assert reaches[0].low == Fraction(1, 2)
    assert reaches[-1].high == 1
    for before, after in itertools.pairwise(reaches):
        assert before.high == after.low
        assert before.with_high != after.with_low


def test_a_swing_inside_a_range_whose_ends_settle_is_found() -> None:
    own = model("reading_gain: 0.9 .. 1.1, reading_delay: 16 s", load=4, start=", from: 4")
    assert settles_at(own, Fraction(9, 10))
    assert settles_at(own, Fraction(11, 10))
    with pytest.raises(StillSwingingError) as raised:
        rests(own)
    assert raised.value.run.orbit is not None
    assert raised.value.run.orbit.period == 90


def test_two_ranges_are_refused() -> None:
    with pytest.raises(NotExactError, match="are ranges"):
        rests(model("gain: 0.5 .. 1, reading_gain: 0.9 .. 1.1"))
