"""Evaluates an expression tree over numpy arrays of float64, for batches of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coherence.language.expressions.evaluate import ARITHMETIC, COMPARE, NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth


def lower_numpy(tree: Tree, values: Mapping[str, Any], own: Mapping[str, Callable[[Any], Any]] | None = None) -> Any:
    """Returns the value of the tree; names are arrays (or floats).  `own`: functions in place of numpy's.

    Raises KeyError for a name without a value and NotExactError for functions of the past.
    """
    import numpy as np

    functions: dict[str, Callable[[Any], Any]] = {
        "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "exp": np.exp, "log": np.log, **(own or {}),
    }  # fmt: skip

    def lower(node: Tree) -> Any:
        match node:
            case Number(value=value):
                return float(value)
            case Truth(value=value):
                return value
            case Name(path=path):
                return values[path]
            case Arithmetic(op="/", left=left, right=right):
                return np.divide(lower(left), lower(right))
            case Arithmetic(op=op, left=left, right=right):
                return ARITHMETIC[op](lower(left), lower(right))
            case Compare(op=op, left=left, right=right):
                return COMPARE[op](lower(left), lower(right))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return np.where(lower(condition), lower(then), lower(otherwise))
            case Logic(op="not", terms=terms):
                return np.logical_not(lower(terms[0]))
            case Logic(op=op, terms=terms):
                return (np.logical_and if op == "and" else np.logical_or).reduce(
                    np.broadcast_arrays(*map(lower, terms))
                )
            case Call(function="min" | "max" as name, arguments=arguments):
                return (np.minimum if name == "min" else np.maximum).reduce(np.broadcast_arrays(*map(lower, arguments)))
            case Call(function=name, arguments=arguments) if name in functions:
                return functions[name](lower(arguments[0]))
        raise NotExactError(f"{getattr(node, 'function', 'for')} has no value without a history")

    return lower(tree)
