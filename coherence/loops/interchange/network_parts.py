"""Builds networks of systems of other tools beside our own blocks: `network({"plant": control.tf(...), ...}, ...)`.

In continuous time a transfer function is a block, and a state space an integrator per state.  In discrete time they are
samplers; what is strictly proper is decided after what it reads and lands a period later, so that each sees what the
others decide in its instant, as difference equations do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.graphs import components
from coherence.loops.interchange.foreign_systems import Ratio, StateMatrices, foreign_system
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked, exactly
from coherence.loops.networks.network import Block, Coupling, Network
from coherence.loops.networks.network import network as checked_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ONE = (1.0,)


@dataclass(frozen=True)
class SystemParts:
    """Blocks and samplers of one system; `ends`: what stands for it as (input, output), by the name in couplings."""

    blocks: tuple[Block, ...]
    samplers: tuple[Sampler, ...]
    couplings: tuple[Coupling, ...]
    ends: Mapping[str, tuple[str, str]]


def network(
    systems: Mapping[str, Any],
    couplings: Iterable[Coupling | Sequence[Any]] = (),
    *,
    delays: Mapping[str, float] | None = None,
) -> Network | Multirate:
    """Returns the network of systems by name, each with a delay (s) at its outputs; sampled where one is in discrete
    time.

    systems: of python-control or scipy.signal, (numerator, denominator), or numbers.
    couplings: (from, to) or (from, to, gain).  delays: seconds, by name of a system.
    Of several inputs and outputs `plant_u1` is the first input of
    `plant`, `plant_y1` its first output.  Raises UsageError.
    """
    delays = delays or {}
    strange = [f"'{name}' has a delay and is no system: {did_you_mean(name, systems)}"
               for name in delays if name not in systems]  # fmt: skip
    if strange:
        raise UsageError("; ".join(strange))
    parts = [_parts(name, system, float(delays.get(name, 0.0))) for name, system in systems.items()]
    ends = {name: end for part in parts for name, end in part.ends.items()}
    outer = [_coupling(each, ends) for each in couplings]
    blocks = [block for part in parts for block in part.blocks]
    samplers = [sampler for part in parts for sampler in part.samplers]
    inner = [coupling for part in parts for coupling in part.couplings]
    if not samplers:
        return checked_network(blocks, [*inner, *outer])
    return _ranked(checked(samplers, *_held(blocks, samplers, [*inner, *outer])))


def _coupling(given: Coupling | Sequence[Any], ends: Mapping[str, tuple[str, str]]) -> Coupling:
    if isinstance(given, Coupling):
        given = (given.source, given.target, given.gain)
    if isinstance(given, str) or not 2 <= len(given) <= 3:
        raise UsageError(f"{given!r} is no coupling: give (from, to) or (from, to, gain)")
    source, target, gain = (*given, 1.0)[:3]
    for name in (source, target):
        if name not in ends:
            raise UsageError(f"a coupling names '{name}', which is no system: {did_you_mean(name, ends)}")
    return Coupling(ends[source][1], ends[target][0], float(gain))


def _parts(name: str, system: Any, delay: float) -> SystemParts:
    if isinstance(system, Block):
        block = replace(system, name=name, delay=system.delay + delay)
        return SystemParts((block,), (), (), {name: (name, name)})
    if isinstance(system, Sampler):
        sampler = replace(system, name=name, lands=exactly(system.lands) + exactly(delay))
        return SystemParts((), (sampler,), (), {name: (name, name)})
    model = foreign_system(system, name)
    if isinstance(model, StateMatrices):
        return _state_parts(name, model, delay)
    if model.period is None:
        return SystemParts((Block(name, model.numerator, model.denominator, delay),), (), (), {name: (name, name)})
    return SystemParts((), (_sampler(name, model, model.period, delay),), (), {name: (name, name)})


def _sampler(name: str, ratio: Ratio, period: float, delay: float) -> Sampler:
    """Returns N(z) / D(z); what is strictly proper is z N / D, landing a period later."""
    top, bottom = (tuple(np.trim_zeros(p, "f")) or (0.0,) for p in (ratio.numerator, ratio.denominator))
    if len(top) < len(bottom):
        return Sampler(name, (*top, 0.0), bottom, period, lands=exactly(period) + exactly(delay))
    return Sampler(name, top, bottom, period, lands=delay)


def _state_parts(name: str, model: StateMatrices, delay: float) -> SystemParts:
    outputs, inputs = model.d.shape
    single = outputs == inputs == 1
    us = [f"{name}_u{k + 1}" for k in range(inputs)]
    xs = [f"{name}_x{k + 1}" for k in range(len(model.a))]
    ys = [name] if single else [f"{name}_y{k + 1}" for k in range(outputs)]
    couplings = (
        *_couplings(model.a, xs, xs), *_couplings(model.b, us, xs),
        *_couplings(model.c, xs, ys), *_couplings(model.d, us, ys),
    )  # fmt: skip
    ends = {name: (us[0], name)} if single else {u: (u, u) for u in us} | {y: (y, y) for y in ys}
    if model.period is None:
        blocks = [Block(u, ONE, ONE) for u in us] + [Block(x, ONE, (1.0, 0.0)) for x in xs]
        return SystemParts((*blocks, *(Block(y, ONE, ONE, delay) for y in ys)), (), couplings, ends)
    period = model.period
    samplers = [Sampler(u, period=period) for u in us] + [Sampler(x, period=period, lands=period) for x in xs]
    return SystemParts((), (*samplers, *(Sampler(y, period=period, lands=delay) for y in ys)), couplings, ends)


def _couplings(matrix: Array, sources: Sequence[str], targets: Sequence[str]) -> Iterator[Coupling]:
    for row, column in np.argwhere(matrix):
        yield Coupling(sources[column], targets[row], float(matrix[row, column]))


def _held(
    blocks: Sequence[Block], samplers: list[Sampler], couplings: Sequence[Coupling]
) -> tuple[list[Block], list[Coupling]]:
    """Returns blocks and couplings where what has a rate stands behind a sampler of its name, which is added."""
    plants = {block.name: f"plant of {block.name}" for block in blocks if block.rate is not None}
    samplers += [Sampler(block.name, period=block.rate) for block in blocks if block.rate is not None]
    behind = [replace(block, name=plants.get(block.name, block.name), rate=None) for block in blocks]
    after = [Coupling(plants.get(c.source, c.source), c.target, c.gain) for c in couplings]
    return behind, [*(Coupling(name, plant) for name, plant in plants.items()), *after]


def _ranked(system: Multirate) -> Multirate:
    """Returns the system in which everything is decided after what it reads in its instant.  Raises UsageError."""
    at_once = {s.name for s in system.samplers if not s.lands}
    through = {b.name for b in system.blocks if not b.delay and b.feedthrough}
    after: dict[str, set[str]] = {name: set() for name in (*at_once, *through)}
    for coupling in system.couplings:
        if coupling.source in after and coupling.target in after:
            after[coupling.source].add(coupling.target)
    readers: dict[str, list[str]] = {}
    for coupling in system.couplings:
        readers.setdefault(coupling.source, []).append(coupling.target)
    ranks: dict[str, int] = {}
    for group in reversed(list(components(after))):
        if at_once & set(group) and (len(group) > 1 or group[0] in after[group[0]]):
            names = " and ".join(sorted(group))
            raise UsageError(f"{names} depend on each other in one instant: give one of them a sample of delay")
        own = max(ranks.get(name, 0) for name in group)
        for target in (target for name in group for target in readers.get(name, ())):
            ranks[target] = max(ranks.get(target, 0), own + 1)
    return replace(system, samplers=tuple(replace(s, rank=ranks.get(s.name, 0)) for s in system.samplers))
