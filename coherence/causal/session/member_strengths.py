"""Estimates influences in each member of a fleet, and pools them in part: one series for each pod is one member.

The columns `signal{pod="a"}`, `signal{pod="b"}` .. of a signal of the design are its members, where the signal has no
column of its own; what has one, such as a node's temperature, is the same for all.  Each member is fitted by itself.
Strengths differ between members by more than chance: a member's own strength is drawn to the mean of all by as much as
it is uncertain, and the interval of the mean counts how much members differ.

SOURCE: DerSimonian and Laird 1986 (spread between members); Knapp and Hartung 2003 (interval of the mean); Morris 1983
(partial pooling, and how unsure it leaves each).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coherence.causal.answers.intervals import LEVEL, Estimate
from coherence.causal.data.series import Floats, Series
from coherence.causal.session.context import Context, FitSettings
from coherence.causal.telemetry.header import signal_and_labels

FEWEST, MOST = 3, 200  # members
Strengths: TypeAlias = dict[int, tuple[float, float]]  # by delay in steps: a strength and its standard error


@dataclass(frozen=True)
class MemberStrength:
    """An influence in all members: their mean, how much they differ beyond chance, and each drawn to the mean.

    `lag` in steps; `members`: labels -> strength; `untold`: labels of the members in which it is not told.
    """

    cause: str
    effect: str
    lag: int
    mean: Estimate
    spread: float
    members: Mapping[str, Estimate]
    untold: tuple[str, ...] = ()


def members_of(series: Series, signals: Iterable[str]) -> dict[str, Series]:
    """Returns the record of each member by its labels: its own columns, and those that are the same for all.

    Empty where fewer than `FEWEST` members have a signal of the design.
    """
    wanted = set(signals) - set(series.names)
    columns: dict[str, dict[str, str]] = {}
    for name in series.names:
        signal, labels = signal_and_labels(name)
        if labels and signal in wanted:
            columns.setdefault(labels, {})[signal] = name
    if len(columns) < FEWEST:
        return {}
    common = [name for name in series.names if "{" not in name]
    return {
        labels: Series(
            (*own, *common), series.of([*own.values(), *common]).values, series.step, series.start
        )
        for labels, own in sorted(columns.items())
    }  # fmt: skip


def member_strengths(context: Context) -> Iterator[MemberStrength]:
    """Yields each influence of which an end has members, pooled over those in which it is told."""
    members = dict(list(members_of(context.whole, context.wanted).items())[:MOST])
    estimates: dict[tuple[str, str], dict[str, Strengths]] = {}
    for labels, series in members.items():
        for pair, by_lag in _strengths(context, labels, series).items():
            estimates.setdefault(pair, {})[labels] = by_lag
    for (cause, effect), each in estimates.items():
        counts = Counter(lag for by_lag in each.values() for lag in by_lag)
        for lag, count in sorted(counts.items()):
            if count >= FEWEST and 2 * count > len(members):
                pairs = {labels: by_lag[lag] for labels, by_lag in each.items() if lag in by_lag}
                mean, spread, drawn = pooled(*np.array(list(pairs.values())).T)
                strengths = dict(zip(pairs, drawn, strict=True))
                untold = tuple(labels for labels in members if labels not in pairs)
                yield MemberStrength(cause, effect, lag, mean, spread, strengths, untold)


def _strengths(context: Context, labels: str, series: Series) -> dict[tuple[str, str], Strengths]:
    """Returns the strengths, by cause, effect and delay, of what acts on the signals of a member."""
    own = {name for name in series.names if f"{name}{labels}" in context.whole}
    fitted = Context(context.design, series, FitSettings(window=context.settings.window)).fitted
    strengths: dict[tuple[str, str], Strengths] = {}
    for node in fitted.nodes.values():
        for place, (cause, lag) in enumerate(node.equation.columns):
            sure = node.identifies((cause, lag)) and 0 < node.error[place] < np.inf
            if node.effect in own and cause != node.effect and sure:
                strength = float(node.coefficients[0, place]), float(node.error[place])
                strengths.setdefault((cause, node.effect), {})[lag] = strength
    return strengths


def pooled(values: Floats, errors: Floats) -> tuple[Estimate, float, tuple[Estimate, ...]]:
    """Returns the mean of members, the standard deviation between them beyond chance, and each drawn to the mean.

    values, errors: of at least two members, in one unit; errors above 0.
    """
    from scipy.special import ndtri, stdtrit

    exact = errors**-2
    middle = float(exact @ values / exact.sum())
    excess = float(exact @ (values - middle) ** 2) - (len(values) - 1)
    between = max(excess / float(exact.sum() - (exact**2).sum() / exact.sum()), 0.0)
    weights = 1 / (errors**2 + between)
    mean = float(weights @ values / weights.sum())
    scatter = float(weights @ (values - mean) ** 2) / (len(values) - 1)
    error = float(np.sqrt(max(scatter, 1.0) / weights.sum()))
    reach = float(stdtrit(len(values) - 1, (1 + LEVEL) / 2)) * error
    count = len(values)
    drawn = max(count - 3, 0) / (count - 1) * errors**2 / (errors**2 + between)  # how far to the mean; Morris
    doubt = 2 / (count - 3) * (drawn * (values - mean)) ** 2 if count > 3 else np.zeros(count)
    left = np.sqrt(errors**2 * (1 - (count - 1) / count * drawn) + doubt)
    own = values + drawn * (mean - values)
    z = float(ndtri((1 + LEVEL) / 2))
    strengths = tuple(
        Estimate(value, value - z * error, value + z * error, error)
        for value, error in zip(own.tolist(), left.tolist(), strict=True)
    )
    return Estimate(mean, mean - reach, mean + reach, error), float(np.sqrt(between)), strengths
