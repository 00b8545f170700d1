"""Tells how much of the measured loss each cause made, summing exactly, the unexplained remainder beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherence.base.errors import UsageError
from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.answers.one_screen import alike, first_lines, first_rows, listed_names
from coherence.causal.attribution.shapley import NotSplitError
from coherence.causal.attribution.split import Split
from coherence.causal.fitting.effects import Attribution, CauseShare, NoLastingEffectError
from coherence.causal.session.context import Context
from coherence.causal.session.figures import AmountBar, bars, shortened
from coherence.causal.session.remainders import BeyondData, beyond_data

ORDER = 30
ROUNDING = 1e-12  # of the loss: a sum of floats


def answer(context: Context) -> Section | None:
    """The shares of the loss that is asked for; nothing where none is."""
    if context.loss is None:
        if context.settings.reference:
            raise UsageError("--reference is of the causes of a loss: name the loss with --loss")
        return None
    try:
        whole = context.split
    except (NoLastingEffectError, NotSplitError) as refused:
        return Section(f"Shares of {context.loss.name}", (f"refused: {refused}",), {"refused": str(refused)})
    attribution = whole.attribution
    unit = attribution.unit
    rows = [
        (share.cause, *_figures(share.amount.value, render_interval(share.amount), attribution))
        for share in _ordered(attribution)
    ]
    rows.append(
        ("unexplained", *_figures(attribution.unexplained.value, render_interval(attribution.unexplained), attribution))
    )
    measured = "measured, beyond that" if context.settings.reference else "measured"
    rows.append((measured, *_figures(attribution.measured.value, render_interval(attribution.measured), attribution)))
    header = ("cause", f"amount{f' ({unit})' if unit else ''}", "of the loss", "95 % interval")
    title = f"Shares of {context.loss.name}, against {attribution.against}"
    drawn = [AmountBar(share.cause, share.amount) for share in _ordered(attribution)] + [
        AmountBar("unexplained", attribution.unexplained)
    ]
    beyond = tuple(_beyond(context, attribution))
    panel = bars(f"Shares of {shortened(attribution.loss)}", unit, drawn)
    return Section(
        title, (TextTable(header, tuple(rows)), *_met(whole), *_refusals(attribution), *_extrapolated(beyond)),
        {**_data(whole), "extrapolated": [_beyond_data(one) for one in beyond]}, panels=(panel,),
        headline=_headline(context.loss.name, attribution) if context.settings.against is None else "",
        brief=(*first_rows(TextTable(header, tuple(rows)), last=2), *_brief_notes(attribution, beyond)),
    )  # fmt: skip


def _headline(loss: str, attribution: Attribution) -> str:
    """Returns the answer as a sentence: the largest cause (or set, if none can be split), and what is unexplained."""
    whole, unit = attribution.measured.value, f" {attribution.unit}" if attribution.unit else ""
    split = [share for share in _ordered(attribution) if not share.refused]
    head = f"{loss} is {render_number(whole)}{unit}"
    together = [share for share in _ordered(attribution) if share.refused and loss not in share.members]
    if not (split or together) or not whole:
        return f"{head}, and no cause of it can be told."
    first, rest = (split or together)[0], attribution.unexplained.value
    if abs(first.amount.value) <= ROUNDING * abs(whole):
        return f"{head}, and no cause that is declared makes any of it."
    reach = render_interval(first.amount)
    between = f" ({reach})" if reach else ""
    part = f"{100 * first.amount.value / whole:.1f} %"
    does = "makes" if split else "together make"
    words = f"{first.cause} {does} {render_number(first.amount.value)}{between}, {part}"
    return f"{head}: {words}; {100 * rest / whole:.1f} % is unexplained."


def _brief_notes(attribution: Attribution, beyond: Sequence[BeyondData]) -> Iterator[str]:
    """What is refused, once for each reason, and which shares extrapolate."""
    refused = (share for share in attribution.shares if share.refused)
    yield from first_lines(alike(
        (share.cause, f"cannot be split, for {share.refused}; measure {' or '.join(share.measure)}")
        if share.measure else (share.cause, f"cannot be split, for {share.refused}")
        for share in refused
    ))  # fmt: skip
    if beyond:
        yield f"extrapolated beyond what was measured: {listed_names([one.cause for one in beyond])}"


def _met(division: Split) -> Iterator[str]:
    """What causes did together, and which mechanisms were kept as declared."""
    for interaction in division.interactions:
        amount = render_number(interaction.amount.value)
        yield f"{' x '.join(interaction.players)}: {amount} that only they together cause, shared evenly"
    if division.mechanisms:
        yield f"kept as declared: {', '.join(division.mechanisms)} ({division.method})"


def _ordered(found: Attribution) -> list[CauseShare]:
    return sorted(found.shares, key=lambda share: -abs(share.amount.value))


def _figures(amount: float, reach: str, found: Attribution) -> tuple[str, str, str]:
    if abs(amount) <= ROUNDING * abs(found.measured.value):
        return "0", "0.0 %" if found.measured.value else "", ""
    part = f"{100 * amount / found.measured.value:.1f} %" if found.measured.value else ""
    return render_number(amount), part, reach


def _refusals(attribution: Attribution) -> Iterator[str]:
    for share in attribution.shares:
        if share.refused:
            yield f"{share.cause}: cannot be split, for {share.refused}"
            if share.measure:
                yield f"  to split it, measure {' or '.join(share.measure)}"


def _beyond(context: Context, attribution: Attribution) -> Iterator[BeyondData]:
    """Yields the causes whose reference level was never measured (of a stream only the beginning is at hand)."""
    if context.chunks is None:
        told = {name: name for share in attribution.shares for name in (share.members or (share.cause,))}
        yield from beyond_data(context.series, told, context.settings.reference)


def _extrapolated(beyond: Sequence[BeyondData]) -> Iterator[str]:
    levels = ", ".join(
        f"{render_number(one.level)} for {one.cause} ({render_number(one.lowest)} .. {render_number(one.highest)})"
        for one in beyond
    )
    if levels:
        yield f"extrapolated beyond what was measured: {levels}; for another level, --reference SIGNAL=VALUE"


def _beyond_data(one: BeyondData) -> dict[str, Any]:
    return {"cause": one.cause, "reference": one.level, "lowest": one.lowest, "highest": one.highest}


def _data(whole: Split) -> dict[str, Any]:
    attribution = whole.attribution
    shares = [
        {"cause": share.cause, "members": list(share.members), "amount": estimate_to_dict(share.amount),
         "refused": share.refused,
         "measure": list(share.measure)}
        for share in _ordered(attribution)
    ]  # fmt: skip
    return {
        "loss": attribution.loss, "measured": estimate_to_dict(attribution.measured), "shares": shares,
        "against": attribution.against,
        "unexplained": estimate_to_dict(attribution.unexplained), "sum_error": attribution.error,
        "unit": attribution.unit,
        "method": whole.method, "mechanisms": list(whole.mechanisms),
        "interactions": [{"causes": list(interaction.players), "amount": estimate_to_dict(interaction.amount)}
        for interaction in whole.interactions],
    }  # fmt: skip
