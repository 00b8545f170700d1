"""Evaluates an expression tree over numpy arrays of float64, for batches of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from coherence.language.expressions.evaluate import ARITHMETIC, COMPARE, NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth

Values = Mapping[str, Any]


def lower_numpy(tree: Tree, values: Values, own: Mapping[str, Callable[[Any], Any]] | None = None) -> Any:
    """Returns the value of the tree; names are arrays (or floats).  `own`: functions in place of numpy's.

    Raises KeyError for a name without a value and NotExactError for functions of the past.
    """
    return numpy_function(tree, own)(values)


def numpy_function(tree: Tree, own: Mapping[str, Callable[[Any], Any]] | None = None) -> Callable[[Values], Any]:
    """Returns `lower_numpy` as a function of the values, for trees that are evaluated many times."""
    import numpy as np

    functions: dict[str, Callable[[Any], Any]] = {
        "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "exp": np.exp, "log": np.log, **(own or {}),
    }  # fmt: skip

    def lower(node: Tree) -> Callable[[Values], Any]:
        match node:
            case Number(value=value):
                number = float(value)
                return lambda _: number
            case Truth(value=truth):
                return lambda _: truth
            case Name(path=path):
                return itemgetter(path)
            case Arithmetic(op="/", left=left, right=right):
                return _of(np.divide, lower(left), lower(right))
            case Arithmetic(op=op, left=left, right=right):
                return _of(ARITHMETIC[op], lower(left), lower(right))
            case Compare(op=op, left=left, right=right):
                return _of(COMPARE[op], lower(left), lower(right))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return _of(np.where, lower(condition), lower(then), lower(otherwise))
            case Logic(op="not", terms=terms):
                return _of(np.logical_not, lower(terms[0]))
            case Logic(op=op, terms=terms):
                return reduced(np.logical_and if op == "and" else np.logical_or, terms)
            case Call(function="min" | "max" as name, arguments=arguments):
                return reduced(np.minimum if name == "min" else np.maximum, arguments)
            case Call(function=name, arguments=arguments) if name in functions:
                return _of(functions[name], lower(arguments[0]))
        raise NotExactError(f"{getattr(node, 'function', 'for')} has no value without a history")

    def reduced(combine: Any, terms: Sequence[Tree]) -> Callable[[Values], Any]:
        return _of(lambda *rows: combine.reduce(np.broadcast_arrays(*rows)), *map(lower, terms))

    return lower(tree)


def _of(function: Callable[..., Any], *inner: Callable[[Values], Any]) -> Callable[[Values], Any]:
    """Returns the function of what the inner functions return."""
    match inner:
        case (only,):
            return lambda values: function(only(values))
        case (left, right):
            return lambda values: function(left(values), right(values))
    return lambda values: function(*(part(values) for part in inner))
