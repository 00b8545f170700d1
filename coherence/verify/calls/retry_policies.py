"""Reads a call as numbers: its tries, the limits of one and of all, and the time of each cause of failure.

Only causes that consume time matter to a deadline.  A timeout takes `per_try` (without one: the whole
deadline); another cause takes what `fails` says; a cause without it takes an unknown time up to
`per_try`, so that no verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.sends import Tries, product
from coherence.language.design import Call, Design, Pause
from coherence.language.entries.jitter import is_decorrelated, spread_of
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity, Word
from coherence.language.words import CAUSES, plain_word
from coherence.verify.calls.attempts import (
    DOUBLING,
    NO_PAUSE,
    ZERO,
    DurationInterval,
    RetryBackoff,
    RetrySchedule,
    TooManyTriesError,
    last_end,
    last_start,
    least,
    pauses,
)

UNBOUNDED = {"between bytes": ("a slow stream", "stream"), "connect": ("a slow answer", "answer")}
TIMEOUTS = frozenset(CAUSES["timeout"])
OTHER_FAILURE = "any other failure"


@dataclass(frozen=True)
class MissingFact:
    """What would make a failure or a pause known: the words that ask for it, and whether it is a number."""

    words: str
    is_number: bool = True

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class FailureCause:
    """A failure that is tried again, and the seconds that a try so failing consumes.

    `known`: stated, or a timeout.  `whole`: it takes exactly the deadline, for want of `per_try`.
    `missing`: what would make it known.
    """

    name: str
    takes: DurationInterval
    known: bool = True
    whole: bool = False
    missing: MissingFact = MissingFact("")


def _at_its_soonest(cause: FailureCause) -> FailureCause:
    return replace(cause, takes=DurationInterval(cause.takes.low, cause.takes.low))


@dataclass(frozen=True)
class RetryPolicy:
    """A call in numbers.  `limit` = seconds of one try (the smaller of per_try and deadline); None: unlimited.

    Two calls with the same numbers are two plans: compared by identity.
    """

    call: Call
    fewest: Tries
    most: Tries
    deadline: DurationInterval | None
    limit: DurationInterval | None
    backoff: RetryBackoff
    causes: tuple[FailureCause, ...]

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def caller(self) -> str:
        return self.call.caller.text if self.call.caller else ""

    @property
    def callee(self) -> str:
        return self.call.callee.text if self.call.callee else ""

    @property
    def tries(self) -> int | None:
        """Returns the most tries of one call; None is unlimited."""
        return product(self.most)

    @property
    def retries(self) -> bool:
        """Decides whether there may be a second try."""
        return self.tries != 1 and bool(self.causes)

    @property
    def second_copy(self) -> Fraction:
        """Returns seconds after which a second copy of a try is sent at the latest; 0 where none is."""
        stated, longest = self.call.hedge_after, self.limit.high if self.limit is not None else None
        if stated is None or (longest is not None and stated.low > longest):
            return ZERO
        return stated.high if longest is None else min(stated.high, longest)

    @property
    def whole_try(self) -> DurationInterval | None:
        """Returns the seconds of one try with its second copy, of which each may take `limit`; None: unlimited."""
        if self.limit is None or self.limit.high is None or not self.second_copy:
            return self.limit
        return DurationInterval(self.limit.low, self.limit.high + self.second_copy).within(self.deadline)

    def failed_try(self, cause: FailureCause) -> DurationInterval:
        """Returns the seconds of a try that fails so: both copies, of which the later one decides.

        The first may fail by anything once the second is sent, and before that alone.
        """
        takes = cause.takes
        if cause.whole or takes.high is None or not self.second_copy:
            return takes
        return DurationInterval(takes.low, takes.high + self.second_copy)

    @property
    def streams(self) -> bool:
        """Decides whether the limit of one try leaves the whole answer unbounded."""
        return self.call.timeout_kind is not None and self.call.timeout_kind.text in ("first byte", "between bytes")

    @property
    def failure_limit(self) -> DurationInterval | None:
        """Returns the seconds in which a try fails at the latest: a limit that is not of the whole answer is none."""
        return self.limit if _bounds_failures(self.call) else self.deadline

    def missing_facts(self) -> list[MissingFact]:
        """Returns what to ask for of its failures and pauses."""
        return [cause.missing for cause in self.causes if not cause.known] + self.open_pause()

    def open_pause(self) -> list[MissingFact]:
        """Returns what to ask for where the pauses have no known bound."""
        told = self.call.pause is not None and not isinstance(self.call.pause, Pause)
        ask = "the longest wait that an answer names to" if told else "cap (in pause) of"
        return [MissingFact(f"{ask} {self.name}")] if self.backoff.answered else []

    def worst(self, cause: FailureCause) -> RetrySchedule:
        """Returns the schedule in which every try fails so, as slowly as known; answered pauses may be 0."""
        return RetrySchedule(
            self.most, self.failed_try(cause).high, NO_PAUSE if self.backoff.answered else self.backoff
        )

    def best(self, cause: FailureCause) -> RetrySchedule:
        """Returns the schedule in which every try fails so, as quickly as it can."""
        return RetrySchedule(self.fewest, cause.takes.low, self.backoff, longest=False)

    def known(self) -> tuple[FailureCause, ...]:
        """Returns causes whose time is known."""
        return tuple(cause for cause in self.causes if cause.known)

    def at_least(self) -> tuple[FailureCause, ...]:
        """Returns causes whose time is known and, where tries pause, the others as soon as they can come."""
        if self.backoff is NO_PAUSE:
            return self.known()
        return tuple(cause if cause.known else _at_its_soonest(cause) for cause in self.causes)


def _bounds_failures(call: Call) -> bool:
    """Decides whether the limit of one try bounds when it fails: one of another kind ends no answer that has begun."""
    return call.timeout_kind is None or call.timeout_kind.text == "total"


def retry_policy_of(call: Call) -> RetryPolicy:
    """Returns the call in numbers; cached on it."""
    return call.queries.get(retry_policy_of, lambda: _read_retry_policy(call))


def _read_retry_policy(call: Call) -> RetryPolicy:
    deadline = _limit(call.deadline)
    stated = _limit(call.per_try)
    limit = deadline if stated is None else stated.within(deadline)
    fewest = tuple(_tries(t, low=True) for t in call.tries) or (1,)
    most = _most(call)
    causes = tuple(_causes(call, limit, deadline, whole=stated is None))
    bounds_answer = call.timeout_kind is None or call.timeout_kind.text != "connect"
    return RetryPolicy(call, fewest, most, deadline, limit if bounds_answer else deadline, _summed(call, most), causes)


def _summed(call: Call, most: Tries) -> RetryBackoff:
    """Returns the pauses of the call; as unknown ones where they are too many to be summed."""
    backoff, longest = backoff_of(call), max((n for n in most if n is not None), default=1)
    try:
        pauses(backoff, longest, longest=True)
    except TooManyTriesError:
        return RetryBackoff(answered=True)
    return backoff


def _limit(value: Quantity | Word | None) -> DurationInterval | None:
    if value is None or _lifts(value) or not isinstance(value, Quantity):
        return None
    return DurationInterval(value.low, value.high)


def _lifts(value: Quantity | Word) -> bool:
    """Returns whether a word stands where a limit might: the answers depend on it, so that it counts as read."""
    return isinstance(value, Word) and value.text in ("unlimited", "absent")


def _tries(value: Quantity | Word, *, low: bool) -> int | None:
    if _lifts(value) or not isinstance(value, Quantity):
        return None
    return max(1, int(value.low if low else value.high))


def backoff_of(call: Call) -> RetryBackoff:
    """Returns the pauses between the tries of a call."""
    match call.pause:
        case Quantity(low=low, high=high):
            return RetryBackoff(DurationInterval(low, high), DurationInterval(Fraction(1), Fraction(1)))
        case Word():
            return RetryBackoff(answered=True)
        case Pause(base=Quantity(low=low, high=high), factor=factor, cap=cap, jitter=jitter):
            ratio = DurationInterval(factor.low, factor.high) if factor else DOUBLING
            first, most = DurationInterval(low, high), _limit(cap)
            return RetryBackoff(first, ratio, most, spread_of(jitter), is_decorrelated(jitter))
    return NO_PAUSE


def _causes(
    call: Call, limit: DurationInterval | None, deadline: DurationInterval | None, *, whole: bool
) -> Iterator[FailureCause]:
    """Yields the causes that `retry_when` names; without it any failure.

    A failure that takes longer than one try may last is never seen: the try has timed out.
    """
    bound = limit if _bounds_failures(call) else deadline
    stated = {plain_word(name): DurationInterval(time.low, time.high) for name, time in (call.fails or {}).items()}
    words = [plain_word(word.text) for word in call.retry_when] if call.retry_when is not None else [*stated, "timeout"]
    for word in dict.fromkeys("timeout" if word in TIMEOUTS and word not in stated else word for word in words):
        if word in stated and not _outlasts(stated[word], bound):
            yield FailureCause(word, stated[word].within(bound))
        elif word in TIMEOUTS:
            yield from _timeouts(call, limit, deadline, whole=whole)
        elif word not in stated:
            yield _unknown(call, word, bound)
    if call.retry_when is None:
        yield _unknown(call, OTHER_FAILURE, bound)


def _outlasts(takes: DurationInterval, limit: DurationInterval | None) -> bool:
    return limit is not None and limit.high is not None and takes.low > limit.high


def _unknown(call: Call, word: str, limit: DurationInterval | None) -> FailureCause:
    """Returns a cause of which no time is stated; one whose word says nothing either may be a timeout too."""
    understood = word in (OTHER_FAILURE, *CAUSES["refusal"])
    perhaps = "" if understood else f" (or `timeout`, if {word} is one)"
    missing = MissingFact(f"fails: {{{word}: ...}} of {call.name}{perhaps}", is_number=understood)
    return FailureCause(word, DurationInterval(ZERO, limit.high if limit else None), known=False, missing=missing)


def _timeouts(
    call: Call, limit: DurationInterval | None, deadline: DurationInterval | None, *, whole: bool
) -> Iterator[FailureCause]:
    """Yields timeouts: a try that hangs from the start takes the limit; some kinds bound no slow answer after it."""
    if limit is not None:
        yield FailureCause("timeout", limit, whole=whole)
        kind = call.timeout_kind.text if call.timeout_kind is not None else ""
        if kind in UNBOUNDED and not whole:
            longest = DurationInterval(limit.low, deadline.high if deadline else None)
            name, what = UNBOUNDED[kind]
            total = f"timeout_kind: total of {call.name} ({kind} bounds no {what})"
            yield FailureCause(name, longest, known=False, missing=MissingFact(total, is_number=False))


def most_tries(call: Call) -> int | None:
    """Returns the most tries of one call, whatever else it states; None is unlimited."""
    return product(_most(call))


def _most(call: Call) -> Tries:
    return tuple(_tries(t, low=False) for t in call.tries) or (1,)


def copies_of_try(call: Call) -> int:
    """Returns the most copies that one try sends: two where a second one is due before the try is given up."""
    if call.hedge_after is None:
        return 1
    soonest = call.hedge_after.low
    limits = (limit.high for limit in (call.per_try, call.deadline) if isinstance(limit, Quantity))
    return 2 if all(soonest <= limit for limit in limits) else 1


def always_twice(call: Call, soonest: Fraction) -> bool:
    """Decides whether each first try is sent a second time and both copies are worked on, where no answer comes before
    `soonest`: none ends before the second one is due, no budget withholds it, and what is left goes on.
    """
    ends = [end.low for end in (call.per_try, call.deadline) if isinstance(end, Quantity)]
    ends += [took.low for took in (call.fails or {}).values()]
    due = call.hedge_after.high if call.hedge_after is not None and call.abandons and call.budget is None else None
    return due is not None and due < min([soonest, *ends])


def tries_again(call: Call, cause: str) -> bool:
    """Decides whether the call tries again after a failure of this cause.  Without `retry_when` after any."""
    if call.retry_when is None:
        return True
    words = {plain_word(word.text) for word in call.retry_when}
    return cause in words or (cause == "timeout" and bool(words & TIMEOUTS))


def retry_end(plan: RetryPolicy) -> Fraction | None:
    """Returns end of the last try in the worst known run whose failures are all of one cause; None if unbounded."""
    ends = [_least_of(last_end(plan.worst(cause)), plan.deadline) for cause in plan.at_least()]
    return None if None in ends else max((e for e in ends if e is not None), default=ZERO)


def known_end(plan: RetryPolicy) -> Fraction | None:
    """Returns the end of the call in its worst known run: known failures, then a hanging try; None if unbounded."""
    return _cached_on_call(plan, known_end, lambda: _least_of(_latest(plan, plan.at_least()), plan.deadline))


def known_failures(plan: RetryPolicy) -> DurationInterval:
    """Returns when the last try starts, and ends, in the worst runs of failures of one known cause; 0 without such."""
    courses = [plan.worst(cause) for cause in plan.known()] if plan.retries else []
    return DurationInterval(
        max((at for course in courses if (at := last_start(course)) is not None), default=ZERO),
        max((at for course in courses if (at := last_end(course)) is not None), default=ZERO),
    )


def longest_end(plan: RetryPolicy) -> Fraction | None:
    """Returns an upper bound of the call's duration, causes of unknown time at their longest; None if there is none."""
    return _cached_on_call(plan, longest_end, lambda: _longest_end(plan))


def _longest_end(plan: RetryPolicy) -> Fraction | None:
    unbounded = plan.streams or (plan.retries and bool(plan.open_pause()))
    return _least_of(None if unbounded else _latest(plan, plan.causes), plan.deadline)


def _cached_on_call(plan: RetryPolicy, query: object, compute: Callable[[], Fraction | None]) -> Fraction | None:
    """Computes a time of a call, cached on it unless the plan was altered."""
    return plan.call.queries.get(query, compute) if retry_policy_of(plan.call) is plan else compute()


def _latest(plan: RetryPolicy, causes: tuple[FailureCause, ...]) -> Fraction | None:
    """Returns the latest start of the last try, and a hang; None if unbounded."""
    lasts = plan.whole_try
    if lasts is None or lasts.high is None:
        return None
    starts = [last_start(plan.worst(cause)) for cause in causes] if plan.retries else []
    return None if None in starts else max((s for s in starts if s is not None), default=ZERO) + lasts.high


def _least_of(value: Fraction | None, deadline: DurationInterval | None) -> Fraction | None:
    return least(value, deadline.high if deadline else None)


def serve_time(design: Design, name: str) -> Quantity | None:
    """Returns how long the callee itself needs to answer, with what its calls are under way."""
    own = time_of(design.components.get(name), "answer")
    if own is None or design.infrastructure is None:
        return own
    from coherence.model.routes import with_transit

    return with_transit(design, name, own)
