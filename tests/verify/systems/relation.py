"""The relation of a small design, followed from its only start: each state by the names of its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.schedules import schedules
from coherence.verify.systems.piecewise_affine import TransitionSystem, step
from coherence.verify.systems.transitions import Encoder, ModelReading

State = tuple[str, tuple[Fraction, ...]]
EXACT = ModelReading()
LOOSE = ModelReading(windows=False)
COUNTED = re.compile(r"([^\s=]+(?: commanded)?(?: \d+)?)=(\S+)")
PLANT = """
coherence: 1
components: {{plant: {{state: "x' = {plant}", step: 1 s, from: {start}}}}}
loops:
  act:
    timescale: {{period: 1 s, phase: 0 s{times}}}
    {trigger}
    actuation: {{signal: job.act, {law}, bounds: {bounds}, from: {first}{limits}}}
"""


def plant(
    *,
    x: str = "x + 1",
    start: str = "0",
    times: str = "",
    trigger: str = "",
    law: str = 'law: set, to: "x"',
    bounds: str = "[0, 20]",
    first: str = "0",
    limits: str = "",
) -> str:
    """A design with one plant and one loop that runs every second; `x` is the plant's next value."""
    return PLANT.format(
        plant=x, start=start, times=times, trigger=trigger, law=law, bounds=bounds, first=first, limits=limits
    )


def relation(text: str, reading: ModelReading = EXACT) -> tuple[Encoder, TransitionSystem]:
    """The encoder of a design under its first schedule, and its relation."""
    return relation_of(elaborate(read_text(text)), reading)


def relation_of(model: Model, reading: ModelReading = EXACT) -> tuple[Encoder, TransitionSystem]:
    assert not model.gaps
    encoder = Encoder(model, next(iter(schedules(model))), None, reading=reading)
    return encoder, encoder.system()


def runs(text: str, count: int, reading: ModelReading = EXACT) -> list[list[dict[str, Fraction]]]:
    """What holds after each of `count` steps, in every way that the relation allows."""
    return runs_of(elaborate(read_text(text)), count, reading)


def runs_of(model: Model, count: int, reading: ModelReading = EXACT) -> list[list[dict[str, Fraction]]]:
    encoder, system = relation_of(model, reading)
    states = set(starts(system))
    told: list[list[dict[str, Fraction]]] = []
    for _ in range(count):
        states = {after for state in states for after in successors(system, state)}
        told.append([values(encoder, system, state) for state in sorted(states)])
    return told


def only_run(text: str, count: int, name: str = "job.act", reading: ModelReading = EXACT) -> list[int | float]:
    """One signal after each of `count` steps of the only run; fails where there is none or there are several."""
    return only_run_of(elaborate(read_text(text)), count, name, reading)


def only_run_of(model: Model, count: int, name: str, reading: ModelReading = EXACT) -> list[int | float]:
    told = runs_of(model, count, reading)
    assert [len(states) for states in told] == [1] * count
    return [plain(states[0][name]) for states in told]


def plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def starts(system: TransitionSystem) -> Iterator[State]:
    """The states whose every variable an initial polyhedron fixes by one equality after another."""
    for mode, polyhedron in system.initial:
        known: dict[int, Fraction] = {}
        for _ in system.variables:
            for row in polyhedron:
                used = [k for k, c in enumerate(row.linear.coefficients) if c and k not in known]
                if row.relation == "==" and len(used) == 1:
                    rest = sum((c * known[k] for k, c in enumerate(row.linear.coefficients) if c and k in known),
                               row.linear.constant)  # fmt: skip
                    known[used[0]] = -rest / row.linear.coefficients[used[0]]
        assert len(known) == len(system.variables), "a start that is not fixed"
        point = tuple(known[k] for k in range(len(system.variables)))
        assert all(row.holds(point) for row in polyhedron)
        yield mode, point


def successors(system: TransitionSystem, state: State) -> Iterator[State]:
    """The next states; what an edge may choose is refused, except where it chooses nothing."""
    for edge in system.edges:
        if edge.source == state[0]:
            zeros = (Fraction(0),) * len(system.choices)
            if (after := step(edge, state[1], zeros)) is not None:
                yield edge.target, after


def values(encoder: Encoder, system: TransitionSystem, state: State) -> dict[str, Fraction]:
    """The variables of a state, and its mode's memory under the names of its parts (1: on)."""
    mode, point = state
    counted = {name: Fraction(value) for name, value in COUNTED.findall(mode)}
    switched_on = {name for word in mode.split(" ") for name in word.split("+")}
    on = {name: Fraction(name in switched_on) for name in encoder.remembered}
    return {**dict.fromkeys((*encoder.counters, *encoder.values), Fraction(0)), **on, **counted,
            **dict(zip(system.variables, point, strict=True))}  # fmt: skip
