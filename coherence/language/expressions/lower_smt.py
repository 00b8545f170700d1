"""Writes an expression tree as SMT-LIB text, which `coherence.base.solver` gives to z3 (and cvc5).

Text rather than z3 objects: what is printed as a certificate is then exactly what was decided.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base.number_text import digits
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth


def real(value: Fraction | int) -> str:
    """Returns a rational as a term of sort Real."""
    exact = Fraction(value)
    over, under = digits(abs(exact.numerator)), digits(exact.denominator)
    size = f"{over}.0" if exact.denominator == 1 else f"(/ {over}.0 {under}.0)"
    return f"(- {size})" if exact < 0 else size


def symbol(path: str) -> str:
    """Returns a name as a quoted symbol (dots and all)."""
    return f"|{path}|"


def lower_smt(tree: Tree) -> str:
    """Returns the term: Real for numbers, Bool for conditions.  Raises NotExactError for exp, log and the past."""
    match tree:
        case Number(value=value):
            return real(value)
        case Truth(value=value):
            return "true" if value else "false"
        case Name(path=path):
            return symbol(path)
        case Arithmetic(op=op, left=left, right=right):
            return f"({op} {lower_smt(left)} {lower_smt(right)})"
        case Compare(op="!=", left=left, right=right):
            return f"(distinct {lower_smt(left)} {lower_smt(right)})"
        case Compare(op=op, left=left, right=right):
            return f"({'=' if op == '==' else op} {lower_smt(left)} {lower_smt(right)})"
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return f"(ite {lower_smt(condition)} {lower_smt(then)} {lower_smt(otherwise)})"
        case Logic(op=op, terms=terms):
            return f"({op} {' '.join(map(lower_smt, terms))})"
        case Call(function="min" | "max" as name, arguments=arguments):
            return _extreme(name, [lower_smt(a) for a in arguments])
        case Call(function="abs", arguments=arguments):
            return f"(let ((one! {lower_smt(arguments[0])})) (ite (>= one! 0.0) one! (- one!)))"
        case Call(function="floor", arguments=arguments):
            return f"(to_real (to_int {lower_smt(arguments[0])}))"
        case Call(function="ceil", arguments=arguments):
            return f"(- (to_real (to_int (- {lower_smt(arguments[0])}))))"
    raise NotExactError(f"{getattr(tree, 'function', 'for')} has no SMT-LIB form")


def _extreme(name: str, terms: list[str]) -> str:
    """Returns the extreme of some terms, each written once (nested ones would double in length at every level)."""
    op = "<=" if name == "min" else ">="
    extreme = terms[0]
    for term in terms[1:]:
        extreme = f"(let ((one! {extreme}) (other! {term})) (ite ({op} one! other!) one! other!))"
    return extreme
