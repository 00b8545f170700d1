"""Computes total effects over all paths, feedback included, and splits a mean exactly over what drove it.

With M[i, j] = sum over lags of a[i, j, l], means obey x = M x + u, so x = (I - M)^-1 u = T u: column j of T is what a
lasting unit at j does to every signal.  What a signal has of its own is u = x - M x, exactly, whatever the
coefficients; hence for a loss L and a reference u0

    mean(L) - reference = sum over j of T[L, j] (u[j] - u0[j])

sums to rounding, always.  The term of L itself is what nothing explains.  Feedback that would grow without bound
(spectral radius of the lagged system >= 1) has no lasting effect: it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.data.series import Floats
from coherence.causal.fitting.fit import Fitted, FittedNode
from coherence.causal.fitting.gram import Column

OFFSET = 1e-5  # of the amounts that a direction is made of: a smaller one is rounding


class NoLastingEffectError(UsageError):
    """The fitted feedback does not die out, so no share of a mean can be told."""


@dataclass(frozen=True)
class CauseShare:
    """What causes contributed, in the loss's unit.

    `refused`: why the amount cannot be split over the `members`, and `measure`: what would split it.
    """

    cause: str
    amount: Estimate
    members: tuple[str, ...] = ()
    refused: str = ""
    measure: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attribution:
    """A mean loss over a reference, split.  sum(shares) + unexplained = measured, to rounding."""

    loss: str
    measured: Estimate
    shares: tuple[CauseShare, ...]
    unexplained: Estimate
    unit: str = "1"
    against: str = "every cause at 0"
    assumptions: tuple[str, ...] = field(default=())

    @property
    def error(self) -> float:
        """|shares + unexplained - measured| over the largest of them."""
        parts = [share.amount.value for share in self.shares] + [self.unexplained.value]
        size = max(map(abs, [*parts, self.measured.value]), default=0.0)
        return abs(sum(parts) - self.measured.value) / size if size else 0.0


def matrix(fitted: Fitted, *, off: Mapping[str, Sequence[str]] | None = None) -> Floats:
    """M, (1 + B, n, n): direct lasting effects of signal j on signal i.  `off`: effect -> causes that are cut."""
    at = {name: number for number, name in enumerate(fitted.signals)}
    matrices = np.zeros((len(fitted.grams.batches) + 1, len(at), len(at)))
    cut = off or {}
    for effect, node in fitted.nodes.items():
        for number, (cause, _) in enumerate(node.equation.columns):
            if cause not in cut.get(effect, ()):
                matrices[:, at[effect], at[cause]] += node.coefficients[:, number]
    return matrices


def total(m: Floats) -> Floats:
    """T = (I - M)^-1 for each matrix of a stack."""
    return np.asarray(np.linalg.inv(np.eye(m.shape[-1]) - m), np.float64)


def radius(fitted: Fitted, *, off: Mapping[str, Sequence[str]] | None = None) -> float:
    """Spectral radius of the lagged system among signals that feed back; below 1: effects die out.

    `off`: effect -> causes that are cut.  A circle with an influence that cannot be told is left out: its signals are
    one share, whatever it does.
    """
    untold = _untold(fitted)
    members = [n for n in _in_circles(np.abs(matrix(fitted, off=off)[0]) > 0) if fitted.signals[n] not in untold]
    if not members:
        return 0.0
    at = {fitted.signals[number]: place for place, number in enumerate(members)}
    nodes = [fitted.nodes[name] for name in at if name in fitted.nodes]
    deepest = max((lag for node in nodes for _, lag in node.equation.columns), default=0)
    steps = np.zeros((deepest + 1, len(at), len(at)))
    for node in nodes:
        for number, (cause, lag) in enumerate(node.equation.columns):
            if cause in at and cause not in (off or {}).get(node.effect, ()):
                steps[lag, at[node.effect], at[cause]] += node.coefficients[0, number]
    return _companion_radius(steps)


def _untold(fitted: Fitted) -> set[str]:
    """Signals on a circle through an influence that cannot be told."""
    pairs = {(cause, node.effect) for node in fitted.nodes.values() for cause, _ in node.equation.lost}
    back = [(fitted.graph.ancestors(cause), effect) for cause, effect in pairs if cause != effect]
    return {
        name for above, effect in back if effect in above for name in fitted.signals
        if name in above and effect in fitted.graph.ancestors(name)
    }  # fmt: skip


def _companion_radius(steps: Floats) -> float:
    size, deepest = steps.shape[1], len(steps) - 1
    now = np.linalg.inv(np.eye(size) - steps[0])
    if not deepest:
        return float(np.abs(np.linalg.eigvals(steps[0])).max())
    whole = np.zeros((size * deepest, size * deepest))
    for lag in range(1, deepest + 1):
        whole[:size, (lag - 1) * size : lag * size] = now @ steps[lag]
    whole[size:, :-size] = np.eye(size * (deepest - 1))
    return float(np.abs(np.linalg.eigvals(whole)).max())


def _in_circles(edges: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[int]:
    """Signals that reach themselves."""
    reach = edges.copy()
    for middle in range(len(reach)):
        reach |= np.outer(reach[:, middle], reach[middle])
    return [number for number in range(len(reach)) if reach[number, number]]


def own(fitted: Fitted, m: Floats) -> tuple[Floats, Floats]:
    """(x, u), (n) and (1 + B, n): mean levels, and what each signal has that its causes do not explain.

    The levels are those that were measured, in every row: what is uncertain of a share is its coefficient.
    """
    x = np.array([fitted.levels[name, 0][0] for name in fitted.signals])
    return x, x - m @ x


def attribute(
    fitted: Fitted, loss: str, *, reference: Mapping[str, float] | None = None, unit: str = "1"
) -> Attribution:
    """Split the mean of a signal over what drove it, against levels (default 0) of each cause's own part."""
    if loss not in fitted.signals:
        raise UsageError(f"'{loss}' is not among the fitted signals: {did_you_mean(loss, fitted.signals)}")
    growth = radius(fitted)
    if growth >= 1:
        raise NoLastingEffectError(
            f"the fitted feedback does not die out (spectral radius {growth:.3g}): a lasting change has no lasting "
            "effect; give a longer record, or name the state whose own past is missing from the design"
        )
    m = matrix(fitted)
    x, u = own(fitted, m)
    levels = np.zeros(len(fitted.signals))
    for name, level in (reference or {}).items():
        if name not in fitted.signals:
            raise UsageError(f"no signal '{name}' to have a reference: {did_you_mean(name, fitted.signals)}")
        levels[fitted.signals.index(name)] = level
    at = fitted.signals.index(loss)
    reach = total(m)[:, at, :]
    bound = knots(fitted, loss, reference or {})
    attribution = _attribution_of(fitted, loss, reach * (u - levels), float(x[at]) - reach @ levels, unit, bound)
    return replace(attribution, against=against(reference or {}))


def against(reference: Mapping[str, float]) -> str:
    """In words, the levels that make no loss."""
    if not reference:
        return "every cause at 0"
    return f"{', '.join(f'{name} at {level:g}' for name, level in reference.items())}, every other cause at 0"


def _attribution_of(
    fitted: Fitted, loss: str, parts: Floats, measured: Floats, unit: str, bound: Sequence[Knot]
) -> Attribution:
    """One share for each signal, or for each set of signals that cannot be split; the rest is unexplained."""
    at = {name: number for number, name in enumerate(fitted.signals)}
    tied = {name for knot in bound for name in knot.members}
    shares = [_share((name,), parts[:, [number]]) for name, number in at.items() if name != loss and name not in tied]
    shares = [share for share in shares if share.amount.value or share.amount.error]
    for knot in bound:
        amount = _share(knot.members, parts[:, [at[name] for name in knot.members]])
        shares.append(CauseShare(amount.cause, amount.amount, knot.members, knot.why, knot.measure))
    rest = np.zeros(len(parts)) if loss in tied else parts[:, at[loss]]
    exact = float(measured[0] - sum(share.amount.value for share in shares))
    return Attribution(loss, estimate(float(measured[0]), measured[1:]), tuple(shares), estimate(exact, rest[1:]), unit)


def _share(members: tuple[str, ...], parts: Floats) -> CauseShare:
    amounts = parts.sum(axis=1)
    return CauseShare(" + ".join(members), estimate(float(amounts[0]), amounts[1:]), members)


@dataclass(frozen=True)
class Knot:
    """Signals whose shares of a loss cannot be told apart, why, and what would tell them."""

    members: tuple[str, ...]
    why: str
    measure: tuple[str, ...] = ()


def knots(fitted: Fitted, loss: str, reference: Mapping[str, float] | None = None) -> tuple[Knot, ...]:
    """Sets of signals that share a refusal that matters for a loss; each signal in at most one.

    `reference`: levels of own parts (others 0) from which a mean is split, for which offsets matter; None: a movement.
    """
    return _merged(knots_of(fitted, loss, reference))


def knots_of(fitted: Fitted, loss: str, reference: Mapping[str, float] | None = None) -> Iterator[Knot]:
    """Every refusal that matters for a loss: influences not told, causes replaced, causes that move together."""
    behind = fitted.graph.ancestors(loss)
    for effect, node in fitted.nodes.items():
        equation = node.equation
        if effect not in behind:
            continue
        lost = [cause for cause, _ in equation.lost]
        above = frozenset().union(*(fitted.graph.ancestors(cause) for cause in lost))
        members = _ordered(fitted, {*above, effect}) if lost else ()
        if len(members) > 1:  # a signal's own past alone splits nothing
            yield Knot(members, equation.refused, equation.measure)
        if equation.replaced:
            why = (
                f"what {' and '.join(equation.replaced)} adds of its own cannot be told apart from the rest of {effect}"
            )
            yield Knot(_ordered(fitted, {*equation.replaced, effect}), why, equation.measure)
        for group in node.groups:
            names = _ordered(fitted, {cause for cause, _ in group})
            if len(names) > 1 and reference is not None and _offset(fitted, node, group, reference):
                yield Knot(_ordered(fitted, {*names, effect}), _one_with_offset(names, effect), (_apart(names),))
            elif len(names) > 1:
                yield Knot(names, "they move together: only their sum can be told", (_apart(names),))


def _offset(fitted: Fitted, node: FittedNode, group: Sequence[Column], reference: Mapping[str, float]) -> bool:
    """Decides whether what the members of a group make together hangs on how it is divided among them."""
    levels = np.array([reference.get(name, 0.0) for name in fitted.signals])
    m = matrix(fitted)[:1]
    x, _ = own(fitted, m)
    above = dict(zip(fitted.signals, (x - total(m)[0] @ levels).tolist(), strict=True))
    amounts = node.undecided * np.array([
        above[column[0]] if column in group else 0.0 for column in node.equation.columns
    ])  # fmt: skip
    return bool((np.abs(amounts.sum(axis=1)) > OFFSET * np.abs(amounts).sum(axis=1)).any())


def _one_with_offset(names: tuple[str, ...], effect: str) -> str:
    return (
        f"{' and '.join(names)} are one signal but for an offset, and which of them acts decides how much of it is in "
        f"the constant of {effect}: leave the others out, or declare the one that acts alone"
    )


def _apart(names: tuple[str, ...]) -> str:
    return f"a stretch of time in which {names[0]} changes and {names[1]} does not"


def _ordered(fitted: Fitted, names: Iterable[str]) -> tuple[str, ...]:
    chosen = set(names)
    return tuple(name for name in fitted.signals if name in chosen)


def _merged(knots: Iterable[Knot]) -> tuple[Knot, ...]:
    """Knots that share a member are one."""
    merged: list[Knot] = []
    for knot in knots:
        met = [one for one in merged if set(one.members) & set(knot.members)]
        merged = [one for one in merged if one not in met]
        every = [*met, knot]
        members = tuple(dict.fromkeys(name for one in every for name in one.members))
        why = "; ".join(dict.fromkeys(one.why for one in every))
        merged.append(Knot(members, why, tuple(dict.fromkeys(text for one in every for text in one.measure))))
    return tuple(merged)
