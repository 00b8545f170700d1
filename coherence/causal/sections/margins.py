"""Tells of each promise on measured signals how much of its limit is left, and whether and until when it shrinks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from coherence.base.number_text import render_duration, render_number
from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.fitting.margin_drift import MarginDrift
from coherence.causal.session.context import Context
from coherence.causal.session.promised_margins import PromisedMargin, UnfollowedPromise, promised_margins

ORDER = 65
TITLE = "Promises over this record"
HEADER = ("promise", "broken", "left now", "changes per hour", "95 % interval", "nothing left in")


def answer(context: Context) -> Section | None:
    """A row for each promise; the drift of a margin is at equal load, and of the law."""
    if context.chunks is not None:
        return None
    every = list(promised_margins(context))
    if not every:
        return None
    margins = [one for one in every if isinstance(one, PromisedMargin)]
    unfollowed = [one for one in every if isinstance(one, UnfollowedPromise)]
    data = {
        "promised_margins": [_data(margin) for margin in margins],
        "not_followed": [{"promise": one.promise, "why": one.why} for one in unfollowed],
    }
    table = (TextTable(HEADER, tuple(_row(margin) for margin in margins)),) if margins else ()
    return Section(TITLE, (*table, *_notes(margins), *_reasons(unfollowed)), data)


def _row(margin: PromisedMargin) -> tuple[str, ...]:
    share = f"{margin.broken} of {margin.samples}"
    drift = margin.drift
    if drift is None:
        return (margin.promise, share, "", "", "", "")
    hourly = [render_number(3600 * each) for each in (drift.slope, drift.low, drift.high)]
    until = _until(drift) if drift.shrinks else "does not shrink" if drift.low > 0 else "no drift is seen"
    return (margin.promise, share, render_number(drift.margin), hourly[0], f"{hourly[1]} .. {hourly[2]}", until)


def _until(drift: MarginDrift) -> str:
    if drift.margin <= 0:
        return "nothing is left"
    likely, early, late = (_duration(time) for time in drift.breach)
    return f"{likely} [{early} .. {late}]"


def _duration(time: float) -> str:
    return render_duration(Fraction(f"{time:.2g}"))


def _reasons(unfollowed: Sequence[UnfollowedPromise]) -> Iterator[str]:
    for why in dict.fromkeys(one.why for one in unfollowed):
        yield f"not followed: {', '.join(one.promise for one in unfollowed if one.why == why)} ({why})"


def _notes(margins: Sequence[PromisedMargin]) -> Iterator[str]:
    for margin in margins:
        if margin.refused:
            yield f"{margin.promise}: {margin.refused}"
    bare = dict.fromkeys(signal for margin in margins for signal in margin.without_unit)
    if bare:
        yield f"no unit is stated in the telemetry, so read in SI units (s, B, req/s): {', '.join(bare)}"
    drifting = [margin for margin in margins if margin.drift is not None]
    if drifting:
        held = ", ".join(drifting[0].at_equal) or "no load is measured: a drift may be that of load"
        yield f"at equal load ({held}), day and week held fixed" if drifting[0].at_equal else held


def _data(margin: PromisedMargin) -> dict[str, Any]:
    drift = margin.drift
    numbers: dict[str, Any] = {"drift": None}
    if drift is not None:
        breach = [time if math.isfinite(time) else None for time in drift.breach]
        slope = {"value": drift.slope, "low": drift.low, "high": drift.high}
        until = dict(zip(("value", "low", "high"), breach, strict=True))
        numbers = {"drift": {"margin": drift.margin, "slope_per_s": slope, "shrinks": drift.shrinks,
                             "time_to_breach_s": until if drift.shrinks else None}}  # fmt: skip
    return {
        "promise": margin.promise, "text": margin.text, "samples": margin.samples, "broken": margin.broken,
        "at_equal": list(margin.at_equal), "refused": margin.refused,
        "without_unit": list(margin.without_unit), **numbers,
    }  # fmt: skip
