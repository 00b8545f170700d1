"""Loops that settle for every value of a range, beside the exact runs of many values of it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

import pytest

from coherence.base.solver import unsat
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.designs.range_rests import (
    PartRun,
    RangeRests,
    SampleRun,
    StillSwingingError,
    _outside,
    open_constants,
    rests_in_range,
)
from coherence.model.elaborate import model_of
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.parametric_numbers import plane_value
from coherence.simulate.execute.single_loop_runs import every_rest
from coherence.simulate.execute.starts import fixed_at
from tests.case_files import findings_of
from tests.draws import seeds

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


def only_range(own: Model) -> str:
    (path,) = open_constants(own)
    return path


def rests(own: Model) -> RangeRests:
    answer = rests_in_range(own, laps=LAPS, most=MOST, starts=200)
    assert answer is not None
    return answer


def settles_at(own: Model, value: Fraction) -> bool:
    """Decides by the exact runs of every start at one value."""
    path = only_range(own)
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


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_a_proof_over_a_range_is_one_at_each_value_of_it(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    proofs, swinging = 0, list[tuple[Model, Fraction]]()
    for _ in range(3):
        between, values = random_design(random)
        own = model(between, **values)
        span = own.constants[only_range(own)].range
        assert span.low is not None
        assert span.high is not None
        try:
            answer = rests(own)
        except StillSwingingError as error:
            swinging.append((own, error.run.choices.values[only_range(own)]))
            continue
        proofs += 1
        ends = [end for samples in answer.samples for s in samples if isinstance(s, SampleRun)
                for end in (s.reach.low, s.reach.high)]  # fmt: skip
        drawn = [span.low + (span.high - span.low) * Fraction(random.randint(0, 997), 997) for _ in range(6)]
        for value in (*random.sample(ends, min(4, len(ends))), *drawn):
            assert settles_at(own, value), (between, values, value)
        assert unsat(answer.script(), timeout_ms=20_000).unsat
    assert proofs + len(swinging) == 3
    assert not any(settles_at(*each) for each in swinging)


def test_the_values_that_stand_for_all_fill_the_range() -> None:
    own = model("gain: 0.5 .. 1", start=", from: 4")
    (samples,) = rests(own).samples
    single = (s.reach for s in samples if isinstance(s, SampleRun))
    reaches = sorted(single, key=lambda reach: (reach.low, not reach.with_low))
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


def test_three_ranges_are_refused() -> None:
    with pytest.raises(NotExactError, match="are ranges"):
        rests(model("gain: 0.5 .. 1, reading_gain: 0.9 .. 1.1", load="3 .. 4"))


# -- two ranges -------------------------------------------------------------------------------------------------


def two_ranges(random: Random) -> tuple[str, dict[str, object]]:
    """Returns a design with two of gain, reading gain and load as ranges."""

    def span(low: int, high: int, wide: int) -> str:
        start = Fraction(random.randint(low, high), 10)
        return f"{float(start)} .. {float(start + Fraction(random.randint(1, wide), 10))}"

    chosen = random.sample(["gain", "reading_gain", "load"], 2)
    between = ", ".join(f"{key}: {span(5, 11, 4)}" for key in chosen if key != "load")
    between += random.choice(["", ", added_delay: 20 s", ", reading_delay: 16 s", ", granularity: 2"])
    values: dict[str, object] = {
        "load": span(10, 40, 8) if "load" in chosen else random.randint(1, 4),
        "tolerance": random.choice([0, 5, 10, 20]),
        "hold": random.choice(["", ", hold_down: 30 s", ", hold_up: 16 s"]),
        "count": random.choice(["", "count: commanded, "]),
        "start": f", from: {random.randint(1, 9)}",
    }
    return between, values


def rests_at(own: Model, point: tuple[Fraction, ...]) -> bool:
    """Decides by the exact run at a value of each range."""
    fixed = fixed_at(own, Choices(dict(zip(open_constants(own), point, strict=True))))
    try:
        return every_rest(fixed, laps=LAPS, most=MOST, starts=20).starts > 0
    except NotExactError:
        return False


def points_of(answer: RangeRests, random: Random) -> list[tuple[Fraction, Fraction]]:
    """Returns points of a rectangle: drawn ones, and such on the borders at which comparisons turn."""
    (left, right), (low, high) = ((span.low or 0, span.high or 0) for span in answer.spans.values())
    drawn = [
        (
            left + (right - left) * Fraction(random.randint(0, 97), 97),
            low + (high - low) * Fraction(random.randint(0, 89), 89),
        )
        for _ in range(8)
    ]
    parts = [part for samples in answer.samples for part in samples if isinstance(part, PartRun)]
    borders = []
    for condition in (c for part in parts for c in part.decisions.conditions):
        x = left + (right - left) * Fraction(random.randint(0, 31), 31)
        at = [plane_value(condition.poly, (x, Fraction(y))) for y in (0, 1, 2)]
        straight = at[2] - at[1] == at[1] - at[0] != 0
        y = -at[0] / (at[1] - at[0]) if straight else Fraction(-1)
        borders += [(x, y)] if low <= y <= high else []
    return drawn + random.sample(borders, min(8, len(borders)))


@pytest.mark.parametrize("seed", seeds(2, 10))
def test_a_proof_over_two_ranges_is_one_at_each_of_their_values(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    proofs, swings = 0, 0
    for _ in range(4):
        between, values = two_ranges(random)
        own = model(between, **values)
        try:
            answer = rests(own)
        except StillSwingingError as error:
            point = tuple(error.run.choices.values[path] for path in open_constants(own))
            assert not rests_at(own, point)
            swings += 1
            continue
        except NotExactError:
            continue  # said, and left open
        proofs += 1
        for point in points_of(answer, random):
            assert rests_at(own, point), (between, values, point)
        assert unsat(answer.script(), timeout_ms=20_000).unsat
    assert proofs + swings >= 3


def test_the_parts_fill_the_rectangle_and_the_solver_finds_what_a_lattice_misses() -> None:
    own = model("gain: 0.5 .. 1, reading_gain: 0.9 .. 1.1", start=", from: 4")
    answer = rests(own)
    (parts,) = answer.samples
    assert answer.assumed.endswith("are each one unknown constant of its range")
    assert len(parts) > 4
    spans = answer.spans
    known = [part.decisions for part in parts if isinstance(part, PartRun)]
    point = _outside(spans, known[:3])
    assert point is not None
    assert not any(decisions.holds_at(point) for decisions in known[:3])
    assert any(decisions.holds_at(point) for decisions in known)
    assert _outside(spans, known) is None


# -- certainty --------------------------------------------------------------------------------------------------

SWINGING = """coherence: 1
components: {{pool: {{desired: 0 .. 12, load: 2.6 .. 6.6{gain}, util: "load / max(desired, 1)"}}}}
loops:
  hpa:
    target: {{signal: pool.util, setpoint: 100 %, tolerance: 10 %}}
    timescale: {{period: 15 s, phase: 0 s, lands: 35 s}}
    actuation: {{count: commanded, signal: pool.desired, bounds: [1, 12]{start}}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gain", "start"),
    [
        ("", ", from: 5"),
        pytest.param(", k: 0.9 .. 1.1", ", from: 5", marks=pytest.mark.slow),
        pytest.param("", "", marks=pytest.mark.slow),
    ],
)
def test_a_swing_at_each_end_of_a_range_is_not_certain_where_a_run_between_them_rests(gain: str, start: str) -> None:
    """Members 5 are right for a load of 5, and 3 for one of 2.6: no command is ever moved from there."""
    text = SWINGING.format(gain=gain, start=start)
    text = text.replace('"load /', '"k * load /') if gain else text
    (finding,) = findings_of(text, repairs=False, select=("COH301",))
    assert (str(finding.verdict), finding.certainty) == ("conflict", "possible")


def test_a_swing_from_the_only_start_is_certain() -> None:
    text = SWINGING.format(gain="", start=", from: 5").replace("2.6 .. 6.6", "6.6")
    (finding,) = findings_of(text, repairs=False, select=("COH301",))
    assert finding.certainty == "certain"
    assert not any("certain by" in text for text in finding.assumptions)
