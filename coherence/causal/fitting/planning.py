"""Plans the regressions of a whole graph from the graph and the delays, before any estimate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from coherence.causal.data.series import Series
from coherence.causal.fitting.clocks import Clocks, clocks_of
from coherence.causal.fitting.equations import Equation, delays_of
from coherence.causal.fitting.gram import Column, Grams, unexplained
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.identification import identify
from coherence.causal.fitting.instruments import refused, weak
from coherence.causal.fitting.memory import filtered, remembering

FEWEST_ROWS = 20  # of an equation, beyond one for each column that it uses
EXACT = 1e-9  # share of its variance: less of its own, and a signal follows from its causes, or from the clock


@dataclass(frozen=True)
class EquationPlan:
    """An equation for each effect; `graph` is without the latent signals that are only computed."""

    graph: CausalGraph
    signals: tuple[str, ...]
    step: float
    delays: Mapping[tuple[str, str], tuple[int, ...]]
    equations: Mapping[str, Equation]
    clocks: Clocks

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column that is needed, each once; each signal's present value first."""
        used = [column for equation in self.equations.values() for column in equation.used]
        return tuple(dict.fromkeys([*((name, 0) for name in self.signals), *used]))

    def having(self, equations: Iterable[Equation]) -> EquationPlan:
        """The plan with these equations in the place of its own."""
        return replace(self, equations={**self.equations, **{equation.effect: equation for equation in equations}})


def planned(
    series: Series, graph: CausalGraph, equations: Iterable[Equation] = (), *, delays_from: Series | None = None,
    clocks: Clocks | None = None,
) -> EquationPlan:  # fmt: skip
    """The plan of every observed signal that has causes; `equations` replace those that identification chooses.

    `delays_from`: the signals whose data say at which delays the causes act, where those are not `series`; `clocks`:
    what is held fixed of the time (default: what the series shows).
    """
    seen = graph.bypassing(series.names)
    delays = delays_of(series if delays_from is None else delays_from, seen)
    chosen = remembering(seen, identify(seen, series.names, delays, series.step), series.names)
    time = clocks_of(series) if clocks is None else clocks
    steady = {effect: _steadied(equation, time) for effect, equation in chosen.items()}
    return EquationPlan(seen, series.names, series.step, delays, steady, time).having(equations)


def _steadied(equation: Equation, clocks: Clocks) -> Equation:
    """The equation with the clocks held fixed; plain regression also with the memory of the own part removed."""
    plain = not (equation.instruments or equation.controls or equation.lost or equation.replaced or equation.exact)
    steady = filtered(equation) if plain and equation.method == "its causes" else equation
    if equation.exact:
        return equation
    held = clocks.beside(steady.used, steady.effect)
    return replace(steady, clocks=held, spread=clocks.spread if clocks.held_days(held) else 1.0)


def believable(plan: EquationPlan, products: Iterable[Grams], *, once: bool = False) -> EquationPlan:
    """The plan without equations that these data, or any of them, cannot bear: too few rows, or weak instruments.

    `once`: the data cannot be read again, so what would need further columns is refused.
    """
    return plan.having(one for sums in products for one in _instead(plan, sums, once))


def _instead(plan: EquationPlan, products: Grams, once: bool) -> Iterator[Equation]:
    there, rows = set(products.columns), int(products.rows.sum())
    long = []
    of_time = _OfTheClock(products)
    for planned_equation in plan.equations.values():
        equation = _without_clocks(products, planned_equation, of_time) if rows else planned_equation
        if equation is not planned_equation:
            yield equation
        needed = FEWEST_ROWS + len(equation.used)
        if equation.exact or not equation.columns or rows >= needed:
            long.append(equation)
        else:
            why = f"{rows} rows are too few for what acts on {equation.effect}: {needed} are needed"
            yield Equation(
                equation.effect, equation.columns, lost=equation.columns, refused=why, measure=("a longer record",)
            )
    for equation in weak(products, long):
        yield refused(equation) if once and not there.issuperset(equation.used) else equation


class _OfTheClock:
    """The columns that have nothing beside a clock, found once for each clock."""

    def __init__(self, products: Grams) -> None:
        self.products = products
        self.found: dict[tuple[Column, ...], frozenset[Column]] = {}

    def __call__(self, clocks: tuple[Column, ...]) -> frozenset[Column]:
        if clocks not in self.found:
            whole, held = self.products.whole, self.products.index(clocks)
            every = list(range(1, len(whole)))
            alone, beside = (np.diagonal(unexplained(whole, fixed, every)) for fixed in ([0], [0, *held]))
            follows = (alone > 0) & (beside <= EXACT * alone)
            self.found[clocks] = frozenset(
                column for column, of_time in zip(self.products.columns, follows, strict=True) if of_time
            )
        return self.found[clocks]


def _without_clocks(products: Grams, equation: Equation, of_time: _OfTheClock) -> Equation:
    """The equation as it can be estimated where its effect, or a cause, has nothing beside its causes or the clock."""
    if not equation.clocks or equation.lost:
        return equation
    if equation.memory and _share(products, (equation.effect, 0), equation.columns) <= EXACT:
        return Equation(equation.effect, equation.columns)
    return without_timed(equation, of_time(equation.clocks))


def without_timed(equation: Equation, of_time: Collection[Column]) -> Equation:
    """The equation without the influence of columns that are functions of the time alone."""
    timed = tuple(column for column in equation.columns if column in of_time)
    if not timed or equation.exact or equation.lost:
        return equation
    names = " and ".join(dict.fromkeys(name for name, _ in timed))
    why = f"{names} follows the clock alone, as all else may that drifts or has a day"
    measure = (f"a stretch in which {names} departs from its trend and its day",)
    return replace(equation, lost=timed, refused=why, measure=measure)


def _share(products: Grams, column: Column, held: Iterable[Column]) -> float:
    """The share of the variance of a column that others do not explain; 1 where it does not move."""
    place = products.index([column])
    alone = float(unexplained(products.whole, [0], place)[0, 0])
    beside = float(unexplained(products.whole, [0, *products.index(held)], place)[0, 0])
    return beside / alone if alone > 0 else 1.0
