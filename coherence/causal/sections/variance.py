"""Tells which cause makes the loss vary slowly, and when its level changed."""

from __future__ import annotations

from typing import Any

from coherence.base.errors import UsageError
from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.attribution.changes import changes
from coherence.causal.attribution.shapley import NotSplitError
from coherence.causal.attribution.variance import Variance, VariancePart, variance
from coherence.causal.fitting.effects import NoLastingEffectError
from coherence.causal.session.context import Context

ORDER = 43


def answer(context: Context) -> Section | None:
    """The long-run variance of the loss by own part, and its changes of regime."""
    if context.loss is None or context.chunks is not None:
        return None
    name = context.loss.name
    title = f"What makes {name} vary"
    if context.loss.tree is not None and context.loss.equation is None:
        why = "it is not a sum of signals, and the variance of anything else is not split"
        return Section(title, (f"refused: {why}",), {"refused": why}, brief=())
    try:
        shares = variance(context.fitted, name)
    except UsageError as refused:
        return Section(title, (f"refused: {refused}",), {"refused": str(refused)}, brief=())
    shown, regimes = _regimes(context, name)
    data = {
        "total": estimate_to_dict(shares.total), "together": estimate_to_dict(shares.together),
        "sum_error": shares.error,
        "parts": [_part_to_dict(one) for one in shares.parts], "pairs": [_part_to_dict(one) for one in shares.pairs],
        "changes": regimes,
    }  # fmt: skip
    straight = _straightened(context)
    return Section(
        title, (_table(shares, name), *straight, *shown), {**data, "straightened": len(straight) > 0}, brief=()
    )


def _straightened(context: Context) -> list[str]:
    """Which mechanisms the shares keep as declared, and a variance cannot."""
    try:
        bent = context.split.mechanisms
    except (NoLastingEffectError, NotSplitError, UsageError):
        return []
    how = "taken as straight lines here: how they bend is in the unexplained part"
    return [f"{', '.join(bent)}: {how}"] if bent else []


def _part_to_dict(one: VariancePart) -> dict[str, Any]:
    return {"causes": list(one.causes), "amount": estimate_to_dict(one.amount), "share": one.share}


def _table(shares: Variance, loss: str) -> TextTable:
    size = shares.total.value
    rows = [
        ("unexplained" if one.causes == (loss,) else " + ".join(one.causes), f"{100 * one.share:.1f} %",
         render_number(one.amount.value), render_interval(one.amount))
        for one in sorted(shares.parts, key=lambda one: -one.share)
    ]  # fmt: skip
    share = f"{100 * shares.together.value / size:.1f} %" if size else ""
    rows.append(
        (
            "pairs that move together, and delays",
            share,
            render_number(shares.together.value),
            render_interval(shares.together),
        )
    )
    rows.append(("long-run variance", "", render_number(size), render_interval(shares.total)))
    return TextTable(("cause", "of the variance", "amount", "95 % interval"), tuple(rows))


def _regimes(context: Context, name: str) -> tuple[list[str], list[dict[str, float]]]:
    try:
        changed = changes(context.series, signals=(name,))[name]
    except UsageError as refused:
        return [f"changes of level: {refused}"], []
    lines = [
        f"its level changed at {render_number(one.time, 6)} s from {render_number(one.before)} to "
        f"{render_number(one.after)}"
        for one in changed
    ]
    data = [{"time": one.time, "before": one.before, "after": one.after} for one in changed]
    return [*lines, *_render_change(context, changed[0].time)] if changed else ["no change of its level is seen"], data


def _render_change(context: Context, at: float) -> list[str]:
    """How to ask what changed, where that is not asked; shares over both sides of a change mix two regimes."""
    if context.settings.against is not None:
        return []
    times = context.series.times
    first, last = float(times[0]), float(times[-1]) + context.series.step
    words = (
        f"--against {render_number(first, 12)}..{render_number(at, 12)} --window "
        f"{render_number(at, 12)}..{render_number(last, 12)}"
    )
    return [f"to tell inputs that moved from what acts differently since: {words}"]
