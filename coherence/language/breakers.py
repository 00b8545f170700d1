"""Declares the vocabulary of a breaker of a call: what opens it, how long it stays open, and its trials."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE, SECOND
from coherence.language.schema_kinds import Quantity, key
from coherence.language.value_kinds import quantity

SOME = quantity(ONE, low=1, whole=True)


class Breaker(Record):
    """Fails every try of a call at once for `open_for`, after so many `failures` in a row or a `share` of the `last`.

    `at_least`: a share is looked at only when so many have ended (without it: all of `last`).  `trials`: so many are
    then let through (1); where they fail as much as opens it, it opens again, else it closes.
    """

    exclusive = ("failures", "share")

    place: Place | None = plain(compare=False)
    failures: Quantity | None = key(
        SOME,
        also="consecutive_errors consecutive_failures max_failures threshold",
        means="how many tries in a row must fail to open it",
        without="`share` opens it",
    )
    share: Quantity | None = key(
        quantity(ONE, low=0, high=1),
        also="error_rate failure_rate ratio error_ratio percentage",
        means="the share of the `last` tries that must have failed to open it",
        without="`failures` opens it",
    )  # fmt: skip
    last: Quantity | None = key(
        SOME,
        also="over sliding_window window requests",
        means="how many tries the share is of",
        without="it is asked for beside `share`",
    )
    at_least: Quantity | None = key(
        SOME,
        also="min_requests minimum_calls request_volume",
        means="the share is looked at once so many tries have ended",
        without="all of `last`",
    )
    open_for: Quantity | None = key(
        quantity(SECOND, low=0),
        also="sleep_window wait reset_timeout ejection_time base_ejection_time open_time",
        means="how long it fails every try at once, before its trials",
        required=True,
    )
    trials: Quantity | None = key(
        SOME,
        also="half_open half_open_requests probes",
        means="how many tries are then let through; where they fail as much as opens it, it opens again",
        without="1",
    )
