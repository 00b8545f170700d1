"""Proves convergence by a chain of sets from the starts into the basin of a quadratic Lyapunov function."""

from __future__ import annotations

import numpy as np

from coherence.base.clock import is_over, left_until
from coherence.base.solver import joined, unsat
from coherence.verify.convergence.lyapunov import Basin, basin
from coherence.verify.convergence.set_chains import (
    ChainFrame,
    Descent,
    Level,
    bounds_of,
    level_of,
    levelled,
    named,
    rounded,
)
from coherence.verify.invariants.fixpoint import TemplateBounds
from coherence.verify.invariants.smtlib import certificate
from coherence.verify.systems.piecewise_affine import AffineEdge, TransitionSystem

MOST_LEAD = 40  # sets before the basin


def in_basin(plain: TransitionSystem, goal: TransitionSystem, broken: str, deadline: float) -> Descent | str:
    """Returns a proof that every run of `plain` is where it must be from some step on; or why there is none."""
    frame = ChainFrame(plain, goal, 1, deadline)
    abstraction = frame.abstraction
    exact = rounded(frame, abstraction.start, None)
    abstraction.start = TemplateBounds(
        np.zeros_like(abstraction.start.reached), np.full_like(abstraction.start.support, -np.inf)
    )
    levels: list[Level] = []
    reason = "no rest is approached"
    while len(levels) < MOST_LEAD and not is_over(deadline):
        levels.append(level_of(frame, exact))
        image = abstraction.image(bounds_of(frame, exact))
        end = basin(plain, goal, broken, levels[-1], image.open_.tolist())
        if isinstance(end, Basin):
            return _confirmed(plain, levels, end, deadline)
        reason = end
        exact = rounded(frame, image.next, None)
    return reason


def _confirmed(plain: TransitionSystem, levels: list[Level], end: Basin, deadline: float) -> Descent | str:
    """Returns the proof if z3 confirms every script, else why there is none."""
    lead = certificate(_lead(plain, len(levels)), named(levels))
    script = joined([lead, *end.scripts])
    if is_over(deadline):
        return "the time is over"
    if not unsat(script, timeout_ms=int(1000 * max(0.1, left_until(deadline)))).unsat:
        return "a quadratic function was found, and the solver did not confirm it"
    return Descent(len(levels) - 1 + end.steps, script, quadratic=True)


def _lead(plain: TransitionSystem, levels: int) -> TransitionSystem:
    """Returns the system of the first steps: what leaves a set enters the next one; the last is not left."""
    every = levelled(plain, plain, "", levels)
    last = f" @{levels - 1}"
    edges: list[AffineEdge] = [edge for edge in every.edges if not edge.source.endswith(last)]
    return TransitionSystem(plain.variables, plain.choices, every.initial, tuple(edges), ())
