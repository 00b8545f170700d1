"""Writes a condition over intervals as an SMT-LIB script that must be unsat."""

from __future__ import annotations

from fractions import Fraction

from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions.lower_smt import lower_smt, symbol
from coherence.language.expressions.tree import Arithmetic, Call, Held, Number, Tree, names, rename, walk
from coherence.model.model import EVERYTHING, Interval
from coherence.verify.facts.ranges import FUNCTIONS, Values, enclosure, point


def claimed(condition: Tree, values: Values, *, whole: frozenset[str] = frozenset()) -> str | None:
    """Returns an SMT-LIB script, unsat where the condition holds for all values; None where it is not linear.

    Names in `whole` take whole numbers only.
    """
    fixed = {name: Number(low) for name in names(condition) if (low := _only(values.get(name))) is not None}
    tree = rename(condition, lambda path: fixed.get(path, path))
    if not linear(tree):
        return None
    free = names(tree)
    facts = [fact for name in free for fact in bounds(symbol(name), values.get(name, EVERYTHING))]
    facts += [f"(= {symbol(name)} (to_real (to_int {symbol(name)})))" for name in free if name in whole]
    script = Certificate({symbol(name): "Real" for name in free}, tuple(facts), lower_smt(tree)).script()
    return script.replace("QF_LRA", "QF_LIRA", 1) if "to_int" in script else script


def bounds(term: str, interval: Interval) -> tuple[str, ...]:
    """Returns SMT-LIB facts: the term lies in the interval."""
    low = (f"(<= {rational(interval.low)} {term})",) if interval.low is not None else ()
    return (*low, f"(<= {term} {rational(interval.high)})") if interval.high is not None else low


def _only(interval: Interval | None) -> Fraction | None:
    return interval.low if interval is not None and interval.exact else None


def linear(tree: Tree) -> bool:
    """Decides whether the tree can be written in linear arithmetic (with whole parts and cases)."""
    for node in walk(tree):
        if isinstance(node, Held) or (isinstance(node, Call) and node.function not in FUNCTIONS):
            return False
        if isinstance(node, Arithmetic) and node.op == "*" and names(node.left) and names(node.right):
            return False
        if isinstance(node, Arithmetic) and node.op == "/" and not _plain_divisor(node.right):
            return False
    return True


def _plain_divisor(tree: Tree) -> bool:
    return not names(tree) and enclosure(tree, {}) != point(0)
