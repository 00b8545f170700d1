"""Cycles of sampled laws over whole numbers and fractions: exact, by recurrence of the whole state.

>>> sigma_delta(Fraction(2, 5)).period
5
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from coherence.model.laws import recommended, scaled

S = TypeVar("S", bound=Hashable)
MOST = 100_000
LARGEST = 10**9  # a state beyond this has run away
Number = int | Fraction
ROUNDINGS: dict[str, Callable[[Number], int]] = {
    "round": lambda x: math.floor(x + Fraction(1, 2)),
    "ceil": math.ceil,
    "floor": math.floor,
}


@dataclass(frozen=True)
class MapCycle(Generic[S]):
    """After `transient` steps the states of `lap` recur for ever; `period` in steps, 1: the law rests."""

    transient: int
    lap: tuple[S, ...]

    @property
    def period(self) -> int:
        return len(self.lap)


@dataclass(frozen=True)
class Sampled:
    """A cycle of one number per step: `values` over one period, from its lowest one on."""

    values: tuple[Number, ...]
    transient: int

    @property
    def period(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> Fraction:
        return Fraction(sum(self.values)) / len(self.values)

    @property
    def swing(self) -> Number:
        """Returns the distance from the lowest to the highest value."""
        return max(self.values) - min(self.values)

    @property
    def duty(self) -> Fraction:
        """Returns the mean between the extremes; 0 at rest."""
        return (self.mean - min(self.values)) / self.swing if self.swing else Fraction(0)


def recurrence(
    step: Callable[[S], S], start: S, *, most: int = MOST, leaves: Callable[[S], bool] = lambda _: False
) -> MapCycle[S] | None:
    """Returns the cycle that a map comes to from a start, exactly;
    None if it `leaves`, or recurs not within `most` steps.
    """
    seen: dict[S, int] = {}
    states: list[S] = []
    state = start
    while state not in seen:
        if len(states) > most or leaves(state):
            return None
        seen[state] = len(states)
        states.append(state)
        state = step(state)
    first = seen[state]
    return MapCycle(first, tuple(states[first:]))


def series(cycle: MapCycle[S], of: Callable[[S], Number]) -> Sampled:
    """Returns one number of each state of a cycle, with its own (possibly shorter) period."""
    values = [of(state) for state in cycle.lap]
    period = next(p for p in range(1, len(values) + 1) if len(values) % p == 0 and values[p:] + values[:p] == values)
    turns = [tuple(values[k:period] + values[:k]) for k in range(period)]
    return Sampled(min(turns), cycle.transient)


def sigma_delta(mean: Fraction, *, start: Fraction = Fraction(0), rounding: str = "round") -> Sampled:
    """Returns the outputs u = round(x), x += mean - u: whole replicas that carry a broken load on average.

    The period is the denominator of the load.  SOURCE: Candy and Temes, Oversampling Delta-Sigma Data
    Converters (1992).
    """
    whole = ROUNDINGS[rounding]
    cycle = recurrence(lambda x: x + mean - whole(x), start)
    assert cycle is not None  # x stays within one of its start and on a lattice
    return series(cycle, whole)


def quantised_integrator(
    gain: Fraction, delay: int, history: tuple[Fraction, ...], *, load: Fraction = Fraction(0), rounding: str = "round"
) -> Sampled | None:
    """Returns the states x[k+1] = x[k] + load - gain * round(x[k - delay]) from a history, newest first.

    None: no state recurs.
    """
    whole = ROUNDINGS[rounding]

    def step(x: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        return (x[0] + load - gain * whole(x[delay]), *x[:-1])

    cycle = recurrence(step, history[: delay + 1], leaves=lambda x: abs(x[0]) > LARGEST)
    return None if cycle is None else series(cycle, lambda x: x[0])


@dataclass(frozen=True)
class ReplicaLaw:
    """n[k+1] = ceil(n[k] * metric / setpoint), metric = load / n[k - delay]; n[k] where the ratio is within
    `tolerance` of 1.  A decrease takes the largest recommendation of the last `hold_down` steps besides this
    one, never above n[k].  `low` and `high` bound n.

    SOURCE: Kubernetes documentation, Horizontal Pod Autoscaling, algorithm details.
    """

    load: Fraction
    setpoint: Fraction
    delay: int
    tolerance: Fraction = Fraction(1, 10)
    low: int = 1
    high: int = 1_000_000
    hold_down: int = 0
    whole: bool = True

    def recommend(self, now: Number, then: Number) -> Number:
        """Returns the number that the metric of `then` replicas calls for."""
        made: Number = recommended(scaled(self.tolerance, whole=self.whole), now, self.load / (self.setpoint * then))
        return made

    def step(self, state: tuple[Number, ...]) -> tuple[Number, ...]:
        """Returns the next state; a state is (n[k], ..., n[k - delay], the last `hold_down` recommendations)."""
        past, recommendations = state[: self.delay + 1], state[self.delay + 1 :]
        wanted = self.recommend(past[0], past[-1])
        held = max((wanted, *recommendations))
        chosen = wanted if wanted >= past[0] else min(past[0], held)
        landed = min(max(chosen, self.low), self.high)
        return (landed, *past[:-1], *(wanted, *recommendations)[: self.hold_down])

    def state(self, history: Iterable[Number]) -> tuple[Number, ...]:
        """Returns the state after a history (newest first, at least delay + 1 numbers), which recommended itself."""
        past = tuple(history)[: self.delay + 1]
        return (*past, *(past[:1] * self.hold_down))


def replica_cycle(law: ReplicaLaw, history: Iterable[Number], *, most: int = MOST) -> Sampled | None:
    """Returns the cycle of replicas that a history leads to; None: none recurs within `most` steps."""
    made = recurrence(law.step, law.state(history), most=most)
    return None if made is None else series(made, lambda state: state[0])


def replica_cycles(
    law: ReplicaLaw, histories: Iterable[Iterable[Number]] = (), *, most: int = MOST
) -> tuple[tuple[Sampled, int], ...]:
    """Returns every cycle reached from the histories, with the number of histories that lead to it, most often first.

    Default: constant histories from an eighth of the rest point to eight times it, and each of them with one step.
    """
    cycles: dict[tuple[Number, ...], tuple[Sampled, int]] = {}
    for history in histories or default_histories(law):
        cycle = replica_cycle(law, history, most=most)
        if cycle is not None:
            known, count = cycles.get(cycle.values, (cycle, 0))
            cycles[cycle.values] = known, count + 1
    return tuple(sorted(cycles.values(), key=lambda pair: (-pair[1], pair[0].values)))


def default_histories(law: ReplicaLaw) -> Iterable[tuple[int, ...]]:
    """Returns constant histories, and histories with one step, around the number of replicas that carries the load."""
    rest = law.load / law.setpoint
    factors = [Fraction(k, 8) for k in (1, 2, 4, 6, 7, 8, 9, 10, 12, 16, 24, 64)]
    levels = sorted({min(max(math.ceil(rest * f), law.low), law.high) for f in factors})
    for first, other in itertools.product(levels, repeat=2):
        for cut in range(1, law.delay + 1) if first != other else (law.delay + 1,):
            yield (first,) * cut + (other,) * (law.delay + 1 - cut)
