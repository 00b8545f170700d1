"""Decides which coefficients are identified, by which estimator, and what to measure where none is.

For each effect the ways are tried in order, each on exact moments of generic systems (`trials`):
    its causes          least squares on all observed causes
    memory removed      the same in a circle, after the memory of the effect's own part is filtered out (`memory`)
    front-door          the same beside the observed signals that share a latent cause with the effect
    news                the same beside what the causes follow from, so that only what is new in each of them counts
    instruments         two-stage least squares on every column that the own part of the effect cannot reach
    through its causes  a cause that cannot be told apart is replaced by its own causes (its total effect remains)
What none of them finds is refused: its coefficient is not given, whatever the regression would say, and each latent
signal is tried in turn as if it were measured, to say what would help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from coherence.causal.fitting.candidate_equations import candidates_for, missed_columns
from coherence.causal.fitting.equations import Equation, default_equations
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.identification_problem import (
    IdentificationProblem,
    posed,
    shortened_delays,
    with_real_delays,
)
from coherence.causal.fitting.refusals import other_help, reason
from coherence.causal.fitting.trials import Edge, edges_of

MOST_LATENT = 12  # latent signals that are tried as measured
LARGEST = 1000  # signals times steps of a trial that keeps delays as they are


def identify(
    graph: CausalGraph, observed: Sequence[str], delays: Mapping[tuple[str, str], tuple[int, ...]], step: float
) -> dict[str, Equation]:
    """Returns for each observed effect with observed causes the equation whose coefficients the data can tell."""
    equations = {equation.effect: equation for equation in default_equations(graph, observed, delays)}
    edges = edges_of(graph, delays, step)
    doubtful = [effect for effect in equations if not _plain(graph, edges, frozenset(observed), effect)]
    if not doubtful:
        return equations
    relevant = _relevant(graph, doubtful)
    near = CausalGraph(
        relevant, tuple(influence for influence in graph.influences if influence.effect in relevant), graph.computed
    )
    ways = edges_of(near, delays, step)
    large = len(relevant) * (3 * max((lag for *_, lag in ways), default=0) + 4) > LARGEST
    problem = posed(near, shortened_delays(ways) if large else ways, frozenset(observed), large)
    latent = near.latent(observed)
    for effect in doubtful:
        equations[effect] = with_real_delays(_advised(problem, _answered(problem, effect), latent), problem, ways)
    return equations


def implied(
    graph: CausalGraph,
    observed: Sequence[str],
    delays: Mapping[tuple[str, str], tuple[int, ...]],
    step: float,
    memory: int,
) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yields (other, effect, delays in steps) that are independent given the effect's causes, by the graph.

    Only for effects with nothing latent behind them.  What is no straight line of its causes (a step, a product) is
    related, beside the line, to every other function of them: there only signals with nothing behind both.  The past
    of a signal that does not act is always independent given the causes; its present too, unless the effect acts on it
    within the step.
    """
    edges = edges_of(graph, delays, step)
    now = CausalGraph(
        (), tuple(Influence(cause, effect) for cause, effect, lag in edges if lag == 0 and cause != effect)
    )
    for effect in observed:
        causes = set(graph.causes(effect)) - {effect}
        if not causes & set(observed) or not _plain(graph, edges, frozenset(observed), effect):
            continue
        for other in observed:
            apart = effect not in graph.curved or not graph.ancestors(other) & graph.ancestors(effect)
            if other != effect and other not in causes and apart:
                after = effect in now.ancestors(other)
                yield other, effect, tuple(range(int(after), memory + 1))


def _plain(graph: CausalGraph, edges: Sequence[Edge], observed: frozenset[str], effect: str) -> bool:
    """Returns whether plain regression is right: nothing latent is behind the effect, and no circle within a step."""
    behind = graph.ancestors(effect)
    if any(name not in observed for name in behind if name != effect):
        return False
    now = CausalGraph((), tuple(Influence(c, e) for c, e, lag in edges if lag == 0 and c in behind))
    return not any(effect in now.ancestors(cause) for cause in now.causes(effect))


def _relevant(graph: CausalGraph, effects: Iterable[str]) -> tuple[str, ...]:
    """Returns what can matter for the effects: all behind them, and behind what shares a cause with them."""
    behind = frozenset().union(*(graph.ancestors(effect) for effect in effects))
    return tuple(node for node in graph.nodes if node in behind)


def _answered(problem: IdentificationProblem, effect: str) -> Equation:
    """Returns the first equation that misses nothing; else the regression that misses fewest causes.

    Causes of causes stand in for them only where that tells more.
    """
    best: Equation | None = None
    for way in candidates_for(problem, effect):
        lost = missed_columns(problem, way)
        direct = len(best.columns) - len(best.lost) if best is not None else 0
        if not lost and (not way.replaced or len(way.columns) > direct):
            return replace(way, lost=())
        if best is None or (not way.instruments and not way.replaced and len(lost) < len(best.lost)):
            best = replace(way, lost=lost)
    assert best is not None  # the first way always exists
    return best


def _advised(problem: IdentificationProblem, equation: Equation, latent: Sequence[str]) -> Equation:
    """Returns the equation; one that misses coefficients with the reason, and what measurement would help."""
    if not equation.lost:
        return equation
    helps = tuple(name for name in latent[:MOST_LATENT] if _lifts(problem, equation, name))
    why = reason(problem, equation.effect, equation.lost)
    return replace(equation, refused=why, measure=helps or other_help(problem, equation.effect, equation.lost))


def _lifts(problem: IdentificationProblem, one: Equation, name: str) -> bool:
    """Returns whether nothing would be missed if this latent signal were measured."""
    seen = problem.observed | {name}
    return not _answered(replace(problem, observed=seen), one.effect).lost
