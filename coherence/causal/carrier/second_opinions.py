"""Lays each fitted strength beside statsmodels' estimate from the same rows, and pgmpy's test of independence.

Least squares: statsmodels' with errors of Newey and West.  A remembered own part: its feasible generalised least
squares, whose memory is of the same depth.  Instruments: its two-stage least squares, whose errors take rows as
independent.  pgmpy tests whether cause and effect are correlated beside the other columns; it takes rows as
independent too, so that it sees too much in a slow record, and is shown as an approximation.
SOURCE: Newey and West 1987; Cochrane and Orcutt 1949; Theil 1953; Fisher 1921 (partial correlation).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from coherence.base.errors import MissingExtraError
from coherence.base.number_text import render_number
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, FittedNode
from coherence.causal.fitting.gram import Column, lagged

LEVEL = 0.05
SLACK = 1e-6  # of a strength: what two solvers may differ by where nothing is left to chance
ROUNDS = 8  # of the feasible least squares


class Estimated(NamedTuple):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class InfluenceOpinion:
    """What others say of an influence: `theirs` by `method` of statsmodels, and the p value of pgmpy's test."""

    cause: str
    effect: str
    delay_s: float
    ours: Estimated
    theirs: Estimated
    method: str
    p: float  # that cause and effect are independent beside the other columns
    seen: bool  # ours: whether the strength is told from zero

    @property
    def differs(self) -> bool:
        """Decides whether the two intervals have nothing in common."""
        slack = SLACK * max(abs(self.ours.value), abs(self.theirs.value))
        return self.ours.low > self.theirs.high + slack or self.theirs.low > self.ours.high + slack

    def render(self) -> str:
        """Returns it as a line."""
        word = "DISAGREEMENT" if self.differs else "agreement"
        tested = "independent" if self.p > LEVEL else "dependent"
        also = "" if (self.p <= LEVEL) == self.seen else " (an approximation, which differs)"
        delay = f" after {self.delay_s:g} s" if self.delay_s else ""
        return (
            f"second opinion {self.cause} -> {self.effect}{delay}: {word}: we say {_text(self.ours)}, "
            f"statsmodels says {_text(self.theirs)} by {self.method}; pgmpy says {tested}, p = {self.p:.2g}{also}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns it for programs."""
        ours, theirs = (estimate._asdict() for estimate in (self.ours, self.theirs))
        return {**asdict(self), "ours": ours, "theirs": theirs, "differs": self.differs}


def second_opinions(fitted: Fitted, series: Series) -> tuple[InfluenceOpinion, ...]:
    """Returns an opinion on each influence that is told, from the rows that it was fitted to.

    Raises MissingExtraError without pgmpy (statsmodels comes with it).
    """
    rows = _rows(fitted, series)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pgmpy.estimators  # noqa: F401
            import statsmodels.api  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("a second opinion of pgmpy and statsmodels", "causal") from error
        return tuple(opinion for node in fitted.nodes.values() for opinion in _of_node(fitted, node, rows))


def _of_node(fitted: Fitted, node: FittedNode, rows: dict[Column, Floats]) -> Iterator[InfluenceOpinion]:
    equation = node.equation
    identified = [column for column in equation.columns if node.identifies(column)]
    if equation.exact or not identified or len(identified) < len(equation.columns):
        return
    method, estimates = _estimates(equation, rows)
    for number, column in enumerate(equation.columns):
        ours = Estimated(*(float(part[number]) for part in (node.coefficients[0], node.low, node.high)))
        p = _independence(rows, (equation.effect, 0), column, equation)
        if not np.isfinite([*ours, *estimates[number], p]).all():  # a cause that rests, too few rows
            continue
        yield InfluenceOpinion(
            column[0], equation.effect, column[1] * fitted.step, ours, estimates[number], method, p,
            bool(node.p[number] <= LEVEL),
        )  # fmt: skip


def _rows(fitted: Fitted, series: Series) -> dict[Column, Floats]:
    """Returns the columns that the fit reads, at the rows in which each has a value."""
    table = lagged(fitted.plan.clocks.added(series), fitted.grams.columns)
    whole = table[np.isfinite(table).all(axis=1)]
    return {column: whole[:, number] for number, column in enumerate(fitted.grams.columns)}


def _estimates(equation: Equation, rows: dict[Column, Floats]) -> tuple[str, list[Estimated]]:
    """Returns statsmodels' method, and its estimate of each column."""
    import statsmodels.api as sm
    from statsmodels.sandbox.regression.gmm import IV2SLS

    effect, held = rows[equation.effect, 0], (*equation.controls, *equation.clocks)
    regressors = sm.add_constant(_table(rows, (*equation.columns, *held)))
    if equation.instruments:
        outside = sm.add_constant(_table(rows, (*equation.instruments, *held)))
        result, method = IV2SLS(effect, regressors, outside).fit(), "two-stage least squares"
    elif equation.memory:
        result = sm.GLSAR(effect, regressors, rho=equation.memory).iterative_fit(ROUNDS)
        method = f"generalised least squares, errors of order {equation.memory}"
    else:
        depth = int(4 * (len(effect) / 100) ** (2 / 9)) + 1
        result = sm.OLS(effect, regressors).fit(cov_type="HAC", cov_kwds={"maxlags": depth})
        method = "least squares, errors of Newey and West"
    bounds = np.asarray(result.conf_int(LEVEL))
    places = range(1, 1 + len(equation.columns))
    return method, [Estimated(float(result.params[n]), float(bounds[n, 0]), float(bounds[n, 1])) for n in places]


def _table(rows: dict[Column, Floats], columns: Sequence[Column]) -> Floats:
    return np.column_stack([rows[column] for column in columns])


def _independence(rows: dict[Column, Floats], effect: Column, cause: Column, equation: Equation) -> float:
    """Returns the p value of pgmpy's partial correlation of an effect and a cause beside the other columns."""
    import pandas as pd
    from pgmpy.estimators.CITests import pearsonr

    others = [one for one in (*equation.columns, *equation.controls, *equation.clocks) if one != cause]
    names = {column: f"v{number}" for number, column in enumerate(dict.fromkeys((effect, cause, *others)))}
    data = pd.DataFrame({name: rows[column] for column, name in names.items()})
    _, p = pearsonr(names[effect], names[cause], [names[one] for one in dict.fromkeys(others)], data, boolean=False)
    return float(p)


def _text(estimate: Estimated) -> str:
    value, low, high = map(render_number, estimate)
    return f"{value} ({low} .. {high})"
