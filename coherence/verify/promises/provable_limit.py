"""Finds the nearest limit that is proved for an open promise, and says what would decide it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import is_over, now
from coherence.language.expressions.tree import Compare, Number, Tree
from coherence.model.model import Model
from coherence.simulate.execute.schedules import NotCommensurateError
from coherence.verify.promises.proofs import ConditionProof, ProofFailure, proof_of
from coherence.verify.systems.cases import NotLinearError

WIDER = tuple(Fraction(n, 100) for n in (2, 10, 30, 100))
MOST_SECONDS = 3.0


def nearest(model: Model, condition: Tree, *, wanted: bool, seconds: float) -> str:
    """Renders the first wider limit that is proved; nothing where none is.

    Only for `signal <= number` and its kin; `seconds` bounds the search.
    """
    if not isinstance(condition, Compare) or not isinstance(condition.right, Number) or not wanted:
        return ""
    if condition.op not in ("<", "<=", ">", ">="):
        return ""
    limit, deadline = condition.right.value, now() + min(seconds, MOST_SECONDS)
    way = 1 if condition.op in ("<", "<=") else -1
    for share in WIDER:
        if is_over(deadline):
            return ""
        wider = limit + way * share * (abs(limit) or 1)
        claim = replace(condition, right=replace(condition.right, value=wider))
        try:
            proof = proof_of(model, claim, wanted=True, deadline=deadline)
        except (NotLinearError, NotCommensurateError):
            return ""
        if isinstance(proof, ConditionProof):
            return f"a limit {float(100 * share):g} % wider is proved"
    return ""


def advice(model: Model, stopped: ProofFailure) -> str:
    """Renders what would decide an open promise."""
    free = [loop.name for loop in model.loops if loop.phase is None]
    if stopped.late:
        stated = f", or a stated `phase` of {', '.join(free)}" if len(free) > 1 else ""
        return f"more time{stated} may decide it"
    return "a limit with more room may decide it"
