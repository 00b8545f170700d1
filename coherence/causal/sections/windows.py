"""Tells how two windows differ: inputs that moved, mechanisms that changed, and what each made of the change."""

from __future__ import annotations

from typing import Any

from coherence.base.errors import UsageError
from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.answers.intervals import Estimate
from coherence.causal.answers.one_screen import first_lines, first_rows
from coherence.causal.attribution.mechanisms import constants_of
from coherence.causal.attribution.windows import WindowComparison, compare
from coherence.causal.data.series import Series
from coherence.causal.session.context import Context, Window
from coherence.causal.session.figures import AmountBar, shortened, waterfall
from coherence.reporting.pictures.figure import Panel

ORDER = 42
NO_CHANGE = "no change is seen in the strength of what acts on it"


def answer(context: Context) -> Section | None:
    """The change of the loss from `--against` to `--window` (or to all that is after it)."""
    against = context.settings.against
    if against is None or context.chunks is not None:
        return None
    if context.loss is None:
        if context.settings.rank is not None:
            return None  # it is the normal time of a ranking
        raise UsageError("--against explains the change of a loss: name the loss with --loss")
    before, after = _stretches(context, against)
    title = f"{context.loss.name}: what changed since {against[0]:g}..{against[1]:g} s"
    exact = (context.loss.equation,) if context.loss.equation is not None else ()
    try:
        comparison = compare(
            before, after, context.graph, context.loss.name, equations=exact, constants=constants_of(context.model)
        )
    except UsageError as refused:
        return Section(title, (f"refused: {refused}",), {"refused": str(refused)})
    notes = [f"{one.cause}: cannot be split, for {one.refused}" for one in comparison.contributions if one.refused]
    lines: tuple[str | TextTable, ...] = (
        _noise(comparison), _table(comparison), *notes, *_tests(comparison), *comparison.assumptions
    )  # fmt: skip
    brief = (_noise(comparison), *first_rows(_table(comparison), last=1), *first_lines((*notes, *_tests(comparison))))
    return Section(title, lines, _to_dict(comparison), headline=_headline(context.loss.name, comparison), brief=brief,
                   panels=(_waterfall(context, comparison),))  # fmt: skip


def _waterfall(context: Context, comparison: WindowComparison) -> Panel:
    """Returns the change as steps that add up to it."""
    assert context.loss is not None
    unit = context.loss.unit or context.whole.units.get(context.loss.name, "").removeprefix("1")
    parts = sorted(comparison.contributions, key=lambda part: -abs(part.amount.value))
    steps = [AmountBar(f"{part.cause} ({part.kind})", part.amount) for part in parts]
    change = comparison.after - comparison.before
    whole = AmountBar("change", Estimate(change, change, change, 0.0), whole=True)
    ends = f"{render_number(comparison.before)} to {render_number(comparison.after)}"
    return waterfall(f"Change of {shortened(context.loss.name)}, {ends}", unit, [*steps, whole])


def _headline(loss: str, comparison: WindowComparison) -> str:
    """Returns the change as a sentence, with what made most of it."""
    change = comparison.after - comparison.before
    ends = f"from {render_number(comparison.before)} to {render_number(comparison.after)}"
    split = [part for part in comparison.contributions if not part.refused]
    if not split or not change:
        return f"{loss} went {ends}, and no cause of the change can be told."
    first = max(split, key=lambda part: abs(part.amount.value))
    noise = comparison.change is not None and comparison.change.low <= 0 <= comparison.change.high
    within = ", no more than two windows of one law differ by" if noise else ""
    share = f"{100 * first.amount.value / change:.1f} %"
    return (
        f"{loss} went {ends}{within}: {first.cause} ({first.kind}) makes {render_number(first.amount.value)}, {share}."
    )


def _stretches(context: Context, against: Window) -> tuple[Series, Series]:
    """Returns the series of the two stretches, the earlier setting first.  Raises UsageError where they overlap."""
    after = context.within(context.settings.window or (against[1], float("inf")), "--window")
    before = context.within(against, "--against")
    if before.times[0] <= after.times[-1] and after.times[0] <= before.times[-1]:
        raise UsageError(
            f"--against {against[0]:g}..{against[1]:g} shares times with the window "
            f"{after.times[0]:g}..{after.times[-1]:g}: a change is between two stretches apart"
        )
    return before, after


def _table(comparison: WindowComparison) -> TextTable:
    change = comparison.after - comparison.before
    rows = [
        (part.cause, part.kind, render_number(part.amount.value),
         f"{100 * part.amount.value / change:.1f} %" if change else "", render_interval(part.amount),
         render_interval(part.law) if part.law is not None else "not told")
        for part in sorted(comparison.contributions, key=lambda part: -abs(part.amount.value))
    ]  # fmt: skip
    ends = f"{render_number(comparison.before)} to {render_number(comparison.after)}"
    law = render_interval(comparison.change) if comparison.change is not None else "not told"
    rows.append(("change", ends, render_number(change), "", "", law))
    return TextTable(
        ("cause", "what", "amount", "of the change", "95 %, these windows", "95 %, the law"), tuple(rows), 2
    )


def _noise(comparison: WindowComparison) -> str:
    """Whether the change is beyond what two windows of one law differ by."""
    change = comparison.change
    if change is None:
        return "beyond noise: not told, for the windows are too short against the memory of what they hold, or are bent"
    beyond = not change.low <= 0 <= change.high
    return f"beyond noise: {'yes' if beyond else 'no: two windows of one law differ by as much'}"


def _tests(comparison: WindowComparison) -> list[str]:
    return [
        f"{one.signal}: {'acts differently now' if one.changed else NO_CHANGE} (p = {render_number(one.p, 2)})"
        for one in comparison.mechanisms
    ]


def _to_dict(comparison: WindowComparison) -> dict[str, Any]:
    return {
        "before": comparison.before, "after": comparison.after, "sum_error": comparison.error,
        "change": estimate_to_dict(comparison.change) if comparison.change is not None else None,
        "contributions": [
            {"cause": part.cause, "kind": part.kind, "amount": estimate_to_dict(part.amount),
             "law": estimate_to_dict(part.law) if part.law is not None else None, "refused": part.refused}
            for part in comparison.contributions
        ],
        "mechanisms": [
            {"signal": one.signal, "p": one.p, "changed": one.changed, "before": dict(one.before),
             "after": dict(one.after)}
            for one in comparison.mechanisms
        ],
    }  # fmt: skip
