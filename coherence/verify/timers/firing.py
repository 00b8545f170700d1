"""Computes when a timer fires: the earliest and the latest time after the event it runs from, exact.

Times are seconds as fractions.  A window is what a stated timer allows; which time in it comes true
is chance (the phase of a ticker, jitter, an unknown constant).  SOURCE: conditions T3 and T5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.findings.question_input import rational
from coherence.language.design import Timer
from coherence.language.entries import actions
from coherence.language.entries.actions import action_in, marked_as, takes_back
from coherence.language.entries.jitter import shift_of
from coherence.language.entries.probes import is_paced_by_reply, longest_spacing
from coherence.language.implied import is_answered_by_default, may_be_over
from coherence.language.schema_kinds import Quantity, Word
from coherence.language.words import ACTIONS

LEASES = frozenset(ACTIONS["hands out again"])
"""First words of `then` that hand out work again: a second net for a worker that died."""
PROBES = {"readiness_probe": "takes off the list", "startup_probe": "ends", "liveness_probe": "ends"}


def counts_from_start(timer: Timer, thing: str) -> bool:
    """Decides whether a timer counts from a start of the thing: it begins anew each time."""
    return timer.start is not None and timer.start.thing == thing and timer.start.kind == "starts"


def begins_again(timer: Timer) -> bool:
    """Decides whether what a timer does begins a thing again at once."""
    return timer.then is not None and ("restart" in timer.then.text or takes_back(timer.then.text))


def hands_out_again(timer: Timer) -> bool:
    """Decides whether a timer gives the work to another one: it is there for a worker that dies before."""
    return timer.then is not None and timer.then.text.split(" ")[0] in LEASES


def ended_by(timer: Timer) -> str:
    """Returns the thing or the activity that a timer ends (`then: stop pool`, `then: pool ends`), or nothing."""
    return actions.ended_by(timer.then.text) if timer.then is not None else ""


def action_of(timer: Timer) -> str:
    """Returns what a timer does, by its part or else by the first word of `then`; empty where neither says it."""
    part = timer.part.text if timer.part is not None else ""
    then = timer.then.text if timer.then is not None else ""
    is_short = then.count(" ") <= 1 or marked_as(then) != ""
    return PROBES.get(part) or (action_in(then) if then and is_short else "")


def unknown_action(timer: Timer) -> str:
    """Returns the first word of `then`, where nothing says what the timer does; else nothing."""
    words = timer.then.text if timer.then is not None else ""
    verb = words.partition(" ")[0]
    known = not words or action_in(words) or action_of(timer)
    return "" if known else verb


@dataclass(frozen=True)
class FiringWindow:
    """[earliest, latest] in seconds; `latest` None: no bound is known."""

    earliest: Fraction
    latest: Fraction | None

    def __add__(self, other: FiringWindow) -> FiringWindow:
        both = self.latest is not None and other.latest is not None
        latest = (self.latest or 0) + (other.latest or 0) if both else None
        return FiringWindow(self.earliest + other.earliest, Fraction(latest) if latest is not None else None)

    @property
    def exact(self) -> bool:
        return self.earliest == self.latest


NOW = FiringWindow(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Firing:
    """The window of a timer, its two ends as SMT-LIB terms over the stated numbers, and the defaults used."""

    window: FiringWindow
    lower: str
    upper: str
    defaults: tuple[str, ...] = ()


def earliest_kill(first: Fraction, every: Fraction, misses: int) -> Fraction:
    """Returns first + (misses - 1) every: the first probe at once, every probe refused at once."""
    return first + (misses - 1) * every


def latest_kill(first: Fraction, every: Fraction, misses: int, reply: Fraction, spacing: Fraction) -> Fraction:
    """Returns first + every + (misses - 1) spacing + reply: first probe one period late, none answered.

    The bound itself is not reached, since the first probe comes in [first, first + every).  A ticker
    keeps at most one tick, so probes that wait longer than a period follow each other at once (`longest_spacing`).
    """
    return first + every + (misses - 1) * spacing + reply


def copies(held: Fraction, lease: Fraction, most: int | None = None) -> int:
    """Returns how many times a message is handed out: ceil(held / lease), at most `most`.

    `held` is the time from the start of the lease to the acknowledgement; at held = k lease the k-th
    expiry races with the acknowledgement.  SOURCE: conditions T3.
    """
    handed = max(1, math.ceil(held / lease)) if lease > 0 else (most or 1)
    return handed if most is None else min(most, handed)


def longest_wait(step: FiringWindow, pause: FiringWindow) -> Fraction | None:
    """Returns the wait at a barrier of members that start together: slowest step with its pause less fastest step."""
    slowest = step + pause
    return None if slowest.latest is None else slowest.latest - step.earliest


def never(timer: Timer) -> bool:
    """Decides whether the timer is switched off (`after: unlimited`, `misses: unlimited`)."""
    return isinstance(timer.after, Word) or isinstance(timer.misses, Word)


def missing(timer: Timer) -> str:
    """Returns the key without which the timer has no time; empty where none is missing."""
    if timer.every is None and isinstance(timer.misses, Quantity) and timer.misses.high > 1:
        return "every"
    return "after" if timer.every is None and timer.after is None and timer.first is None else ""


def firing(timer: Timer) -> Firing | None:
    """Returns when the timer fires after its event; None where it never does or a key is missing.

    What is renewed may fire at any time after that, or never: `lease` says when it fires without a renewal.
    """
    fires = lease(timer)
    if fires is None or timer.renew is None:
        return fires
    return replace(fires, window=FiringWindow(fires.window.earliest, None))


def lease(timer: Timer) -> Firing | None:
    """Returns when the timer fires after its event, or after its last renewal.

    With `every` it is a probe, whose first comes after `first` (or `after`); else it fires once,
    `after` (or `first`) later.  `jitter` moves the ends.
    """
    if never(timer) or missing(timer):
        return None
    fires = _probe(timer) if timer.every is not None else _once(timer)
    early, late = shift_of(timer.jitter)
    if not (early or late):
        return fires
    window = FiringWindow(max(Fraction(0), fires.window.earliest + early), (fires.window.latest or Fraction(0)) + late)
    lower = _moved(fires.lower, early) if window.earliest > 0 else rational(0)
    return Firing(window, lower, _moved(fires.upper, late), fires.defaults)


def despite_renewals(timer: Timer, sender: Timer | None) -> Firing | None:
    """Returns when a timer fires whose renewals are further apart than it waits; None where that is not known of them.

    They come at a stated interval, the first one after it, or when `sender` looks.  Of those at most one comes while
    the timer waits, so that it fires by twice its time.
    """
    alone, apart = lease(timer), _least_apart(timer, sender)
    if alone is None or alone.window.latest is None or apart is None or apart <= alone.window.latest:
        return None
    if sender is None:
        return alone
    return replace(
        alone, window=FiringWindow(alone.window.earliest, 2 * alone.window.latest), upper=f"(* 2.0 {alone.upper})"
    )


def after_renewals(timer: Timer, sender: Timer | None, ender: Timer | None) -> Firing | None:
    """Returns when a timer fires whose renewals one that surely fires ends; None where that is not known.

    The last one comes by then, and no longer before than they are apart where the timer does not fire between two.
    """
    alone, ends = lease(timer), firing(ender) if ender is not None else None
    if alone is None or ends is None or sender is None or ender is None or sender.every is None:
        return None
    lasting = ender.every is None and ender.misses is None and ender.renew is None and ender.unless is None
    together = starts_with(ender, timer) and starts_with(sender, timer) and sender.renew is None
    if not (lasting and together) or ends.window.latest is None or alone.window.latest is None:
        return None
    earliest, lower = alone.window.earliest, alone.lower
    early, late = shift_of(sender.jitter)
    first = firing(sender)
    if (
        first is not None
        and first.window.latest is not None
        and sender.misses is None
        and not is_paced_by_reply(sender)
    ):
        apart = max(first.window.latest, sender.every.high + late - early)
        if apart < earliest < ends.window.earliest - apart + earliest:
            earliest, lower = ends.window.earliest - apart + earliest, f"(+ {_moved(ends.lower, -apart)} {lower})"
    window = FiringWindow(earliest, ends.window.latest + alone.window.latest)
    return Firing(window, lower, f"(+ {ends.upper} {alone.upper})", alone.defaults)


def _least_apart(timer: Timer, sender: Timer | None) -> Fraction | None:
    """Returns the least time between two renewals: a stated interval, or the period of a timer that looks.

    A timer that is renewed itself, that starts at another event or stands for other members looks more often than that.
    """
    if isinstance(timer.renew, Quantity):
        return timer.renew.low
    if sender is None or sender.every is None or sender.misses is not None or is_paced_by_reply(sender):
        return None
    if sender.renew is not None or not starts_with(sender, timer):
        return None
    early, late = shift_of(sender.jitter)
    return sender.every.low - (late - early)


def starts_with(sender: Timer, timer: Timer) -> bool:
    """Decides whether one of the one timer starts where one of the other does, and no others with it."""
    alike = sender.start is not None and timer.start is not None and sender.start.text == timer.start.text
    return alike and (sender.per is None or (timer.per is not None and sender.per.text == timer.per.text))


def _moved(term: str, by: Fraction) -> str:
    return f"({'-' if by < 0 else '+'} {term} {rational(abs(by))})"


def _start(timer: Timer) -> Quantity | None:
    start = timer.first if timer.first is not None else timer.after
    return start if isinstance(start, Quantity) else None


def _once(timer: Timer) -> Firing:
    span = timer.after if isinstance(timer.after, Quantity) else timer.first
    assert span is not None
    return Firing(FiringWindow(span.low, span.high), rational(span.low), rational(span.high))


def misses_of(timer: Timer) -> tuple[int, int]:
    """Returns the fewest and most failures in a row before the timer fires; 1 where nothing is said."""
    if not isinstance(timer.misses, Quantity):
        return 1, 1
    return math.ceil(timer.misses.low), math.ceil(timer.misses.high)


def _probe(timer: Timer) -> Firing:
    assert timer.every is not None
    start, every, reply = _ends(_start(timer)), _ends(timer.every), _ends(timer.reply_within)
    few, many = misses_of(timer)
    spacing = longest_spacing(timer)
    latest = latest_kill(start[1], every[1], many, reply[1], spacing)
    window = FiringWindow(earliest_kill(start[0], every[0], few), latest)
    lower = f"(+ {rational(start[0])} (* {few - 1}.0 {rational(every[0])}))"
    upper = f"(+ {rational(start[1])} {rational(every[1])} (* {many - 1}.0 {rational(spacing)}) {rational(reply[1])})"
    return Firing(window, lower, upper, (*_defaults(timer), *_crowded(timer, reply[1], every[0])))


def _ends(span: Quantity | None) -> tuple[Fraction, Fraction]:
    return (span.low, span.high) if span is not None else (Fraction(0), Fraction(0))


def _defaults(timer: Timer) -> tuple[str, ...]:
    keys = (("first", _start(timer), "0 s"), ("misses", timer.misses, "1"), ("reply_within", timer.reply_within, "0 s"))
    unset = tuple(f"{key} of {timer.name} is not set: {value}" for key, stated, value in keys if stated is None)
    if may_be_over(timer):
        unset = (*unset, f"first of {timer.name} counts from the start of its thing: it may be over by then")
    if timer.unless is None or not is_answered_by_default(timer):
        return unset
    return (*unset, f"unless of {timer.name} is not set: {timer.unless.text}")


def _crowded(timer: Timer, reply: Fraction, every: Fraction) -> tuple[str, ...]:
    words = f"probes of {timer.name} that wait longer than {timer.every} follow each other at once (one tick is kept)"
    return (words,) if reply > every and not is_paced_by_reply(timer) else ()
