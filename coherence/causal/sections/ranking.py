"""Tells the root causes of an incident, ranked, beside chance and simple rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.data.usable import without_copies
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.ranking.rank import Ranking, causes_of, rank
from coherence.causal.ranking.rules import RULES, chance
from coherence.causal.session.context import Context

ORDER = 90
MOST, TOP = 5, 3
LEAST = 0.01  # share of the excess that is worth a line


def answer(context: Context) -> Section | None:
    """The ranking for `--rank SIGNAL` in the stretch of `--window`; normal is `--against`, or all that came before."""
    target_asked, window = context.settings.rank, context.settings.window
    if target_asked is None:
        return None
    if window is None:
        raise UsageError("--rank needs --window A..B, the seconds in which the incident was")
    if context.chunks is not None:
        return Section("Root causes", ("refused: streamed telemetry has no windows",), {"refused": "streamed"})
    loss = context.loss
    mine = loss is not None and target_asked == loss.name
    series = loss.joined(context.usable[0]) if loss is not None and mine else context.usable[0]
    target = target_asked if target_asked in series else context.model.resolve(target_asked)
    if target not in series:
        remedy = did_you_mean(target_asked, series.names)
        raise UsageError(f"--rank: there is no signal '{target_asked}' that can be ranked: {remedy}")
    title = f"Root causes of {target} at {window[0]:g}..{window[1]:g} s"
    candidates = without_copies(series, context.graph.nodes)
    normal, incident = (
        candidates.between(*(context.settings.against or (-math.inf, window[0]))),
        candidates.between(*window),
    )
    causes = causes_of(candidates, context.graph if mine else _declared(context))
    try:
        ranking = rank(normal, incident, causes, target)
    except UsageError as refused:
        return Section(title, (f"refused: {refused}",), {"refused": str(refused)})
    names = {effect: tuple(dict.fromkeys(cause for cause, _ in found)) for effect, found in causes.items()}
    others = {name: rule(normal, incident, names, target) for name, rule in RULES.items()}
    return _ranking_answer(title, ranking, others, _behind(names, target), context.settings.against is None)


def _declared(context: Context) -> CausalGraph:
    """The graph without the loss that was asked for."""
    graph, loss = context.graph, context.loss
    if loss is None or loss.tree is None:
        return graph
    influences = tuple(one for one in graph.influences if one.effect != loss.name)
    mechanisms = {name: tree for name, tree in graph.mechanisms.items() if name != loss.name}
    return replace(graph, influences=influences, mechanisms=mechanisms)


def _behind(causes: Mapping[str, tuple[str, ...]], target: str) -> list[str]:
    """The target and all that can reach it."""
    reached = [target]
    for name in reached:
        reached += [cause for cause in causes.get(name, ()) if cause not in reached]
    return reached


def _ranking_answer(
    title: str, ranking: Ranking, others: Mapping[str, tuple[str, ...]], behind: list[str], before: bool
) -> Section:
    candidates = len(behind)
    unit = "" if ranking.unit == "1" else f" {ranking.unit}"
    against = "what was before it" if before else "the stretch of --against"
    parts: list[str | TextTable] = []
    if ranking.claims_cause:
        parts.append(
            f"{render_number(ranking.excess)}{unit} beyond {ranking.reference} (root mean square); so large a "
            "cause comes by"
            f" chance with p = {render_number(ranking.p, 2)} over {ranking.windows} windows of {against}"
        )
        parts.append(_table(ranking, unit))
    else:
        parts += _nothing(ranking, against)
    first = ", ".join(f"{name}: {names[0] if names else 'nothing'}" for name, names in others.items())
    top = TOP if candidates > TOP else 1
    share = f"{100 * float(chance(candidates, top)):.0f} %"
    parts.append(
        f"simple rules name first: {first}; chance has the cause among the first {top} of {candidates} in {share}"
    )
    parts += [f"left out: {one.what}: {one.why}" for one in ranking.excluded if one.what in behind]
    return Section(title, tuple(parts), _data(ranking, others, candidates))


def _nothing(ranking: Ranking, against: str) -> Iterator[str]:
    if not ranking.causes:
        yield f"no cause found: nothing exceeds its spread in {against}"
    else:
        p = f"p = {render_number(ranking.p, 2)}, above {ranking.alpha:g}"
        yield f"no cause found: {p}, over {ranking.windows} windows of {against}"
    if ranking.reference == "the window":
        yield "looked at for what moved within the stretch: begin it earlier if it holds the incident alone"


def _table(ranking: Ranking, unit: str) -> TextTable:
    rows = [
        (f"{place}. {one.node}", render_number(one.part), f"{100 * one.share:.0f} %", render_number(one.normal))
        for place, one in enumerate(ranking.causes[:MOST], start=1)
        if place == 1 or one.share >= LEAST
    ]
    return TextTable(("cause", f"of its own{unit}", "of the excess", "usually"), tuple(rows))


def _data(ranking: Ranking, others: Mapping[str, tuple[str, ...]], candidates: int) -> dict[str, Any]:
    causes = [
        {"cause": one.node, "score": one.score, "share": one.share, "part": one.part, "normal": _finite(one.normal),
         "words": one.words}
        for one in ranking.causes
    ]  # fmt: skip
    return {
        "target": ranking.target, "found": ranking.claims_cause, "p": ranking.p, "excess": ranking.excess,
        "unit": ranking.unit,
        "reference": ranking.reference, "windows": ranking.windows, "causes": causes if ranking.claims_cause else [],
        "rules": {name: list(names[:MOST]) for name, names in others.items()}, "candidates": candidates,
        "chance": {f"first {top}": float(chance(candidates, top)) for top in (1, TOP)},
        "excluded": [{"what": one.what, "why": one.why} for one in ranking.excluded],
    }  # fmt: skip


def _finite(amount: float) -> float | None:
    return amount if math.isfinite(amount) else None
