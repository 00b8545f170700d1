"""Sampled loops of several rates as values: samplers, continuous blocks between them, couplings.

A `Sampler` reads at phase, phase + period, ...; what it reads passes N(z)/D(z) and is held until its next
command has landed.  A `Block` of `network.py` turns held commands into continuous signals with an exact
delay.  `multirate(network)` reads every block with a `rate` as a plant behind a zero-order hold.

A reading at t sees what is there before anything is decided at t (model rules 1 and 2): commands that have
landed by t, commands of samplers of lower `rank` decided at t, and of delayed signals their value as it was
read at t - delay.  So a loop of static blocks has one sample of delay and never an algebraic loop.

    >>> from fractions import Fraction
    >>> from coherence.loops.multirate.lifting import lift
    >>> plant = Block("queue", (1.0,), (1.0, 0.0), delay=0.25)
    >>> loop = checked([Sampler("control", period=1.0)], [plant], [
    ...     Coupling("control", "queue"), Coupling("queue", "control", -3.5)])
    >>> lifted = lift(loop)
    >>> lifted.exact, lifted.matrix.shape
    (True, (2, 2))
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from coherence.base.errors import UsageError, did_you_mean
from coherence.loops.networks.network import Block, Coupling, Network

Number: TypeAlias = float | Fraction


@dataclass(frozen=True)
class Sampler:
    """A held output: numerator(z) / denominator(z), descending powers, of what is read.

    `period`, `phase` in [0, period), `lands` (from decision to effect) and `window` (moving average over the
    last so many seconds; 0: the value at the instant) in seconds.  Samplers of lower `rank` decide first.
    `writes`: an earlier sampler whose output this one writes too; both land as late.  Empty: it has its own.
    """

    name: str
    numerator: tuple[Number, ...] = (1.0,)
    denominator: tuple[Number, ...] = (1.0,)
    period: Number = 1.0
    phase: Number = 0.0
    lands: Number = 0.0
    window: Number = 0.0
    rank: int = 0
    writes: str = ""


@dataclass(frozen=True)
class Multirate:
    """Samplers and continuous blocks by name, and couplings among them.  Made by `checked` or `multirate`."""

    samplers: tuple[Sampler, ...]
    blocks: tuple[Block, ...]
    couplings: tuple[Coupling, ...]

    @property
    def period(self) -> Fraction:
        """Returns the common period of all samplers, s."""
        return common([exactly(sampler.period) for sampler in self.samplers])


def exactly(number: Number) -> Fraction:
    """Returns the number as it is written: 0.1 is one tenth."""
    return Fraction(number) if isinstance(number, Fraction | int) else Fraction(repr(float(number)))


def common(periods: Iterable[Fraction]) -> Fraction:
    """Returns the least common multiple."""
    numerators, denominators = zip(*((p.numerator, p.denominator) for p in periods), strict=True)
    whole = math.lcm(*denominators)
    return Fraction(math.lcm(*(n * (whole // d) for n, d in zip(numerators, denominators, strict=True))), whole)


def multirate(
    network: Network, *, phases: Mapping[str, Number] | None = None, windows: Mapping[str, Number] | None = None
) -> Multirate:
    """Returns a network as samplers and blocks: a block with a rate becomes a sampler of its name and the plant
    behind it.

    `phases` and `windows`: seconds by the name of a block with a rate.  Raises UsageError for other names.
    """
    phases, windows = phases or {}, windows or {}
    rated = {block.name: block.rate for block in network.blocks if block.rate is not None}
    problems = [
        f"'{name}' is no sampled block: {did_you_mean(name, rated)}"
        for name in (*phases, *windows)
        if name not in rated
    ]
    if problems:
        raise UsageError("; ".join(problems))
    samplers = [
        Sampler(name, period=rate, phase=phases.get(name, 0.0), window=windows.get(name, 0.0))
        for name, rate in rated.items()
    ]
    plant = {name: f"plant of {name}" for name in rated}
    blocks = [
        Block(plant.get(block.name, block.name), block.numerator, block.denominator, block.delay)
        for block in network.blocks
    ]
    couplings = [Coupling(plant.get(c.source, c.source), c.target, c.gain) for c in network.couplings]
    holds = [Coupling(name, plant[name]) for name in rated]
    return checked(samplers, blocks, [*holds, *couplings])


def checked(samplers: Iterable[Sampler], blocks: Iterable[Block] = (), couplings: Iterable[Coupling] = ()) -> Multirate:
    """Returns a checked system.  Raises UsageError for what has no meaning, all problems at once."""
    system = Multirate(tuple(samplers), tuple(blocks), tuple(couplings))
    names = [*(s.name for s in system.samplers), *(b.name for b in system.blocks)]
    problems = [f"the name '{name}' stands twice: give each its own" for name, n in Counter(names).items() if n > 1]
    if not system.samplers:
        problems.append("nothing is sampled: give a block a rate, or ask for the characteristic roots instead")
    for number, sampler in enumerate(system.samplers):
        problems += _sampler(sampler)
        problems += _shared(sampler, system.samplers[:number])
    for block in system.blocks:
        if len(block.numerator) > len(block.denominator) or not block.denominator[0]:
            problems.append(f"{block.name} differentiates, or its denominator starts with zero: add a lag")
        if block.rate is not None:
            problems.append(f"{block.name} has a rate: read the network with `multirate`, or add a sampler before it")
    for end in (end for c in system.couplings for end in (c.source, c.target) if end not in names):
        problems.append(f"a coupling names '{end}', which is neither sampler nor block: {did_you_mean(end, names)}")
    if problems:
        raise UsageError("; ".join(problems))
    return system


def _sampler(sampler: Sampler) -> list[str]:
    numbers = (sampler.period, sampler.phase, sampler.lands, sampler.window, *sampler.numerator, *sampler.denominator)
    if not all(math.isfinite(number) for number in numbers):
        return [f"{sampler.name} has a number that is not finite"]
    problems = []
    if not sampler.period > 0:
        return [f"the period of {sampler.name} is {float(sampler.period):g} s: it must be > 0"]
    if not 0 <= exactly(sampler.phase) < exactly(sampler.period):
        problems.append(f"the phase of {sampler.name} must lie in [0, {float(sampler.period):g}) s")
    if min(sampler.lands, sampler.window) < 0:
        problems.append(f"{sampler.name} lands or averages over a negative time")
    if not sampler.denominator or not sampler.denominator[0] or len(sampler.numerator) > len(sampler.denominator):
        problems.append(f"{sampler.name} reads the future: its numerator must not be longer than its denominator")
    return problems


def _shared(sampler: Sampler, earlier: Iterable[Sampler]) -> list[str]:
    """Returns what is wrong with the output that a sampler shares."""
    if not sampler.writes:
        return []
    owner = next((s for s in earlier if s.name == sampler.writes and not s.writes), None)
    if owner is None:
        return [f"{sampler.name} writes what '{sampler.writes}' writes: no earlier sampler has that output of its own"]
    if exactly(owner.lands) != exactly(sampler.lands):
        lands = f"{float(owner.lands):g} s and {float(sampler.lands):g} s"
        return [f"{owner.name} and {sampler.name} write one signal and land {lands} later: they overtake each other"]
    return []
