"""Converts the breaker of a call into that of its route."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.errors import Problem
from coherence.language.calls import Breaker
from coherence.language.design import Call
from coherence.language.schema_kinds import Quantity
from coherence.simulate.processes.numbers import lower
from coherence.simulate.requests.events_checks import MOST_PLACES
from coherence.simulate.requests.program import OpeningBreaker


def opening_of(call: Call, name: str, notes: list[str], problems: list[Problem]) -> OpeningBreaker | None:
    """Returns the breaker of a call that opens after failures.  So many failures in a row are all of the last ones."""
    if call.breaker is None:
        return None
    refused = list(_problems(call.breaker, name))
    problems += refused
    if refused:
        return None

    def number(key: str, value: Quantity | None, absent: float) -> float:
        return lower(value, f"{key} of the breaker of {name}", notes) if value is not None else absent

    breaker = call.breaker
    last = number("last", breaker.last, 0) or number("failures", breaker.failures, 0)
    return OpeningBreaker(
        number("share", breaker.share, 1.0),
        int(last),
        int(number("at_least", breaker.at_least, last)),
        number("open_for", breaker.open_for, 0),
        int(number("trials", breaker.trials, 1)),
    )


def _problems(breaker: Breaker, name: str) -> Iterator[Problem]:
    assert breaker.place is not None
    if breaker.failures is None and (breaker.share is None or breaker.last is None):
        remedy = "write `failures: 5` (in a row), or `share: 50 %, last: 100`"
        yield Problem(breaker.place, f"nothing says what opens the breaker of {name}", remedy)
    if breaker.failures is not None:
        for key, value in (("last", breaker.last), ("at_least", breaker.at_least)):
            if value is not None:
                message = f"`{key}` of the breaker of {name} goes with a share, not with failures in a row"
                yield Problem(value.place, message, "leave it out, or write `share`")
    if breaker.share is not None and not 0 < breaker.share.low <= breaker.share.high <= 1:
        message = f"the breaker of {name} opens at a share of {breaker.share}"
        yield Problem(breaker.share.place, message, "write a share above 0 % and up to 100 %")
    for key in ("failures", "last", "trials"):
        value = getattr(breaker, key)
        if value is not None and value.high > MOST_PLACES:
            message = f"`{key}: {value}` of the breaker of {name} is more than a run remembers"
            yield Problem(value.place, message, f"write at most {MOST_PLACES:,}")
