"""Tells influences in a fleet whose members have series of their own: the mean, and which member differs most."""

from __future__ import annotations

from typing import Any

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.session.context import Context
from coherence.causal.session.member_strengths import MOST, MemberStrength, member_strengths, members_of

ORDER = 25
HEADER = ("cause", "effect", "delay", "mean", "95 % interval", "members differ by", "furthest from the mean")


def answer(context: Context) -> Section | None:
    """The pooled influences; None where no signal of the design has a column for each member."""
    count = len(members_of(context.whole, context.wanted)) if context.chunks is None else 0
    if not count:
        return None
    influences = tuple(member_strengths(context))
    words = f"{count} members have series of their own; each is fitted by itself, and its strength drawn to the mean"
    if count > MOST:
        words += f"; the first {MOST} are read"
    step = context.whole.step
    rows = tuple(_row(influence, step) for influence in influences)
    parts = (words, TextTable(HEADER, rows, 2)) if rows else (words, "no influence is told in most members")
    return Section(
        "Members", parts, {"members": count, "influences": [_data(influence, step) for influence in influences]}
    )


def _row(influence: MemberStrength, step: float) -> tuple[str, ...]:
    mean = influence.mean
    labels, own = max(influence.members.items(), key=lambda item: abs(item[1].value - mean.value))
    furthest = f"{labels} {render_number(own.value)}" if influence.spread > 0 else "none beyond chance"
    return (
        influence.cause, influence.effect, f"{render_number(influence.lag * step)} s", render_number(mean.value),
        render_interval(mean), render_number(influence.spread), furthest,
    )  # fmt: skip


def _data(influence: MemberStrength, step: float) -> dict[str, Any]:
    return {
        "cause": influence.cause, "effect": influence.effect, "delay_s": influence.lag * step,
        "mean": estimate_to_dict(influence.mean), "not_told_in": list(influence.untold),
        "standard_deviation_between_members": influence.spread,
        "strengths": {labels: estimate_to_dict(own) for labels, own in influence.members.items()},
    }  # fmt: skip
