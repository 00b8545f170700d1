"""Random designs that bend at their equilibrium, beside an own integrator that imports no engine.

A row is a sum of terms, bent: max or min of itself and a multiple of itself (`asymmetric`), or of itself and of what
it was (`late`), or saturated far from the point (`saturated`), or what looks like a bend and is none (`dead`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.loops.designs.dde import Term

FINE = 8  # steps of the integrator a second
MEMORY = 12  # seconds
GONE, OVER = 1e-4, 1e12
Seen = Callable[[str, int], float]


@dataclass(frozen=True)
class Row:
    """A sum of terms and how it bends: `number` is the multiple, the delay (s) or the bound of its kind."""

    terms: Sequence[Term]
    kind: str = ""
    side: str = "max"
    number: float = 0.0

    def value(self, seen: Seen) -> float:
        """Returns what the row is where signals are seen so."""
        own = sum(weight * seen(signal, late) for signal, weight, late in self.terms)
        least = max if self.side == "max" else min
        if self.kind == "asymmetric":
            return least(own, self.number * own)
        if self.kind == "late":
            return least(own, sum(w * seen(signal, late + int(self.number)) for signal, w, late in self.terms))
        if self.kind == "saturated":
            return max(-self.number, min(own, self.number))
        return own

    @property
    def text(self) -> str:
        """Renders the row in the language."""
        own = _sum(self.terms)
        if self.kind == "asymmetric":
            return f"{self.side}({own}, {_sum([(s, w * self.number, d) for s, w, d in self.terms])})"
        if self.kind == "late":
            return f"{self.side}({own}, {_sum([(s, w, d + int(self.number)) for s, w, d in self.terms])})"
        if self.kind == "saturated":
            return f"max({-self.number!r}, min({own}, {self.number!r}))"
        return f"({own} - max(0, min({own}, 0)))" if self.kind == "dead" else own


def _sum(terms: Sequence[Term]) -> str:
    return f"({' + '.join(f'({w!r}) * ' + (f'delayed({s}, {d} s)' if d else s) for s, w, d in terms)})"


@dataclass(frozen=True)
class BentLoop:
    """u = row + `slope` * (first term's signal now - at the sample before), or u + that, every `period` s."""

    signal: str
    row: Row
    slope: float
    period: int
    phase: int
    lands: int
    integrates: bool


@dataclass(frozen=True)
class BentDesign:
    """Flows, each a straight row and one that may bend, and loops in the order in which they decide."""

    flows: Mapping[str, tuple[Row, ...]]
    loops: Sequence[BentLoop]

    @property
    def text(self) -> str:
        """Renders the design in the language."""
        lines = ["coherence: 1", "components:"]
        for signal, rows in self.flows.items():
            flow = " + ".join(row.text for row in rows)
            lines.append(f'  {signal[:-2]}: {{state: "x\' = ({flow}) / 1 s", from: 1}}')
        lines += ["loops:"] if self.loops else []
        for rank, loop in enumerate(self.loops):
            read = loop.row.terms[0][0]
            law = loop.row.text + (f" + ({loop.slope!r}) * ({read} - previous({read}))" if loop.slope else "")
            form = f'law: step, by: "{law}"' if loop.integrates else f'law: set, to: "{law}"'
            lines += [
                f"  l{rank}:",
                f"    timescale: {{period: {loop.period} s, phase: {loop.phase} s, lands: {loop.lands} s}}",
                "    trigger: always",
                f"    rank: {rank}",
                f"    actuation: {{signal: {loop.signal}, {form}, bounds: [-100000.5, 100000], from: 1}}",
            ]
        return "\n".join(lines) + "\n"


def _bent(draw: random.Random, terms: Sequence[Term], share: float) -> Row:
    if draw.random() >= share:
        return Row(terms)
    kind, side = draw.choice(["asymmetric", "late", "saturated", "dead"]), draw.choice(["min", "max"])
    number = {"asymmetric": draw.choice([0.3, 0.5, 1.5, 2.0]), "late": draw.choice([1, 3]), "saturated": 0.5}
    return Row(terms, kind, side, float(number.get(kind, 0.0)))


def _plant(draw: random.Random, name: str, command: str) -> dict[str, tuple[Row, ...]]:
    kind, late = draw.choice(["lag", "integrator", "queue", "second"]), draw.choice([0, 0, 1, 3])
    pace, drive = draw.choice([0.05, 0.1, 0.3]), draw.choice([0.05, 0.1, 0.2])
    driven = _bent(draw, [(command, drive, 0 if kind == "integrator" else late)], 0.3)
    if kind == "lag":
        return {f"{name}.x": (Row([(f"{name}.x", -pace, 0)]), driven)}
    if kind == "second":
        own = Row([(f"{name}.x", -pace, 0), (f"{name}v.x", -draw.choice([0.05, 0.2, 0.6]), 0)])
        return {f"{name}.x": (Row([(f"{name}v.x", 1.0, 0)]),), f"{name}v.x": (own, driven)}
    return {f"{name}.x": (driven,)}


def drawn(seed: int) -> BentDesign:
    """Draws one to six loops over a plant each, or as many flows in a ring, that bend at 0."""
    draw = random.Random(f"bent design {seed}")  # noqa: S311  (the same in every run)
    count = draw.choice([1, 1, 1, 2, 2, 3, 4, 6])
    return _ring(draw, count) if draw.random() < 0.25 else _loops(draw, count)


def _ring(draw: random.Random, count: int) -> BentDesign:
    flows: dict[str, tuple[Row, ...]] = {}
    for k in range(count):
        terms = [(f"p{(k + 1) % count}.x", draw.choice([-0.5, -0.2, 0.2, 0.5]), draw.choice([0, 1, 2, 5]))]
        leak = draw.choice([0, 0.1, 0.4])
        flows[f"p{k}.x"] = (_bent(draw, [*terms, (f"p{k}.x", -leak, 0)] if leak else terms, 0.5),)
    return BentDesign(flows, ())


def _loops(draw: random.Random, count: int) -> BentDesign:
    flows: dict[str, tuple[Row, ...]] = {}
    loops = []
    for k in range(count):
        flows |= _plant(draw, f"p{k}", f"c{k}.u")
        period, gain, late = draw.choice([1, 2, 4]), -draw.choice([0.1, 0.3, 0.8, 1.5]), draw.choice([0, 1, 2, 5])
        integrates = draw.random() < 0.3
        gain = gain / 4 if integrates else gain
        terms = [(f"p{k}.x", gain, late)]
        if k and draw.random() < 0.5:
            terms.append((f"p{draw.randrange(k)}.x", gain * draw.choice([-0.3, 0.2]), late))
        slope = -draw.choice([0.1, 0.5]) if draw.random() < 0.3 else 0.0
        row = _bent(draw, terms, 0.4)
        phase, lands = draw.randrange(period), draw.choice([0, 0, 1, 3])
        loops.append(BentLoop(f"c{k}.u", row, slope, period, phase, lands, integrates))
    return BentDesign(flows, loops)


class BentRun:
    """A run by Heun's method on a grid of which all times are multiples, from a constant past of this `size`."""

    def __init__(self, design: BentDesign, size: float) -> None:
        self.design, self.step = design, 0
        signals = (*design.flows, *(loop.signal for loop in design.loops))
        starts = {signal: size * (1 + 0.37 * k) for k, signal in enumerate(signals)}
        self.past = {signal: [start] * (MEMORY * FINE + 1) for signal, start in starts.items()}
        self.commanded = {loop.signal: starts[loop.signal] for loop in design.loops}
        self.before: dict[str, float] = {}
        self.landing: list[tuple[int, str, float]] = []

    def largest(self, seconds: int) -> float:
        """Runs on, and returns the largest deviation on the way."""
        largest = 0.0
        for _ in range(seconds):
            self._decide()
            for _ in range(FINE):
                self._flow()
                largest = max(largest, *(abs(row[-1]) for row in self.past.values()))
            for row in self.past.values():
                del row[: len(row) - MEMORY * FINE - 1]
        return largest

    def _seen(self, signal: str, late: int) -> float:
        return self.past[signal][-1 - late * FINE]

    def _decide(self) -> None:
        second = self.step // FINE
        for _, signal, level in [entry for entry in self.landing if entry[0] == second]:
            self.past[signal][-1] = level
        self.landing = [entry for entry in self.landing if entry[0] > second]
        for loop in self.design.loops:
            if second % loop.period == loop.phase:
                self._command(loop, second)

    def _command(self, loop: BentLoop, second: int) -> None:
        read = self._seen(loop.row.terms[0][0], 0)
        level = loop.row.value(self._seen) + loop.slope * (read - self.before.get(loop.signal, read))
        self.before[loop.signal] = read
        level += self.commanded[loop.signal] if loop.integrates else 0.0
        self.commanded[loop.signal] = level
        if loop.lands:
            self.landing.append((second + loop.lands, loop.signal, level))
        else:
            self.past[loop.signal][-1] = level

    def _flow(self) -> None:
        flows = self.design.flows
        first = {signal: sum(row.value(self._seen) for row in rows) for signal, rows in flows.items()}
        ends = {signal: self.past[signal][-1] + rate / FINE for signal, rate in first.items()}

        def ahead(signal: str, late: int) -> float:
            if signal not in flows:
                return self._seen(signal, late)
            return self.past[signal][-late * FINE] if late else ends[signal]

        second = {signal: sum(row.value(ahead) for row in rows) for signal, rows in flows.items()}
        for signal, row in self.past.items():
            row.append(row[-1] + (first[signal] + second[signal]) / (2 * FINE) if signal in flows else row[-1])
        self.step += 1


def comes_to(design: BentDesign, seconds: int) -> str:
    """Returns what becomes of a deviation so small that no saturation is met: decays, grows, or unclear."""
    size = 1e-20
    run = BentRun(design, size)
    begin, before, last = (run.largest(seconds // 3) for _ in range(3))
    if last > OVER * size or (last > 3 * begin and last > 1.2 * before > 1.4 * begin):
        return "grows"
    if last < GONE * begin or (last < 0.6 * before < 0.4 * begin):
        return "decays"
    return "unclear" if math.isfinite(last) else "grows"
