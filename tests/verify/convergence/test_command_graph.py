"""What follows every value of the commands, beside a plain simulation of the same loops in other phases and orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from coherence.base.solver import unsat
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.verify.convergence.command_graph import GraphAnswer, follow_commands
from tests import draws

HIGH = 12
SAMPLES, RUNS, QUARTERS = 500, 4, 4
READINGS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "min(a.x, 3 * b.y)": lambda x, y: min(x, 3 * y),
    "max(a.x, b.y)": max,
    "a.x - b.y": lambda x, y: x - y,
    "a.x": lambda x, _: x,
    "b.y": lambda _, y: y,
    "40 / min(a.x, 2 * b.y)": lambda x, y: Fraction(40) / min(x, 2 * y),
    "20 / max(a.x, b.y)": lambda x, y: Fraction(20) / max(x, y),
}


@dataclass(frozen=True)
class DrawnLoop:
    """A loop that steps or sets a.x or b.y where a reading is on one side of a level, or keeps the reading at it.

    `by` and `to` None: proportional; `share`: the step is so many quarters of the count, rounded up.  Windows,
    cooldowns and streaks in seconds.
    """

    signal: str
    reading: str
    side: str
    level: Fraction
    by: int | None
    to: int | None
    period: int
    hold: int
    cooldown: int
    streak: int
    delay: int
    lands: int
    bounds: tuple[int, int]
    rate: int
    share: int

    @property
    def is_proportional(self) -> bool:
        return self.by is None and self.to is None

    def text(self, name: str) -> str:
        reading = f"delayed(sys.{self.reading_name}, {self.delay} s)" if self.delay else f"sys.{self.reading_name}"
        scale = f"period: {self.period} s, hold_down: {self.hold} s, cooldown: {self.cooldown} s, lands: {self.lands} s"
        low, high = self.bounds
        rate = f", rate: [{{by: {self.rate}, per: 3 s}}]" if self.rate else ""
        ends = f"bounds: [{low}, {high}]{rate}"
        if self.is_proportional:
            aim = f'target: {{signal: "{reading}", setpoint: {float(self.level)}, tolerance: 10 %}}'
            return f"  {name}: {{timescale: {{{scale}}}, {aim}, actuation: {{signal: {self.signal}, {ends}}}}}\n"
        step = f'"{self.share} * ceil({self.signal} / 4)"' if self.share else self.by
        change = f"law: step, by: {step}" if self.to is None else f"law: set, to: {self.to}"
        trigger = f"{reading} {self.side} {float(self.level)}{f' for {self.streak} s' if self.streak else ''}"
        acts = f"actuation: {{signal: {self.signal}, {change}, {ends}}}"
        return f'  {name}: {{timescale: {{{scale}}}, trigger: "{trigger}", {acts}}}\n'

    @property
    def reading_name(self) -> str:
        return f"r{list(READINGS).index(self.reading)}"

    def wants(self, read: Fraction, now: int, landed: int) -> int | None:
        """Returns the value that the law gives, before windows and bounds; None where it does not act."""
        if self.is_proportional:
            ratio = read / self.level
            return now if Fraction(9, 10) <= ratio <= Fraction(11, 10) else math.ceil(now * ratio)
        if not (read < self.level if self.side == "<" else read > self.level):
            return None
        step = self.share * math.ceil(landed / 4) if self.share else self.by or 0
        return self.to if self.to is not None else now + step


def text_of(loops: list[DrawnLoop], starts: tuple[int, int], load: tuple[Fraction, Fraction]) -> str:
    """Returns the design of drawn loops on two counts, whose readings are multiplied with a load between two ends."""
    low, high = map(float, load)
    readings = ", ".join(f'r{n}: "sys.load * ({reading})"' for n, reading in enumerate(READINGS))
    writers = {loop.signal for loop in loops}
    ends = {
        signal: (min(low for low, _ in of), max(high for _, high in of))
        for signal in writers
        if (of := [loop.bounds for loop in loops if loop.signal == signal])
    }
    lines = "".join(loop.text(f"loop{n}") for n, loop in enumerate(loops))
    counts = {"a.x": starts[0], "b.y": starts[1]}
    parts = {path: f"{path[2]}: {start}" for path, start in counts.items() if path not in writers}
    fixed = "".join(f"  {path[0]}: {{{part}}}\n" for path, part in parts.items())
    for signal in ends:
        lines = lines.replace(f"signal: {signal},", f"signal: {signal}, from: {counts[signal]},")
    return f"coherence: 1\ncomponents:\n  sys: {{load: {low} .. {high}, {readings}}}\n{fixed}loops:\n{lines}"


def drawn(random: Random) -> tuple[list[DrawnLoop], tuple[int, int], tuple[Fraction, Fraction]]:
    """Draws two or three loops, their starts, and a load that may be open."""
    loops = []
    lands = random.choice([0, 0, 0, 0, 2])
    for n in range(random.choice([2, 2, 3])):
        kind = random.choice(["step", "step", "step", "set", "proportional"])
        signal = random.choice(["a.x", "b.y"]) if n else "a.x"
        low = random.randint(1, 3)
        way = random.choice([-1, 1])
        loops.append(
            DrawnLoop(
                signal=signal,
                reading=random.choice(list(READINGS)),
                side=random.choice("<>"),
                level=Fraction(random.randint(2, 24), 2),
                by=way * random.choice([1, 1, 2, 3]) if kind == "step" else None,
                to=random.randint(1, HIGH) if kind == "set" else None,
                period=random.randint(1, 5),
                hold=random.choice([0, 0, 0, 6]),
                cooldown=random.choice([0, 0, 4]),
                streak=random.choice([0, 0, 5]),
                delay=random.choice([0, 0, 0, 3]),
                lands=0 if kind == "proportional" else lands,
                bounds=(low, random.randint(low + 3, HIGH)),
                rate=random.choice([0, 0, 0, 1]),
                share=way if kind == "step" and random.random() < 0.3 else 0,
            )
        )
    load = Fraction(random.randint(2, 8), 4)
    wide = random.choice([Fraction(0), Fraction(0), Fraction(1, 4)])
    return loops, (random.randint(1, HIGH), random.randint(1, HIGH)), (load, load + wide)


@dataclass
class PlainRun:
    """Two counts under loops that sample at times of their own, one after another, each seeing what is there.

    Counts are whole, and so are times, in quarters of a second.
    """

    loops: list[DrawnLoop]
    starts: tuple[int, int]
    load: Fraction
    random: Random
    landed: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {"a.x": [], "b.y": []})
    changes: list[tuple[int, str, int]] = field(default_factory=list)
    known: dict[tuple[int, ...], int | None] = field(default_factory=dict)  # what a loop wants is often the same

    def seen(self, signal: str, at: float) -> int:
        begun = self.starts[0] if signal == "a.x" else self.starts[1]
        return next((value for time, value in reversed(self.landed[signal]) if time <= at), begun)

    def wanted(self, n: int, now: int, commanded: int) -> int | None:
        """Returns what a loop wants by what it sees at an instant."""
        loop, at = self.loops[n], now - QUARTERS * self.loops[n].delay
        seen = (n, self.seen("a.x", at), self.seen("b.y", at), commanded, self.seen(loop.signal, now))
        if seen not in self.known:
            read = self.load * READINGS[loop.reading](Fraction(seen[1]), Fraction(seen[2]))
            self.known[seen] = loop.wants(read, *seen[3:])
        return self.known[seen]

    def run(self) -> PlainRun:
        count = len(self.loops)
        due = [self.random.randint(0, QUARTERS * loop.period) for loop in self.loops]
        since: list[int | None] = [None] * count
        changed: list[int | None] = [None] * count
        wanted_before: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        own: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        commanded = {"a.x": self.starts[0], "b.y": self.starts[1]}
        for sample in range(SAMPLES):
            n = min(range(count), key=lambda i: (due[i], self.random.random()))
            now, loop = due[n], self.loops[n]
            due[n] += QUARTERS * loop.period
            x = commanded[loop.signal]
            wanted = self.wanted(n, now, x)
            if loop.streak:
                since[n] = None if wanted is None else now if since[n] is None else since[n]
                begun = since[n]
                if begun is None or now - begun < QUARTERS * loop.streak:
                    continue
            if wanted is None:
                continue
            low, high = loop.bounds
            if not (loop.is_proportional and not low <= x <= high):
                held = now - QUARTERS * loop.hold
                wanted_before[n] = [(t, w) for t, w in wanted_before[n] if t >= held] + [(now, wanted)]
                if wanted < x and loop.hold:
                    wanted = min(x, max(w for _, w in wanted_before[n]))
                if loop.rate and wanted != x:
                    base = x - sum(change for t, change in own[n] if t > now - 3 * QUARTERS)
                    wanted = (
                        min(wanted, max(x, base + loop.rate)) if wanted > x else max(wanted, min(x, base - loop.rate))
                    )
                after = min(high, max(low, wanted))
            else:
                after = min(high, max(low, x))
            last = changed[n]
            if after == x or (loop.cooldown and last is not None and now - last <= QUARTERS * loop.cooldown):
                continue
            own[n] = [*own[n][-30:], (now, after - x)]
            commanded[loop.signal], changed[n] = after, now
            self.landed[loop.signal].append((now + QUARTERS * loop.lands, after))
            self.changes.append((sample, loop.signal, after - x))
        return self

    @property
    def is_at_rest(self) -> bool:
        """Decides whether nothing changed in the last third."""
        return not any(sample > SAMPLES * 2 // 3 for sample, *_ in self.changes)

    @property
    def is_endless(self) -> bool:
        """Decides whether a count turns four times or more in the last third."""
        for signal in ("a.x", "b.y"):
            late = [by > 0 for sample, path, by in self.changes if path == signal and sample > SAMPLES * 2 // 3]
            if sum(1 for one, other in pairwise(late) if one != other) >= 4:
                return True
        return False


def counted(seed: int, count: int) -> tuple[int, int, int]:
    """Returns how many drawn designs come to rest by proof, never do by proof, and swing in a run; asserts no clash."""
    random = Random(seed)  # noqa: S311
    rest = never = swing = 0
    for _ in range(count):
        loops, starts, load = drawn(random)
        text = text_of(loops, starts, load)
        model = elaborate(read_text(text, "design.yaml"))
        answer = follow_commands(model, model.loops, lambda: False)
        loads = [load[0], load[1], (load[0] + load[1]) / 2, *load][:RUNS]
        runs = [PlainRun(loops, starts, at, random).run() for at in loads]
        endless = any(run.is_endless for run in runs)
        swing += endless
        if answer is None:
            continue
        if answer.rests:
            assert not endless, text
            assert answer.script is not None
            assert unsat(answer.script, timeout_ms=10_000).unsat
            ends = {(run.seen("a.x", math.inf), run.seen("b.y", math.inf)) for run in runs if run.is_at_rest}
            assert {_reached(answer, end) for end in ends} <= set(answer.rests), text
        else:
            assert not any(run.is_at_rest for run in runs), text
        rest, never = rest + bool(answer.rests), never + (not answer.rests)
    return rest, never, swing


def _reached(answer: GraphAnswer, end: tuple[int, int]) -> tuple[int, ...]:
    """Returns the node of two counts: a count that nobody writes is no command."""
    return tuple(value for signal, value in zip(("a.x", "b.y"), end, strict=True) if signal in answer.signals)


@pytest.mark.slow
def test_what_is_proved_to_rest_rests_and_what_never_can_does_not() -> None:
    rest, never, swing = counted(1, 60)
    assert rest > 15
    assert never > 1
    assert swing > 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", draws.drawn(range(2, 7), parts=5))
def test_many_drawn_designs_of_several_loops(seed: int) -> None:
    rest, never, _ = counted(seed, 400)
    assert rest > 80
    assert never > 5
