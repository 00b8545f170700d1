"""Makes whole systems of a design's network: what a law adds to its own command stands in its sampler.

c[k] = own c[k-1] + r[k] is the sampler z / (z - own); where the law counts what has landed, and commands take time to
land, it is a coupling of the sampler to itself.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.loops.designs.design_network import DesignNetwork, OwnShare
from coherence.loops.multirate.sampled_system import Multirate, Sampler, checked
from coherence.loops.networks.network import Coupling


def whole_system(design: DesignNetwork) -> Multirate:
    """Returns the system of several rates with every law's own command.

    Raises UsageError, also where two loops write one command: none of them remembers what the other has written.
    """
    samplers, couplings = list[Sampler](), list(design.couplings)
    for sampler in design.samplers:
        law = design.laws.get(sampler.name)
        if law is not None and sampler.writes:
            raise UsageError(f"{design.laws[sampler.writes].loop} and {law.loop} write {sampler.writes}")
        if law is not None and _waits(sampler, law):
            couplings.append(Coupling(sampler.name, sampler.name, law.own))
        samplers.append(_remembering(sampler, law))
    return checked(samplers, design.blocks, couplings)


def _waits(sampler: Sampler, law: OwnShare) -> bool:
    """Decides whether the law counts a command only when it has landed, later than it was given."""
    return bool(law.own and law.landed and sampler.lands)


def _remembering(sampler: Sampler, law: OwnShare | None) -> Sampler:
    if law is None or not law.own or _waits(sampler, law):
        return sampler
    return replace(sampler, numerator=(Fraction(1), Fraction(0)), denominator=(Fraction(1), -law.own))
