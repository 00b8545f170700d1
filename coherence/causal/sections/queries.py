"""Tells what every signal would be if some were set."""

from __future__ import annotations

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.attribution.mechanisms import constants_of
from coherence.causal.attribution.queries import InterventionLevel as Level
from coherence.causal.attribution.queries import do
from coherence.causal.session.context import Context

ORDER = 41
ROUNDING = 1e-9


def answer(context: Context) -> Section | None:
    """The levels under `--do`; the loss first, then what the intervention moves."""
    levels_asked = context.settings.do
    if not levels_asked or context.chunks is not None:
        return None
    levels = {
        name if name in context.fitted.signals else context.model.resolve(name): v for name, v in levels_asked.items()
    }
    answers = do(context.series, context.fitted, levels, constants=constants_of(context.model))
    loss = context.loss.name if context.loss is not None else ""
    moved = sorted(
        (answer for answer in answers if answer.refused or _moves(answer)), key=lambda answer: answer.signal != loss
    )
    rows = [
        (one.signal, render_number(one.measured), render_number(one.level.value), render_interval(one.level))
         for one in moved
        if not one.refused
    ]  # fmt: skip
    refused = [f"{one.signal}: cannot be told, for {one.refused}" for one in moved if one.refused]
    header = ("signal", "measured", "would be", "95 % interval")
    data = {
        "do": dict(levels),
        "signals": [
            {
                "signal": level.signal,
                "measured": level.measured,
                "level": estimate_to_dict(level.level),
                "refused": level.refused,
            }
            for level in answers
        ],
    }
    title = f"If {', '.join(f'{name} were {render_number(level)}' for name, level in levels.items())}"
    return Section(title, (TextTable(header, tuple(rows)), *refused), data)


def _moves(one: Level) -> bool:
    """Whether the intervention changes the signal beyond rounding."""
    return abs(one.change.value) > ROUNDING * max(abs(one.measured), abs(one.level.value))
