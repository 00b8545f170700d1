"""The problem of identification: a causal graph with delays, what of it is observed, and generic systems on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.memory import MEMORY, filtered
from coherence.causal.fitting.trials import Draw, Edge, draws


@dataclass(frozen=True)
class IdentificationProblem:
    """A graph with its delays, what of it is observed, and generic systems on it.

    `shortened`: the delays are ranks, so no way may use a delay that is not one of them.
    """

    graph: CausalGraph
    edges: tuple[Edge, ...]
    observed: frozenset[str]
    systems: tuple[Draw, ...]
    into: Mapping[str, tuple[Edge, ...]] = field(default_factory=dict)
    shortened: bool = False


def posed(
    graph: CausalGraph, edges: tuple[Edge, ...], observed: frozenset[str], shortened: bool
) -> IdentificationProblem:
    """Returns the problem of a graph with its delays, with generic systems deep enough for all of them."""
    into: dict[str, tuple[Edge, ...]] = {}
    for edge in edges:
        into[edge[1]] = (*into.get(edge[1], ()), edge)
    deepest = 2 * max((lag for *_, lag in edges), default=0) + MEMORY
    return IdentificationProblem(graph, edges, observed, draws(graph.nodes, edges, deepest, observed), into, shortened)


def shortened_delays(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Returns long delays as short ones in the same order: only which one is longer matters."""
    ranks = {lag: rank for rank, lag in enumerate(sorted({0, *(lag for *_, lag in edges)}))}
    return tuple((cause, effect, ranks[lag]) for cause, effect, lag in edges)


def observed_causes(problem: IdentificationProblem, effect: str) -> tuple[Column, ...]:
    """Returns the observed causes of an effect, each with its delay."""
    return tuple((cause, lag) for cause, _, lag in problem.into.get(effect, ()) if cause in problem.observed)


def hidden_above(problem: IdentificationProblem, name: str) -> frozenset[str]:
    """Returns the latent signals that reach a signal through latent signals only."""
    signals: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = {cause for cause, *_ in problem.into.get(waiting.pop(), ())} - problem.observed - signals
        signals |= fresh
        waiting += fresh
    return frozenset(signals)


def lasting_latents(problem: IdentificationProblem, effect: str) -> dict[str, tuple[str, ...]]:
    """Returns for each observed cause the unmeasured signals with a memory through which it acts.

    Such a cause acts at every delay: its coefficients at a few delays do not add up to what it does in the end.
    """
    hidden = hidden_above(problem, effect)
    lasting: dict[str, set[str]] = {}
    for name in hidden:
        above = hidden_above(problem, name)
        if name in above:
            for node in (name, *above):
                for cause, *_ in problem.into.get(node, ()):
                    if cause in problem.observed:
                        lasting.setdefault(cause, set()).add(name)
    return {cause: tuple(sorted(names)) for cause, names in lasting.items()}


def with_real_delays(equation: Equation, problem: IdentificationProblem, ways: Sequence[Edge]) -> Equation:
    """Returns the equation with the delays as they are, not as they were shortened for the trial."""
    if not problem.shortened:
        return equation
    delays = {0: 0} | {short[2]: way[2] for short, way in zip(problem.edges, ways, strict=True)}

    def spelled(columns: Iterable[Column]) -> tuple[Column, ...]:
        return tuple((name, delays[lag]) for name, lag in columns)

    controls = () if equation.memory else spelled(equation.controls)
    worded = replace(
        equation,
        columns=spelled(equation.columns),
        instruments=spelled(equation.instruments),
        controls=controls,
        lost=spelled(equation.lost),
    )
    return filtered(worded) if equation.memory else worded
