"""Limit cycles: exact answers against runs that do not know them, over random loops of every kind.

Truth: what a design can say (saturations, dead bands, quantisers, delays) is run by the hybrid executor of
`coherence.simulate`, hysteresis and coupled relays by a plain simulation in fixed steps written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bench._cycles_runs import Lap, Seen, executed, flowing, simulated
from bench.harness import Row, on_all_cores
from bench.references.integer_maps import ReplicaLaw, default_histories, replica_cycle
from coherence.language.reading import read_text
from coherence.loops.cycles.cycle_search_result import CycleSearchResult
from coherence.loops.cycles.delayed_runs import start_at
from coherence.loops.cycles.flows import elements_of
from coherence.loops.cycles.limit_cycles import cycle_from
from coherence.loops.cycles.relay import Element, System, feedback, on_off, relay, saturation, system
from coherence.loops.designs.predicted_cycles import predicted_cycles
from coherence.model.elaborate import elaborate

MINUTES = 7  # of processor, about
LOADS = (10, 37, 100)
STRIDE = 40  # of the default histories: "many starts" in seconds
Rng = np.random.Generator


class Case(NamedTuple):
    """What was predicted, and what was seen: a lap, none (at rest), or "undecided"."""

    predicted: Seen
    seen: Seen
    guess: float = 0.0  # error of the first harmonic's amplitude


def rows() -> Iterator[Row]:
    """Worst differences in period and amplitude, cycles missed or invented, and wrong replica periods."""
    tasks = [(kind, number) for kind, (count, _) in KINDS.items() for number in range(count)]
    cases = [(kind, case) for (kind, _), case in zip(tasks, on_all_cores(_case, tasks), strict=True)]
    pairs = [(k, c.predicted, c.seen) for k, c in cases if isinstance(c.predicted, Lap) and isinstance(c.seen, Lap)]
    decided = [(k, c) for k, c in cases if "undecided" not in (c.predicted, c.seen)]
    wrong = [k for k, c in decided if isinstance(c.predicted, Lap) != isinstance(c.seen, Lap)]
    open_ = Counter(k for k, c in cases if c.predicted == "undecided")
    harmonic = max(c.guess for _, c in cases)
    kinds = ", ".join(KINDS)
    peer = (
        f"{len(cases)} random loops ({kinds}), {len(pairs)} with a cycle; first harmonic off by {100 * harmonic:.0f} %"
    )
    yield Row("limit cycles: period", 100 * max(abs(p.period / s.period - 1) for _, p, s in pairs), "<= 0.1", "%", peer)
    swings = [abs((p.high - p.low) / (s.high - s.low) - 1) for _, p, s in pairs]
    yield Row("limit cycles: amplitude", 100 * max(swings), "<= 0.5", "%", peer)
    yield Row(
        "limit cycles: missed or invented", len(wrong), "== 0", f"of {len(decided)} decided {_counted(wrong)}", peer
    )
    share = 100 * sum(open_.values()) / len(cases)
    yield Row("limit cycles: undecided", share, "<= 10", f"% {_counted(list(open_.elements()))}", peer)
    yield Row("replica law: wrong periods, delay 0 to 5", _replicas(), "== 0", "of starts", "plain iteration")


def _case(task: tuple[str, int]) -> Case:
    """Returns one case of a kind, drawn from a start of its own."""
    kind, number = task
    return KINDS[kind][1](np.random.default_rng([7, list(KINDS).index(kind), number]))


def _counted(kinds: list[str]) -> str:
    return "(" + ", ".join(f"{kind}: {count}" for kind, count in Counter(kinds).items()) + ")" if kinds else ""


def _judged(loop: System, x: list[float], run: Callable[[float | None], Seen]) -> Case:
    """Predict from one start, and run from it."""
    answer = cycle_from(loop, start_at(loop, np.array(x)))
    made = _lap(answer)
    return Case(made, run(made.period if isinstance(made, Lap) else None), _guess(answer, made))


def _lap(answer: CycleSearchResult) -> Seen:
    if answer.verdict != "cycle":
        return None if answer.verdict == "none" else "undecided"
    cycle = answer.attracting[0]
    return Lap(cycle.period, cycle.lowest[0], cycle.highest[0])


def _guess(answer: CycleSearchResult, made: Seen) -> float:
    if not isinstance(made, Lap) or not answer.guesses:
        return 0.0
    return min(abs(2 * g.amplitude / (made.high - made.low) - 1) for g in answer.guesses)


def _lags(rng: Rng, most: int = 3) -> tuple[list[float], float]:
    """(denominator of one to three lags, the time that they take together)."""
    lags = rng.uniform(0.3, 3, rng.integers(1, most + 1))
    return np.atleast_1d(np.poly(-1 / lags)).tolist(), float(np.sum(lags))


def _fixed(loop: System, x: list[float], slow: float) -> Case:
    return _judged(loop, x, lambda period: simulated(loop, np.array(x), period or slow / 4, 40 * slow))


def _relay(rng: Rng) -> Case:
    """Hysteresis and one delay."""
    denominator, slow = _lags(rng)
    loop = feedback(
        denominator[-1:], denominator, relay(1, float(rng.uniform(0.05, 0.5))), delay=float(rng.uniform(0.1, 3))
    )
    return _fixed(loop, [0.5] * loop.size, slow + loop.rise[0])


def _asymmetric(rng: Rng) -> Case:
    """On and off at different levels, with a load, and later one way than the other."""
    leave = float(rng.uniform(-0.3, 0.3))
    element = on_off(leave + float(rng.uniform(0.1, 0.6)), leave, on=1.0, off=0.0)
    delays = (float(rng.uniform(0.2, 2)), float(rng.uniform(0.2, 2)))
    denominator = [1.0, 0.0] if rng.random() < 0.4 else _lags(rng, 2)[0]
    gain = denominator[-1] or 1.0
    loop = feedback([gain * 2], denominator, element, delay=delays, load=float(rng.uniform(0.2, 0.8)))
    return _fixed(loop, [0.4] * loop.size, 4 + sum(delays))


def _coupled(rng: Rng) -> Case:
    """Two relays that share two lags."""
    a = [
        [-float(rng.uniform(0.4, 2)), float(rng.uniform(-0.2, 0.2))],
        [float(rng.uniform(-0.2, 0.2)), -float(rng.uniform(0.4, 2))],
    ]
    share = float(rng.uniform(0.2, 0.9))
    b = [[-1.0, -share], [share, -1.0]]
    elements = [relay(1, float(rng.uniform(0.05, 0.2))) for _ in range(2)]
    loop = system(a, b, np.eye(2).tolist(), elements, delays=rng.uniform(0.3, 1, 2).tolist())
    return _fixed(loop, [0.3, -0.2], 6.0)


def _beside(rng: Rng) -> Case:
    """A relay with hysteresis beside a delayed saturation, with different delays."""
    a = [
        [-float(rng.uniform(0.5, 1.5)), float(rng.uniform(0.1, 0.4))],
        [float(rng.uniform(0.1, 0.4)), -float(rng.uniform(0.5, 1.5))],
    ]
    b = [[-1.0, -float(rng.uniform(0.2, 0.6))], [float(rng.uniform(0.2, 0.6)), -1.0]]
    elements: list[Element] = [relay(1, float(rng.uniform(0.05, 0.2))), saturation(float(rng.uniform(0.2, 1.2)), 1)]
    loop = system(a, b, np.eye(2).tolist(), elements, delays=rng.uniform(0.3, 1, 2).tolist())
    return _fixed(loop, [0.3, -0.2], 6.0)


def _flow(flows: dict[str, str], start: float, slow: float) -> Case:
    """Flows of a design as elements, and the same design executed."""
    model = flowing(flows, start)
    paths = tuple(model.states)
    loop = elements_of(model, paths, {}).system
    return _judged(loop, [start] * len(paths), lambda period: executed(model, paths[0], period, 12 * slow))


def _lagged(rng: Rng, law: str) -> Case:
    """x' = (-x - gain * law(x late)) / lag, its gain around the one at which a slope of one swings."""
    lag, delay = float(rng.uniform(0.5, 3)), float(rng.uniform(0.3, 2))
    gain = _critical(lag, delay) * float(rng.choice([rng.uniform(0.5, 0.85), rng.uniform(1.2, 3)]))
    late = f"delayed(a.x, {delay:.3f} s)"
    return _flow({"a": f"(-a.x - {gain:.4f} * ({law.format(y=late)})) / {lag:.4f} s"}, 0.7, lag + delay)


def _critical(lag: float, delay: float) -> float:
    """The gain at which exp(-s delay) / (lag s + 1) with negative feedback swings for ever."""
    low, high = np.pi / 2 / delay, np.pi / delay
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if np.arctan(lag * middle) + middle * delay < np.pi else (low, middle)
    return float(np.hypot(1, lag * low))


def _saturation(rng: Rng) -> Case:
    return _lagged(rng, "max(-1, min(1, {y}))")


def _dead_band(rng: Rng) -> Case:
    """A tolerance that jumps, or a dead band, under a limit."""
    band = f"{rng.uniform(0.05, 0.3):.3f}"
    jump = "0 if abs({y}) < BAND else {y}"
    slope = "{y} - BAND if {y} > BAND else ({y} + BAND if {y} < -BAND else 0)"
    law = jump if rng.random() < 0.5 else slope
    return _lagged(rng, f"max(-1, min(1, {law.replace('BAND', band)}))")


def _quantiser(rng: Rng) -> Case:
    """x' = load - k round(x late): gain margins on either side of pi / 2, and in the gap above 4 / pi."""
    margin, load = float(rng.uniform(1.05, 2.2)), float(rng.choice([0.0, rng.uniform(-0.4, 0.4)]))
    k = np.pi / 2 / margin
    return _flow({"a": f"({load:.4f} - {k:.5f} * floor(delayed(a.x, 1 s) + 0.5)) / 1 s"}, 0.83, 3.0)


def _two_delays(rng: Rng) -> Case:
    """Two limited laws with different delays on coupled lags."""
    first, second = rng.uniform(0.3, 1.2, 2)
    gain, share = float(rng.uniform(1.5, 6)), float(rng.uniform(0.3, 1.2))
    sees = f"delayed(a.x, {first:.3f} s) + {share:.3f} * delayed(b.x, {first:.3f} s)"
    flows = {
        "a": f"(-a.x - {gain:.3f} * max(-1, min(1, {sees}))) / 1 s",
        "b": f"(-b.x + {share:.3f} * max(-1, min(1, delayed(a.x, {second:.3f} s)))) / 1 s",
    }
    loop = elements_of(flowing(flows, 0.5), ("a.x", "b.x"), {}).system
    return _fixed(loop, [0.5, 0.5], 4.0)


def _sampled(rng: Rng) -> Case:
    """A design: a sampled relay over one or two lags, with landings and a sensor's delay."""
    lag, period = float(rng.uniform(20, 120)), int(rng.integers(2, 10))
    lands, late = period * int(rng.integers(0, 4)), period * int(rng.integers(0, 3))
    low, high = sorted(rng.uniform(0.2, 0.8, 2))
    second = rng.random() < 0.5
    flow = f'state: "x\' = (a.u - a.x) / {lag:.2f} s", from: 0'
    more = f'  b: {{state: "x\' = (a.x - b.x) / {lag / 3:.2f} s", from: 0}}\n' if second else ""
    seen = f"delayed({'b' if second else 'a'}.x, {late} s)"
    text = (
        f"coherence: 1\ncomponents:\n  a: {{{flow}}}\n{more}loops:\n  relay:\n"
        f"    timescale: {{period: {period} s, lands: {lands} s}}\n    rules:\n"
        f"      - {{when: '{seen} < {low:.4f}', to: 1}}\n      - {{when: '{seen} > {high + 0.02:.4f}', to: 0}}\n"
        "    actuation: {signal: a.u, bounds: [0, 1], from: 1}\n"
    )
    model = elaborate(read_text(text))
    (reading,) = predicted_cycles(model)
    if reading.verdict != "cycle" or reading.period is None:
        predicted: Seen = None if reading.verdict == "none" else "undecided"
    else:
        _, below, above = next(row for row in reading.ranges if row[0] == "a.x")
        predicted = Lap(reading.period, below, above)
    return Case(predicted, executed(model, "a.x", reading.period, 8 * lag))


KINDS: dict[str, tuple[int, Callable[[Rng], Case]]] = {
    "relays": (10, _relay),
    "asymmetric relays": (8, _asymmetric),
    "coupled relays": (6, _coupled),
    "relay beside saturation": (4, _beside),
    "delayed saturation": (5, _saturation),
    "delayed dead band": (5, _dead_band),
    "quantiser": (10, _quantiser),
    "two delays": (4, _two_delays),
    "sampled relays of designs": (8, _sampled),
}


def _replicas() -> float:
    wrong = 0
    for load in LOADS:
        for delay in range(6):
            law = ReplicaLaw(Fraction(load), Fraction(1, 2), delay, high=400)
            for history in list(default_histories(law))[::STRIDE]:
                cycle = replica_cycle(law, history)
                wrong += cycle is None or cycle.period != iterated(load, delay, list(history))
    return float(wrong)


def iterated(load: int, delay: int, history: list[int]) -> int:
    """The period seen at the end of 4,000 plain steps of the law with target 1/2 and tolerance 10 %."""
    n = history[::-1]
    for _ in range(4000):
        top, bottom = 2 * load, n[-1 - delay]
        near = 10 * abs(top - bottom) <= bottom
        n.append(n[-1] if near else min(max(-(-n[-1] * top // bottom), 1), 400))
    return next(p for p in range(1, 1500) if n[-1500:] == n[-1500 - p : -p])
