"""Computes how far apart the looks of a probe are."""

from __future__ import annotations

from fractions import Fraction

from coherence.language.design import Timer


def is_paced_by_reply(timer: Timer) -> bool:
    """Decides whether a probe waits `every` after the end of a look; else a clock that goes on begins its looks."""
    return timer.paced_by is not None and timer.paced_by.text == "reply"


def longest_spacing(timer: Timer) -> Fraction:
    """Returns the longest time from a look without a reply to the next one (s); of a clock one tick is kept."""
    every = timer.every.high if timer.every is not None else Fraction(0)
    reply = timer.reply_within.high if timer.reply_within is not None else Fraction(0)
    return every + reply if is_paced_by_reply(timer) else max(every, reply)
