"""The block bootstrap beside the jackknife: another interval of every strength and share, from the same batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coherence.causal.answers.answer import Answer, Table, number
from coherence.causal.data.series import Floats
from coherence.causal.fitting.effects import NoLastingEffectError, attribute, total
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, node_of
from coherence.causal.fitting.gram import Grams
from coherence.causal.fitting.jobs import bootstrap
from coherence.causal.session.context import Context

ORDER = 95
TITLE = "Bootstrap beside the jackknife"
LEVEL = 0.95
FEWEST = 20  # draws that give an interval


class Drawn:
    """Strengths of every equation, then the shares of a loss, for sums of products; a class, so that it travels."""

    __slots__ = ("equations", "found", "loss", "own", "signals")

    def __init__(
        self, found: Grams, equations: Sequence[Equation], signals: Sequence[str], loss: str | None, own: Floats
    ) -> None:
        self.found, self.equations, self.signals, self.loss, self.own = found, equations, signals, loss, own

    def __call__(self, sums: Floats) -> Floats:
        made = [node_of(self.found, sums, one).coefficients for one in self.equations]
        shares = [self._shares(made)] if self.loss is not None else []
        return np.concatenate([*made, *shares, np.empty((len(sums), 0))], axis=1)

    def _shares(self, made: Sequence[Floats]) -> Floats:
        """(n, signals): the part of the loss that each signal's own level makes; levels are those measured."""
        at = {name: number for number, name in enumerate(self.signals)}
        direct = np.zeros((len(made[0]) if made else 1, len(at), len(at)))
        for equation, coefficients in zip(self.equations, made, strict=True):
            for column, (cause, _) in enumerate(equation.columns):
                direct[:, at[equation.effect], at[cause]] += coefficients[:, column]
        reach = total(direct)[:, at[self.loss or ""], :]
        return np.asarray(reach * (self.own - direct @ self.own), np.float64)


def answer(context: Context) -> Answer | None:
    """Percentile intervals of `--bootstrap N` draws over batches, next to those of the jackknife."""
    count = context.settings.bootstraps
    fitted = context.fitted if count else None
    if fitted is None or not fitted.nodes:
        return None
    if count < FEWEST:
        return Answer(TITLE, (f"refused: an interval needs {FEWEST} draws or more",), {"refused": f"{count} draws"})
    loss = _loss(context)
    own = np.array([fitted.levels[name, 0][0] for name in fitted.signals])
    equations = [node.equation for node in fitted.nodes.values()]
    drawn = bootstrap(
        fitted.grams, Drawn(fitted.grams, equations, fitted.signals, loss, own),
        count=count, seed=context.settings.seed, workers=context.settings.jobs,
        cluster=context.settings.cluster,
    )  # fmt: skip
    ends = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    rows = [*_strengths(fitted, ends), *_shares(context, fitted, loss, ends)]
    table = Table(("cause", "effect", "what", "value", "jackknife", "bootstrap"), tuple(map(_row, rows)), 3)
    said = f"{count} draws of {fitted.batches} batches; where the two differ much, the longer interval is the safer one"
    return Answer(TITLE, (said, table), {"draws": count, "batches": fitted.batches, "estimates": rows})


def _loss(context: Context) -> str | None:
    """The loss, where its shares are those of the linear fit."""
    if context.loss is None:
        return None
    try:
        return context.loss.name if not context.split.mechanisms else None
    except NoLastingEffectError:
        return None


def _strengths(fitted: Fitted, ends: Floats) -> list[dict[str, Any]]:
    made, at = [], 0
    for node in fitted.nodes.values():
        for number_, (cause, lag) in enumerate(node.equation.columns):
            if not node.equation.exact and (cause, lag) not in node.equation.lost:
                jackknife = [float(node.low[number_]), float(node.high[number_])]
                value, both = float(node.coefficients[0, number_]), ends[:, at + number_].tolist()
                made.append(
                    _one(cause, node.effect, f"strength after {number(lag * fitted.step)} s", value, jackknife, both)
                )
        at += len(node.equation.columns)
    return made


def _shares(context: Context, fitted: Fitted, loss: str | None, ends: Floats) -> list[dict[str, Any]]:
    """Shares that can be told, where no reference level was asked for."""
    if loss is None or context.settings.reference:
        return []
    at: Mapping[str, int] = {name: number for number, name in enumerate(fitted.signals)}
    first = ends.shape[1] - len(fitted.signals)
    made = []
    for one in attribute(fitted, loss).shares:
        if one.cause in at and not one.refused:
            found, jackknife = one.amount, [one.amount.low, one.amount.high]
            made.append(_one(one.cause, loss, "share", found.value, jackknife, ends[:, first + at[one.cause]].tolist()))
    return made


def _one(
    cause: str, effect: str, what: str, value: float, jackknife: Sequence[float], found: Sequence[float]
) -> dict[str, Any]:
    def finite(pair: Sequence[float]) -> list[float | None]:
        return [end if np.isfinite(end) else None for end in pair]

    return {
        "cause": cause, "effect": effect, "what": what, "value": value, "jackknife": finite(jackknife),
        "bootstrap": finite(found),
    }  # fmt: skip


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    def pair(ends: Sequence[float | None]) -> str:
        return "not known" if None in ends else " .. ".join(number(end) for end in ends if end is not None)

    return (
        one["cause"],
        one["effect"],
        one["what"],
        number(one["value"]),
        pair(one["jackknife"]),
        pair(one["bootstrap"]),
    )
