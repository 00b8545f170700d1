"""Proofs by clocks hold at every phase that a plain program tries; what is refuted breaks in it at those phases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.schedules import NotCommensurateError
from coherence.verify.promises.decisions import condition_of, decide
from coherence.verify.promises.outcomes import Proved, Refuted
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.clocks import AnyOrder, ClockedEncoder, clocked, patterns
from coherence.verify.systems.terms import constant, unit
from tests.draws import seeds

SECONDS, TRIED = 200, 24


@dataclass(frozen=True)
class Switch:
    """A loop that sets its rate to `on` above `high` and to 0 below `low`."""

    period: int
    high: int
    low: int
    on: int
    lands: int = 0

    @property
    def text(self) -> str:
        return (
            f"timescale: {{period: {self.period} s, lands: {self.lands} s}}, "
            f"rules: [{{when: tank.level > {self.high}, to: {self.on} / 1 s}}, "
            f"{{when: tank.level < {self.low}, to: 0 / 1 s}}]"
        )


@dataclass(frozen=True)
class Tank:
    """What flows in, what is there at the start, what may be there, and the loops that let it out."""

    inflow: int
    start: int
    most: int
    loops: tuple[Switch, ...]

    @classmethod
    def drawn(cls, random: Random) -> Tank:
        loops = tuple(
            Switch(
                random.choice((2, 3, 4, 6)), random.randint(6, 12), random.randint(0, 5), random.randint(1, 6), lands
            )
            for lands in random.choice(((0,), (0, 0), (3, 0), (5, 1), (0, 0, 0)))
        )
        return cls(random.randint(1, 2), random.randint(0, 8), random.randint(9, 26), loops)

    @property
    def model(self) -> Model:
        out = "".join(f" - loop{k}.rate" for k in range(len(self.loops)))
        loops = "".join(
            f"  l{k}: {{{loop.text}, actuation: {{signal: loop{k}.rate, bounds: [0 / 1 s, 9 / 1 s], from: 0 / 1 s}}}}\n"
            for k, loop in enumerate(self.loops)
        )
        return elaborate(
            read_text(
                f"coherence: 1\ncomponents:\n"
                f'  tank: {{state: "level\' = {self.inflow} / 1 s{out}", from: {self.start}}}\n'
                f"loops:\n{loops}promises: {{room: always tank.level <= {self.most}}}\n"
            )
        )

    def overflows(self, phases: list[Fraction]) -> bool:
        """Runs the tank by a plain program."""
        level, rates, due = Fraction(self.start), [0] * len(self.loops), list(phases)
        time, commands, coming = Fraction(0), [0] * len(self.loops), list[tuple[Fraction, int, int]]()
        while level <= self.most and time < SECONDS:
            then = min([*due, *(at for at, _, _ in coming), Fraction(SECONDS)])
            level, time = level + (self.inflow - sum(rates)) * (then - time), then
            if level > self.most:
                break
            rates = [next((rate for at, of, rate in coming if (at, of) == (time, k)), r) for k, r in enumerate(rates)]
            coming = [entry for entry in coming if entry[0] > time]
            for k, loop in enumerate(self.loops):
                if due[k] == time:
                    commands[k] = loop.on if level > loop.high else 0 if level < loop.low else commands[k]
                    due[k] += loop.period
                    coming += [(time + loop.lands, k, commands[k])] if loop.lands else []
                    rates[k] = rates[k] if loop.lands else commands[k]
        return level > self.most

    def phases(self, random: Random) -> list[Fraction]:
        """Draws phases, some of them next to a whole second."""
        near = [Fraction(1, 999), Fraction(0), Fraction(998, 999), Fraction(random.randint(0, 98), 99)]
        return [random.randrange(loop.period) + random.choice(near) for loop in self.loops]


@pytest.mark.parametrize("seed", seeds(3, 24))
def test_no_phase_contradicts_what_is_decided_for_all_of_them(seed: int) -> None:
    random = Random(seed)  # noqa: S311  (the same tanks in every run)
    tank = Tank.drawn(random)
    model = tank.model
    outcome = decide(model, model.promises["room"], time_limit=4)
    if isinstance(outcome, Refuted):
        phases = [outcome.choices.phases.get(loop.name, Fraction(0)) for loop in model.loops]
        assert tank.overflows(phases)
    elif isinstance(outcome, Proved):
        assert not any(tank.overflows(tank.phases(random)) for _ in range(TRIED))


TWO = Tank(1, 0, 99, (Switch(6, 9, 3, 2), Switch(4, 9, 3, 2)))


def encoder(model: Model) -> ClockedEncoder:
    return ClockedEncoder(model, clocked(model), condition_of(model, model.promises["room"]))


def test_a_loop_without_a_phase_begins_anywhere_in_its_period_and_a_step_at_once() -> None:
    system = encoder(TWO.model)
    assert system.periods == {"clock 0": 6, "clock 1": 4}
    assert [(system.starts[clock].low, system.starts[clock].high) for clock in system.periods] == [(0, 6), (0, 4)]  # type: ignore[union-attr]
    assert system.phases_from({"clock 0": Fraction(2), "clock 1": Fraction(4)}) == {"l0": 4, "l1": 0}
    assert system.lap == 6


def test_what_flows_for_an_unknown_time_at_an_unknown_rate_lies_between_its_ends() -> None:
    system = encoder(TWO.model)
    (exact,) = system._amounts(constant(3), unit("clock 0"))
    assert exact.value.at({"clock 0": Fraction(2)}) == 6
    (case,) = system._amounts(unit("loop0.rate"), unit("clock 0"))
    (amount,) = (name for name, _ in case.value.items)
    for rate, seconds in ((0, 0), (2, 4), (9, 4), (5, 3)):
        values = {"loop0.rate": Fraction(rate), "clock 0": Fraction(seconds), amount: Fraction(rate * seconds)}
        assert all(row.at(values) <= 0 for row, _ in case.guard.rows())


def test_clocks_are_for_what_no_orders_stand_for() -> None:
    (pattern,) = patterns(TWO.model)
    assert isinstance(pattern, AnyOrder)
    steps = TWO.model.states["tank.level"]
    assert steps.flow is not None
    stepping = elaborate(
        read_text(
            'coherence: 1\ncomponents: {tank: {state: "level\' = level + 1", step: 1 s, from: 0}}\n'
            "loops: {l: {timescale: {period: 2 s}, actuation: {signal: pump.x, to: tank.level}}}\n"
        )
    )
    assert not any(isinstance(pattern, AnyOrder) for pattern in patterns(stepping))


PUMP = (
    'coherence: 1\ncomponents: {{tank: {{state: "level\' = 1 / 1 s - pump.out", from: 0}}}}\nloops:\n'
    "  l: {{timescale: {{period: 2 s, {stated}}}, trigger: {trigger}, "
    "actuation: {{signal: pump.out, to: 2 / 1 s, from: 0 / 1 s}}}}\npromises: {{room: always tank.level <= 9}}\n"
)


@pytest.mark.parametrize(("lands", "clocks", "queue"), [(1, 2, 1), (2, 1, 1), (5, 2, 3), (6, 1, 3)])
def test_what_lands_between_samples_has_a_clock_and_waits_in_a_queue(lands: int, clocks: int, queue: int) -> None:
    system = encoder(elaborate(read_text(PUMP.format(stated=f"lands: {lands} s", trigger="tank.level > 3"))))
    assert (len(system.periods), system.plan.landing["pump.out"].length) == (clocks, queue)


def test_the_past_and_phases_beyond_a_period_have_no_clock() -> None:
    with pytest.raises(NotLinearError, match="past"):
        encoder(elaborate(read_text(PUMP.format(stated="lands: 0 s", trigger='"delayed(tank.level, 3 s) > 3"'))))
    with pytest.raises(NotCommensurateError, match="phase"):
        clocked(elaborate(read_text(PUMP.format(stated="phase: 3 s", trigger="tank.level > 3"))))
