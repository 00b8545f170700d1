"""Plans the regressions of a whole graph from the graph and the delays, before any estimate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from coherence.causal.data.series import Series
from coherence.causal.fitting.equations import Equation, delays_of
from coherence.causal.fitting.gram import Column, Grams
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.identification import identify
from coherence.causal.fitting.instruments import refused, weak
from coherence.causal.fitting.memory import remembering

FEWEST_ROWS = 20  # of an equation, beyond one for each column that it uses


@dataclass(frozen=True)
class EquationPlan:
    """An equation for each effect; `graph` is without the latent signals that are only computed."""

    graph: CausalGraph
    signals: tuple[str, ...]
    step: float
    delays: Mapping[tuple[str, str], tuple[int, ...]]
    equations: Mapping[str, Equation]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column that is needed, each once; each signal's present value first."""
        used = [column for equation in self.equations.values() for column in equation.used]
        return tuple(dict.fromkeys([*((name, 0) for name in self.signals), *used]))

    def having(self, equations: Iterable[Equation]) -> EquationPlan:
        """The plan with these equations in the place of its own."""
        return replace(self, equations={**self.equations, **{equation.effect: equation for equation in equations}})


def planned(
    series: Series, graph: CausalGraph, equations: Iterable[Equation] = (), *, delays_from: Series | None = None
) -> EquationPlan:
    """The plan of every observed signal that has causes; `equations` replace those that identification chooses.

    `delays_from`: the signals whose data say at which delays the causes act, where those are not `series`.
    """
    seen = graph.bypassing(series.names)
    delays = delays_of(series if delays_from is None else delays_from, seen)
    chosen = remembering(seen, identify(seen, series.names, delays, series.step), series.names)
    return EquationPlan(seen, series.names, series.step, delays, chosen).having(equations)


def believable(plan: EquationPlan, products: Iterable[Grams], *, once: bool = False) -> EquationPlan:
    """The plan without equations that these data, or any of them, cannot bear: too few rows, or weak instruments.

    `once`: the data cannot be read again, so what would need further columns is refused.
    """
    return plan.having(one for sums in products for one in _instead(plan, sums, once))


def _instead(plan: EquationPlan, products: Grams, once: bool) -> Iterator[Equation]:
    there, rows = set(products.columns), int(products.rows.sum())
    long = []
    for equation in plan.equations.values():
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
