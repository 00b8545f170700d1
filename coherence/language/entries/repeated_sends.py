"""Tells whose requests may be sent several times: attempts of any other workload come at the rate of its requests."""

from __future__ import annotations

from coherence.language.calls import Call
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity


def sends_again(design: Design) -> frozenset[str]:
    """Returns the callers some of whose requests may become several sends of one call."""
    return frozenset(call.caller.text for call in design.calls if call.caller is not None and _may_repeat(call))


def _may_repeat(call: Call) -> bool:
    several = any(not isinstance(tries, Quantity) or tries.high > 1 for tries in call.tries)
    return several or call.hedge_after is not None
