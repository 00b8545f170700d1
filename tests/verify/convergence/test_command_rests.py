"""Proofs that loops come to rest beside a plain simulation of the same loops, with late looks and uneven samples."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from coherence.base.solver import unsat
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.convergence.command_rests import CommandCrossing, CommandRest, command_rests
from tests import draws

LOW, HIGH = 1, 40
READINGS = {"{k} * {x}": 1, "min(30, {k} * {x})": 1, "{k} * 100 / {x}": -1, "{k} * 10 - {x}": -1}
SAMPLES, RUNS, EIGHTHS = 600, 4, 8


@dataclass(frozen=True)
class DrawnLoop:
    """A loop that changes x by `by`, or sets it to `to`, where the reading is below (-1) or above (1) a level."""

    period: int
    delay: int
    window: int
    cooldown: int
    side: int
    level: Fraction
    by: int
    to: int | None

    def text(self, name: str, lands: int) -> str:
        reading = f"delayed(plant.y, {self.delay} s)" if self.delay else "plant.y"
        reading = f"mean_over({reading}, {self.window} s)" if self.window else reading
        change = f"law: step, by: {self.by}" if self.to is None else f"law: set, to: {self.to}"
        trigger = f"{reading} {'<' if self.side < 0 else '>'} {float(self.level)}"
        scale = f"period: {self.period} s, cooldown: {self.cooldown} s, lands: {lands} s"
        return (
            f'  {name}: {{timescale: {{{scale}}}, trigger: "{trigger}", '
            f"actuation: {{signal: job.x, {change}, bounds: [{LOW}, {HIGH}]}}}}\n"
        )


@dataclass(frozen=True)
class DrawnDesign:
    """Loops that write one number, and a reading of it with a factor between two ends."""

    loops: tuple[DrawnLoop, ...]
    reading: str
    factors: tuple[Fraction, Fraction]
    lands: int

    @property
    def text(self) -> str:
        y = self.reading.format(k="plant.k", x="job.x")
        low, high = map(float, self.factors)
        plant = f'coherence: 1\ncomponents: {{plant: {{k: {low} .. {high}, y: "{y}"}}}}\nloops:\n'
        return plant + "".join(loop.text(f"loop{n}", self.lands) for n, loop in enumerate(self.loops))

    def read(self, x: Fraction, k: Fraction) -> Fraction:
        values = {"{k} * {x}": k * x, "min(30, {k} * {x})": min(Fraction(30), k * x), "{k} * 10 - {x}": k * 10 - x}
        return values[self.reading] if self.reading in values else k * 100 / x


def drawn(random: Random) -> DrawnDesign:
    """Draws two or three loops whose thresholds lie near each other, in steps or by values."""
    reading = random.choice(list(READINGS))
    low = Fraction(random.randint(2, 6), 4)
    factors = (low, low + random.choice([Fraction(0), Fraction(1, 4)]))
    middle = random.randint(8, 24)
    apart = Fraction(random.choice([0, 1, 1, 2, 3, 4, 6, 9, 14]))
    loops = []
    for n in range(random.choice([2, 2, 2, 3])):
        raises = n % 2 == 0
        direction = 1 if raises else -1
        at = Fraction(middle) - direction * apart / 2
        design = DrawnDesign((), reading, factors, 0)
        level = design.read(at, factors[0]).limit_denominator(64)
        by = direction * random.choice([1, 1, 2, 3])
        to = None if random.random() < 0.8 else middle + direction * random.randint(0, 3)
        side = -direction * READINGS[reading]
        late = random.random() < 0.6
        delay, window = (random.choice([0, 2, 5, 9]), random.choice([0, 0, 4])) if late else (0, 0)
        cooldown = random.choice([0, 0, 7, 20])
        loops.append(DrawnLoop(random.randint(1, 6), delay, window, cooldown, side, level, by, to))
    lands = random.choice([0, 0, 0, 3])
    return DrawnDesign(tuple(loops), reading, factors, lands)


def run_of(design: DrawnDesign, random: Random, *, uneven: bool) -> list[tuple[int, int]]:
    """Returns (sample, direction) of each change in a run: samples as stated, or farther apart and looks younger.

    Times are whole eighths of a second, and readings and levels are multiplied to whole numbers.
    """
    k = random.choice(design.factors)
    start = random.randint(LOW, HIGH)
    exact = {x: design.read(Fraction(x), k) for x in range(LOW, HIGH + 1)}
    whole = math.lcm(*(one.denominator for one in (*exact.values(), *(loop.level for loop in design.loops))))
    read = {x: int(one * whole) for x, one in exact.items()}
    levels = [int(loop.level * whole) for loop in design.loops]
    times, values = [-(10**9) * EIGHTHS], [start]  # of x as commanded
    due = [random.randint(0, EIGHTHS * loop.period) for loop in design.loops]
    changed: list[int | None] = [None] * len(design.loops)
    changes: list[tuple[int, int]] = []

    def value(at: int) -> int:
        return values[bisect_right(times, at) - 1]

    for sample in range(SAMPLES):
        n = min(range(len(due)), key=lambda i: (due[i], random.random()))
        now, loop = due[n], design.loops[n]
        due[n] += EIGHTHS * loop.period + (random.randint(0, 4) * EIGHTHS // 2 if uneven else 0)
        young = random.randint(0, EIGHTHS) if uneven else EIGHTHS
        seen = now - young * (loop.delay + design.lands)
        window = EIGHTHS * loop.window
        if window:
            cuts = [seen - window, *(t for t in times if seen - window < t < seen), seen]
            above = sum((b - a) * read[value(a)] for a, b in pairwise(cuts)) - window * levels[n]
        else:
            above = read[value(seen)] - levels[n]
        last = changed[n]
        if above * loop.side <= 0 or (last is not None and now - last <= EIGHTHS * loop.cooldown):
            continue
        x = value(now)
        after = min(HIGH, max(LOW, loop.to if loop.to is not None else x + loop.by))
        if after != x:
            times[:], values[:] = [*times[-59:], now], [*values[-59:], after]
            changed[n] = now
            changes.append((sample, 1 if after > x else -1))
    return changes


def is_endless(changes: list[tuple[int, int]]) -> bool:
    """Decides whether x turns three times or more in the second half; who comes to rest turns early or hardly ever."""
    late = [direction for sample, direction in changes if sample > SAMPLES // 2]
    return sum(1 for one, other in pairwise(late) if one != other) >= 3


def counted(seed: int, count: int) -> tuple[int, int, int]:
    """Returns how many designs are proved, and are seen to swing, of some; asserts that none is both."""
    random = Random(seed)  # noqa: S311
    proved = swings = known = 0
    for _ in range(count):
        design = drawn(random)
        model = elaborate(read_text(design.text, "design.yaml"))
        rests, crossing = command_rests(model, model.loops, math.inf)
        seen = [run_of(design, random, uneven=uneven) for uneven in [False, True] * (RUNS // 2)]
        endless = any(map(is_endless, seen))
        assert not (rests and endless), design.text
        proved, swings, known = proved + bool(rests), swings + endless, known + (crossing is not None)
        for rest in rests:
            assert unsat(rest.script, timeout_ms=5_000).unsat
    return proved, swings, known


@pytest.mark.slow
def test_what_is_proved_to_rest_never_swings_and_what_swings_is_never_proved() -> None:
    proved, swings, known = counted(1, 60)
    assert proved > 10
    assert swings > 10
    assert known > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", draws.drawn(range(2, 7), parts=5))
def test_many_drawn_designs_that_are_proved_to_rest_never_swing(seed: int) -> None:
    proved, swings, _ = counted(seed, 400)
    assert proved > 80
    assert swings > 40


BAND = """coherence: 1
components: {{row: {{demand: 230 kW, power: "min(row.demand, row.cap)"}}}}
loops:
  raise:
    timescale: {{period: 3 s{more}}}
    trigger: "delayed(row.power, {delay} s) < {low} kW"
    actuation: {{signal: row.cap, law: step, by: 20 kW, bounds: [100 kW, 250 kW]}}
  lower:
    timescale: {{period: 3 s{more}}}
    trigger: "delayed(row.power, {delay} s) > 190 kW"
    actuation: {{signal: row.cap, law: step, by: -30 kW, bounds: [100 kW, 250 kW]}}
"""


def band(low: float, delay: int, more: str = "") -> CommandRest | CommandCrossing | None:
    model = elaborate(read_text(BAND.format(low=low, delay=delay, more=more), "design.yaml"))
    rests, crossing = command_rests(model, model.loops, math.inf)
    return rests[0] if rests else crossing


@pytest.mark.parametrize(
    ("delay", "more", "narrowest"),
    [(0, "", 20), (2, "", 20), (3, "", 40), (6, "", 60), (6, ", cooldown: 6 s", 20), (6, ", cooldown: 5 s", 40),
     (0, ", lands: 3 s", 40), (3, ", lands: 3 s", 60)],
)  # fmt: skip
def test_the_dead_band_must_be_as_wide_as_what_is_written_before_it_is_seen(
    delay: int, more: str, narrowest: int
) -> None:
    enough, less = band(190 - narrowest, delay, more), band(190.5 - narrowest, delay, more)
    assert isinstance(enough, CommandRest)
    assert enough.making == ("raise",)
    assert enough.unseen == 1000 * narrowest
    assert isinstance(less, CommandCrossing)


@pytest.mark.parametrize(
    ("signal", "start", "rests"), [("nodes", "", True), ("x", "", False), ("x", ", from: 4", True)]
)
def test_whole_steps_from_between_whole_numbers_may_cross_what_they_do_not_from_whole_ones(
    signal: str, start: str, *, rests: bool
) -> None:
    bounds = f"bounds: [1, 100]{start}"
    text = f"""coherence: 1
loops:
  up: {{timescale: {{period: 1 s}}, trigger: a.{signal} < 2, actuation: {{signal: a.{signal}, by: 1, {bounds}}}}}
  down: {{timescale: {{period: 1 s}}, trigger: a.{signal} > 2, actuation: {{signal: a.{signal}, by: -1, {bounds}}}}}
"""
    model = elaborate(read_text(text, "design.yaml"))
    assert bool(command_rests(model, model.loops, math.inf)[0]) is rests


HELD = """coherence: 1
components: {{pool: {{nodes: 0 .. {most}, bind: {bind}, bound: "min(pool.nodes, delayed(pool.nodes, bind))"}}}}
loops:
  provision:
    trigger: pool.nodes < 1
    timescale: {{period: 10 s}}
    actuation: {{signal: pool.nodes, law: step, by: 1, bounds: [0, {most}]}}
  consolidate:
    trigger: pool.nodes > pool.bound for 10 min
    timescale: {{period: 15 s{lands}}}
    actuation: {{signal: pool.nodes, law: step, by: -1, bounds: [0, {most}]}}
"""
LOWERING = """  stop:
    trigger: pool.nodes > 0
    timescale: {period: 1 min}
    actuation: {signal: pool.nodes, law: step, by: -1, bounds: [0, 1]}
"""


@pytest.mark.parametrize(
    ("bind", "most", "lands", "more", "rests"),
    [("1 min .. 5 min", 1, "", "", True), ("1 min .. 10 min", 1, "", "", False), ("15 min", 1, "", "", False),
     ("5 min", 3, "", "", False), ("5 min", 1, ", lands: 5 s", "", False), ("5 min", 1, "", LOWERING, False)],
)  # fmt: skip
def test_a_condition_that_looks_back_less_far_than_it_must_hold_sees_what_it_held_of(
    bind: str, most: int, lands: str, more: str, *, rests: bool
) -> None:
    text = HELD.format(bind=bind, most=most, lands=lands) + more
    model = elaborate(read_text(text, "design.yaml"))
    assert bool(command_rests(model, model.loops, math.inf)[0]) is rests
