"""Makes whole systems of a design's network: what a law adds to its own command stands in its sampler.

c[k] = own c[k-1] + r[k] is the sampler z / (z - own); where the law counts what has landed, and commands take time to
land, it is a coupling of the sampler to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.loops.designs.design_network import DesignNetwork, OwnShare
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.networks.network import Coupling


@dataclass(frozen=True)
class WholeSystem:
    """A sampled system with its laws; `own`: weights of couplings of samplers to themselves that are their memory."""

    system: Multirate
    own: Mapping[str, Fraction]


def whole_system(design: DesignNetwork, apart: str = "") -> WholeSystem:
    """Returns the system of several rates with every law's own command; that of the sampler `apart` as a coupling.

    Raises UsageError, also where two loops write one command: none of them remembers what the other has written.
    """
    samplers, couplings, own = list[Sampler](), list(design.couplings), dict[str, Fraction]()
    for sampler in design.samplers:
        law = design.laws.get(sampler.name)
        own[sampler.name] = law.carried.named if law is not None else Fraction(0)
        if law is not None and sampler.writes:
            raise UsageError(f"{design.laws[sampler.writes].loop} and {law.loop} write {sampler.writes}")
        if law is not None and _waits(sampler, law, apart):
            own[sampler.name] += law.own
            couplings.append(Coupling(sampler.name, sampler.name, law.own))
        samplers.append(_remembering(sampler, law, apart))
    return WholeSystem(checked(samplers, design.blocks, couplings), own)


def _waits(sampler: Sampler, law: OwnShare, apart: str) -> bool:
    """Decides whether the law counts a command only when it has landed, later than it was given; or may be taken so."""
    return bool(law.own and (law.landed if sampler.lands else sampler.name == apart))


def _remembering(sampler: Sampler, law: OwnShare | None, apart: str) -> Sampler:
    if law is None or not law.own or _waits(sampler, law, apart):
        return sampler
    return replace(sampler, numerator=(Fraction(1), Fraction(0)), denominator=(Fraction(1), -law.own))
