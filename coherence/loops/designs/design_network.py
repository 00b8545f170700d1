"""Makes a network of a design at an operating point: the one bridge from designs to the linear engine.

A state with a flow is a block 1 / (s - a), a of its own level; what flows and decisions read of the past passes a
block of that delay; a command, a state that steps and a sensor that scrapes are samplers with their period, phase
and landing; a mean over a window is a sampler that reads that mean just before its reader decides, and `previous(x)`
one that shows there what it read a sample before.  Couplings are the derivatives at the point.  Without samplers the
network is one of continuous blocks with exact delays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Tree
from coherence.loops.designs.kinks import stopped
from coherence.loops.designs.signal_gradients import NOW, Gradient, Gradients, OwnCommand, PastSignal
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.model.model import Model, SampledLoop

NOTHING = OwnCommand(NOW, NOW)
READ_FOR_ONE = ("mean ", "memory ")  # how names of samplers begin that read for one other
RANKS = 16  # between two that decide: room for what is read for the second one, just before it


@dataclass(frozen=True)
class OwnShare:
    """What a law adds to what its loop reads: `own` times its command, the one that landed last or was given last.

    `carried`: what the law carries on of that command, and of the command as its readings show it.
    """

    loop: str
    own: Fraction
    landed: bool
    carried: OwnCommand = NOTHING


@dataclass(frozen=True)
class DesignNetwork:
    """Blocks, samplers and couplings by the paths of states and commands; `laws` by sampler.

    `bends`: blocks and samplers that show the absolute value of what they read, `landed`: samplers of these that see
    commands as flows do, from the instant at which they land.
    """

    blocks: tuple[Block, ...]
    samplers: tuple[Sampler, ...]
    couplings: tuple[Coupling, ...]
    laws: Mapping[str, OwnShare]
    bends: frozenset[str] = frozenset()
    landed: frozenset[str] = frozenset()

    @property
    def sampled(self) -> Multirate:
        """Returns the system of several rates, laws without their own command.  Raises UsageError."""
        return checked(self.samplers, self.blocks, self.couplings)

    def continuous(self, states: Collection[str]) -> Network:
        """Returns the network of some states with the delays between them.  Raises UsageError."""
        blocks = [replace(b, delay=float(b.delay)) for b in self.blocks if b.name in states or not b.order]
        inner = {block.name for block in blocks}
        within = (c for c in self.couplings if c.source in inner and c.target in inner)
        return network(blocks, (Coupling(c.source, c.target, float(c.gain)) for c in within))


def network_of(
    model: Model, point: Mapping[str, Fraction], bends: Mapping[str, Tree] | None = None, *, exact: bool = False
) -> DesignNetwork:
    """Returns the network of a model without thresholds and kinks (see `linear.skeleton`, `kinks.branches`).

    `bends`: names that expressions read as absolute values, and of what (`bends.bent_model`).  `exact`: blocks of
    levels have rational denominators, else floats, and bends that do not meet at the point are kept apart.
    Raises NotExactError, MissingValueError where something has no linear form.
    """
    builder = _Builder(model, point, bends or {}, exact=exact)
    for path, state in model.states.items():
        if path in builder.moving and state.flow is not None:
            builder.flow(path, builder.gradients.of(state.flow))
    for path, state in model.states.items():
        if path in builder.moving and state.next is not None and state.step is not None:
            last = RANKS * (len(model.loops) + 1)
            builder.sampler(Sampler(path, period=state.step, rank=last), builder.gradients.of(state.next))
    for number, loop in enumerate(model.loops):
        builder.loop(loop, RANKS * (number + 1))
    builder.scrapes()
    parts = tuple(builder.blocks), tuple(builder.samplers), tuple(builder.couplings)
    return DesignNetwork(*parts, builder.laws, frozenset(builder.bends), frozenset(builder.landed))


class _Builder:
    """A network while it is put together."""

    def __init__(self, model: Model, point: Mapping[str, Fraction], bends: Mapping[str, Tree], *, exact: bool) -> None:
        self.model, self.exact = model, exact
        self.gradients = Gradients(model, point, bends, apart=exact)
        written = {loop.signal for loop in model.loops if loop.signal}
        self.moving = (model.states.keys() | written) - stopped(model, {**point, **dict.fromkeys(bends, NOW)})
        self.bends: set[str] = set()
        self.landed: set[str] = set()
        self.blocks: list[Block] = []
        self.samplers: list[Sampler] = []
        self.couplings: list[Coupling] = []
        self.laws: dict[str, OwnShare] = {}
        self._delays: dict[PastSignal, str] = {}

    def flow(self, path: str, gradient: Gradient) -> None:
        """Adds a state that flows."""
        own = gradient.get(PastSignal(path), NOW)
        self.blocks.append(Block(path, (1.0,), (1.0, cast("float", -own) if self.exact else -float(own))))
        self._couple(
            path, {reading: weight for reading, weight in gradient.items() if reading != PastSignal(path)}, None
        )

    def sampler(self, sampler: Sampler, gradient: Gradient) -> None:
        """Adds what takes a new value at its instants."""
        self.samplers.append(sampler)
        self._couple(sampler.name, gradient, sampler)

    def loop(self, loop: SampledLoop, rank: int) -> None:
        """Adds what a loop commands: a sampler of its signal's name, or one more that writes the same output."""
        derivative = self.gradients.of_law(loop) if loop.signal else None
        if derivative is None:
            return
        own, gradient = derivative
        shared = loop.signal in self.laws
        name = f"{loop.signal} by {loop.name}" if shared else loop.signal
        self.laws[name] = OwnShare(loop.name, own, loop.counts_landed, self.gradients.own_command(loop))
        clock = Sampler(name, period=loop.period, phase=loop.phase or NOW, lands=loop.lands, rank=rank)
        self.sampler(replace(clock, writes=loop.signal if shared else ""), gradient)

    def scrapes(self) -> None:
        """Adds every sensor that scrapes, those that others read before these: they come first in an instant."""
        count = len(self.gradients.scrapes)
        for number, (name, scrape) in enumerate(self.gradients.scrapes.items()):
            self.moving = self.moving | {name}
            self.sampler(Sampler(name, period=scrape.period, rank=RANKS * (number - count)), scrape.gradient)

    def _couple(self, target: str, gradient: Gradient, clock: Sampler | None) -> None:
        for reading, weight in gradient.items():
            if reading.path in self.gradients.bent:
                self.couplings.append(Coupling(self._bend(reading.path, clock), target, weight))
            elif reading.path in self.gradients.memories:
                self.couplings.append(Coupling(self._before(reading.path, clock), target, weight))
            elif reading.path in self.moving or reading.path in self.gradients.scrapes:
                source = self._past(reading)
                source = self._mean(source, reading.window, clock) if reading.window else source
                self.couplings.append(Coupling(source, target, weight))

    def _past(self, reading: PastSignal) -> str:
        """Returns the block that shows a signal as it was; the signal itself where it is read at once.

        Its delay stays a fraction: a reading that is rounded by a hair would see the command before.
        """
        if not reading.lag:
            return reading.path
        key = PastSignal(reading.path, reading.lag)
        if key not in self._delays:
            self._delays[key] = f"delay {len(self._delays) + 1}"
            self.blocks.append(Block(self._delays[key], (1.0,), (1.0,), cast("float", reading.lag)))
            self.couplings.append(Coupling(reading.path, self._delays[key]))
        return self._delays[key]

    def _before(self, memory: str, clock: Sampler | None) -> str:
        """Returns the sampler that shows its reader what it would have read a sample ago."""
        if clock is None:
            raise NotExactError("previous() inside a flow: it counts samples, and a flow has none")
        if clock.name in self.moving and clock.name not in self.laws:
            raise NotExactError(f"previous() in {clock.name}: other readers of its samples change what it shows")
        name = f"{memory} of {clock.name}"
        if all(sampler.name != name for sampler in self.samplers):
            shown = replace(_just_before(clock, name), denominator=(1.0, 0.0))
            self.sampler(shown, self.gradients.memories[memory])
        return name

    def _bend(self, bend: str, clock: Sampler | None) -> str:
        """Returns what shows its reader a bend: a sampler of its instants, and in a flow one of those at which what
        it compares changes, or a block where that flows.
        """
        name = f"{bend} of {clock.name}" if clock else f"{bend} in flows"
        if name in self.bends:
            return name
        self.bends.add(name)
        compared = self.gradients.bent[bend]
        if clock is not None:
            self.landed |= {name} if clock.name in self.landed else set()
            self.sampler(_just_before(clock, name), compared)
        elif self._is_held(compared):
            self._changing(name, compared)
        else:
            self.blocks.append(Block(name, (1.0,), (1.0,)))
            self._couple(name, compared, None)
        return name

    def _is_held(self, compared: Gradient) -> bool:
        """Decides whether a reading changes at instants only."""
        return all(
            self._is_held(self.gradients.bent[r.path]) if r.path in self.gradients.bent
            else r.path not in self.model.states or self.model.states[r.path].flow is None
            for r in compared
        )  # fmt: skip

    def _changing(self, name: str, compared: Gradient) -> None:
        """Adds the samplers of a bend inside a flow whose reading is held: one for each clock by which it changes."""
        for number, (period, phase) in enumerate(sorted(self._changes(compared))):
            again = f"{name} at clock {number}" if number else name
            self.bends.add(again)
            self.landed.add(again)
            rank = RANKS * (len(self.model.loops) + 2)
            clock = Sampler(again, period=period, phase=phase, rank=rank, writes=name if number else "")
            self.sampler(clock, compared)

    def _changes(self, compared: Gradient) -> set[tuple[Fraction, Fraction]]:
        """Returns (period, phase) of the instants at which a held reading may change in a flow."""
        clocks: set[tuple[Fraction, Fraction]] = set()
        for reading in compared:
            if reading.path in self.gradients.bent:
                clocks |= self._changes(self.gradients.bent[reading.path])
            else:
                late = reading.lag
                clocks |= {(period, (at + late) % period) for period, at in self._clocks(reading.path)}
        return clocks

    def _clocks(self, path: str) -> set[tuple[Fraction, Fraction]]:
        if path in self.gradients.scrapes:
            return {(self.gradients.scrapes[path].period, NOW)}
        loops = {(x.period, (x.phase or NOW) + x.lands) for x in self.model.loops if x.signal == path}
        step = self.model.states[path].step if path in self.model.states else None
        return loops | ({(step, NOW)} if step is not None else set())

    def _mean(self, source: str, window: Fraction, clock: Sampler | None) -> str:
        if clock is None:
            raise NotExactError(f"a mean over {float(window):g} s inside a flow")
        name = f"mean {len(self.samplers)}"
        self.samplers.append(replace(_just_before(clock, name), window=window))
        self.couplings.append(Coupling(source, name))
        return name


def _just_before(clock: Sampler, name: str) -> Sampler:
    """Returns a sampler that reads something for another one, at its instants."""
    return Sampler(name, period=clock.period, phase=clock.phase, rank=clock.rank - 1)
