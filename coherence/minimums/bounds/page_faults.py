"""page faults of a trace: how often memory of equal frames must fetch where each page that is used takes a frame.

## What
The number of fetches of the rule that always gives up the page that is used again last (Belady): no rule of paging
fetches less on that trace.  Who may use a page without keeping it may need fewer: cache_fetches.

## Why it matters
On a recorded trace it separates what a better eviction policy could win from what only more memory can.

## Example
7 0 1 2 0 3 0 4 2 3 0 3 2 1 2 0 1 7 0 1 with 3 frames: 9 faults; 8 where a page need not be kept.

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
        raise UsageError("the trace of page_faults names the pages in the order of use, at least one")
    return farthest(trace, int(inputs["slots"]), takes_slot=True)


def every_trace() -> Checked:
    """All 1,093 traces of up to 7 uses of three items with one and two slots, against a search over contents."""
    wrong = where_beaten(takes_slot=True)
    return Checked(not wrong, wrong or "all traces of up to 7 uses of three items, by search over contents")


def searched(inputs: Inputs) -> int:
    """Returns the best of all policies by search over the contents of memory (for small traces)."""
    return fewest(several(inputs, "trace"), int(inputs["slots"]), takes_slot=True)


BOUND = Bound(
    name="page_faults",
    group="online decisions",
    quantity="fewest page faults for a trace",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.TRACE,
    loss="B",
    symbols=(
        Symbol("trace", "1", "pages in the order of use", Trend.LIST),
        Symbol("slots", "1", "frames of the memory, empty at first", Trend.FALLS, least=1, whole=True, sign="k"),
    ),
    compute=fetches,
    assumptions=("equal_items", "takes_a_slot"),
    source="Belady 1966; Mattson et al. 1970",
    examples=(
        Example({"trace": (1, 2, 3, 1, 2, 3), "slots": Fraction(2)}, 4.0, "by hand"),
        Example({"trace": (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5), "slots": Fraction(3)}, 7.0, "Belady's example"),
        Example(
            {"trace": (7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1), "slots": Fraction(3)},
            9.0,
            "textbooks of operating systems",
        ),
    ),
    without={"takes_a_slot": "cache_fetches"},
    proofs=(Recheck("enumeration", "every short trace", every_trace),),
    witness=Witness("search over all contents", searched),
    telemetry=("a recorded trace",),
    display=(
        r"\min_{C_0, C_1, \dots} \left| \left\{ t : \mathrm{trace}_t \notin C_{t - 1} \right\} \right|, "
        r"\quad C_0 = \emptyset, \; \mathrm{trace}_t \in C_t \subseteq C_{t - 1} \cup \left\{ "
        r"\mathrm{trace}_t \right\}, \; \left| C_t \right| \le k"
    ),
    unread="it is of a trace of uses: trace=@FILE",
)
