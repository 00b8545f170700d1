"""Declares the vocabulary of calls: deadlines, tries, pauses, what a failure is, and what else a call is to others."""

from __future__ import annotations

from coherence.base.places import Place
from coherence.base.records import Record, plain
from coherence.base.units import ONE, SECOND
from coherence.language.loops import LAYERS
from coherence.language.schema_kinds import Kind, Quantity, Word, either, key, listing, mapping, or_word, record
from coherence.language.value_kinds import (
    CARRIES,
    DURATION,
    NAME_KIND,
    TEXT,
    UNLIMITED_DURATION,
    VIA,
    WHOLE,
    quantity,
    word,
)
from coherence.language.words import LAYER, NOTE, OBJECTIVE, PART, WHOLE_STANDS_HERE

CAUSE: Kind[Word] = Kind(TEXT.read, {"type": ["string", "integer"]}, "a cause (`timeout`, `503`)")
SOME = quantity(ONE, low=1, whole=True)  # of tries


class Pause(Record):
    """Wait between tries: base * factor^(k-1), at most `cap`; `full` jitter draws from [0, that].

    A share as jitter is how far a wait may be off: `20 %` either way, `-25 % .. 0 %` shorter only.
    """

    place: Place | None = plain(compare=False)
    base: Quantity | None = key(
        DURATION,
        also="initial base_interval initial_interval min first",
        means="the pause before the second try",
        required=True,
    )
    cap: Quantity | None = key(
        DURATION,
        also="max max_interval maximum limit max_backoff",
        means="the longest pause",
        without="pauses grow without end",
    )
    factor: Quantity | None = key(
        quantity(ONE, low=1),
        also="multiplier backoff_multiplier exponent",
        means="by what each pause is longer than the last",
        without="2",
    )
    jitter: Quantity | Word | None = key(
        or_word(quantity(ONE, low=-1), "none", "full", "equal", "decorrelated"), without="none",
        means="how chance changes a pause: `full` draws from 0 to it, `equal` from its half to it, `decorrelated` from "
        "the one before; a share is how far it may be off, `20 %` either way, `-25 % .. 0 %` shorter only",
    )  # fmt: skip


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


class Call(Record):
    """One edge of the call tree with its deadline and retries.  `tries` counts the first one too."""

    caller: Word | None = key(NAME_KIND, "from", means="who calls: a workload, a component, or a thing", required=True)
    callee: Word | None = key(NAME_KIND, "to", also="target service destination", means="what is called", required=True)
    place: Place | None = plain(compare=False)
    part: Word | None = key(NAME_KIND, "uses", means=PART, without=WHOLE_STANDS_HERE)
    deadline: Quantity | Word | None = key(
        UNLIMITED_DURATION,
        also="total_timeout overall_timeout request_timeout total within",
        means="the time after which the caller gives the call up, with all its tries",
        without="unlimited",
    )  # fmt: skip
    per_try: Quantity | Word | None = key(
        UNLIMITED_DURATION,
        also="timeout per_try_timeout attempt_timeout try_timeout",
        means="the time after which one try is given up",
        without="the deadline",
    )
    tries: tuple[Quantity | Word, ...] = key(
        listing(or_word(WHOLE, "unlimited"), or_one=True), many=True, without="1",
        also="retries attempts max_attempts num_retries max_retries retry",
        means="how often the call is tried, the first one counted; a list is nested retries, the outermost first",
    )  # fmt: skip
    pause: Pause | Quantity | Word | None = key(
        either(record(Pause), or_word(DURATION, "from answer")), without="0 s",
        also="backoff retry_backoff delay wait sleep interval retry_interval base_interval",
        means="the time between a failure and the next try, constant or growing, or as the answer says",
    )  # fmt: skip
    retry_when: tuple[Word, ...] | None = key(
        listing(CAUSE),
        also="retry_on retry_if retryable",
        means="the causes of failure after which it is tried again",
        without="any failure",
    )
    fails: dict[str, Quantity] | None = key(
        mapping(DURATION, names=False), means="how long a try takes that fails of each cause",
        without="unknown, up to `per_try`; findings that rest on it say `on timeouts`",
    )  # fmt: skip
    on_timeout: Word | None = key(
        word("abandon", "cancel"), without="verdicts about load are undecided and ask for it; those about time stand",
        also="on_deadline after_timeout",
        means="what becomes of the work that a try leaves behind: it is done for nobody, or it is withdrawn",
    )  # fmt: skip
    timeout_kind: Word | None = key(
        word("total", "first byte", "between bytes", "connect"), without="total",
        means="which part of an answer `per_try` waits for",
    )  # fmt: skip
    budget: Word | None = key(
        NAME_KIND, also="retry_budget", means="the limit that its retries count against", without="none"
    )
    breaker: Breaker | None = key(
        record(Breaker), without="none",
        also="circuit_breaker circuitbreaker outlier_detection",
        means="fails tries at once for `open_for` after `failures` in a row, or a `share` of the `last`; one for all "
        "callers",
    )  # fmt: skip
    hedge_after: Quantity | None = key(
        DURATION, without="no second copy is sent",
        also="hedge hedging hedging_delay",
        means="a second copy of each try is sent after so long; the first answer counts, the other copy is given up",
    )  # fmt: skip
    stage: Word | None = key(
        NAME_KIND, without="beside calls with a stage one of its own; else the order is open, and proofs hold for each",
        also="phase parallel",
        means="calls of a caller in one stage are made at once, its stages one after another, as they are first named",
    )  # fmt: skip
    cases: tuple[Word, ...] = key(
        listing(NAME_KIND, or_one=True), "case", many=True, without="it is made in every case",
        means="the cases in which it is made, of which each request of the caller is exactly one",
    )  # fmt: skip
    fallback_for: Word | None = key(
        NAME_KIND, without="it waits for no failure",
        also="fallback",
        means="a callee of the same caller: this call is made when that one has failed, all its tries included",
    )  # fmt: skip
    carries: Quantity | None = key(
        CARRIES,
        also="bytes size payload",
        means="the bytes that one request brings over links",
        without="it is asked for where a link is between",
    )
    via: tuple[Word, ...] = key(
        VIA,
        many=True,
        also="path route",
        means="the ends of links by which it goes",
        without="the way with the fewest links, if it is one",
    )
    layer: Word | None = key(word(*LAYERS), means=LAYER, for_people=True)
    objective: Word | None = key(TEXT, means=OBJECTIVE, for_people=True)
    note: Word | None = key(TEXT, means=NOTE, for_people=True)

    @property
    def name(self) -> str:
        return f"{self.caller} -> {self.callee}"

    @property
    def cancels(self) -> bool:
        """Returns whether the work of a try that is given up is withdrawn."""
        return self.on_timeout is not None and self.on_timeout.text == "cancel"

    @property
    def abandons(self) -> bool:
        """Returns whether the work of a try that is given up is done for nobody."""
        return self.on_timeout is not None and self.on_timeout.text == "abandon"
