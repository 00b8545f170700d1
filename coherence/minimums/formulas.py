"""Turns the formula of a bound into a tree, a number, a sympy expression, LaTeX, or a dimension.

The parser is the project's own; no text is ever evaluated as code.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from coherence.base.errors import MissingExtraError, UsageError
from coherence.base.units import ONE, Dimension
from coherence.language.expressions import ExpressionError, names, parse
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree
from coherence.minimums.functions import ALIASES, CONSTANTS, NUMERIC, spellings, symbolic

SAME = ("min", "max", "abs", "floor", "ceil")  # functions whose value has the dimension of their arguments


class UndefinedError(UsageError):
    """A formula that has no value at these inputs (a division by zero, a logarithm of a negative number)."""


class _World:
    """Values of the symbols, and the functions of formulas."""

    functions = NUMERIC

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def value(self, path: str) -> Any:
        return self.values[path] if path in self.values else CONSTANTS[path]


@cache
def tree_of(text: str) -> Tree:
    """Returns the tree of a formula.  Raises UsageError with the culprit."""
    try:
        return _named(parse(text, spellings()))
    except ExpressionError as error:
        raise UsageError(f"the formula `{text}`: {error}" + (f"; {error.remedy}" if error.remedy else "")) from None


def _named(tree: Tree) -> Tree:
    """Returns the tree with aliases of functions under their own names."""
    match tree:
        case Call(function=name, arguments=arguments, span=span):
            return Call(ALIASES.get(name, name), tuple(map(_named, arguments)), span)
        case Arithmetic(op=op, left=left, right=right, span=span):
            return Arithmetic(op, _named(left), _named(right), span)
        case Compare(op=op, left=left, right=right, span=span):
            return Compare(op, _named(left), _named(right), span)
        case Logic(op=op, terms=terms, span=span):
            return Logic(op, tuple(map(_named, terms)), span)
        case Choose(condition=condition, then=then, otherwise=otherwise, span=span):
            return Choose(_named(condition), _named(then), _named(otherwise), span)
    return tree


def symbols_of(text: str) -> tuple[str, ...]:
    """Returns the names that a formula needs values for, in order of first use."""
    return tuple(name for name in names(tree_of(text)) if name not in CONSTANTS)


def number(text: str, values: Mapping[str, Fraction | float]) -> Fraction | float | bool:
    """Returns the value; exact where the values are and no function leaves the rationals.  Raises UndefinedError."""
    try:
        return evaluate(tree_of(text), _World(values))  # type: ignore[arg-type,no-any-return]
    except KeyError as error:
        raise UsageError(f"the formula `{text}` needs a value of {error.args[0]}") from None
    except (NotExactError, ValueError, OverflowError, ZeroDivisionError, TypeError) as error:
        why = "it is beyond 1.8e308, the largest floating-point number" if isinstance(error, OverflowError) else error
        given = ", ".join(f"{name} = {float(values[name]):g}" for name in symbols_of(text) if name in values)
        raise UndefinedError(f"the formula `{text}` has no value at {given}: {why}") from None


def sympy(what: str) -> Any:
    """Returns the library.  Raises MissingExtraError, which says how to install it."""
    try:
        import sympy as found
    except ImportError:
        raise MissingExtraError(what, "symbolic") from None
    return found


def symbolic_form(text: str, symbols: Mapping[str, Any] | None = None) -> Any:
    """Returns the formula as a sympy expression over positive symbols (or those given)."""
    sp = sympy("symbolic forms")
    from coherence.language.expressions.lower_sympy import lower_sympy

    names = {name: sp.Symbol(name, positive=True) for name in symbols_of(text)} | {"pi": sp.pi}
    return lower_sympy(tree_of(text), {**names, **(symbols or {})}, symbolic())


def latex(text: str, signs: Mapping[str, str] | None = None) -> str:
    """Returns the formula as LaTeX; `signs`: symbol -> LaTeX."""
    sp = sympy("LaTeX of formulas")
    form = symbolic_form(text)
    marks = signs or {}
    symbols = {
        symbol: marks.get(symbol.name, rf"\mathrm{{{symbol.name}}}".replace("_", r"\_")) for symbol in form.free_symbols
    }
    return str(sp.latex(form, symbol_names=symbols))


def dimension(text: str, known: Mapping[str, Dimension]) -> Dimension:
    """Returns the dimension of the value.  Raises UsageError where unlike quantities add, compare or enter a
    function."""
    found = _dimension(tree_of(text), text, known)
    return found if found is not None else ONE


def _dimension(tree: Tree, text: str, known: Mapping[str, Dimension]) -> Dimension | None:
    """Returns the dimension of a tree; None for a number that fits any dimension (zero)."""
    match tree:
        case Number(value=value, dimension=dimension):
            return dimension if value else None
        case Name(path=path):
            return known.get(path, ONE)
        case Arithmetic(op="*" | "/" as op, left=left, right=right):
            left_dimension, other = _dimension(left, text, known), _dimension(right, text, known)
            if left_dimension is None:
                return None
            return left_dimension * (other or ONE) if op == "*" else left_dimension / (other or ONE)
        case Arithmetic(left=left, right=right):
            return _alike(text, _dimension(left, text, known), _dimension(right, text, known))
        case Choose(then=then, otherwise=otherwise):
            return _alike(text, _dimension(then, text, known), _dimension(otherwise, text, known))
        case Call(function=name, arguments=arguments):
            return _called(name, arguments, text, known)
    return ONE


def _called(name: str, arguments: tuple[Tree, ...], text: str, known: Mapping[str, Dimension]) -> Dimension | None:
    parts = [_dimension(argument, text, known) for argument in arguments]
    if name in SAME:
        common = parts[0]
        for part in parts[1:]:
            common = _alike(text, common, part)
        return common
    if name == "sqrt" and parts[0] is not None and all(p % 2 == 0 for _, p in parts[0].powers):
        return Dimension(tuple((base, p // 2) for base, p in parts[0].powers))
    if name == "power" and isinstance(arguments[1], Number) and arguments[1].value.denominator == 1 and parts[0]:
        return Dimension(tuple((base, p * int(arguments[1].value)) for base, p in parts[0].powers))
    for part in parts:
        if part is not None and part.physical.powers:
            raise UsageError(f"the formula `{text}`: {name}() of {part}; divide by a quantity of that unit first")
    return ONE


def _alike(text: str, dimension: Dimension | None, other: Dimension | None) -> Dimension | None:
    if dimension is None or other is None:
        return dimension or other
    if not dimension.fits(other):
        raise UsageError(f"the formula `{text}` adds or compares {dimension} and {other}")
    return dimension if dimension.powers else other
