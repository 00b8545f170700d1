"""Panels of `coherence fit`: amounts as bars with intervals, a waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherence.base.number_text import render_number
from coherence.causal.answers.intervals import Estimate
from coherence.reporting.pictures.figure import COLOURS, Line, Panel, fitted

MOST_BARS, MOST_LETTERS = 9, 34
RISE, FALL, WHOLE = COLOURS[1], COLOURS[2], COLOURS[5]


@dataclass(frozen=True)
class AmountBar:
    """An amount under a name; `whole`: it stands on zero in a waterfall."""

    name: str
    amount: Estimate
    whole: bool = False


def shortened(name: str) -> str:
    """A name that fits beside others."""
    return fitted(name, MOST_LETTERS)


def drawn_bars(amounts: Sequence[AmountBar]) -> Sequence[AmountBar]:
    """Returns amounts that fit: the smallest in the middle are one bar, the last (unexplained, after) stays."""
    left = len(amounts) - MOST_BARS
    if left <= 0:
        return amounts
    middle = [bar for bar in amounts[:-1] if not bar.whole]
    small = sorted(middle, key=lambda bar: abs(bar.amount.value))[: left + 1]
    total = sum(bar.amount.value for bar in small)
    others = AmountBar(f"{len(small)} others", Estimate(total, total, total, 0.0))
    return [*(bar for bar in amounts[:-1] if not any(bar is one for one in small)), others, amounts[-1]]


def bars(title: str, unit: str, amounts: Sequence[AmountBar]) -> Panel:
    """Amounts under each other, each with its interval as a line; the last one is always there."""
    shown = drawn_bars(amounts)
    cells, lines, texts = [], [], []
    for row, bar in enumerate(shown):
        top = -float(row)
        low, high = sorted((0.0, bar.amount.value))
        cells.append((low, top - 0.82, high, top - 0.52, RISE if bar.amount.value >= 0 else FALL))
        lines.append(Line("", ((bar.amount.low, top - 0.67), (bar.amount.high, top - 0.67)), 0))
        caption = f"{shortened(bar.name)}  {render_number(bar.amount.value, 3)}"
        texts.append((min(0.0, *(a.amount.low for a in shown)), top - 0.18, "start", caption))
    return Panel(title, unit, "", tuple(lines), cells=tuple(cells), texts=tuple(texts), ticks="x", high=0.2)


def waterfall(title: str, unit: str, steps: Sequence[AmountBar]) -> Panel:
    """Amounts one after the other from left to right, each beginning where the last one ended."""
    shown, level = drawn_bars(steps), 0.0
    cells, texts = [], []
    for row, bar in enumerate(shown):
        top = -float(row)
        start = 0.0 if bar.whole else level
        end = bar.amount.value if bar.whole else level + bar.amount.value
        colour = WHOLE if bar.whole else RISE if bar.amount.value < 0 else FALL
        cells.append((min(start, end), top - 0.82, max(start, end), top - 0.52, colour))
        texts.append((0.0, top - 0.18, "start", f"{shortened(bar.name)}  {render_number(bar.amount.value, 3)}"))
        level = end
    return Panel(title, unit, "", cells=tuple(cells), texts=tuple(texts), ticks="x", high=0.2)
