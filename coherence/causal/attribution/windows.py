"""Compares two windows: which inputs moved, which mechanisms changed, and what each made of the change of the loss.

Every equation is fitted in both windows.  A Wald test with jackknife covariances (Chow's question, robust to
autocorrelated errors) says for which signals it changed, with Holm's correction over all signals; the others are
fitted on both windows together.  The change of the mean loss, T' u' - T u, is then split exactly by the Shapley value
over the inputs that moved and the mechanisms that changed.  The loss is linear in u for fixed mechanisms, so only the
mechanisms need coalitions; if m of them changed and k of those come before a given player in a random order,

    input j:      mean over coalitions S of  T_S[L, j] (u'_j - u_j),              weight 1 / ((m + 1) C(m, k))
    mechanism i:  mean over coalitions S without i of  (T_{S+i} - T_S)[L] (u + (k + 1) / (m + 1) (u' - u)),
                  weight 1 / (m C(m - 1, k)).

If no mechanism changed this is the closed form T (u' - u).  SOURCE: Chow 1960; Yao 1965 (degrees of freedom).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.intervals import LEVEL, Estimate
from coherence.causal.attribution.mechanisms import Range
from coherence.causal.attribution.shapley import MOST_PLAYERS, members
from coherence.causal.attribution.windows_curved import Curved, built, mechanisms, shares
from coherence.causal.attribution.windows_law import lengthened
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.clocks import clocks_of
from coherence.causal.fitting.effects import knots, matrix, radius, total
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, from_grams
from coherence.causal.fitting.gram import Grams, grams
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.planning import believable, planned

FEWEST = 100  # samples of a window
FALSE_ALARM = 0.01  # over all signals together: a mechanism wrongly called changed spoils the shares


@dataclass(frozen=True)
class Changed:
    """Whether what acts on a signal acts differently now: p after Holm's correction."""

    signal: str
    p: float
    changed: bool
    before: Mapping[str, float]  # lasting effect of each cause
    after: Mapping[str, float]


@dataclass(frozen=True)
class Moved:
    """What one cause contributed to the change of the loss.  `kind`: input, mechanism, or unexplained.

    `amount` has the interval of these windows; `law` that of the law behind them, None where they are too short.
    """

    cause: str
    kind: str
    amount: Estimate
    refused: str = ""
    law: Estimate | None = None


@dataclass(frozen=True)
class WindowComparison:
    """before + sum of contributions = after, exactly.  `change`: of the law, None where it is not told."""

    loss: str
    before: float
    after: float
    contributions: tuple[Moved, ...]
    mechanisms: tuple[Changed, ...]
    assumptions: tuple[str, ...] = ()
    change: Estimate | None = None

    @property
    def error(self) -> float:
        """|sum of contributions - change| over the largest of them."""
        parts = [contribution.amount.value for contribution in self.contributions]
        size = max([abs(part) for part in parts] + [abs(self.before), abs(self.after)])
        return abs(sum(parts) - (self.after - self.before)) / size if size else 0.0


def compare(
    before: Series, after: Series, graph: CausalGraph, loss: str, *, equations: Sequence[Equation] = (),
    constants: Mapping[str, float | Range] | None = None, false_alarm: float = FALSE_ALARM,
) -> WindowComparison:  # fmt: skip
    """What made the mean of a signal change between two windows; `equations` replace those of identification."""
    if loss not in before or loss not in after:
        raise UsageError(f"'{loss}' is not in both windows: {did_you_mean(loss, before.names)}")
    names = tuple(name for name in before.names if name in after)
    if min(len(before), len(after)) < FEWEST:
        raise UsageError(f"windows of {len(before)} and {len(after)} samples: each needs {FEWEST} to be compared")
    first, second = _fitted_alike(before.of(names), after.of(names), graph, equations)
    curved = built((before.of(names), after.of(names)), (first, second), loss, constants or {})
    tests = _tested(first, second, false_alarm, curved)
    both = _pooled(first, second)
    changed = [test.signal for test in tests if test.changed and test.signal in first.graph.ancestors(loss)]
    if len(changed) > MOST_PLAYERS:
        raise UsageError(
            f"{len(changed)} mechanisms changed ({', '.join(changed[:6])}, ...): exact shares stop at {MOST_PLAYERS}; "
            "choose windows that are closer together"
        )
    if curved is not None:
        return _through_mechanisms(curved, (first, second, both), loss, changed, tests)
    comparison = _split(first, second, both, loss, changed, tests)
    former, latter = lengthened(first, before.of(names), loss), lengthened(second, after.of(names), loss)
    if former is None or latter is None:
        return comparison
    law = _split(former, latter, _pooled(former, latter), loss, changed, tests, law=True)
    return _with_law(comparison, law)


def _with_law(comparison: WindowComparison, law: WindowComparison) -> WindowComparison:
    """The comparison of two windows with what they say of the law."""
    spreads = {(one.cause, one.kind): one.amount for one in law.contributions}
    parts = tuple(replace(one, law=spreads.get((one.cause, one.kind))) for one in comparison.contributions)
    return replace(comparison, contributions=parts, change=law.change)


def _fitted_alike(
    before: Series, after: Series, graph: CausalGraph, equations: Sequence[Equation]
) -> tuple[Fitted, Fitted]:
    """Both windows with one plan, on one scale."""
    longer, clocks = max(before, after, key=len), clocks_of(before, after)
    plan = planned(before, graph, equations, delays_from=longer, clocks=clocks)
    sums = [grams(clocks.added(one), plan.columns) for one in (before, after)]
    better = believable(plan, sums)
    if better.columns != plan.columns:
        sums = [grams(clocks.added(one), better.columns) for one in (before, after)]
    first, second = sums[0], _rescaled(sums[1], sums[0].offset, sums[0].scale)
    return from_grams(first, better), from_grams(second, better)


def _rescaled(found: Grams, offset: Floats, scale: Floats) -> Grams:
    """The same sums of products for other offsets and scales: Z' = Z A, so Z''Z' = A' Z'Z A."""
    a = np.diag(np.concatenate([[1.0], found.scale / scale]))
    a[0, 1:] = (found.offset - offset) / scale
    return Grams(found.columns, offset, scale, np.asarray(a.T @ found.batches @ a), found.rows, found.lost)


def _pooled(first: Fitted, second: Fitted) -> Fitted:
    """Both windows as one record, each about its own means, so that levels may differ and mechanisms may not.

    The replicates leave out the batches of the first window, then of the second.
    """
    sums = np.concatenate([_centred(first).batches, _centred(second).batches])
    rows = np.concatenate([first.grams.rows, second.grams.rows])
    joined = Grams(first.grams.columns, first.grams.offset, first.grams.scale, sums, rows)
    return from_grams(joined, first.plan)


def _centred(fitted: Fitted) -> Grams:
    middle = np.array([fitted.levels[column][0] for column in fitted.grams.columns])
    return _rescaled(fitted.grams, middle, fitted.grams.scale)


def _tested(first: Fitted, second: Fitted, false_alarm: float, curved: Curved | None) -> tuple[Changed, ...]:
    kept_as_declared = mechanisms(curved) if curved is not None else frozenset()
    p_values: dict[str, float] = {}
    if curved is not None:
        p_values |= {name: _wald(*tables) for name, tables in curved.tables.items()}
    for name, node in first.nodes.items():
        if name in kept_as_declared:
            continue
        other = second.nodes[name]
        free = [n for n, column in enumerate(node.equation.columns) if column not in node.equation.lost]
        if free and not node.groups and not node.equation.exact:
            p_values[name] = _wald(node.coefficients[:, free], other.coefficients[:, free])
    order = sorted(p_values, key=lambda name: p_values[name])
    corrected, largest = {}, 0.0
    for rank, name in enumerate(order):
        largest = max(largest, min(p_values[name] * (len(order) - rank), 1.0))
        corrected[name] = largest
    return tuple(
        Changed(name, p, p <= false_alarm, _lasting(first, name), _lasting(second, name))
        for name, p in corrected.items()
    )


def _lasting(fitted: Fitted, name: str) -> dict[str, float]:
    """cause -> its lasting effect; of a mechanism kept as declared, its slopes around the window's means."""
    node = fitted.nodes[name]
    durations: dict[str, float] = {}
    for (cause, _), strength in zip(node.equation.columns, node.coefficients[0].tolist(), strict=True):
        durations[cause] = durations.get(cause, 0.0) + strength
    return durations


def _wald(first: Floats, second: Floats) -> float:
    """p of equal coefficients: Hotelling's T^2 with both jackknife covariances and Yao's degrees of freedom."""
    from scipy.special import fdtrc

    gap = second[0] - first[0]
    covariances = [_covariance(table[1:]) for table in (first, second)]
    both = covariances[0] + covariances[1]
    inverse = np.linalg.pinv(both, hermitian=True)
    t2 = float(gap @ inverse @ gap)
    if not t2 > 0:
        return 1.0
    weights = [float(gap @ inverse @ part @ inverse @ gap) / t2 for part in covariances]
    shares = sum(w**2 / (len(table) - 2) for w, table in zip(weights, (first, second), strict=True))
    free, size = 1 / shares if shares else np.inf, len(gap)
    if free <= size:
        return 1.0
    return float(fdtrc(size, free - size + 1, t2 * (free - size + 1) / (free * size)))


def _covariance(without: Floats) -> Floats:
    count = len(without)
    spread = without - without.mean(axis=0)
    return np.asarray((count - 1) / count * (spread.T @ spread), np.float64)


def _through_mechanisms(
    curved: Curved, fits: tuple[Fitted, Fitted, Fitted], loss: str, changed: Sequence[str], tests: tuple[Changed, ...]
) -> WindowComparison:
    first, second, both = fits
    (before, after), inputs, changes = shares(curved, both, loss, changed)
    spread = _Spread(len(first.grams.batches), len(second.grams.batches))
    if len(inputs) == 1:  # nothing was estimated
        inputs, changes = (np.repeat(part, 1 + spread.first + spread.second, axis=0) for part in (inputs, changes))
    whole = np.zeros((len(inputs), len(first.signals)))
    whole[:, [first.signals.index(name) for name in curved.names]] = inputs
    contributions = [
        *(Moved(name, "mechanism", spread.of(changes[:, k])) for k, name in enumerate(changed)),
        *_inputs(first, loss, whole, spread),
    ]
    note = "windows laid over each other sample by sample from their starts"
    return WindowComparison(loss, before, after, tuple(contributions), tests, (note,))


def _split(
    former: Fitted, latter: Fitted, both: Fitted, loss: str, changed: Sequence[str], tests: tuple[Changed, ...],
    *, law: bool = False,
) -> WindowComparison:  # fmt: skip
    first, second = len(former.grams.batches), len(latter.grams.batches)
    # replicate r leaves out a batch of the first window (r <= first), or of the second
    rows_one = [0, *range(1, first + 1), *([0] * second)]
    rows_two = [0, *([0] * first), *range(1, second + 1)]
    pooled = matrix(both)
    old, new = matrix(former)[rows_one], matrix(latter)[rows_two]
    at = {name: number for number, name in enumerate(former.signals)}
    m, n = pooled.copy(), pooled.copy()
    for name in changed:
        m[:, at[name]], n[:, at[name]] = old[:, at[name]], new[:, at[name]]
    rows = (rows_one, rows_two) if law else ([0] * len(rows_one),) * 2
    levels = [
        np.stack([fitted.levels[name, 0][these] for name in former.signals], axis=1)
        for fitted, these in zip((former, latter), rows, strict=True)
    ]
    for fitted in (former, latter) if changed else (both,):
        if radius(fitted) >= 1:
            raise UsageError("the fitted feedback does not die out in one of the windows: nothing lasting to compare")
    u, v = (level - (by @ level[..., None])[..., 0] for level, by in zip(levels, (m, n), strict=True))
    inputs, changes = _shares(m, n, u, v, [at[name] for name in changed], at[loss])
    spread = _Spread(first, second)
    contributions = [
        *(Moved(name, "mechanism", spread.of(changes[:, k])) for k, name in enumerate(changed)),
        *_inputs(former, loss, inputs, spread),
    ]
    ends = [level[:, at[loss]] for level in levels]
    change = spread.of(ends[1] - ends[0]) if law else None
    return WindowComparison(
        loss, float(ends[0][0]), float(ends[1][0]), tuple(contributions), tests, change=change
    )  # fmt: skip


def _shares(m: Floats, n: Floats, u: Floats, v: Floats, changed: Sequence[int], loss: int) -> tuple[Floats, Floats]:
    """((replicates, signals), (replicates, changed)): shares of the inputs and of the mechanisms."""
    count = len(changed)
    reach = []
    for coalition in range(1 << count):
        mixed = m.copy()
        for place in members(coalition, count):
            mixed[:, changed[place]] = n[:, changed[place]]
        reach.append(total(mixed)[:, loss, :])
    inputs, changes = np.zeros_like(u), np.zeros((len(u), count))
    for coalition, row in enumerate(reach):
        size = coalition.bit_count()
        inputs += row * (v - u) / ((count + 1) * math.comb(count, size))
        for place in range(count):
            if not coalition >> place & 1:
                gained = reach[coalition | 1 << place] - row
                mixed_u = u + (size + 1) / (count + 1) * (v - u)
                changes[:, place] += (gained * mixed_u).sum(axis=1) / (count * math.comb(count - 1, size))
    return inputs, changes


@dataclass(frozen=True)
class _Spread:
    """Intervals of a difference of two independent windows, each jackknifed by its own batches."""

    first: int
    second: int

    def of(self, row: Floats) -> Estimate:
        from scipy.special import stdtrit

        parts = row[1 : 1 + self.first], row[1 + self.first :]
        variances = [
            (len(p) - 1) / len(p) * float(((p - p.mean()) ** 2).sum()) if len(p) > 1 else np.inf for p in parts
        ]
        error = math.sqrt(sum(variances))
        shares = sum(
            (v / sum(variances)) ** 2 / (len(p) - 1)
            for v, p in zip(variances, parts, strict=True)
            if error and len(p) > 1
        )
        reach = float(stdtrit(1 / shares if shares else 1.0, (1 + LEVEL) / 2)) * error
        middle = float(row[0])
        return Estimate(middle, middle - reach, middle + reach, error)


def _inputs(fitted: Fitted, loss: str, inputs: Floats, spread: _Spread) -> list[Moved]:
    """One contribution for each signal, or for each set that cannot be split; that of the loss itself is last."""
    tied = {name: knot for knot in knots(fitted, loss) for name in knot.members}
    moved, done = [], set()
    for number, name in enumerate(fitted.signals):
        if name in tied and tied[name].members not in done:
            knot = tied[name]
            done.add(knot.members)
            amounts = inputs[:, [fitted.signals.index(member) for member in knot.members]].sum(axis=1)
            moved.append(Moved(" + ".join(knot.members), "input", spread.of(amounts), knot.why))
        elif name not in tied and name != loss and np.any(inputs[:, number]):
            moved.append(Moved(name, "input", spread.of(inputs[:, number])))
    if loss not in tied:
        moved.append(Moved(loss, "unexplained", spread.of(inputs[:, fitted.signals.index(loss)])))
    return moved
