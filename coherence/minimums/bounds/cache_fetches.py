"""fetches of a trace: how often a cache of equal slots must fetch for a known sequence of requests.

## What
The number of fetches of the cache that always gives up what is used again last (an item may also be used without being
kept): no policy fetches less on that trace.  Where each takes a slot as it is used: page_faults.

## Why it matters
On a recorded trace it separates what a better eviction policy could win from what only more memory can.

## Example
1 2 3 1 2 3 with 2 slots: 4 fetches.

## Source
L. Belady, IBM Systems Journal 5, 1966; R. Mattson et al. 1970.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
    several,
)
from coherence.minimums.eviction import farthest, fewest, where_beaten


def fetches(inputs: Inputs) -> int:
    """Raises UsageError for an empty trace."""
    trace = several(inputs, "trace")
    if not trace:
        raise UsageError("the trace of cache_fetches names the items in the order of use, at least one")
    return farthest(trace, int(inputs["slots"]))


def every_trace() -> Checked:
    """All 1,093 traces of up to 7 uses of three items with one and two slots, against a search over contents."""
    wrong = where_beaten()
    return Checked(not wrong, wrong or "all traces of up to 7 uses of three items, by search over contents")


def searched(inputs: Inputs) -> int:
    """Returns the best of all policies by search over the contents of the cache (for small traces)."""
    return fewest(several(inputs, "trace"), int(inputs["slots"]))


BOUND = Bound(
    name="cache_fetches",
    group="online decisions",
    quantity="fewest fetches for a trace",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.TRACE,
    loss="B",
    symbols=(
        Symbol("trace", "1", "items in the order of use", Trend.LIST),
        Symbol("slots", "1", "slots of the cache, empty at first", Trend.FALLS, least=1, whole=True, sign="k"),
    ),
    compute=fetches,
    assumptions=("equal_items",),
    source="Belady 1966; Mattson et al. 1970",
    examples=(
        Example({"trace": (1, 2, 3, 1, 2, 3), "slots": Fraction(2)}, 4.0, "by hand"),
        Example({"trace": (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5), "slots": Fraction(3)}, 7.0, "Belady's example"),
    ),
    proofs=(Recheck("enumeration", "every short trace", every_trace),),
    witness=Witness("search over all contents", searched),
    telemetry=("a recorded trace",),
    display=(
        r"\min_{C_0, C_1, \dots} \left| \left\{ t : \mathrm{trace}_t \notin C_{t - 1} \right\} \right|, "
        r"\quad C_0 = \emptyset, \; C_t \subseteq C_{t - 1} \cup \left\{ \mathrm{trace}_t \right\}, \; "
        r"\left| C_t \right| \le k"
    ),
    unread="it is of a trace of uses: trace=@FILE",
)
