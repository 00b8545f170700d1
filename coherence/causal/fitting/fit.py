"""Estimates one linear equation for each signal from sums of products alone.

    x_i(t) = intercept_i + sum over (j, l) of a[i, j, l] x_j(t - l) + u_i(t)

By least squares on the declared causes; where that would be biased (a common cause that nobody measured, causes in a
circle), an equation may name `instruments` (two-stage least squares) or `controls` (regressors that are no causes).
Every estimate exists once for all batches and once without each: intervals are the jackknife's, which autocorrelated
errors do not fool.  Declared influences are never deselected: selection would bias what is left.
SOURCE: ordinary and two-stage least squares; Benjamini and Hochberg 1995 for the false-discovery rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coherence.causal.answers.intervals import jackknife
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.clocks import held_fixed
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.gram import Column, Grams, block, grams, means, solutions
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.groups import nearly
from coherence.causal.fitting.memory import whitened
from coherence.causal.fitting.planning import EquationPlan, believable, planned

COLLINEAR = 1e-9  # smallest eigenvalue of a correlation matrix that still tells its columns apart
NEAR = 100.0  # ratio of eigenvalues from which causes may move together too nearly to be told apart
FALSE_DISCOVERIES = 0.05


@dataclass(frozen=True)
class FittedNode:
    """A fitted equation.  Arrays have 1 + B rows: all batches, then all but each one.

    Coefficients that cannot be told (`equation.lost`) are 0: what they carry stays with the effect's own part.
    `groups`: sets of columns whose coefficients cannot be told apart (only their sum acts); `condition`: the ratio of
    the largest to the smallest eigenvalue of their correlations; `undecided`, (directions, columns): what may be added
    to the coefficients and changes the constant alone.
    """

    equation: Equation
    coefficients: Floats  # (1 + B, columns), effect's unit per cause's unit
    low: Floats
    high: Floats
    error: Floats
    p: Floats  # two-sided, Student's t with B - 1 degrees of freedom
    noise: float  # standard deviation of u, effect's unit
    explained: float  # share of the variance
    condition: float
    groups: tuple[tuple[Column, ...], ...] = ()
    undecided: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def effect(self) -> str:
        return self.equation.effect

    def coefficient(self, column: Column) -> float:
        """The estimate for one column; 0 where it is no cause."""
        at = dict(zip(self.equation.columns, self.coefficients[0].tolist(), strict=True))
        return float(at.get(column, 0.0))

    def identifies(self, column: Column) -> bool:
        """Can the strength of this column be told, and not only its sum with those of other causes?"""
        tied = any(column in group and len({name for name, _ in group}) > 1 for group in self.groups)
        return not tied and column not in self.equation.lost


@dataclass(frozen=True)
class Fitted:
    """The fitted graph.  `levels[(signal, lag)]`: mean of each column, (1 + B,)."""

    plan: EquationPlan
    nodes: Mapping[str, FittedNode]
    grams: Grams
    levels: Mapping[Column, Floats]

    @property
    def graph(self) -> CausalGraph:
        return self.plan.graph

    @property
    def signals(self) -> tuple[str, ...]:
        return self.plan.signals

    @property
    def step(self) -> float:
        return self.plan.step

    @property
    def batches(self) -> int:
        return len(self.grams.batches)

    def having(self, equations: Iterable[Equation]) -> Fitted:
        """The same sums of products with other equations for some signals."""
        new = tuple(equations)
        return from_grams(self.grams, self.plan.having(new)) if new else self


def fit(series: Series, graph: CausalGraph, equations: Iterable[Equation] = ()) -> Fitted:
    """Fit every observed signal that has causes in the graph; `equations` replace those that identification chose.

    What rests on weak instruments is estimated otherwise or refused.
    """
    plan = planned(series, graph, equations)
    timed = plan.clocks.added(series)
    sums = grams(timed, plan.columns)
    better = believable(plan, [sums])
    if set(sums.columns) != set(better.columns):
        sums = grams(timed, better.columns)
    return from_grams(sums, better)


def from_grams(found: Grams, plan: EquationPlan) -> Fitted:
    """The fit of a plan on sums of products that exist already."""
    sums = found.stacked
    nodes = dict(zip(plan.equations, nodes_of(found, sums, plan.equations.values()), strict=True))
    return Fitted(plan, nodes, found, means(found, sums))


def nodes_of(products: Grams, sums: Floats, equations: Iterable[Equation]) -> Iterator[FittedNode]:
    """Yields the estimate of each equation."""
    for own, of_own, equation, held in _with_clocks_held(products, sums, equations):
        yield node_of(own, of_own, equation, held=held)


def strengths_of(products: Grams, sums: Floats, equations: Iterable[Equation]) -> Iterator[Floats]:
    """Yields the coefficients of each equation, (replicates, columns), and nothing of how sure they are."""
    for own, of_own, equation, held in _with_clocks_held(products, sums, equations):
        drawn = _estimated(own, of_own, equation, held)[1]
        middle = drawn.mean(axis=0)
        yield middle + equation.spread * (drawn - middle)


def _with_clocks_held(
    products: Grams, sums: Floats, equations: Iterable[Equation]
) -> Iterator[tuple[Grams, Floats, Equation, Floats | None]]:
    """Yields each equation with sums of products, and the same with its clocks held fixed (None: it is exact).

    Clocks that several equations share are taken out once, of all columns; others of the columns of their equation.
    """
    every = tuple(equations)
    sharing = Counter(equation.clocks for equation in every if not equation.exact)
    held: dict[tuple[Column, ...], Floats] = {}
    for equation in every:
        if equation.exact:
            yield products, sums, equation, None
        elif sharing[equation.clocks] > 1:
            if equation.clocks not in held:
                held[equation.clocks] = held_fixed(products, sums, equation.clocks)
            yield products, sums, equation, held[equation.clocks]
        else:
            places = [0, *products.index(equation.used)]
            own, of_own = products.of(equation.used), block(sums, places, places)
            yield own, of_own, equation, held_fixed(own, of_own, equation.clocks)


def node_of(products: Grams, sums: Floats, equation: Equation, *, held: Floats | None = None) -> FittedNode:
    """Returns the estimate of one equation for every sum of products in `sums` (the first is the whole).

    `held`: the same sums with the equation's clocks held fixed, where they are at hand.
    """
    held = held_fixed(products, sums, equation.clocks) if held is None and not equation.exact else held
    scaled, coefficients = _estimated(products, sums, equation, held)
    coefficients = coefficients[:1] + equation.spread * (coefficients - coefficients[:1])
    regressors, target = _regressors(products, equation)
    width = len(equation.columns)
    groups: tuple[tuple[Column, ...], ...] = ()
    condition, undecided = 1.0, np.zeros((0, width))
    if held is not None and not equation.exact:
        condition, groups, undecided = _collinear(held[0], regressors[1 : 1 + width], equation.columns)
        undecided = undecided / products.scale[np.array(regressors[1 : 1 + width], int) - 1]
        if not groups and not equation.lost and condition > NEAR:
            near = nearly(_centred(held[0], regressors[1 : 1 + width]), equation.columns, scaled[:, 1 : 1 + width])
            groups = _united(near, equation.columns)
    low, high, error = (
        (coefficients[0], coefficients[0], np.zeros(width))
        if equation.exact
        else jackknife(coefficients[0], coefficients[1:])
    )
    noise, explained = _residual(sums[0], [0, *regressors[1 : scaled.shape[1]]], target, scaled[0])
    noise *= float(products.scale[target - 1])
    return FittedNode(
        equation, coefficients, low, high, error, _p_values(coefficients[0], error, len(sums) - 1), noise, explained,
        condition, groups, undecided,
    )  # fmt: skip


def _regressors(products: Grams, equation: Equation) -> tuple[list[int], int]:
    """Returns where the constant, the causes and the controls of an equation stand, and its effect."""
    return [0, *products.index((*equation.columns, *equation.controls))], products.index([(equation.effect, 0)])[0]


def _estimated(products: Grams, sums: Floats, equation: Equation, held: Floats | None) -> tuple[Floats, Floats]:
    """Returns the coefficients of scaled columns (the constant first), and of the causes in their own units."""
    regressors, target = _regressors(products, equation)
    width = len(equation.columns)
    scale = products.scale[target - 1] / products.scale[np.array(regressors[1 : 1 + width], int) - 1]
    if equation.exact or held is None:
        coefficients = np.tile(np.array(equation.exact), (len(sums), 1))
        scaled = np.concatenate([np.zeros((len(sums), 1)), coefficients / scale], axis=1)
    else:
        scaled = _scaled(products, held, equation, regressors, target)
        coefficients = scaled[:, 1 : 1 + width] * scale
    coefficients[:, [equation.columns.index(column) for column in equation.lost]] = 0.0
    return scaled, coefficients


def _scaled(
    products: Grams, sums: Floats, equation: Equation, regressors: list[int], target: int
) -> Floats:  # fmt: skip
    """Returns the coefficients of scaled columns, by the estimator of the equation."""
    if equation.memory:
        return whitened(products, sums, equation)
    if not equation.instruments:
        return _solved(block(sums, regressors, regressors), sums[:, regressors, target])
    instruments = [0, *products.index((*equation.instruments, *equation.controls))]
    if equation not in products.stages:
        products.stages[equation] = _first_stage(sums[0][np.ix_(instruments, instruments)])
    moved = block(sums, instruments, [*regressors, target])
    flat = products.stages[equation] @ moved.transpose(1, 0, 2).reshape(len(instruments), -1)
    moved = np.ascontiguousarray(flat.reshape(-1, len(sums), moved.shape[2]).transpose(1, 0, 2))
    both = moved[:, :, :-1].transpose(0, 2, 1) @ moved
    return _solved(both[:, :, :-1], both[:, :, -1])


def _first_stage(moments: Floats) -> Floats:
    """(k, instruments): what makes the instruments of a record independent of each other, each of size 1."""
    sizes, ways = np.linalg.eigh(moments)
    kept = sizes > 1e-12 * np.abs(sizes).max(initial=0.0)
    return np.asarray((ways[:, kept] / np.sqrt(sizes[kept])).T, np.float64)


def _solved(left: Floats, right: Floats) -> Floats:
    """(1 + B, k): coefficients of each sum of products; the smallest ones where columns cannot be told apart."""
    spread = np.sqrt(np.maximum(np.diagonal(left, axis1=1, axis2=2), 1e-300))
    even = left / spread[:, :, None] / spread[:, None, :]
    solved = solutions(even, right / spread, COLLINEAR)  # a cause may move in one batch alone
    if solved is not None:
        return np.asarray(solved / spread, np.float64)
    return np.asarray(
        (np.linalg.pinv(even, rcond=COLLINEAR, hermitian=True) @ (right / spread)[..., None])[..., 0] / spread
    )


def _centred(whole: Floats, places: list[int]) -> Floats:
    return np.asarray(whole[np.ix_(places, places)] - np.outer(whole[places, 0], whole[places, 0]) / whole[0, 0])


def _united(groups: Iterable[tuple[Column, ...]], columns: Sequence[Column]) -> tuple[tuple[Column, ...], ...]:
    joined = _together([columns.index(column) for column in group] for group in groups)
    return tuple(tuple(columns[number] for number in group) for group in joined)


def _collinear(
    whole: Floats, places: list[int], columns: Sequence[Column]
) -> tuple[float, tuple[tuple[Column, ...], ...], Floats]:
    """(condition number of the correlations, groups of columns that move together exactly, directions that rest)."""
    if not places or not whole[0, 0]:
        return 1.0, (), np.zeros((0, len(places)))
    centred = whole[np.ix_(places, places)] - np.outer(whole[places, 0], whole[places, 0]) / whole[0, 0]
    spread = np.sqrt(np.maximum(np.diagonal(centred), 0.0))
    still = spread <= 1e-12 * np.sqrt(whole[0, 0])
    even = centred / np.outer(np.where(still, 1.0, spread), np.where(still, 1.0, spread))
    sizes, ways = np.linalg.eigh(even)
    condition = float(sizes[-1] / sizes[0]) if sizes[0] > 0 else float("inf")
    lost = ways[:, sizes <= COLLINEAR * max(float(sizes[-1]), 1e-300)]
    members = [[number for number in range(len(columns)) if abs(way[number]) > 1e-3] for way in lost.T]
    directions = np.asarray((lost / np.where(still, 1.0, spread)[:, None]).T, np.float64)
    return condition, tuple(tuple(columns[number] for number in group) for group in _together(members)), directions


def _together(groups: Iterable[list[int]]) -> list[list[int]]:
    """Groups that share a member are one group."""
    clusters: list[set[int]] = []
    for group in groups:
        met = [cluster for cluster in clusters if cluster & set(group)]
        clusters = [cluster for cluster in clusters if cluster not in met] + [set(group).union(*met)]
    return [sorted(cluster) for cluster in clusters]


def _residual(whole: Floats, regressors: list[int], target: int, scaled: Floats) -> tuple[float, float]:
    """(standard deviation of the residual in scaled units, share of the variance explained)."""
    rows = whole[0, 0]
    if not rows:
        return float("nan"), float("nan")
    total = whole[target, target] - whole[0, target] ** 2 / rows
    weights = np.zeros(len(whole))
    weights[regressors] = scaled
    weights[target] -= 1.0
    weights[0] -= float(whole[0] @ weights) / rows
    left = max(float(weights @ whole @ weights), 0.0)
    free = max(rows - len(regressors), 1.0)
    return float(np.sqrt(left / free)), float(1 - left / total) if total > 0 else float("nan")


def _p_values(coefficients: Floats, error: Floats, batches: int) -> Floats:
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(error > 0, np.abs(coefficients) / error, np.where(coefficients == 0, 0.0, np.inf))
    return np.asarray(2 * stdtr(max(batches - 1, 1), -t), np.float64)


def supported(fitted: Fitted, *, familywise: float | None = None) -> dict[tuple[str, str], bool]:
    """(cause, effect) -> do the data show it?  Over all declared pairs, at a false-discovery rate of 5 %.

    `familywise`: instead, the chance that any pair without an effect is shown.
    """
    smallest: dict[tuple[str, str], float] = {}
    for node in fitted.nodes.values():
        p_values: dict[str, list[float]] = {}
        for (cause, _), p in zip(node.equation.columns, node.p.tolist(), strict=True):
            p_values.setdefault(cause, []).append(p)
        smallest |= {(cause, node.effect): min(min(ps) * len(ps), 1.0) for cause, ps in p_values.items()}
    return discovered(smallest, FALSE_DISCOVERIES) if familywise is None else rejected(smallest, familywise)


def discovered(p: Mapping[tuple[str, str], float], rate: float) -> dict[tuple[str, str], bool]:
    """Benjamini and Hochberg 1995: which hypotheses are rejected at a false-discovery rate."""
    ordered = sorted(p.values())
    passing = [value for rank, value in enumerate(ordered, start=1) if value <= rate * rank / len(ordered)]
    limit = passing[-1] if passing else -1.0
    return {pair: value <= limit for pair, value in p.items()}


def rejected(p: Mapping[tuple[str, str], float], level: float) -> dict[tuple[str, str], bool]:
    """Holm 1979: which hypotheses are rejected so that any true one is with at most this chance."""
    passes, verdicts = True, {}
    for rank, (pair, value) in enumerate(sorted(p.items(), key=lambda one: one[1])):
        passes = passes and value * (len(p) - rank) <= level
        verdicts[pair] = passes
    return {pair: verdicts[pair] for pair in p}
