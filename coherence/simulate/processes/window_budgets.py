"""Converts limits of retries in a window into budgets of routes."""

from __future__ import annotations

from coherence.language.design import Call, Design, Limit
from coherence.language.entries.limit_numbers import ends_retries, least_allowed, most_allowed, share_in_window
from coherence.language.schema_kinds import Quantity
from coherence.simulate.processes.numbers import lower
from coherence.simulate.requests.program import PacedRetries


def window_budget(design: Design, call: Call, notes: list[str]) -> PacedRetries | None:
    """Returns the budget of retries in a window that a call keeps; of several the first one, the others are named."""
    budget: PacedRetries | None = None
    for limit in design.limits.values():
        if not ends_retries(limit, call):
            continue
        why = _not_run(design, limit, call) if budget is None else "a call keeps one budget in a window"
        if why:
            notes.append(f"{limit.name} is not run: {why}")
            continue
        budget = _paced(design, limit, notes)
        notes.append(f"a retry counts in {limit.name} from its grant, and the window moves on by hundredths")
    return budget


def _paced(design: Design, limit: Limit, notes: list[str]) -> PacedRetries:
    assert isinstance(limit.window, Quantity)
    window, most = lower(limit.window, f"window of {limit.name}", notes), most_allowed(design, limit)
    if most is not None:
        return PacedRetries(window, floor=lower(most, f"at_most of {limit.name}", notes))
    share, floor = share_in_window(limit), least_allowed(design, limit)
    assert share is not None
    assert floor is not None
    return PacedRetries(window, float(share[0]), float(floor), "first" if share[1] else "requests")


def _not_run(design: Design, limit: Limit, call: Call) -> str:
    """Returns why a route cannot keep a limit; nothing where it can."""
    ends = {end.text for end in (call.caller, call.callee) if end is not None}
    counted = limit.counts.text.partition(".")[0] if limit.counts is not None else ""
    if not isinstance(limit.window, Quantity) or limit.window.low <= 0:
        return "it needs `window` as a time above 0 s"
    if limit.when_full is None or not limit.rejects:
        return f"what it does when full ({limit.when_full.text if limit.when_full else ''}) is not rejecting"
    if limit.per is not None or limit.during is not None:
        return f"there is one of it per {limit.per.text}" if limit.per is not None else "it does not hold at all times"
    if counted not in ends:
        return f"it counts retries of {counted}, which is no end of {call.name}"
    stated = most_allowed(design, limit) is not None
    shared = share_in_window(limit) is not None and least_allowed(design, limit) is not None
    return "" if stated or shared else "its `at_most` is neither a number nor a share of what its thing sends"
