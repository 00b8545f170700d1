"""Proves safety of piecewise-affine systems without a bound: guesses in floats, proves in rationals.

Random runs say how large things are; templates of directions say what an invariant may look like;
policy iteration finds bounds that no edge leaves; z3 decides the obligations, text by text.  Only
z3's answers make a `InvariantProof`.  What fails is `Unproved`, which says nothing about the system.
"""

from __future__ import annotations

from coherence.verify.invariants.proof import Result
from coherence.verify.systems.piecewise_affine import TransitionSystem

SAMPLES, STEPS = 160, 120


def prove(system: TransitionSystem, *, time_limit: float = 10.0, samples: int = SAMPLES, steps: int = STEPS) -> Result:
    """Returns a proof that no run of `system`, however long, enters one of its bad sets; or why there is none.

    `time_limit` in seconds bounds the search (one step of it may end a little later); `samples` and
    `steps` say how many random runs of what length are drawn.  The search is reproducible, unless
    the time limit cuts it short.
    """
    from coherence.verify.invariants.search import search

    return search(system, time_limit=time_limit, samples=samples, steps=steps)
