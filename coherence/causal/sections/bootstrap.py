"""Sets the block bootstrap beside the jackknife: another interval of every strength and share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable
from coherence.causal.attribution.shapley import NotSplitError
from coherence.causal.data.series import Floats
from coherence.causal.fitting.effects import NoLastingEffectError, attribute, total
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, strengths_of
from coherence.causal.fitting.gram import Grams
from coherence.causal.fitting.jobs import bootstrap
from coherence.causal.fitting.kept_draws import KeptDraws
from coherence.causal.session.context import Context

ORDER = 95
TITLE = "Bootstrap beside the jackknife"
LEVEL = 0.95
FEWEST = 20  # draws that give an interval


class Drawn:
    """Strengths of every equation, then the shares of a loss, for sums of products; a class, so that it travels."""

    __slots__ = ("equations", "loss", "own", "products", "signals")

    def __init__(
        self, found: Grams, equations: Sequence[Equation], signals: Sequence[str], loss: str | None, own: Floats
    ) -> None:
        self.products, self.equations, self.signals, self.loss, self.own = found, equations, signals, loss, own

    def __call__(self, sums: Floats) -> Floats:
        made = list(strengths_of(self.products, sums, self.equations))
        shares = [self._shares(made)] if self.loss is not None else []
        return np.concatenate([*made, *shares, np.empty((len(sums), 0))], axis=1)

    def _shares(self, replicates: Sequence[Floats]) -> Floats:
        """(n, signals): the part of the loss that each signal's own level makes; levels are those measured."""
        at = {name: index for index, name in enumerate(self.signals)}
        direct = np.zeros((len(replicates[0]) if replicates else 1, len(at), len(at)))
        for equation, coefficients in zip(self.equations, replicates, strict=True):
            for column, (cause, _) in enumerate(equation.columns):
                direct[:, at[equation.effect], at[cause]] += coefficients[:, column]
        reach = total(direct)[:, at[self.loss or ""], :]
        return np.asarray(reach * (self.own - direct @ self.own), np.float64)


def answer(context: Context) -> Section | None:
    """Percentile intervals of `--bootstrap N` draws over batches, next to those of the jackknife."""
    count = context.settings.bootstraps
    fitted = context.fitted if count else None
    if fitted is None or not fitted.nodes:
        return None
    if count < FEWEST:
        return Section(TITLE, (f"refused: an interval needs {FEWEST} draws or more",), {"refused": f"{count} draws"})
    loss = _loss(context)
    own = np.array([fitted.levels[name, 0][0] for name in fitted.signals])
    equations = [node.equation for node in fitted.nodes.values()]
    drawn = bootstrap(
        fitted.grams, Drawn(fitted.grams, equations, fitted.signals, loss, own),
        count=count, seed=context.settings.seed, workers=context.settings.workers,
        store=_store(context, fitted.grams, (equations, fitted.signals, loss, own.tolist())),
    )  # fmt: skip
    ends = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    rows = [*_strengths(fitted, ends), *_shares(context, fitted, loss, ends)]
    table = TextTable(("cause", "effect", "what", "value", "jackknife", "bootstrap"), tuple(map(_row, rows)), 3)
    caption = (
        f"{count} draws of {fitted.batches} batches; where the two differ much, the longer interval is the safer one"
    )
    return Section(TITLE, (caption, table), {"draws": count, "batches": fitted.batches, "estimates": rows})


def _store(context: Context, products: Grams, of: Iterable[object]) -> KeptDraws | None:
    file = context.settings.into
    return None if file is None else KeptDraws(Path(file), products, of, context.settings.seed)


def _loss(context: Context) -> str | None:
    """The loss, where its shares are those of the linear fit."""
    if context.loss is None:
        return None
    try:
        return context.loss.name if not context.split.mechanisms else None
    except (NoLastingEffectError, NotSplitError):
        return None


def _strengths(fitted: Fitted, ends: Floats) -> list[dict[str, Any]]:
    rows, at = [], 0
    for node in fitted.nodes.values():
        for number_, (cause, lag) in enumerate(node.equation.columns):
            if not node.equation.exact and node.identifies((cause, lag)):
                jackknife = [float(node.low[number_]), float(node.high[number_])]
                value, both = float(node.coefficients[0, number_]), ends[:, at + number_].tolist()
                rows.append(
                    _comparison_row(
                        cause,
                        node.effect,
                        f"strength after {render_number(lag * fitted.step)} s",
                        value,
                        jackknife,
                        both,
                    )
                )
        at += len(node.equation.columns)
    return rows


def _shares(context: Context, fitted: Fitted, loss: str | None, ends: Floats) -> list[dict[str, Any]]:
    """Shares that can be told, where no reference level was asked for."""
    if loss is None or context.settings.reference:
        return []
    at: Mapping[str, int] = {name: index for index, name in enumerate(fitted.signals)}
    first = ends.shape[1] - len(fitted.signals)
    rows = []
    for share in attribute(fitted, loss).shares:
        if share.cause in at and not share.refused:
            amount, jackknife = share.amount, [share.amount.low, share.amount.high]
            rows.append(
                _comparison_row(
                    share.cause, loss, "share", amount.value, jackknife, ends[:, first + at[share.cause]].tolist()
                )
            )
    return rows


def _comparison_row(
    cause: str, effect: str, what: str, value: float, jackknife: Sequence[float], replicates: Sequence[float]
) -> dict[str, Any]:
    def finite(pair: Sequence[float]) -> list[float | None]:
        return [end if np.isfinite(end) else None for end in pair]

    return {
        "cause": cause, "effect": effect, "what": what, "value": value, "jackknife": finite(jackknife),
        "bootstrap": finite(replicates),
    }  # fmt: skip


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    def pair(ends: Sequence[float | None]) -> str:
        return "not known" if None in ends else " .. ".join(render_number(end) for end in ends if end is not None)

    return (
        row["cause"],
        row["effect"],
        row["what"],
        render_number(row["value"]),
        pair(row["jackknife"]),
        pair(row["bootstrap"]),
    )
