"""Runs of loops whose signal limits count, beside a plain program that clips each value; and what they read."""

from fractions import Fraction
from random import Random

import pytest

from coherence.base.reads import recorded
from coherence.language.reading import read_text
from coherence.model.caps import lowered
from coherence.model.crossings import at_crossings
from coherence.model.elaborate import model_of
from coherence.simulate.execute.exact import Execution

PLANT = """coherence: 1
components:
  plant: {state: "q' = max(0, q + GROWS - 2 * fleet.size)", step: 10 s, from: 9}
loops:
  first:
    rank: 1
    timescale: {period: 20 s, phase: 10 s}
    rules: [{when: plant.q > UP, by: BY}, {when: plant.q <= 4, by: -1}]
    actuation: {signal: fleet.size, bounds: [0, 12], from: 1}
  second:
    rank: 2
    timescale: {period: 30 s, phase: 0 s}
    trigger: plant.q > 20
    actuation: {signal: fleet.size, law: set, to: 11, bounds: [0, 12]}
limits:
  cap: {counts: fleet.size, at_most: CAP, when_full: WORD}
"""


def drawn(seed: int) -> tuple[str, dict[str, int]]:
    """Returns a design and its numbers."""
    rng = Random(seed)  # noqa: S311
    numbers = {"GROWS": rng.randint(5, 24), "UP": rng.randint(6, 15), "BY": rng.randint(1, 4)}
    numbers |= {"CAP": rng.randint(1, 12)}
    text = PLANT.replace("WORD", rng.choice(["reject", "wait"]))
    for name, number in numbers.items():
        text = text.replace(name, str(number))
    return text, numbers


def plain_run(numbers: dict[str, int], until: int) -> list[tuple[int, int]]:
    """Returns the size and the state after each 10 s."""
    q, size, points = 9, 1, []
    for now in range(0, until + 1, 10):
        if now % 20 == 10:
            size += numbers["BY"] if q > numbers["UP"] else -1 if q <= 4 else 0
            size = min(max(size, 0), 12, numbers["CAP"])
        if now % 30 == 0 and q > 20:
            size = min(11, numbers["CAP"])
        q = max(0, q + numbers["GROWS"] - 2 * size)
        points.append((size, q))
    return points


@pytest.mark.parametrize("seed", range(30))
def test_runs_are_those_of_a_program_that_clips(seed: int) -> None:
    text, numbers = drawn(seed)
    run = Execution(model_of(read_text(text)))
    instants = [run.advance() for _ in range(120)]
    assert [instant.time for instant in instants] == [Fraction(10 * number) for number in range(120)]
    shown = [(instant.after["fleet.size"], instant.after["plant.q"]) for instant in instants]
    assert shown == plain_run(numbers, 1190)


def bounds_of(limit: str, start: int = 1) -> tuple[object, object, frozenset[str]]:
    """Returns the bounds of a loop beside a limit, and the limits that they are made of."""
    actuation = f"{{signal: fleet.size, law: step, by: 1, bounds: [1, 12], from: {start}}}"
    loop = f"{{timescale: {{period: 1 s}}, trigger: web.load > 1, actuation: {actuation}}}"
    design = read_text(f"coherence: 1\nloops:\n  up: {loop}\nlimits:\n  cap: {limit}\n")
    [sampled] = model_of(design).loops
    with recorded() as reads:
        bounds = sampled.bounds
    return bounds.low, bounds.high, lowered(design, reads.all())


@pytest.mark.parametrize(
    ("limit", "high"),
    [
        ("{counts: fleet.size, at_most: 5, when_full: reject}", 5),
        ("{counts: fleet.size, at_most: 5.5, when_full: wait}", 5),
        ("{counts: fleet.size, at_most: 5, but_at_least: 7, when_full: wait}", 7),
        ("{counts: fleet.size, at_most: 15, when_full: reject}", 12),
        ("{counts: fleet.size, at_most: 0, when_full: reject}", 12),  # below what the loop keeps
        ("{counts: fleet.size, at_most: 5}", 12),
        ("{counts: fleet.size, at_most: 5, when_full: fail and lose}", 12),
        ("{counts: fleet.size, at_most: 5, per: zone, when_full: reject}", 12),
        ("{counts: fleet.size, at_most: 5, window: 1 min, when_full: reject}", 12),
        ("{counts: fleet.size, at_most: 5 .. 6, when_full: reject}", 12),
        ("{counts: other.size, at_most: 5, when_full: reject}", 12),
    ],
)
def test_bounds_end_where_a_limit_turns_away(limit: str, high: int) -> None:
    binding = "at_most: 15" in limit or high < 12
    assert bounds_of(limit) == (1, high, frozenset({"cap"} if binding else ()))


def test_what_begins_beyond_a_limit_is_not_brought_down() -> None:
    assert bounds_of("{counts: fleet.size, at_most: 5, when_full: reject}", start=6) == (1, 12, frozenset())


@pytest.mark.parametrize(("limit", "on"), [(8, 8), (20, 12)])
def test_what_is_set_at_a_crossing_ends_at_the_limit(limit: int, on: int) -> None:
    text = f"""coherence: 1
components: {{tank: {{state: "level' = 1 - pump.rate", from: 0}}}}
loops:
  pump:
    trigger: {{enter: tank.level > 9, leave: tank.level < 2}}
    actuation: {{signal: pump.rate, law: set, to: 15, bounds: [0, 12], from: 0}}
limits: {{cap: {{counts: pump.rate, at_most: {limit}, when_full: reject}}}}
"""
    switch = at_crossings(model_of(read_text(text))).states["pump.rate"].switch
    assert switch is not None
    assert switch.on == on
