"""Bounds how many members of a thing the requests of a workload hold at once, by limits on what is in flight."""

from __future__ import annotations

from coherence.language.calls import Call
from coherence.language.design import Design, Limit
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.verify.facts.limits import in_flight_limits


def least_in_flight(design: Design, workload: Workload, thing: str) -> tuple[Limit, Quantity] | None:
    """Returns the least limit on requests of a workload in flight, where each of them holds one member of a thing.

    None also where a request may hold several: by several calls, second copies, or tries that go on for nobody.
    """
    calls = [call for call in design.calls if (str(call.caller), str(call.callee)) == (workload.name, thing)]
    if len(calls) != 1 or not _holds_one(workload, calls[0]):
        return None
    counted = {workload.name, f"{workload.name}.requests", calls[0].name}
    return min(in_flight_limits(design, counted), key=lambda pair: pair[1].high, default=None)


def _holds_one(workload: Workload, call: Call) -> bool:
    """Decides whether there is one try of a call at a time, and none that its caller has left."""
    ended = any(limit is not None for limit in (workload.deadline, call.deadline, call.per_try))
    cancels = call.on_timeout is not None and call.on_timeout.text == "cancel"
    return call.hedge_after is None and (cancels or not ended)
