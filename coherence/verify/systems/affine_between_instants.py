"""Decides whether checking a condition at instants suffices: it does where states are affine in between."""

from __future__ import annotations

from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Arithmetic, Compare, Logic, Name, Number, Tree
from coherence.model.model import Model
from coherence.simulate.execute.slices import signals_in


def decided_at_instants(model: Model, condition: Tree, kind: str) -> bool:
    """Decides whether checking the condition of a promise of this kind at the instants suffices.

    A condition that reads no flowing state is constant between them.  One over flowing states alone holds
    on a whole line where it is convex and holds at both ends; `never` and `eventually` need that of its opposite.
    """
    flowing = {path for path, state in model.states.items() if state.flow is not None}
    if not flowing & signals_in(model, condition):
        return True
    joined = "or" if kind in ("never", "eventually") else "and"
    return set(names_of(condition)) <= {*flowing, *model.constants} and _convex(condition, joined)


def _convex(tree: Tree, joined: str) -> bool:
    """Decides whether a condition is comparisons of straight lines, joined by `and` (its opposite: by `or`)."""
    match tree:
        case Compare(op=op, left=left, right=right):
            return op != ("!=" if joined == "and" else "==") and _straight(left) and _straight(right)
        case Logic(op=op, terms=terms) if op == joined:
            return all(_convex(term, joined) for term in terms)
    return False


def _straight(tree: Tree) -> bool:
    match tree:
        case Number() | Name():
            return True
        case Arithmetic(op="*", left=left, right=right):
            return _straight(left) and _straight(right) and not (names_of(left) and names_of(right))
        case Arithmetic(op="/", left=left, right=right):
            return _straight(left) and not names_of(right)
        case Arithmetic(left=left, right=right):
            return _straight(left) and _straight(right)
    return False
