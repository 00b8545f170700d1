"""How much of the measured loss each cause made, summing exactly, the unexplained remainder beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coherence.causal.answers import Answer, Table, as_data, interval, number
from coherence.causal.context import Context
from coherence.causal.effects import Attribution, NoLastingEffectError, Share, attribute
from coherence.causal.figures import Bar, bars, shortened

ORDER = 30


def answer(context: Context) -> Answer | None:
    """The shares of the loss that is asked for; nothing where none is."""
    if context.loss is None:
        return None
    unit = context.whole.units.get(context.loss.name, "").removeprefix("1")
    try:
        found = attribute(context.fitted, context.loss.name, reference=context.settings.reference, unit=unit)
    except NoLastingEffectError as refused:
        return Answer(f"Shares of {context.loss.name}", (f"refused: {refused}",), {"refused": str(refused)})
    rows = [(share.cause, *_figures(share.amount.value, interval(share.amount), found)) for share in _ordered(found)]
    rows.append(("unexplained", *_figures(found.unexplained.value, interval(found.unexplained), found)))
    rows.append(("measured", *_figures(found.measured.value, interval(found.measured), found)))
    header = ("cause", f"amount{f' ({unit})' if unit else ''}", "of the loss", "95 % interval")
    title = f"Shares of {context.loss.name}, against {found.against}"
    drawn = [Bar(share.cause, share.amount) for share in _ordered(found)] + [Bar("unexplained", found.unexplained)]
    panel = bars(f"Shares of {shortened(found.loss)}", unit, drawn)
    return Answer(title, (Table(header, tuple(rows)), *_refusals(found)), _data(found), panels=(panel,))


def _ordered(found: Attribution) -> list[Share]:
    return sorted(found.shares, key=lambda share: -abs(share.amount.value))


def _figures(amount: float, reach: str, found: Attribution) -> tuple[str, str, str]:
    part = f"{100 * amount / found.measured.value:.1f} %" if found.measured.value else ""
    return number(amount), part, reach


def _refusals(found: Attribution) -> Iterator[str]:
    for share in found.shares:
        if share.refused:
            yield f"{share.cause}: cannot be split, for {share.refused}"
            if share.measure:
                yield f"  to split it, measure {' or '.join(share.measure)}"


def _data(found: Attribution) -> dict[str, Any]:
    shares = [
        {"cause": one.cause, "members": list(one.members), "amount": as_data(one.amount), "refused": one.refused,
         "measure": list(one.measure)}
        for one in _ordered(found)
    ]  # fmt: skip
    return {
        "loss": found.loss, "measured": as_data(found.measured), "shares": shares, "against": found.against,
        "unexplained": as_data(found.unexplained), "sum_error": found.error, "unit": found.unit,
    }  # fmt: skip
