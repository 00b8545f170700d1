"""The root causes of an incident, ranked; what chance and simple rules would say stands beside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.answer import Answer, Table, number
from coherence.causal.data.usable import without_copies
from coherence.causal.fitting.graph import Graph
from coherence.causal.ranking.rank import Ranking, causes_of, rank
from coherence.causal.ranking.rules import RULES, chance
from coherence.causal.session.context import Context

ORDER = 90
MOST, TOP = 5, 3
LEAST = 0.01  # share of the excess that is worth a line


def answer(context: Context) -> Answer | None:
    """The ranking for `--rank SIGNAL` in the stretch of `--window`; normal is `--against`, or all that came before."""
    asked, window = context.settings.rank, context.settings.window
    if asked is None:
        return None
    if window is None:
        raise UsageError("--rank needs --window A..B, the seconds in which the incident was")
    if context.chunks is not None:
        return Answer("Root causes", ("refused: streamed telemetry has no windows",), {"refused": "streamed"})
    loss = context.loss
    mine = loss is not None and asked == loss.name
    series = loss.joined(context.usable[0]) if loss is not None and mine else context.usable[0]
    target = asked if asked in series else context.model.resolve(asked)
    if target not in series:
        raise UsageError(
            f"--rank: there is no signal '{asked}' that can be ranked: {did_you_mean(asked, series.names)}"
        )
    title = f"Root causes of {target} at {window[0]:g}..{window[1]:g} s"
    kept = without_copies(series, context.graph.nodes)
    normal, incident = kept.between(*(context.settings.against or (-math.inf, window[0]))), kept.between(*window)
    causes = causes_of(kept, context.graph if mine else _declared(context))
    try:
        found = rank(normal, incident, causes, target)
    except UsageError as refused:
        return Answer(title, (f"refused: {refused}",), {"refused": str(refused)})
    names = {effect: tuple(dict.fromkeys(cause for cause, _ in found)) for effect, found in causes.items()}
    others = {name: rule(normal, incident, names, target) for name, rule in RULES.items()}
    return _told(title, found, others, _behind(names, target), context.settings.against is None)


def _declared(context: Context) -> Graph:
    """The graph without the loss that was asked for."""
    graph, loss = context.graph, context.loss
    if loss is None or loss.tree is None:
        return graph
    kept = tuple(one for one in graph.influences if one.effect != loss.name)
    mechanisms = {name: tree for name, tree in graph.mechanisms.items() if name != loss.name}
    return replace(graph, influences=kept, mechanisms=mechanisms)


def _behind(causes: Mapping[str, tuple[str, ...]], target: str) -> list[str]:
    """The target and all that can reach it."""
    found = [target]
    for name in found:
        found += [cause for cause in causes.get(name, ()) if cause not in found]
    return found


def _told(title: str, found: Ranking, others: Mapping[str, tuple[str, ...]], behind: list[str], before: bool) -> Answer:
    candidates = len(behind)
    unit = "" if found.unit == "1" else f" {found.unit}"
    against = "what was before it" if before else "the stretch of --against"
    parts: list[str | Table] = []
    if found.found:
        parts.append(
            f"{number(found.excess)}{unit} beyond {found.reference} (root mean square); so large a cause comes by"
            f" chance with p = {number(found.p, 2)} over {found.windows} windows of {against}"
        )
        parts.append(_table(found, unit))
    else:
        parts += _nothing(found, against)
    first = ", ".join(f"{name}: {names[0] if names else 'nothing'}" for name, names in others.items())
    top = TOP if candidates > TOP else 1
    share = f"{100 * float(chance(candidates, top)):.0f} %"
    parts.append(
        f"simple rules name first: {first}; chance has the cause among the first {top} of {candidates} in {share}"
    )
    parts += [f"left out: {one.what}: {one.why}" for one in found.excluded if one.what in behind]
    return Answer(title, tuple(parts), _data(found, others, candidates))


def _nothing(found: Ranking, against: str) -> Iterator[str]:
    if not found.causes:
        yield f"no cause found: nothing exceeds its spread in {against}"
    else:
        p = f"p = {number(found.p, 2)}, above {found.alpha:g}"
        yield f"no cause found: {p}, over {found.windows} windows of {against}"
    if found.reference == "the window":
        yield "looked at for what moved within the stretch: begin it earlier if it holds the incident alone"


def _table(found: Ranking, unit: str) -> Table:
    rows = [
        (f"{place}. {one.node}", number(one.part), f"{100 * one.share:.0f} %", number(one.normal))
        for place, one in enumerate(found.causes[:MOST], start=1)
        if place == 1 or one.share >= LEAST
    ]
    return Table(("cause", f"of its own{unit}", "of the excess", "usually"), tuple(rows))


def _data(found: Ranking, others: Mapping[str, tuple[str, ...]], candidates: int) -> dict[str, Any]:
    causes = [
        {"cause": one.node, "score": one.score, "share": one.share, "part": one.part, "normal": _finite(one.normal),
         "words": one.words}
        for one in found.causes
    ]  # fmt: skip
    return {
        "target": found.target, "found": found.found, "p": found.p, "excess": found.excess, "unit": found.unit,
        "reference": found.reference, "windows": found.windows, "causes": causes if found.found else [],
        "rules": {name: list(names[:MOST]) for name, names in others.items()}, "candidates": candidates,
        "chance": {f"first {top}": float(chance(candidates, top)) for top in (1, TOP)},
        "excluded": [{"what": one.what, "why": one.why} for one in found.excluded],
    }  # fmt: skip


def _finite(amount: float) -> float | None:
    return amount if math.isfinite(amount) else None
