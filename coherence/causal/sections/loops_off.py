"""Tells what the loss would be with loops off, and how the difference splits over them."""

from __future__ import annotations

import math
from dataclasses import replace

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.attribution.loops_off import LoopSplit, loop_split, writers
from coherence.causal.attribution.mechanisms import constants_of
from coherence.causal.attribution.shapley import MOST_PLAYERS
from coherence.causal.session.context import Context
from coherence.causal.session.loop_recovery import loop_recovery, recovery_tables, recovery_to_dict

ORDER = 40


def answer(context: Context) -> Section | None:
    """The loss by loop; those that `--off` names, else every loop that acts on a measured signal behind the loss."""
    known = [loop.name for loop in context.model.loops]
    for name in context.settings.off:
        if name not in known:
            near = did_you_mean(name, known) or "the design has none"
            raise UsageError(f"--off: there is no loop '{name}': {near}")
    if context.loss is None and context.settings.off:
        raise UsageError("--off asks what a loss would be without a loop: name the loss with --loss")
    if context.loss is None or context.chunks is not None:
        return None
    acting = writers(context.fitted)
    behind = context.fitted.graph.ancestors(context.loss.name)
    every = context.settings.off or [name for name in known if behind & set(acting.get(name, ()))]
    loops = every if context.settings.off else every[:MOST_PLAYERS]
    if not loops:
        return None
    title = title_of(context.loss.name, shown=len(loops), every=len(every))
    try:
        split = loop_split(
            context.series, context.fitted, context.loss.name, loops,
            constants=constants_of(context.model), reference=context.settings.reference,
        )  # fmt: skip
    except UsageError as refused:
        return Section(title, (f"refused: {refused}",), {"refused": str(refused)})
    if not math.isfinite(split.without.value):
        why = (
            f"{context.loss.name} is no number with every loop off, where {'; '.join(split.assumptions)}; "
            "--reference SIGNAL=VALUE gives another level"
        )
        return Section(title, (f"refused: {why}",), {"refused": why})
    section = render_split(title, split)
    won = loop_recovery(context, split)
    if won is not None:
        parts = (*section.parts, *recovery_tables(won, split.measured.value))
        section = replace(section, parts=parts, data={**section.data, "recovery": recovery_to_dict(won)})
    return section if context.settings.off else replace(section, brief=())


def title_of(loss: str, *, shown: int, every: int) -> str:
    """Returns the title, which says where more loops act on the loss than the split is over."""
    return f"{loss} by loop" + (f" (the first {shown} of {every}; name others with --off)" if shown < every else "")


def render_split(title: str, split: LoopSplit) -> Section:
    """The split as a table and as data."""
    whole = split.measured.value
    rows = [
        (share.loop, render_number(share.amount.value), f"{100 * share.amount.value / whole:.1f} %" if whole else "",
         render_interval(share.amount), render_number(whole - share.alone.value))
        for share in split.shares if not share.refused
    ]  # fmt: skip
    rows.append(("every loop off", render_number(split.without.value), "", render_interval(split.without), ""))
    rows.append(("measured", render_number(whole), "", render_interval(split.measured), ""))
    header = ("loop", "amount", "of the loss", "95 % interval", "loss with it off")
    notes = [
        f"{' x '.join(interaction.players)} together: {render_number(interaction.amount.value)}"
        for interaction in split.interactions
    ]
    refused = [f"{share.loop}: cannot be told, for {share.refused}" for share in split.shares if share.refused]
    data = {
        "measured": estimate_to_dict(split.measured), "without": estimate_to_dict(split.without),
        "loops": [
            {"loop": share.loop, "amount": estimate_to_dict(share.amount), "alone": estimate_to_dict(share.alone),
             "refused": share.refused}
            for share in split.shares
        ],
        "interactions": [{"loops": list(interaction.players), "amount": estimate_to_dict(interaction.amount)}
        for interaction in split.interactions],
        "assumptions": list(split.assumptions),
    }  # fmt: skip
    return Section(title, (TextTable(header, tuple(rows)), *notes, *refused, *split.assumptions), data)
