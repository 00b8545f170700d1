"""Tells where the fitted line of a loss lies with every cause at 0, and where telemetry never went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coherence.causal.data.series import Series
from coherence.causal.session.filtered_rows import filtered_rows
from coherence.causal.session.specification import testable

if TYPE_CHECKING:
    from coherence.causal.session.context import Context

LEVEL = 0.01
MATERIAL = 0.05  # of the measured loss


@dataclass(frozen=True)
class Remainder:
    """The level of a fitted line with every cause at 0, with its interval, in the unit of the loss."""

    loss: str
    measured: float
    level: float
    low: float
    high: float


def negative_remainder(context: Context) -> Remainder | None:
    """What lies below 0 where the loss does not; None where the design says so, or the data do not."""
    if context.loss is None or context.chunks is not None or context.settings.reference:
        return None
    fitted = context.fitted
    node = fitted.nodes.get(context.loss.name)
    if node is None or not testable(fitted, node) or _has_constant(context, node.effect):
        return None
    rows = filtered_rows(fitted.plan.clocks.added(context.series), node)
    (result,) = rows.tests([rows.held[:, -1]], constant=False)
    measured = float(np.nanmean(context.series[node.effect]))
    reach = 3 * result.error
    if result.p > LEVEL or result.slope * measured >= 0 or abs(result.slope) < MATERIAL * abs(measured):
        return None
    return Remainder(node.effect, measured, result.slope, result.slope - reach, result.slope + reach)


def _has_constant(context: Context, effect: str) -> bool:
    """Does the expression have a term without signals, or something that is not told?"""
    from coherence.causal.attribution.mechanism_formulas import ZERO, affine, without_past
    from coherence.language.expressions.tree import names, rename

    expression = context.model.outputs.get(effect)
    if expression is None:
        return True
    plain = rename(without_past(expression), context.model.resolve)
    factors = affine(plain, set(context.fitted.signals) & set(names(plain)))
    return factors is None or factors.get("", ZERO) != ZERO


@dataclass(frozen=True)
class BeyondData:
    """A cause whose reference level lies outside of what was measured, in the cause's unit."""

    cause: str
    level: float
    lowest: float
    highest: float


def beyond_data(series: Series, causes: Iterable[str], reference: Mapping[str, float]) -> Iterator[BeyondData]:
    """Yields the causes whose reference level (default 0) was never measured, with what was."""
    for cause in causes:
        values = series[cause][np.isfinite(series[cause])] if cause in series else np.empty(0)
        level = reference.get(cause, 0.0)
        if len(values) and not values.min() <= level <= values.max():
            yield BeyondData(cause, level, float(values.min()), float(values.max()))
