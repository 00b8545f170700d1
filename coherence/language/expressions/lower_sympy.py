"""Turns an expression tree into a sympy expression over plain symbols.

No text is given to sympy (`sympify` executes it, and reads S, N, E, I and Q as its own objects):
symbols are made one by one, without assumptions, so that no condition is decided by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth


def lower_sympy(tree: Tree, symbols: Mapping[str, Any] | None = None, more: Mapping[str, Any] | None = None) -> Any:
    """Returns the expression; a name `a.b` is the symbol of that name, or what `symbols` says.

    `more`: further functions.  Raises NotExactError for functions of the past.
    """
    import sympy as sp

    known, functions = symbols or {}, {**_functions(sp), **(more or {})}
    relations = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "==": sp.Eq, "!=": sp.Ne}

    def lower(node: Tree) -> Any:
        match node:
            case Number(value=value):
                return sp.Rational(value.numerator, value.denominator)
            case Truth(value=value):
                return sp.true if value else sp.false
            case Name(path=path):
                return known[path] if path in known else sp.Symbol(path)
            case Arithmetic(op=op, left=left, right=right):
                a, b = lower(left), lower(right)
                return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b
            case Compare(op=op, left=left, right=right):
                return relations[op](lower(left), lower(right))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return sp.Piecewise((lower(then), lower(condition)), (lower(otherwise), sp.true))
            case Logic(op=op, terms=terms):
                return {"and": sp.And, "or": sp.Or, "not": sp.Not}[op](*map(lower, terms))
            case Call(function=name, arguments=arguments) if name in functions:
                return functions[name](*map(lower, arguments))
        raise NotExactError(f"{getattr(node, 'function', 'for')} has no symbolic form")

    return lower(tree)


def _functions(sp: Any) -> dict[str, Any]:
    return {
        "abs": sp.Abs,
        "floor": sp.floor,
        "ceil": sp.ceiling,
        "exp": sp.exp,
        "log": sp.log,
        "min": sp.Min,
        "max": sp.Max,
    }
