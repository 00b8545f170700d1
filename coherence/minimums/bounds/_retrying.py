"""Applies retry bounds to the calls of a design with their tries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.language.design import Call, Design
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered
from coherence.verify.calls.attempts import TooManyTriesError, pauses
from coherence.verify.calls.retry_policies import backoff_of, copies_of_try


def tries_of(call: Call) -> tuple[Fraction, Fraction] | None:
    """Fewest and most tries of a call, nested layers multiplied; None where they are not limited."""
    low = high = Fraction(1)
    for count in call.tries:
        if not isinstance(count, Quantity):
            return None
        low, high = low * count.low, high * count.high
    return low, high


def sends_of(design: Design, call: Call, seen: frozenset[str] = frozenset()) -> tuple[Fraction, Fraction] | None:
    """Returns the fewest and most sends of a call for one that would do, while none of them is answered.

    Its tries, their second copies and, at most, the tries of the calls above it, where a caller tries again once this
    call has failed.  None: they have no limit.
    """
    tries, caller = tries_of(call), str(call.caller)
    if tries is None or caller in seen:
        return None
    copies = copies_of_try(call)
    surely = copies if not isinstance(call.hedge_after, Quantity) or _hedges_surely(call) else 1
    above = [sends_of(design, one, seen | {caller}) for one in design.calls if str(one.callee) == caller]
    most = [times[1] for times in above if times is not None]
    if len(most) < len(above):
        return None
    fewest = Fraction(1) if _ends_early(design, call) or _drains(design, call) else tries[0] * surely
    return fewest, tries[1] * copies * max(most, default=Fraction(1))


def _hedges_surely(call: Call) -> bool:
    limits = [limit.low for limit in (call.per_try, call.deadline) if isinstance(limit, Quantity)]
    return call.hedge_after is not None and all(call.hedge_after.high < limit for limit in limits)


def _ends_early(design: Design, call: Call) -> bool:
    """Returns whether something may end the tries of a call before the last one: a budget, a breaker, a deadline.

    Of itself, of a call of which it may be a part, or of a workload.
    """
    things = reached([str(call.caller)], lambda thing: (str(o.caller) for o in design.calls if str(o.callee) == thing))
    around = [one for one in design.calls if one is call or str(one.callee) in things]
    asking = [workload for workload in design.workload.values() if workload.name in things]
    patience = (*(one.deadline for one in around), *(workload.deadline for workload in asking))
    guarded = any(one.budget is not None or one.breaker is not None for one in around)
    return guarded or any(isinstance(limit, Quantity) for limit in patience)


def _drains(design: Design, call: Call) -> bool:
    """Returns whether a queue of what times out may empty by itself: who is newest is served, a limit turns away what
    is too much, no try times out, or nothing says that late work is done all the same.
    """
    callee = design.components.get(str(call.callee))
    in_turn = callee is None or str(callee.discipline or "fifo") == "fifo"
    bounded = any(limit.when_full is not None and str(limit.when_full) != "wait" for limit in design.limits.values())
    return bounded or not in_turn or not isinstance(call.per_try, Quantity) or not call.abandons


def retrying(design: Design) -> Iterator[Application]:
    """Yields every call that may be sent more than once for one that would do."""
    for call in design.calls:
        sends = sends_of(design, call)
        if sends is not None and sends[1] > 1:
            gathered = Gathered(call.name).span("tries", *sends)
            gathered.places += [count.place.labelled("tries") for count in call.tries if isinstance(count, Quantity)]
            if call.cancels:
                gathered.needs("abandoned", f"the work that is left behind at {call.name}: it withdraws late tries")
            yield gathered.application()


def deadlines(design: Design) -> Iterator[Application]:
    """Yields every call with a deadline and several tries; its pause is the mean of those between them, as a range."""
    for call in design.calls:
        tries = tries_of(call)
        if tries is None or tries[1] <= 1 or call.deadline is None:
            continue
        gathered = Gathered(call.name).span("tries", *tries)
        gathered.quantity("deadline", call.deadline, f"deadline of {call.name}")
        pause = _mean_pause(call, max(int(tries[0]) - 1, 1), int(tries[1]) - 1)
        if pause is None:
            gathered.needs("pause", f"the pause of {call.name}, measured: its answers say it, or it grows without end")
        else:
            gathered.span("pause", *pause)
            gathered.places += [one.place.labelled("pause") for one in (call.pause,) if isinstance(one, Quantity)]
        yield gathered.application()


def _mean_pause(call: Call, fewest: int, most: int) -> tuple[Fraction, Fraction] | None:
    """Returns the mean of the pauses between so many tries, each at its shortest, and each at its longest."""
    backoff = backoff_of(call)
    try:
        shortest, longest = pauses(backoff, fewest, longest=False), pauses(backoff, most, longest=True)
    except TooManyTriesError:
        return None
    return None if shortest is None or longest is None else (shortest / fewest, longest / most)
