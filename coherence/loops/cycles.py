"""Limit cycles of loops that switch: every sustained swing, exactly, or why there is none.

Runs from many starts, and the first-harmonic screen, propose words of events; Newton's method solves each
word exactly; an event-accurate run over one period confirms it; Floquet multipliers say whether it attracts.

    >>> from coherence.loops.relay import feedback, relay
    >>> limit_cycles(feedback([0.05], [1, 0], relay(1.0), delay=30)).attracting[0].period
    120.0
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from coherence.loops.delayed_runs import Pending, Run, Segment, Start, flow_of, start_at
from coherence.loops.describing import Guess, screen
from coherence.loops.relay import Array, Element, Pieces, System
from coherence.loops.shooting import Solution, confirmed, multipliers, ranges, solve, word_of
from coherence.values import value

SWITCHES = 1536  # crossings after which a run that has not become periodic is given up
LONGEST = 96  # crossings of the longest word that is looked for
MOST_GUESSES = 5  # of the screen, slowest first: a delayed relay has endlessly many fast unstable cycles
SAMPLES, HARMONICS, PHASE = 512, 100, 0.6  # of a screened swing, followed from this angle
REACHED = 1e-4  # of the swing: a run this close to a cycle that attracts has come to it


@value
class Cycle:
    """One periodic run.

    `lowest`, `highest`: of the input of each element.  `duty`: mean output between its extremes (0 to 1),
    for two levels the share of time spent in the upper one.  `multiplier`: modulus of the largest Floquet
    multiplier besides the trivial one: how much of a deviation is left after a period.
    """

    period: float
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    duty: tuple[float, ...]
    multiplier: float
    switches: int
    method: str = "exact"

    @property
    def attracts(self) -> bool:
        return self.multiplier < 1 - 1e-9

    @property
    def swing(self) -> float:
        """Peak to peak, of the element that moves most."""
        return max(high - low for low, high in zip(self.lowest, self.highest, strict=True))


@value
class Answer:
    """All cycles found, and what the other runs do.

    `ends`: how many runs ended as "cycle", "rest", "away", "sliding" or "undecided".  `reason` says in
    words why there is no attracting cycle, or what remains open.
    """

    cycles: tuple[Cycle, ...]
    ends: dict[str, int]
    reason: str
    guesses: tuple[Guess, ...]

    @property
    def attracting(self) -> tuple[Cycle, ...]:
        return tuple(cycle for cycle in self.cycles if cycle.attracts)

    @property
    def verdict(self) -> str:
        """ "cycle", "none" or "undecided"."""
        if self.attracting:
            return "cycle"
        return "undecided" if self.ends.get("undecided") or not self.ends else "none"


def limit_cycles(system: System, *, starts: Sequence[Start] = (), switches: int = SWITCHES) -> Answer:
    """Every cycle that is reached from the starts (default: a spread over all scales) or near a screened guess."""
    if system.delayed_pieces:
        from coherence.loops.cycles_delayed import limit_cycles_delayed

        return limit_cycles_delayed(system)
    found: list[tuple[Cycle, Solution]] = []
    guesses = sorted(screen(system), key=lambda guess: -guess.period)[:MOST_GUESSES]
    for guess in guesses:
        _near(system, guess, found)
    begins = starts or (*default_starts(system), *_beside(system, guesses))
    ends = Counter(_follow(system, start, found, switches) for start in begins)
    cycles = tuple(sorted((cycle for cycle, _ in found), key=lambda c: (not c.attracts, c.period)))
    return Answer(cycles, dict(ends), describe_ends(cycles, ends), tuple(guesses))


def _beside(system: System, guesses: Sequence[Guess]) -> Iterator[Start]:
    """Swings somewhat smaller and larger than the largest screened ones."""
    for guess in sorted(guesses, key=lambda guess: -guess.amplitude)[:2]:
        for factor in (0.6, 1.6):
            yield sinusoidal_start(system, Guess(guess.bias, guess.amplitude * factor, guess.period))


def describe_ends(cycles: Sequence[Cycle], ends: Counter[str]) -> str:
    """Why there is no attracting cycle, in words; "" if there is one."""
    if any(cycle.attracts for cycle in cycles):
        return ""
    said = {
        "rest": "come to rest",
        "away": "run away without bound",
        "sliding": "switch infinitely fast or shrink to a point",
        "undecided": "have not become periodic",
        "cycle": "stay on a cycle that does not attract",
    }
    parts = [f"{count} of {sum(ends.values())} runs {said[end]}" for end, count in sorted(ends.items())]
    return "no attracting cycle: " + ", ".join(parts)


def default_starts(system: System) -> tuple[Start, ...]:
    """Rest positions whose outputs lie at several scales on either side of the thresholds."""
    _, _, c, _ = system.matrices
    scale, middle = _scale(system)
    towards = np.linalg.pinv(c)
    rng = np.random.default_rng(20)
    starts = []
    for size in (0.05, 0.3, 0.7, 1.2, 2.0, 5.0, 20.0):
        for sign in (1, -1) if size < 3 else (1,):
            signs = sign * (1.0 if len(c) == 1 else rng.choice([-1.0, 1.0], len(c)))
            x = towards @ (middle + size * scale * signs) + 0.2 * size * rng.normal(size=system.size) * np.max(scale)
            starts.append(start_at(system, x, above=sign < 0))
    return tuple(starts)


def _scale(system: System) -> tuple[Array, Array]:
    """(size of a typical swing, middle of the thresholds) for each element."""
    a, b, c, _ = system.matrices
    sizes, middles = [], []
    for index, element in enumerate(system.elements):
        near = _thresholds(element)
        delay = max(system.rise[index], system.fall[index])
        middles.append(float(np.median(near)) if near else 0.0)
        speed = float(np.max(np.abs(np.linalg.eigvals(a)))) or (1 / delay if delay else 1.0)
        step = _step(element)
        pushed = float(np.max(np.abs(c[index]) @ np.abs(b))) * step * max(delay, 1 / speed)
        spread = float(np.ptp(near)) / 2 if len(near) > 1 and not element.endless else _gap(near)
        sizes.append(max(spread, 0.3 * min(pushed, 10 * spread) if spread else pushed) or 1.0)
    return np.array(sizes), np.array(middles)


def _thresholds(element: Element) -> list[float]:
    return sorted(element.knots if isinstance(element, Pieces) else {*element.up, *element.down})


def _gap(near: Sequence[float]) -> float:
    gaps = [b - a for a, b in itertools.pairwise(near) if b > a]
    return float(np.median(gaps)) if gaps else 0.0


def _step(element: Element) -> float:
    if isinstance(element, Pieces):
        return max(abs(k) * max(map(abs, element.slopes)) for k in element.knots) or 1.0
    steps = np.diff(element.levels)
    return float(np.median(np.abs(steps)) if element.endless else np.max(np.abs(steps)))


def _follow(system: System, start: Start, found: list[tuple[Cycle, Solution]], switches: int) -> str:
    """Run from a start to its end, adding the cycle that it comes to; says how it ended."""
    run, segments, due = Run(system, start), list[Segment](), 12
    for segment in run:
        segments.append(segment)
        if run.number >= due:
            due = int(due * 1.5)
            if _comes_to(system, segments, found):
                return "cycle"
        if run.number >= switches:
            return "undecided"
    return run.ended


def _comes_to(system: System, segments: Sequence[Segment], found: list[tuple[Cycle, Solution]]) -> bool:
    """Is the end of the run close to a cycle that attracts?  Newton's method is tried from its last words."""
    for lap in itertools.islice(_laps(segments), 3):
        word = word_of(lap)
        known = [pair for pair in found if pair[1].word == word]
        if known:
            return any(c.multiplier < 1 + 1e-9 and _distance(system, lap, s) < REACHED for c, s in known)
        solution = solve(system, word, lap[0].z, [s.duration for s in lap])
        if solution is None:
            continue
        cycle = _kept(system, solution, found)
        if cycle is not None:
            return cycle.multiplier < 1 + 1e-9 and _distance(system, lap, solution) < REACHED
    return False


def _laps(segments: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
    """The last laps of the run whose events have come twice in the same order, shortest first.

    A lap ends with its highest crossing, so that the same cycle gives the same word.
    """
    ends = [k for k, s in enumerate(segments) if s.event.source is None]
    for count in range(1, min(LONGEST, (len(ends) - 1) // 3) + 1):
        last = max(range(len(ends) - count, len(ends)), key=lambda k: (*_height(segments[ends[k]]), k))
        first, middle, end = (ends[last - back] + 1 for back in (2 * count, count, 0))
        lap, before = segments[middle:end], segments[first:middle]
        if len(lap) == len(before) and all(map(_alike, lap, before)):
            yield lap


def _height(segment: Segment) -> tuple[int, int]:
    return segment.event.element, segment.event.level


def _alike(one: Segment, other: Segment) -> bool:
    kinds = (one.event.element, one.event.level, one.event.source is None, one.held, one.seen)
    return kinds == (other.event.element, other.event.level, other.event.source is None, other.held, other.seen)


def _distance(system: System, lap: Sequence[Segment], solution: Solution) -> float:
    """How far a lap is from the solution of its word, relative to the size of its swing."""
    sizes, z = [np.abs(solution.z[:-1])], solution.z
    for step, duration in zip(solution.word.steps, solution.durations, strict=True):
        z = flow_of(system, step.held).after(z, max(duration, 0.0))
        sizes.append(np.abs(z[:-1]))
    state = np.max(np.abs(lap[0].z - solution.z)) / float(np.max(sizes))
    times = np.max(np.abs(np.array([s.duration for s in lap]) - solution.durations)) / solution.period
    return float(max(state, times))


def _kept(system: System, solution: Solution, found: list[tuple[Cycle, Solution]]) -> Cycle | None:
    """The cycle of a solution if it is true, added unless it is known; the shortest lap is kept."""
    cycle = cycle_of(system, solution)
    known = next((k for k, (other, _) in enumerate(found) if same(other, cycle)), None)
    if known is not None and found[known][0].period <= cycle.period * (1 + 1e-6):
        return found[known][0]
    if cycle.swing <= 1e-9 * max(map(abs, (*cycle.lowest, *cycle.highest))) or not confirmed(system, solution):
        return None
    if known is not None:
        found.pop(known)
    found.append((cycle, solution))
    return cycle


def same(one: Cycle, other: Cycle) -> bool:
    """Do two cycles agree in range, and in period up to a multiple (the same lap counted several times)?"""
    ratio = max(one.period, other.period) / min(one.period, other.period)
    numbers = zip((*one.lowest, *one.highest), (*other.lowest, *other.highest), strict=True)
    whole = abs(ratio - round(ratio)) <= 1e-6 * ratio
    return whole and all(abs(a - b) <= 1e-6 * one.swing for a, b in numbers)


def cycle_of(system: System, solution: Solution) -> Cycle:
    """What an exact solution says: period, ranges, duty, multiplier."""
    values = multipliers(system, solution)
    seen = ranges(system, solution)
    return Cycle(
        period=solution.period,
        lowest=tuple(low for low, _ in seen),
        highest=tuple(high for _, high in seen),
        duty=tuple(_duty(system, solution, index) for index in range(len(seen))),
        multiplier=float(values[0]) if len(values) else 0.0,
        switches=sum(1 for step in solution.word.steps if step.event.source is None),
    )


def _duty(system: System, solution: Solution, index: int) -> float:
    """Mean of an output between its extremes."""
    element, z = system.elements[index], solution.z
    seen: list[float] = []
    total = 0.0
    for step, duration in zip(solution.word.steps, solution.durations, strict=True):
        flow, length = flow_of(system, step.held), max(duration, 0.0)
        slope, level = _line(element, step.held[index])
        seen += [slope * y + level for y in flow.range(z, index, length)]
        total += (slope * flow.area(z, index, length) if slope else 0.0) + level * length
        z = flow.after(z, length)
    span = max(seen) - min(seen)
    return (total / solution.period - min(seen)) / span if span else 0.0


def _line(element: Element, level: int) -> tuple[float, float]:
    """(slope, intercept) of an output at a level."""
    if isinstance(element, Pieces):
        return element.slopes[level], element.intercepts[level]
    return 0.0, element.levels[level]


def _near(system: System, guess: Guess, found: list[tuple[Cycle, Solution]]) -> None:
    """Solve the word of the swing that a guess describes."""
    run, segments = Run(system, sinusoidal_start(system, guess)), list[Segment]()
    for segment in run:
        segments.append(segment)
        if run.time > 2.2 * guess.period or len(segments) > 400:
            break
    ends = [k for k, s in enumerate(segments) if s.event.source is None]
    for end in range(len(ends)):
        count = _switches_between(segments, ends, end, guess.period)
        if count:
            lap = segments[ends[end - count] + 1 : ends[end] + 1]
            solution = solve(system, word_of(lap), lap[0].z, [s.duration for s in lap])
            if solution is not None and _kept(system, solution, found) is not None:
                return


def _switches_between(segments: Sequence[Segment], ends: Sequence[int], end: int, period: float) -> int:
    """How many crossings ago the event at `end` came before, about one period earlier; 0 if it did not."""
    last = segments[ends[end]]
    for back in range(1, end + 1):
        before = segments[ends[end - back]]
        ago = last.start + last.duration - before.start - before.duration
        if 0.6 * period < ago < 1.5 * period and before.event == last.event:
            return back
    return 0


def sinusoidal_start(system: System, guess: Guess) -> Start:
    """The plant in the swing that one element keeps up if it sees a sinusoid, commands on their way included."""
    element, delay = system.elements[0], max(system.rise[0], system.fall[0])
    angle = PHASE + 2 * math.pi * np.arange(SAMPLES) / SAMPLES
    inputs = guess.bias + guess.amplitude * np.sin(angle)
    level = np.zeros(SAMPLES, dtype=int)
    for _, at, new, _ in _passed(element, np.tile(inputs, 2), 2 * SAMPLES):
        level[at % SAMPLES :] = new
    x = _periodic_state(system, guess, _outputs(element, level, inputs))
    turns = math.ceil(delay / guess.period) + 1
    step = guess.period / SAMPLES
    passed = _passed(element, np.tile(inputs, turns), turns * SAMPLES)
    begin = -turns * guess.period
    waiting = [(begin + at * step, new, (system.rise if up else system.fall)[0]) for _, at, new, up in passed]
    late = [(t + wait, new) for t, new, wait in waiting if t + wait > 0]
    pending = tuple(Pending(due, 0, new, k - len(late)) for k, (due, new) in enumerate(late))
    acted = [new for t, new, wait in waiting if t + wait <= 0]
    seen = waiting[-1][1] if waiting else element.level(float(inputs[0]))
    held = acted[-1] if acted else seen
    instead = _settled(element, seen, float(system.matrices[2][0] @ x))
    return Start(np.append(x, 1.0), (instead,), (held if delay else instead,), pending)


def _settled(element: Element, level: int, y: float) -> int:
    """The level that an element comes to from `level` while its input stays at y."""
    low, high = element.bounds(level)
    if low <= y <= high:
        return level
    return _settled(element, level + (1 if y > high else -1), y)


def _outputs(element: Element, level: npt.NDArray[np.int_], inputs: Array) -> Array:
    slopes = np.array([_line(element, int(k))[0] for k in level])
    return np.asarray(slopes * inputs + np.array([_line(element, int(k))[1] for k in level]))


def _periodic_state(system: System, guess: Guess, outputs: Array) -> Array:
    """The state at time 0 of the plant under a periodic input, delayed; its mean input holds the bias."""
    a, b, c, drift = system.matrices
    harmonics = np.fft.fft(outputs)[1:HARMONICS] * (2 / SAMPLES)
    s = 2j * math.pi / guess.period * np.arange(1, HARMONICS)
    inputs = harmonics * np.exp(-s * (system.rise[0] + system.fall[0]) / 2)
    states = np.linalg.solve(s[:, None, None] * np.eye(len(a)) - a, b[None, :, :1] * inputs[:, None, None])
    balance = np.vstack([np.hstack([a, b[:, :1]]), np.append(c[0], 0.0)])
    mean = np.linalg.lstsq(balance, np.append(-drift, guess.bias), rcond=None)[0][:-1]
    return np.asarray(mean + np.real(states.sum(axis=0)[:, 0]))


def _passed(element: Element, inputs: Array, count: int) -> list[tuple[int, int, int, bool]]:
    """(before, sample, new level, upwards) of every change of level along sampled inputs."""
    level = element.level(float(inputs[0]))
    made = []
    for at in range(count):
        y = float(inputs[at])
        low, high = element.bounds(level)
        while not low <= y <= high:
            up = y > high
            made.append((level, at, level + (1 if up else -1), up))
            level = made[-1][2]
            low, high = element.bounds(level)
    return made
