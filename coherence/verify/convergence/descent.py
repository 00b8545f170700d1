"""Proves that every run of a system settles or ends: by a Lyapunov function first, then by chains of sets."""

from __future__ import annotations

import numpy as np

from coherence.base.clock import left_until, part_until
from coherence.base.solver import unsat
from coherence.verify.convergence.set_chains import Descent, chain_of_sets, levelled, named
from coherence.verify.convergence.settling import in_basin
from coherence.verify.invariants.smtlib import certificate
from coherence.verify.systems.piecewise_affine import TransitionSystem

FIRST = 3  # part of the time for a Lyapunov function


def settles(system: TransitionSystem, *, broken: str, deadline: float) -> Descent | str:
    """Returns a proof that from some step on no run is bad or takes an edge into `broken`; or why there is none."""
    inner = [edge for edge in system.edges if edge.target != broken]
    plain = TransitionSystem(system.variables, system.choices, system.initial, tuple(inner), ())
    return _descend(plain, system, broken, deadline)


def reaches(system: TransitionSystem, *, deadline: float) -> Descent | str:
    """Returns a proof that every run of `system` ends (its edges are only those between states short of the goal)."""
    plain = TransitionSystem(system.variables, system.choices, system.initial, system.edges, ())
    everywhere = tuple((mode, ()) for mode in system.modes)
    goal = TransitionSystem(system.variables, system.choices, system.initial, system.edges, everywhere)
    return _descend(plain, goal, "", deadline)


def _descend(plain: TransitionSystem, goal: TransitionSystem, broken: str, deadline: float) -> Descent | str:
    reason = "no bounded set that the edges keep was found"
    with np.errstate(all="ignore"):
        try:
            rest = in_basin(plain, goal, broken, part_until(deadline, 1 / FIRST))
        except (np.linalg.LinAlgError, OverflowError, ValueError) as error:
            rest = f"stopped: {error}"
        if isinstance(rest, Descent):
            return rest
        for effort in (1, 2):
            try:
                chain = chain_of_sets(plain, goal, broken, effort, deadline)
            except (np.linalg.LinAlgError, OverflowError) as error:
                return f"stopped: {error}"
            if isinstance(chain, str):
                reason = chain
                continue
            script = certificate(levelled(plain, goal, broken, len(chain)), named(chain))
            left = left_until(deadline)
            if left <= 0:
                return "the time is over"
            if unsat(script, timeout_ms=int(1000 * left)).unsat:
                return Descent(len(chain) - 1, script)
            reason = "a chain of sets was found, and the solver did not confirm it"
    return reason
