"""Reads how many requests a second a thing is said to serve as a whole, and what is unclear of it."""

from __future__ import annotations

from fractions import Fraction

from coherence.base.places import Place
from coherence.base.units import ONE, SECOND
from coherence.language.design import Design
from coherence.language.entries.member_slots import limits_of_all
from coherence.language.expressions.tree import Name, Number, walk
from coherence.language.names import scope, used_names
from coherence.language.schema_kinds import Formula, Quantity
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.offered_load import ARRIVING

WHOLE = ("capacity", "throughput")  # keys of what all members serve
PER_SECOND = ONE / SECOND


def stated_capacity(facts: DesignFacts, thing: str) -> tuple[Fraction, Place] | None:
    """Returns the fewest requests per second that a thing is said to serve as a whole; None where it is not said."""
    component = facts.design.components.get(thing)
    constants = component.constants if component is not None and component.part is None else {}
    for key, given in ((key, constants.get(key)) for key in WHOLE):
        if isinstance(given, Quantity) and given.dimension.physical == PER_SECOND:
            return given.low, given.place
        low = facts.range(Name(f"{thing}.{key}")).low if isinstance(given, Formula) else None
        if isinstance(given, Formula) and low is not None and _computes_rate(facts.design, thing, given):
            return low, given.place
    return None


def _computes_rate(design: Design, thing: str, given: Formula) -> bool:
    from coherence.language.dimensions import Known, dimension_of, known

    dimension = dimension_of(given, Known(known(design).signals, dict(scope(design.components[thing], design))))
    numbers = [node.dimension for node in walk(given.tree) if isinstance(node, Number)]  # members have no unit
    return any(d.physical == PER_SECOND for d in ([dimension] if dimension is not None else numbers))


def unclear_rate(facts: DesignFacts, thing: str) -> tuple[str, Place] | None:
    """Returns what to ask of a thing of which a rate is stated that nothing reads, and its line."""
    for key, rate in unread_rates(facts.design, thing):
        needs = f"what {thing}.{key} is: what one member serves is `rate_per_member: {rate}`"
        return needs, rate.place.labelled("nothing reads this rate")
    return None


def unclear_slots(design: Design, thing: str) -> tuple[str, Place] | None:
    """Returns what to ask of a thing whose limits on what is in work do not say how much of it is of one member."""
    for limit in limits_of_all(design, thing):
        needs = f"how many requests each member of {thing} works on at once (`per: replica` says it of each)"
        return f"{needs}: {limit.name} does not count those of one", limit.place.labelled("not of each member")
    return None


def unread_rates(design: Design, thing: str) -> list[tuple[str, Quantity]]:
    """Returns the rates of a thing that are not understood by name and that nothing else of the design names."""
    component = design.components[thing]
    own = component.constants.items() if component.part is None else ()
    stated = ((key, given) for key, given in own if key not in ARRIVING)
    rates = [
        (key, given) for key, given in stated if isinstance(given, Quantity) and given.dimension.physical == PER_SECOND
    ]
    named = used_names(design) if rates else frozenset[str]()
    return [(key, given) for key, given in rates if named.isdisjoint((key, f"{thing}.{key}"))]
